"""The cases behind a metric of a small run, and one case in full."""

from pathlib import Path

import pytest

from metrics.analysis import case_ids, case_texts, cases, column_of_cases, example, leaderboard, with_answers
from metrics.analysis.cases.case_pages import failing, scored_metric
from metrics.core.errors import InputError
from metrics.core.suite import Outputs, Suite
from metrics.presentation.viewers.board_drawing import drawer
from metrics.reports.sections.worst_cases import worst_cases
from metrics.store import Run, Workspace
from tests.analysis.scored import scored_run
from tests.engine.engine_scenes import finished, text_outputs, text_suite


@pytest.fixture(scope="module")
def run(shelf: Workspace) -> Run:
    return finished(shelf, text_suite(12), text_outputs(12), "rouge", "looping_detection")


def test_worst_first_and_paged(run: Run) -> None:
    page = cases(run, "rouge", "rougeL", limit=5)
    assert (page.total, page.rows["model"].tolist()) == (24, ["poor"] * 5)
    assert page.rows["value"].is_monotonic_increasing
    assert cases(run, "rouge", "rougeL", limit=5, offset=20).rows["model"].tolist() == ["good"] * 4


def test_best_first_filters_and_search(run: Run) -> None:
    assert cases(run, "rouge", "rougeL", worst_first=False, limit=1).rows["model"].tolist() == ["good"]
    assert cases(run, "rouge", "rougeL", model="good", tag="third").total == 4
    assert cases(run, "rouge", "rougeL", search="NUMBER 11").rows["case_id"].unique().tolist() == ["c11"]
    assert cases(run, "rouge", "rougeL", status="error").total == 0
    page = cases(run, "rouge", "rougeL", limit=1000, tag="third", worst_first=False)
    ids = case_ids(run, "rouge", "rougeL", tag="third", worst_first=False)
    assert list(ids) == list(dict.fromkeys(page.rows["case_id"]))
    assert 0 < len(ids) < page.total


@pytest.mark.parametrize("hostile", ["'; DROP TABLE scores; --", "%", '"', "\x00"])
def test_hostile_search_finds_nothing(run: Run, hostile: str) -> None:
    assert cases(run, "rouge", "rougeL", search=hostile).total == 0


def test_example_has_everything_about_one_case(run: Run) -> None:
    view = example(run, "c3")
    assert view.case["question"] == "What is said of number 3?"
    assert [output["model"] for output in view.outputs] == ["good", "poor"]
    assert set(view.scores["metric"]) >= {"rougeL", "looping"}
    assert len(view.scores) == 2 * (4 + 4)
    with pytest.raises(InputError, match="has no case 'c99'"):
        example(run, "c99")


def test_only_some_cases(run: Run) -> None:
    assert cases(run, "rouge", "rougeL", only=("c3", "c1", "nobody")).total == 4
    assert cases(run, "rouge", "rougeL", model="good", only=()).total == 0


def test_those_that_another_model_does_better(run: Run, workspace: Path) -> None:
    assert cases(run, "rouge", "rougeL", model="poor", better_in="good", tag="third", disputed=True).total == 4
    assert cases(run, "rouge", "rougeL", model="good", better_in="poor").total == 0
    looping = {"looping_detection.looping": {"one": [0.0, 1.0, 0.5], "two": [1.0, 0.0, 0.5]}}  # lower is better
    made = scored_run(looping)
    assert cases(made, "looping_detection", "looping", model="one", better_in="two").rows["case_id"].tolist() == ["c1"]


