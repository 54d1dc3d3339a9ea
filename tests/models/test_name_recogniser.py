"""Names and addresses by Presidio: what is said without it, and what it finds where it is installed."""

from importlib.util import find_spec

import pytest
from pydantic import ValidationError

from metrics.core.registry import evaluators
from metrics.models import name_recogniser


def test_without_it_the_evaluator_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(name_recogniser, "PACKAGES", ("presidio_that_is_not_installed",))
    with pytest.raises(ValidationError, match="pip install presidio-analyzer"):
        evaluators()["pii_leakage"].parameters(names="presidio")


def test_without_a_language_model_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(name_recogniser, "PACKAGES", ())
    monkeypatch.setattr(name_recogniser, "MODELS", ("model_that_is_not_installed",))
    assert "python -m spacy download" in str(name_recogniser.missing_recogniser())


@pytest.mark.skipif(
    find_spec("presidio_analyzer") is None or name_recogniser.missing_recogniser() is not None,
    reason="presidio-analyzer and a language model of spaCy are not installed",
)
def test_names_are_found() -> None:
    text = "My name is Margaret Hamilton and I live in Boston."
    found = {(finding.kind, text[finding.start : finding.end]) for finding in name_recogniser.names_and_addresses(text)}
    assert ("person", "Margaret Hamilton") in found
