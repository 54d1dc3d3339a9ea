"""Inputs that are hostile or large are read or refused."""

import pytest
from hypothesis import settings

from metrics.text import json_text
from metrics.text.overlap import rouge
from metrics.text.overlap.edits import MOST_WORK, Work
from tests.corpora import heavy_inputs
from tests.corpora.heavy_inputs import FAMILIES

LONG = settings().max_examples >= 100  # then whole megabytes, else a tenth


@pytest.mark.attack(
    "model", "a megabyte of brackets, dots, digits or the like in an answer", "every reader is bounded or linear"
)
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_heavy_inputs_are_read_or_refused(family, monkeypatch):
    if not LONG:  # nor is so much work done before it is given up
        monkeypatch.setattr(heavy_inputs, "SCALE", 0.1)
        monkeypatch.setattr(json_text, "MAX_STEPS", json_text.MAX_STEPS // 10)
        monkeypatch.setattr(rouge, "Work", lambda: Work(MOST_WORK // 10))
    for heavy in family():
        try:
            heavy.read()
        except Exception as failure:
            failure.add_note(heavy.name)
            raise
