"""Names and addresses by Presidio: what is said without it, and what it finds where it is installed."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

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


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A pipeline of spaCy that names by a list, installed as a package in the place of a language model."""
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("en")
    named = {"PERSON": "Margaret Hamilton", "GPE": "Boston", "ORG": "Draper"}
    patterns = [{"label": label, "pattern": name} for label, name in named.items()]
    pipeline.add_pipe("entity_ruler").add_patterns(patterns)
    (tmp_path / "en_rules").mkdir()
    pipeline.to_disk(tmp_path / "en_rules" / "data")
    load = "import spacy, pathlib\ndef load(**own): return spacy.load(pathlib.Path(__file__).parent / 'data', **own)\n"
    (tmp_path / "en_rules" / "__init__.py").write_text(load)
    facts = tmp_path / "en_rules-1.0.dist-info" / "METADATA"
    facts.parent.mkdir()
    facts.write_text("Metadata-Version: 2.1\nName: en_rules\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(name_recogniser, "MODELS", ("en_rules",))
    name_recogniser._analyzer.cache_clear()
    yield
    name_recogniser._analyzer.cache_clear()


@pytest.mark.skipif(find_spec("presidio_analyzer") is None, reason="presidio-analyzer is not installed")
@pytest.mark.usefixtures("rules")
@pytest.mark.parametrize(("text", "found"), [
    ("Ask Margaret Hamilton.", [("person", "Margaret Hamilton")]),
    ("In Boston I met Margaret Hamilton.", [("address", "Boston"), ("person", "Margaret Hamilton")]),
    ("She worked at Draper.", []),
    ("\u00e9\U0001f600 Margaret Hamilton", [("person", "Margaret Hamilton")]),
    ("", []),
    ("word " * 30_000 + "Boston", []),
], ids=["person", "in order", "an organisation", "other characters before", "empty", "too far on"])  # fmt: skip
def test_what_the_language_model_names_is_found(text: str, found: list[tuple[str, str]]) -> None:
    assert name_recogniser.missing_recogniser() is None
    findings = name_recogniser.names_and_addresses(text)
    assert [(one.kind, text[one.start : one.end]) for one in findings] == found
