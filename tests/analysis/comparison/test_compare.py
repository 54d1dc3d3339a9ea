"""Comparisons of two models whose every number is known, of one model in two runs, and the cases behind them."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from metrics.analysis import Comparison, Difference, compare, comparison_of_columns, differences, leaderboard
from metrics.analysis.comparison.case_values import CaseValues
from metrics.analysis.comparison.compare import case_differences
from metrics.core.errors import InputError
from metrics.core.suite import Outputs, Suite
from metrics.stats.paired_intervals import newcombe_paired
from metrics.stats.paired_tests import mcnemar_mid_p
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished, text_outputs, text_suite

SIZE = 20
RIGHT = {"old": set(range(12)), "new": set(range(3, 20))}  # both 9, only new 8, only old 3, neither 0


def suite(groups: int = 0, tags: bool = True) -> Suite:
    """Twenty cases whose answer is their number; the even ones are tagged."""
    rows = [
        {
            "case_id": f"c{index}", "question": f"Which number comes after {index - 1}?",
            "expected_answers": [str(index)], "tags": ["even"] if tags and index % 2 == 0 else [],
            "conditions": f'"{index}"', "group": f"g{index % groups}" if groups else None,
        }
        for index in range(SIZE)
    ]  # fmt: skip
    return Suite.from_rows("numbers", "text", rows)


def outputs(
    right: dict[str, set[int]] = RIGHT, repeats: int = 1, without: dict[str, set[int]] | None = None
) -> Outputs:
    rows = [
        {"case_id": f"c{index}", "model": model, "run": repeat + 1, "answer": str(index) if index in known else "none"}
        for model, known in right.items()
        for index in range(SIZE)
        for repeat in range(repeats)
        if index not in (without or {}).get(model, set())
    ]
    return Outputs.from_rows(rows)


def row_of(found: Comparison, metric: str = "passes") -> Difference:
    return next(row for row in found.rows if row.column.metric == metric)


@pytest.fixture(scope="module")
def run(shelf: Workspace) -> Run:
    return finished(shelf, suite(), outputs(), "text_matching")


def test_every_number_of_a_binary_metric(run: Run) -> None:
    row = row_of(compare(run, "old", "new"))
    assert (row.n, row.only_a, row.only_b, row.neither, row.clusters) == (20, 0, 0, 0, 20)
    assert (row.a, row.b, row.difference) == pytest.approx((0.6, 0.85, 0.25))
    assert (row.wins, row.losses, row.ties, row.test, row.p) == (8, 3, 9, "mcnemar", mcnemar_mid_p(8, 3))
    assert (row.low, row.high) == newcombe_paired(9, 8, 3, 0)
    error = np.repeat([1.0, -1.0, 0.0], [8, 3, 9]).std(ddof=1) / np.sqrt(20)
    assert row.detectable == pytest.approx((2.093 + 0.8416) * error, rel=1e-3)
    assert (row.significance, row.words) == ("open", "no significant difference")


def test_lower_is_better_turns_wins_and_losses(run: Run) -> None:
    found = compare(run, "old", "new")
    passes, failures = row_of(found), row_of(found, "failures")
    assert (failures.column.direction, failures.difference) == ("lower", pytest.approx(-0.25))
    assert (failures.wins, failures.losses, failures.better) == (passes.wins, passes.losses, pytest.approx(0.25))


def test_swapping_the_models_turns_every_sign(workspace: Path) -> None:
    run = finished(Workspace(), suite(groups=7), outputs(), "text_matching", "rouge", "looping_detection")
    there, back = compare(run, "old", "new"), compare(run, "new", "old")
    assert len(there.rows) == len(back.rows) > 5
    turned = {"better": "worse", "worse": "better", "higher": "lower", "lower": "higher"}
    for one, other in zip(there.rows, back.rows, strict=True):
        assert (one.a, one.b) == (other.b, other.a)
        assert (one.wins, one.losses, one.ties) == (other.losses, other.wins, other.ties)
        assert (one.p, one.adjusted) == pytest.approx((other.p, other.adjusted))
        assert other.significance == turned.get(one.significance, one.significance)
        if one.difference is not None and other.difference is not None:
            assert one.difference == pytest.approx(-other.difference)
            assert one.p is None or 0 <= one.p <= (one.adjusted or 0.0) <= 1


def test_p_is_corrected_over_all_metrics_and_pairs_of_the_run_whichever_are_shown(run: Run) -> None:
    found = compare(run, "old", "new")
    keys = [row.column.key for row in found.rows]
    tested = [row for row in found.rows if row.p is not None]
    pairs = math.comb(len(run.models), 2)
    assert 0 < len(tested) < len(keys)  # without parse failures there was nothing to test
    assert len(tested) <= found.tested == leaderboard(run).tests <= pairs * len(tested)
    row = row_of(found)
    assert row.adjusted in [
        p for pair, p in leaderboard(run).ranks[row.column.key].adjusted.items() if {*pair} == {"old", "new"}
    ]
    alone = comparison_of_columns(found, [row.column.key])
    assert alone.rows == (row,)
    assert alone.tested == found.tested
    plain = comparison_of_columns(found, keys, "none")
    assert [entry.adjusted for entry in plain.rows] == [entry.p for entry in plain.rows]
    assert (
        row.p
        <= (row_of(comparison_of_columns(found, keys, "benjamini_hochberg")).adjusted or 0.0)
        <= (row.adjusted or 0.0)
    )


@pytest.mark.parametrize(("right", "words"), [
    pytest.param(set(range(SIZE)), "B is better", id="better"),
    pytest.param(set(), "A is better", id="worse"),
    pytest.param(set(range(8)) | {12, 13}, "no significant difference", id="open"),
    pytest.param(set(range(12)), "equal on every case", id="equal"),
    pytest.param(set(range(17)), "B may be better (uncorrected)", id="leaning"),
])  # fmt: skip
def test_the_significance(workspace: Path, right: set[int], words: str) -> None:
    other = set(range(0, SIZE, 2))  # a third model, so that there are several tests
    run = finished(Workspace(), suite(), outputs({"old": RIGHT["old"], "new": right, "other": other}), "text_matching")
    assert row_of(compare(run, "old", "new")).words == words


def test_differences_that_do_not_vary_have_no_detectable_one(workspace: Path) -> None:
    run = finished(Workspace(), suite(), outputs({"old": set(), "new": set(range(SIZE))}), "text_matching")
    row = row_of(compare(run, "old", "new"))
    assert (row.difference, row.detectable, row.units, row.outcomes) == (1.0, None, "20 cases", (20, 0, 0))


def test_the_interval_of_a_metric_with_negative_values_goes_as_far_as_its_range(run: Run) -> None:
    column = replace(row_of(compare(run, "old", "new")).column, low=-1.0, high=1.0, binary=False)
    rng = np.random.default_rng(0)
    low, high = (CaseValues(end + 0.05 * rng.random(SIZE), True) for end in (-0.95, 0.9))
    [row] = case_differences([(column, low, high)], run.sampling_design())
    assert row.difference == pytest.approx(1.85, abs=0.05)
    assert row.difference < row.high <= 2.0
    [back] = case_differences([(column, high, low)], run.sampling_design())
    assert back.low == pytest.approx(-row.high, abs=0.01)


class TestCases:
    def test_only_those_that_both_have_are_compared_and_it_is_said(self, workspace: Path) -> None:
        given = outputs(without={"old": {0, 1, 5}, "new": {0, 19}})
        found = compare(finished(Workspace(), suite(), given, "text_matching"), "old", "new")
        row = row_of(found)
        assert (row.n, row.only_a, row.only_b, row.neither, row.wins + row.losses + row.ties) == (16, 1, 2, 1, 16)
        assert found.notes == (
            "Only cases that both have a value for are compared, metric by metric: up to 1 that only A has and up to 2 "
            "that only B has are left out.",
            "Text matching: Passes: only one model has a score of 3 of 19 cases; with these the worst or the best for "
            "either, the difference is between 0.263 and 0.421.",
        )

    def test_repeats_count_once(self, workspace: Path) -> None:
        row = row_of(compare(finished(Workspace(), suite(), outputs(repeats=3), "text_matching"), "old", "new"))
        assert (row.n, row.wins, row.losses, row.test) == (20, 8, 3, "sign_flips")

    def test_groups_are_the_units(self, workspace: Path) -> None:
        found = compare(finished(Workspace(), suite(groups=4), outputs(), "text_matching"), "old", "new")
        row = row_of(found)
        assert (found.clustered, row.n, row.clusters, row.test) == (True, 20, 4, "sign_flips")
        assert (row.p * 16) == pytest.approx(round(row.p * 16))  # all 2⁴ patterns

    def test_metrics_of_the_whole_data_set_without_resamples_are_not_paired(self, workspace: Path) -> None:
        rows = [{"case_id": f"c{index}", "question": "?", "label": "ab"[index % 2]} for index in range(30)]
        said = [
            {"case_id": f"c{i}", "model": model, "label": "ab"[(i + (i % wrong == 0)) % 2], "score": 0.9}
            for model, wrong in (("x", 5), ("y", 3))
            for i in range(30)
        ]
        given = Outputs.from_rows([{"case_id": row["case_id"], "model": row["model"]} for row in said], said)
        none = {"classification": {"resamples": 0}}
        of = Suite.from_rows("ab", "classification", rows)
        run = finished(Workspace(), of, given, "classification", parameters=none)
        found = compare(run, "x", "y")
        assert [row.column.metric for row in found.rows] == ["accuracy"]
        board = leaderboard(run)
        assert {entry.column.metric for entry in found.unpaired} == {c.metric for c in board.columns} - {"accuracy"}
        entry = found.unpaired[0]
        assert (entry.a, entry.b) == (board.cells["x", entry.column.key], board.cells["y", entry.column.key])
        with pytest.raises(InputError, match="no values per case"):
            differences(run, "x", "y", "classification", entry.column.metric)


class TestTwoRuns:
    def test_one_model_in_two_runs(self, run: Run, shelf: Workspace) -> None:
        again = finished(shelf, suite(), outputs({"old": RIGHT["new"]}), "text_matching", "rouge")
        found = compare(run, "old", "old", other=again)
        same = row_of(compare(run, "old", "new"))
        row = row_of(found)
        assert (row.a, row.b, row.p, row.wins) == (same.a, same.b, same.p, same.wins)
        assert found.notes == ("In one of the two runs only, so not compared: ROUGE.",)
        assert (found.run_a, found.run_b) == (run.id, again.id)
        lost = differences(run, "old", "old", "text_matching", "passes", other=again)
        assert lost.rows["case_id"].tolist() == ["c0", "c1", "c2"]


@pytest.mark.parametrize(("pair", "message"), [
    pytest.param(("old", "old"), "cannot be compared with itself in one run", id="one-model-twice"),
    pytest.param(("old", "x'; --"), 'has no model "x\'; --"; it has old, new', id="unknown-model"),
])  # fmt: skip
def test_what_cannot_be_paired_is_refused(run: Run, pair: tuple[str, str], message: str) -> None:
    for asked in (lambda: compare(run, *pair), lambda: differences(run, *pair, "text_matching", "passes")):
        with pytest.raises(InputError) as refused:
            asked()
        assert message in str(refused.value)


def test_runs_of_two_suites_are_refused(run: Run, shelf: Workspace) -> None:
    other = finished(shelf, text_suite(6), text_outputs(6), "rouge")
    with pytest.raises(InputError, match="different suites"):
        compare(run, "old", "good", other=other)


class TestDifferences:
    @pytest.mark.parametrize(
        ("kind", "cases"), [("losses", {0, 1, 2}), ("wins", set(range(12, 20))), ("ties", set(range(3, 12)))]
    )
    @pytest.mark.parametrize("metric", ["passes", "failures"])
    def test_are_those_that_were_counted(self, run: Run, metric: str, kind: str, cases: set[int]) -> None:
        page = differences(run, "old", "new", "text_matching", metric, kind)
        assert (page.total, set(page.rows["case_id"])) == (len(cases), {f"c{index}" for index in cases})
        assert list(page.rows.columns) == ["case_id", "preview", "a", "b", "difference"]

    def test_the_largest_come_first_and_pages_follow_each_other(self, workspace: Path) -> None:
        run = finished(Workspace(), text_suite(12), text_outputs(12), "rouge")
        page = differences(run, "good", "poor", "rouge", "rouge2", limit=5)
        assert page.total == 12
        assert page.rows["difference"].abs().is_monotonic_decreasing
        assert (page.rows["difference"] == page.rows["b"] - page.rows["a"]).all()
        rest = differences(run, "good", "poor", "rouge", "rouge2", limit=50, offset=5)
        assert len({*page.rows["case_id"], *rest.rows["case_id"]}) == 12
        assert differences(run, "good", "poor", "rouge", "rouge2", offset=500).total == 12
