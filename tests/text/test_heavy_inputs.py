"""Inputs that are hostile or large are read or refused."""

from collections.abc import Callable, Iterator

import pytest
from hypothesis import settings

from tests.corpora import heavy_inputs
from tests.corpora.heavy_inputs import FAMILIES, HeavyInput

LONG = settings().max_examples >= 100  # then whole megabytes, else a tenth


@pytest.mark.attack(
    "model", "a megabyte of brackets, dots, digits or the like in an answer", "every reader is bounded or linear"
)
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_heavy_inputs_are_read_or_refused(
    family: Callable[[], Iterator[HeavyInput]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heavy_inputs, "SCALE", 1.0 if LONG else 0.1)
    for heavy in family():
        try:
            heavy.read()
        except Exception as failure:
            failure.add_note(heavy.name)
            raise
