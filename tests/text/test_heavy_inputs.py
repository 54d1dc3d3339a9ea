"""Inputs that are hostile or large are read or refused."""

from collections.abc import Callable, Iterator

import pytest

from tests.corpora.heavy_inputs import FAMILIES, HeavyInput


@pytest.mark.attack(
    "model", "a megabyte of brackets, dots, digits or the like in an answer", "every reader is bounded or linear"
)
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_heavy_inputs_are_read_or_refused(family: Callable[[], Iterator[HeavyInput]]) -> None:
    for heavy in family():
        try:
            heavy.read()
        except Exception as failure:
            failure.add_note(heavy.name)
            raise
