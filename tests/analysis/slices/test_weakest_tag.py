"""Which tags of which runs may be the weakest."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from metrics.analysis.slices.find_slices import weakest_tag
from metrics.core.errors import InputError
from tests.analysis.scored import scored_run


class Sized:
    """A run of which only the number of cases is known."""


@pytest.mark.parametrize(("cases", "tested"), [(20_000, True), (20_001, False)])
def test_runs_of_more_than_20000_cases_are_left_to_the_page(monkeypatch, cases, tested) -> None:
    asked: list[Any] = []

    def outcomes(*arguments: Any) -> None:
        asked.append(arguments)
        raise InputError("no value")

    monkeypatch.setattr(sys.modules[weakest_tag.__module__], "outcomes", outcomes)
    run: Any = Sized()
    run.spec = SimpleNamespace(suite=SimpleNamespace(cases=cases))
    assert weakest_tag(run, "m", "rouge", "rougeL") is None
    assert bool(asked) is tested


@pytest.mark.parametrize(("sizes", "weakest"), [
    ((4, 5), "1"), ((5, 6), "0"), ((36, 35), "1"), ((35, 34), "0"), ((4, 36), None),
], ids=["four", "five", "all but four", "all but five", "none"])  # fmt: skip
def test_a_tag_and_the_rest_have_five_cases(workspace: Path, sizes: tuple[int, int], weakest: str | None) -> None:
    """Of forty cases the first are tagged, and the fewer these are the worse they are."""
    tags = [[str(tag) for tag, size in enumerate(sizes) if place < size] for place in range(40)]
    values = [place / 40 for place in range(40)] if sizes[0] < 20 else [1 - place / 40 for place in range(40)]
    name = "answer_correctness"
    found = weakest_tag(scored_run({name: {"m": values}}, design={"tags": tags}), "m", name, name)
    assert (found and found[0].slice.where[0].value) == weakest
