"""summarize(): a run in the words of a test runner, with the numbers of the leaderboard."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from metrics import Run, evaluate
from metrics.core.errors import InputError
from metrics.core.evaluator import Direction, Evaluator
from metrics.core.suite import Outputs
from metrics.store import Workspace
from tests.engine.engine_scenes import finished, text_outputs, text_suite
from tests.judge.server import JudgeServer, Request

pytestmark = pytest.mark.usefixtures("units_here")
LEVELS = {"1": ("excellent", "good"), "2": ("good", "poor"), "3": ("poor", "failed")}
SHARED: dict[str, Any] = {"dimensions": [
    {"name": "truth", "weight": 0.3, "description": "True."}, {"name": "style", "weight": 0.2, "description": "Clear."},
]}  # fmt: skip


def levels(request: Request) -> list[dict[str, str]]:
    return [{"level": level} for level in LEVELS[request.data["ANSWER"].rpartition(" ")[2]]]


@pytest.fixture
def rated(workspace: Path, tmp_path: Path, judge_server: JudgeServer) -> Run:
    """Four cases: answers 1 to 3 rated (1, .8), (.8, .3), (.3, 0); the judge's reply to the fourth is unreadable."""
    judge_server.say("rubric.levels", lambda request: "no" if "nr 4" in request.data["ANSWER"] else levels(request))
    (tmp_path / "suite.csv").write_text("case_id,question,tags\n" + "".join(f"c{n},Q{n}?,t\n" for n in range(1, 5)))
    (tmp_path / "outputs.csv").write_text("case_id,model,answer\n" + "".join(f"c{n},m,nr {n}\n" for n in range(1, 5)))
    judge = {"model": "m", "base_url": judge_server.url}
    return evaluate(
        tmp_path / "suite.csv", tmp_path / "outputs.csv", ["rouge", "rubric"], judge=judge,
        parameters={"rubric": SHARED},
    )  # fmt: skip


def test_a_rubric_is_summed_up_as_its_reference_does(rated: Run) -> None:
    """overall = (.3 truth + .2 style) / .5: .92, .6 and .18; only the first is at .7 or above."""
    found = rated.summarize()["m"]
    assert {name: found[name] for name in ("total_tests", "passed", "failed", "unscored")} == {
        "total_tests": 4, "passed": 1, "failed": 2, "unscored": 1,
    }  # fmt: skip
    assert (found["evaluator"], found["metric"], found["pass_mark"]) == ("rubric", "rubric", 0.7)
    assert found["pass_rate"] == pytest.approx(1 / 3)
    assert found["average_score"] == pytest.approx((0.92 + 0.6 + 0.18) / 3)
    assert found["dimension_averages"] == pytest.approx({"truth": (1 + 0.8 + 0.3) / 3, "style": (0.8 + 0.3 + 0) / 3})
    worst, next_worst = found["failures"]
    assert worst["test"] == {"case_id": "c3", "question": "Q3?", "expected_answers": [], "tags": ["t"]}
    assert worst["output"] == "nr 3"
    assert worst["evaluation"] == {
        "overall_score": pytest.approx(0.18), "dimension_scores": {"truth": 0.3, "style": 0.0}, "passed": False,
        "reason": None,
    }  # fmt: skip
    assert next_worst["test"]["case_id"] == "c2"


@pytest.mark.parametrize(("mark", "passed"), [(0.6, 2), (0.18, 3), (0.93, 0)])
def test_another_pass_mark(rated: Run, mark: float, passed: int) -> None:
    found = rated.summarize(pass_mark=mark)["m"]
    assert (found["pass_mark"], found["passed"], len(found["failures"])) == (mark, passed, 3 - passed)
    assert (found["pass_mark_of"], rated.summarize()["m"]["pass_mark_of"]) == ("user", "Assay")


class Reversed(Run):
    """A run in which less of a rubric is better."""

    def evaluator(self, id: str) -> Evaluator | None:
        entry = super().evaluator(id)
        first, *others = entry.metrics
        return replace(entry, metrics=(replace(first, direction=Direction.LOWER, threshold=0.6), *others))


def test_where_less_is_better_the_highest_fails_first(rated: Run) -> None:
    found = Reversed(rated.folder).summarize()["m"]
    assert (found["passed"], [one["test"]["case_id"] for one in found["failures"]]) == (2, ["c1"])
    found = Reversed(rated.folder).summarize(pass_mark=0.1)["m"]
    assert [one["test"]["case_id"] for one in found["failures"]] == ["c1", "c2", "c3"]


def test_without_a_rubric_the_first_evaluator_is_summed_up(workspace: Path) -> None:
    run = finished(Workspace(), text_suite(), text_outputs(repeats=2), "rouge")
    found = Run(run.folder).summarize()
    assert list(found) == ["good", "poor"]
    assert (found["good"]["metric"], found["good"]["total_tests"], found["good"]["passed"]) == ("rougeL", 6, 6)
    assert found["good"]["dimension_averages"].keys() == {"rouge1", "rouge2", "rougeLsum"}
    with pytest.raises(InputError, match="no values per case of bleu; of these it has: rouge"):
        Run(run.folder).summarize("bleu")


def test_a_model_without_a_score_has_no_pass_rate(workspace: Path) -> None:
    outputs = Outputs.from_rows([{"case_id": "c0", "model": "mute", "answer": "So."}])
    found = Run(finished(Workspace(), text_suite(), outputs, "text_matching").folder).summarize()["mute"]
    assert (found["total_tests"], found["unscored"], found["pass_rate"], found["failures"]) == (6, 6, None, [])
