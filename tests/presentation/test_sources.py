"""Sources in full: every one that an evaluator names begins with a work that is known, and has its link."""

from urllib.parse import urlparse

import pytest

from metrics.core.registry import evaluators
from metrics.presentation.families import FAMILIES
from metrics.presentation.sources import SOURCES, pieces, source_markdown, source_text

DECLARED = sorted({source for entry in evaluators().values() for source in entry.sources})


@pytest.mark.parametrize("source", DECLARED)
def test_every_declared_source_begins_with_a_known_work(source):
    assert next(iter(pieces(source))).link, "name it in metrics/presentation/sources.py"


def test_every_known_work_is_the_source_of_an_evaluator():
    named = {piece.link for source in DECLARED for piece in pieces(source)}
    assert not [name for name, source in SOURCES.items() if source.link not in named]
    assert all(urlparse(source.link).scheme == "https" for source in SOURCES.values())


@pytest.mark.parametrize(("source", "text", "marked"), [
    ("Valor", "Striveworks Valor", "[Striveworks Valor](https://striveworks.github.io/valor/metrics/)"),
    (
        "Valor, after DeepEval", "Striveworks Valor, after Confident AI DeepEval",
        "[Striveworks Valor](https://striveworks.github.io/valor/metrics/), after [Confident AI DeepEval]"
        "(https://github.com/confident-ai/deepeval)",
    ),
    ("our own", "our own", "our own"),
])  # fmt: skip
def test_names_are_completed_wherever_they_stand(source, text, marked):
    assert (source_text(source), source_markdown(source)) == (text, marked)


def test_every_family_has_a_title():
    assert set(FAMILIES) == {entry.family for entry in evaluators().values()} | {"plugins"}
