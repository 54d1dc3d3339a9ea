"""Leaderboard, cases, example, problems and insights of small runs whose numbers are known."""

from pathlib import Path

import pytest

from metrics.analysis import cases, example, insights, leaderboard, problems
from metrics.analysis.leaderboard.leaderboard import relative_goodness
from metrics.core.errors import InputError
from metrics.core.evaluator import Direction, Metric
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished, text_outputs, text_suite


@pytest.fixture
def run(workspace: Path) -> Run:
    return finished(Workspace(), text_suite(12), text_outputs(12), "rouge", "looping_detection")


def test_leaderboard_has_a_cell_for_every_model_and_metric(run: Run) -> None:
    board = leaderboard(run)
    assert board.models == ("good", "poor")
    assert board.tags == ("even", "third")
    assert {(model, column.key) for model in board.models for column in board.columns} == set(board.cells)
    good, poor = (board.cells[model, "rouge/rougeL"] for model in board.models)
    assert (good.value, good.n, good.goodness, good.rank, good.best, good.problem) == (1.0, 12, 1.0, 1, True, False)
    assert (poor.rank, poor.best, poor.problem) == (2, False, True)


def test_leaderboard_of_a_tag(run: Run) -> None:
    assert leaderboard(run, "third").cells["good", "rouge/rougeL"].n == 4


def test_lower_is_better_is_good_when_low(run: Run) -> None:
    board = leaderboard(run)
    column = next(column for column in board.columns if column.metric == "longest_repeated_substring")
    cell = board.cells["good", column.key]
    assert column.direction == "lower"
    assert cell.value is not None
    assert cell.goodness == pytest.approx(1 - cell.value)


@pytest.mark.parametrize(
    ("direction", "values", "goodness"),
    [
        pytest.param(Direction.HIGHER, [1.0, None, 3.0], [0.0, None, 1.0], id="higher"),
        pytest.param(Direction.LOWER, [1.0, 2.0, 3.0], [1.0, 0.5, 0.0], id="lower"),
        pytest.param(Direction.HIGHER, [2.0, 2.0], [None, None], id="all-equal"),
        pytest.param(Direction.NONE, [1.0, 2.0], [None, None], id="undirected"),
    ],
)
def test_goodness_of_an_open_range_is_relative(direction: Direction, values: list, goodness: list) -> None:  # type: ignore[type-arg]
    metric = Metric("m", "", high=float("inf"), direction=direction)
    assert relative_goodness(metric, values) == goodness


class TestCases:
    def test_worst_first_and_paged(self, run: Run) -> None:
        page = cases(run, "rouge", "rougeL", limit=5)
        assert page.total == 24
        assert page.rows["model"].tolist() == ["poor"] * 5
        assert page.rows["value"].is_monotonic_increasing
        rest = cases(run, "rouge", "rougeL", limit=5, offset=20)
        assert rest.rows["model"].tolist() == ["good"] * 4

    def test_a_page_past_the_end_still_knows_the_total(self, run: Run) -> None:
        page = cases(run, "rouge", "rougeL", offset=500)
        assert (len(page.rows), page.total) == (0, 24)

    def test_best_first_filters_and_search(self, run: Run) -> None:
        assert cases(run, "rouge", "rougeL", worst_first=False, limit=1).rows["model"].tolist() == ["good"]
        assert cases(run, "rouge", "rougeL", model="good", tag="third").total == 4
        assert cases(run, "rouge", "rougeL", search="NUMBER 11").rows["case_id"].unique().tolist() == ["c11"]
        assert cases(run, "rouge", "rougeL", status="error").total == 0

    @pytest.mark.parametrize("hostile", ["'; DROP TABLE scores; --", "%", '"', "\x00"])
    def test_hostile_search_finds_nothing(self, run: Run, hostile: str) -> None:
        assert cases(run, "rouge", "rougeL", search=hostile).total == 0


def test_example_has_everything_about_one_case(run: Run) -> None:
    view = example(run, "c3")
    assert view.case["question"] == "What is said of number 3?"
    assert [output["model"] for output in view.outputs] == ["good", "poor"]
    assert set(view.scores["metric"]) >= {"rougeL", "unique_sentences"}
    assert len(view.scores) == 2 * (4 + 3)
    with pytest.raises(InputError, match="has no case 'c99'"):
        example(run, "c99")


def test_problems_are_models_on_the_wrong_side(workspace: Path) -> None:
    found = problems(finished(Workspace(), text_suite(120), text_outputs(120), "rouge"))
    assert "rougeL" in set(found.loc[found.model == "poor", "metric"])
    assert "rougeL" not in set(found.loc[found.model == "good", "metric"])
    row = found[(found.model == "poor") & (found.metric == "rougeL")].iloc[0]
    assert row.severity == "high"
    assert "below the threshold 0.75" in row.message


def test_insights_name_the_best_model(run: Run) -> None:
    found = insights(run)
    best = found[(found.kind == "best_model") & (found.evaluator == "rouge")].iloc[0]
    assert best.model == "good"
