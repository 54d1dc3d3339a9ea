"""Ranks of the models of a run, from its stored scores; and what they do to the leaderboard."""

import sys
from pathlib import Path

import numpy as np
import pytest

from metrics.analysis import leaderboard, ranks
from metrics.analysis.leaderboard.ranks import Ranks
from metrics.core.suite import Outputs, Suite
from metrics.stats import power
from metrics.stats.model_ranking import compare_pairs
from metrics.stats.paired_tests import mcnemar_mid_p
from metrics.store import Run, Workspace
from tests.analysis.comparison import test_compare as numbers
from tests.analysis.scored import scored_run
from tests.engine.engine_scenes import finished

WORDS = "one two three four five six seven eight nine ten".split()
SHARES = {"best": 0.9, "second": 0.6, "level": 0.6, "last": 0.1}


def scene(groups: int = 0, weights: bool = False, repeats: int = 1) -> tuple[Suite, Outputs]:
    """60 cases; each model says a share of the ten expected words, with luck of its own in every case."""
    rng = np.random.default_rng(0)
    cases = [
        {
            "case_id": f"c{index}", "question": "?", "expected_answers": [" ".join(WORDS)],
            "tags": ["odd"] if index % 2 else [],
        }
        | ({"group": f"g{index % groups}"} if groups else {})
        | ({"weight": 1.0 + index % 3} if weights else {})
        for index in range(60)
    ]  # fmt: skip
    outputs = [
        {
            "case_id": f"c{index}", "model": model, "run": repeat + 1,
            "answer": " ".join(word for word in WORDS if rng.random() < share) or "none",
        }
        for model, share in SHARES.items()
        for index in range(60)
        for repeat in range(repeats)
        if (model, index) != ("second", 7)
    ]  # fmt: skip
    return Suite.from_rows("words", "text", cases), Outputs.from_rows(outputs)


def made(place: Workspace | None = None, **options: object) -> Run:
    return finished(place or Workspace(), *scene(**options), "rouge", "looping_detection")


def matrix(run: Run, metric: str = "rouge1") -> np.ndarray:
    scores = run.scores[run.scores["metric"] == metric]
    table = scores.pivot_table(index="case_id", columns="model", values="value", dropna=False)
    return table.reindex(index=[f"c{index}" for index in range(60)], columns=list(run.models)).to_numpy()


@pytest.fixture(scope="module")
def run(shelf: Workspace) -> Run:
    return made(shelf)


def test_models_without_a_significant_difference_share_a_rank(run: Run) -> None:
    found = ranks(run)["rouge", "rouge1"]
    assert dict(found.ranges) == {"best": (1, 1), "second": (2, 3), "level": (2, 3), "last": (4, 4)}
    board = leaderboard(run)
    cells = {model: board.cells[model, "rouge/rouge1"] for model in SHARES}
    assert {model: (cell.rank, cell.last_rank) for model, cell in cells.items()} == dict(found.ranges)
    assert {cell.ranked for cell in cells.values()} == {4}
    assert all(cell.paired for cell in cells.values())
    assert [model for model, cell in cells.items() if cell.best] == ["best"]


def test_it_is_what_the_stored_scores_say(run: Run) -> None:
    pairs = compare_pairs(matrix(run))
    found = ranks(run)["rouge", "rouge1"]
    assert found.error == pytest.approx(np.median(pairs.error))
    assert (found.cases, found.units) == (59, 59)  # three pairs lack a case of `second`
    assert found.detectable == pytest.approx(power.detectable(np.median(pairs.error), 59))
    assert found.cases_needed(found.detectable) == 59
    assert found.cases_needed(found.detectable / 2) == pytest.approx(236, rel=0.03)


@pytest.mark.parametrize("difference", [0.05, 0.1, 0.2])
def test_the_cases_needed_are_whole_and_enough(difference: float) -> None:
    """59 cases in 12 groups: so many groups more take so many cases, a part of one is one."""
    units = power.units_needed(0.1, 12, difference)
    assert 12 * Ranks({}, {}, 59, 12, 0.1).cases_needed(difference) - 59 * units in range(12)


@pytest.mark.parametrize("options", [{"groups": 12}, {"weights": True}, {"repeats": 2}], ids=str)
def test_groups_weights_and_repeats_count(workspace: Path, options: dict[str, int]) -> None:
    run = made(**options)
    weights = 1.0 + np.arange(60) % 3 if "weights" in options else None
    clusters = np.arange(60) % 12 if "groups" in options else None
    pairs = compare_pairs(matrix(run), weights, clusters)
    found = ranks(run)["rouge", "rouge1"]
    assert found.error == pytest.approx(np.median(pairs.error))
    assert found.units == (12 if clusters is not None else 59)
    worth = min(found.units, 1 + np.median(pairs.freedom))  # less than that many of unequal weight or size
    assert found.detectable == pytest.approx(power.detectable(found.error, worth))
    assert found.cases_needed(found.detectable) in (59, 60)


