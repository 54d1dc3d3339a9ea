"""Which runs are looked through for their weakest tag."""

import sys
from typing import Any

import pytest

from metrics.analysis.slices.weakest_tag import weakest_tag
from metrics.core.errors import InputError


class Sized:
    """A run of which only the number of cases is known."""


@pytest.mark.parametrize(("cases", "tested"), [(20_000, True), (20_001, False)])
def test_runs_of_more_than_20000_cases_are_left_to_the_page(
    monkeypatch: pytest.MonkeyPatch, cases: int, tested: bool
) -> None:
    asked: list[Any] = []

    def outcomes(*arguments: Any) -> None:
        asked.append(arguments)
        raise InputError("no value")

    monkeypatch.setattr(sys.modules[weakest_tag.__module__], "outcomes", outcomes)
    run: Any = Sized()
    run.spec = {"suite": {"cases": cases}}
    assert weakest_tag(run, "m", "rouge", "rougeL") is None
    assert bool(asked) is tested
