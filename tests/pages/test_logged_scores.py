"""Scores of one's own on the pages: an open range, a yes or no, a declared range, a value that is absent."""

from pathlib import Path

import pytest

import metrics
from metrics import Metric
from metrics.store import Run
from tests.pages.conftest import Look, Open


def logged_run(folder: Path) -> Run:
    tone = Metric("tone", "Tone.", 1, 5, threshold=4)
    with metrics.log("support bot", metrics=[tone], workspace=folder) as log:
        for model, bonus in (("a", 0), ("b", 1)):
            for place in range(6):
                case = {"case_id": f"c{place}", "question": f"Question {place}?", "tags": ["t"]}
                scores = {"tone": 1 + place % 4 + bonus, "safe": place > bonus, "length": -10.5 * place}
                log.add(case, f"Answer {place}.", scores | {"p": None if place == 3 else 0.5}, model=model,
                        reasons={"tone": "so it sounds"})  # fmt: skip
    return log.result


@pytest.mark.parametrize(
    ("page", "parameters"),
    [
        pytest.param(name, parameters, id=name)
        for name, parameters in {
            "leaderboard": {}, "cases": {"evaluator": "own_scores", "metric": "tone"}, "case": {"case": "c3"},
            "compare": {}, "problems": {}, "report": {}, "trend": {}, "evaluators": {"evaluator": "own_scores"},
        }.items()
    ],
)  # fmt: skip
def test_every_page_shows_them(look_at: Look, open_page: Open, page: str, parameters: dict[str, str]) -> None:
    app = open_page(page, run=look_at(logged_run).id, **parameters)
    assert not app.error