@pytest.mark.parametrize(("repeats", "by_mcnemar"), [(1, True), (2, False)], ids=["once", "twice"])
def test_answers_that_are_right_or_wrong_are_ranked_by_mcnemars_test(workspace, repeats, by_mcnemar) -> None:
    run = finished(Workspace(), numbers.suite(), numbers.outputs(repeats=repeats), "text_matching")
    (p,) = ranks(run)["text_matching", "passes"].adjusted.values()
    assert (p == pytest.approx(mcnemar_mid_p(8, 3))) is by_mcnemar


def test_lower_is_better_ranks_the_low_first(run: Run) -> None:
    column = next(
        column
        for column in leaderboard(run).columns
        if column.direction == "lower" and (column.evaluator, column.metric) in ranks(run)
    )
    cells = {model: leaderboard(run).cells[model, column.key] for model in SHARES}
    low, high = min(cells, key=lambda name: cells[name].value), max(cells, key=lambda name: cells[name].value)
    assert (cells[low].rank, cells[high].last_rank) == (1, 4)


def test_models_that_are_equal_say_nothing_of_how_much_others_differ(workspace: Path) -> None:
    one, other = np.random.default_rng(1).random((2, 12)).tolist()
    name, values = "answer_correctness", {"one": one, "other": other}
    of_two, of_three = (ranks(scored_run({name: given}))[name, name] for given in (values, values | {"same": other}))
    assert of_two.error == pytest.approx(np.std(np.subtract(one, other), ddof=1) / np.sqrt(12))
    assert (of_three.error, of_three.cases, of_three.units) == (pytest.approx(of_two.error), 12, 12)


def test_where_no_error_is_known_nothing_is_said_of_what_would_be_detected() -> None:
    assert Ranks({}, {("a", "b"): 0.25}).detectable is None


def test_more_scores_than_fit_are_not_ranked(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules["metrics.analysis.leaderboard.ranks"]  # the package's `ranks` is the function
    monkeypatch.setattr(module, "MAX_VALUES", 100)
    monkeypatch.setattr(sys.modules["metrics.analysis.leaderboard.leaderboard"], "MAX_VALUES", 100)
    cell = leaderboard(made()).cells["best", "rouge/rouge1"]
    assert (cell.rank, cell.last_rank, cell.best, cell.paired) == (None, None, False, False)
    assert cell.untested.startswith("no significance claimed: more than")


class TestUnscored:
    def test_bounds_count_every_unscored_case_as_worst_and_as_best(self, run: Run) -> None:
        cell = leaderboard(run).cells["second", "rouge/rouge1"]
        assert (cell.n, cell.unscored, cell.if_worst) == (59, 1, pytest.approx(cell.value * 59 / 60))
        assert cell.if_best == pytest.approx((cell.value * 59 + 1) / 60)
        whole = leaderboard(run).cells["best", "rouge/rouge1"]
        assert (whole.if_worst, whole.if_best) == (None, None)

    def test_by_weight(self, workspace: Path) -> None:
        cell = leaderboard(made(weights=True)).cells["second", "rouge/rouge1"]
        lost = 1.0 + 7 % 3
        assert cell.if_worst == pytest.approx(cell.value * (120 - lost) / 120)
        assert cell.if_best == pytest.approx((cell.value * (120 - lost) + lost) / 120)

    def test_the_worst_of_a_metric_that_is_better_low_is_its_high_end(self, run: Run) -> None:
        board = leaderboard(run)
        column = next(column for column in board.columns if column.direction == "lower" and np.isfinite(column.high))
        cell = board.cells["second", column.key]
        assert cell.if_worst == pytest.approx((cell.value * 59 + column.high) / 60)
        assert cell.if_best == pytest.approx((cell.value * 59 + column.low) / 60)

    def test_they_are_exported(self, run: Run) -> None:
        from metrics.reports.renderers.export_tables import table

        rows = table(run, "aggregates").set_index(["model", "metric"])
        rows = rows[rows["slice"].isna()]
        cell = leaderboard(run).cells["second", "rouge/rouge1"]
        assert rows.loc[("second", "rouge1"), ["if_worst", "if_best"]].tolist() == [cell.if_worst, cell.if_best]


def test_only_pairs_with_a_model_of_repeats_lose_mcnemars_test(workspace: Path) -> None:
    """The third of three models has two answers to one of twenty cases."""
    outputs = numbers.outputs({"a": set(range(12)), "b": set(), "c": set(range(6))})
    again = {"case_id": "c19", "model": "c", "run": 2, "answer": "19"}
    both = Outputs.from_rows([*outputs.outputs.to_pylist(), again])
    found = ranks(finished(Workspace(), numbers.suite(), both, "text_matching"))["text_matching", "passes"]
    assert found.adjusted["a", "b"] == pytest.approx(3 * mcnemar_mid_p(0, 12))
    assert found.adjusted["c", "b"] == pytest.approx(2 * 2 / 2**7)  # the share of signs of seven differences, one of ½