def test_images_in_which_another_model_makes_fewer_errors(workspace: Path) -> None:
    shape = {"x": 10.0, "y": 10.0, "width": 30.0, "height": 20.0, "area": 600.0, "label": "cat"}
    images = [
        {"case_id": case, "image": f"{case}.png", "image_width": 120, "image_height": 90} for case in ("p0", "p1")
    ]
    truths = [{"case_id": row["case_id"], "annotation_id": place, **shape} for place, row in enumerate(images, 1)]
    found = [("both", "p0"), ("both", "p1"), ("first", "p0")]
    suite = Suite.from_rows("cats", "detection", images, truths)
    outputs = Outputs.from_rows(
        [{"case_id": case, "model": model} for model in ("both", "first") for case in ("p0", "p1")],
        [{"case_id": case, "model": model, "score": 0.9, **shape} for model, case in found],
    )
    of = (finished(Workspace(), suite, outputs, "average_precision"), "average_precision", "map_averaged")
    assert cases(*of, model="first", better_in="both").rows["case_id"].tolist() == ["p1"]
    assert cases(*of, model="both", better_in="first").total == 0


@pytest.mark.parametrize(("question", "preview"), [
    pytest.param("user: Hi.\nagent: Hello!\nuser: When does it open?", "When does it open?", id="what is asked last"),
    pytest.param("user: Hi.\nagent: " + "Well, " * 50 + "\nuser: When?\nagent: Soon.", "When?", id="far behind"),
    pytest.param("When? " * 50, ("When? " * 50)[:159] + "…", id="no conversation"),
])  # fmt: skip
def test_a_row_previews_what_is_asked(tmp_path: Path, question: str, preview: str) -> None:
    suite = Suite.from_rows("s", "text", [{"case_id": "c", "question": question, "expected_answers": ["x"]}])
    run = finished(
        Workspace(tmp_path), suite, Outputs.from_rows([{"case_id": "c", "model": "m", "answer": "x"}]), "rouge"
    )
    assert cases(run, "rouge", "rougeL").rows["preview"].tolist() == [preview]
    assert case_texts(run, ["c", "d"])["preview"].fillna("").tolist() == [preview, ""]


def test_the_worst_are_named_first_whichever_end_is_better(workspace: Path) -> None:
    values = [0.8, 0.95, 0.1, 0.9]
    lower, higher = "hallucination_claims", "answer_correctness"
    run = scored_run({name: {"m": values} for name in (lower, higher)})
    assert failing(run, lower, lower) == {"m": (3, ["c1", "c3", "c0"])}
    assert failing(run, higher, higher) == {"m": (1, ["c2"])}


def test_a_metric_without_values_of_cases_shows_one_of_its_evaluator_that_can_be_better(shelf: Workspace) -> None:
    """Of intervals, how far coverage is off is of all cases; that one is covered has no better end, its width has."""
    cases_of = [{"case_id": f"c{place}", "true_value": 1.0} for place in range(3)]
    rows = [
        {"case_id": f"c{place}", "model": "m", "predicted_value": 1.0, "predicted_low": low, "predicted_high": 2.0}
        for place, low in enumerate((0.0, -8.0, -2.0))
    ]
    suite = Suite.from_rows("s", "regression", cases_of)
    run = finished(shelf, suite, Outputs.from_rows(rows), "interval_coverage")
    assert scored_metric(run, "interval_coverage", "coverage_gap") == "mean_width"
    assert cases(run, "interval_coverage", "coverage_gap", model="m").rows["case_id"].tolist() == ["c1", "c2", "c0"]
    assert [one.because[0].title for one in worst_cases(run, leaderboard(run).columns, ["m"])[0]] == [
        "Interval coverage: Mean width"
    ] * 3
    board = leaderboard(run)
    column = next(one for one in board.columns if one.metric == "coverage_gap")
    listed = with_answers(run, cases(run, "interval_coverage", "coverage_gap", model="m"))
    drawn = drawer(column, "m", None, listed.rows, listed.total, {}, of_cases=column_of_cases(run, column))
    assert drawn["facts"].endswith("Worst 3 cases of 3 by Interval coverage: Mean width\u00a0↓")
    assert [case["value"] for case in drawn["cases"]] == ["10.0\u2007", "4.00", "2.00"]
