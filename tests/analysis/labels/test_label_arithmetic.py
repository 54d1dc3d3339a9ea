"""What is worked out of scores and labels, without a run."""

from dataclasses import fields, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score, roc_auc_score

from metrics.analysis.labels.corrected_means import _translated
from metrics.analysis.labels.human_labels import Criterion
from metrics.analysis.labels.judge_agreement import UNDEFINED, Agreement, Stat, agreement, cell_codes, stat_of
from metrics.analysis.labels.judge_bias import DUMMIES, _levels
from metrics.analysis.labels.label_queue import _interleaved
from metrics.analysis.labels.labelled_scores import LabelledScores, label_sign
from metrics.analysis.labels.raters import _paired
from metrics.stats.intervals import wilson
from metrics.stats.student_t import student

SCORE = np.tile([0.1, 0.4, 0.35, 0.8, 0.9, 0.5], 2)
LABEL = np.tile([1.0, 2.0, 1.0, 3.0, 3.0, 1.0], 2)
PASSED = LABEL > 1.5


def scores(direction: str = "higher", threshold: float | None = None, sign: int = 1, rows: int = 12) -> LabelledScores:
    column: Any = SimpleNamespace(direction=direction, threshold=threshold, calibration=None)
    places = np.arange(rows)
    return LabelledScores(
        column, sign, sign, SCORE[:rows], LABEL[:rows], PASSED[:rows], places, np.zeros(rows, np.int64), places,
        np.ones(rows, bool), np.ones(rows),
    )  # fmt: skip


def value(found: Agreement, name: str) -> float | None:
    stat = getattr(found, name)
    assert isinstance(stat, Stat)
    return stat.value


def test_agreement_by_hand() -> None:
    found = agreement(scores(threshold=0.4), judged=True)
    assert (found.judged, found.n, found.cases, found.threshold, found.chosen) == (True, 12, 12, 0.4, "declared")
    assert value(found, "spearman") == pytest.approx(spearmanr(SCORE, LABEL).statistic)
    assert value(found, "auc") == pytest.approx(roc_auc_score(PASSED, SCORE))
    assert found.table == (4, 2, 0, 6)  # on the threshold passes
    assert value(found, "kappa") == pytest.approx(cohen_kappa_score(PASSED, SCORE >= 0.4))
    rates = [value(found, name) for name in ("accuracy", "sensitivity", "specificity")]
    assert rates == pytest.approx([5 / 6, 1, 2 / 3])


def test_the_threshold_given_declared_or_suggested() -> None:
    assert (agreement(scores(threshold=0.4), threshold=0.85).threshold, agreement(scores()).chosen) == (
        0.85,
        "suggested",
    )
    assert agreement(scores(threshold=0.4), threshold=0.85).chosen == "given"
    assert agreement(scores()).threshold == pytest.approx(0.375)  # of .375 and .65, both 5 of 6: the lower


def test_where_lower_is_better_signs_turn() -> None:
    turned = agreement(scores("lower", threshold=0.4, sign=-1))
    assert value(turned, "spearman") == pytest.approx(spearmanr(SCORE, LABEL).statistic)
    assert value(turned, "auc") == pytest.approx(1 - roc_auc_score(PASSED, SCORE))
    assert cell_codes(scores(sign=-1), 0.4).tolist() == 2 * [1, 3, 1, 2, 2, 0]


def test_a_metric_without_a_direction_has_a_correlation_alone() -> None:
    found = agreement(scores("none"))
    assert value(found, "spearman") == pytest.approx(spearmanr(SCORE, LABEL).statistic)
    stats = [field.name for field in fields(Agreement) if isinstance(getattr(found, field.name), Stat)]
    assert [name for name in stats if value(found, name) is not None] == ["spearman"]
    assert (found.threshold, found.chosen, found.table) == (None, "", ())


@pytest.mark.parametrize(("rows", "clusters", "needs"), [(9, 9, 1), (10, 10, 0), (0, 0, 10), (12, 3, 1)])
def test_below_ten_outputs_of_four_cases_it_says_how_many_more_it_takes(rows: int, clusters: int, needs: int) -> None:
    """Eight labels once had κ 0.00 (0.00–0.00)."""
    both = scores(threshold=0.4, rows=rows)
    found = agreement(replace(both, clusters=both.clusters % max(1, clusters)))
    assert (found.n, found.cases) == (rows, clusters)
    stats = [found.spearman, found.auc, found.kappa, found.accuracy, found.balanced]
    assert {one.needs for one in stats} == {needs}
    assert all((one.value is None) is bool(needs) for one in stats)
    assert sum(found.table) == rows, "counts are counts"


def test_rates_need_five_outputs_of_their_kind() -> None:
    found = agreement(replace(scores(threshold=0.4), passed=np.arange(12) < 3))
    assert (found.sensitivity, found.specificity.needs) == (Stat(needs=2), 0)
    assert (found.accuracy.needs, found.kappa.needs, found.balanced) == (0, 0, Stat(needs=2))


@pytest.mark.parametrize("kinds", [1, 2, DUMMIES, DUMMIES + 1])
def test_few_labels_are_levels_and_many_a_number(kinds: int) -> None:
    label = np.arange(kinds).repeat(2).astype(float)
    found = _levels(label)
    if kinds > DUMMIES:
        assert found.tolist() == label[:, None].tolist()
    else:
        assert found.shape == (2 * kinds, kinds - 1)
        assert found.tolist() == [[float(one == kind) for kind in range(1, kinds)] for one in label]


def test_raters_are_paired_by_name_or_by_place() -> None:
    ratings = np.full((3, 5), np.nan)
    by_place = np.array([[1, 2, 3, 4], [5, 6, 7, np.nan], [4, 3, 2, 1]])
    people: Any = SimpleNamespace(raters=("a", "b", "c", "d", "e"), ratings=ratings, by_place=by_place)
    names, found = _paired(people)
    assert names == ["1st label", "2nd label", "3rd label", "4th label"]
    assert np.array_equal(found, [[1, 2, 3, 4], [np.nan] * 4, [4, 3, 2, 1]], equal_nan=True)
    for places in (by_place[:, :1], np.zeros((3, 5))):
        names, found = _paired(SimpleNamespace(raters=("a", "b", "c", "d", "e"), ratings=ratings, by_place=places))
        assert names == ["a", "b", "c", "d", "e"]
        assert found is ratings


def criterion(name: str = "good", graded: bool = True, low: float = 1.0, high: float = 5.0) -> Any:
    return SimpleNamespace(criterion=Criterion(name, 3, 0, 1, graded, low, high))


def metric(direction: str, low: float = 0.0, high: float = 1.0) -> Any:
    return SimpleNamespace(metric="harm", direction=direction, low=low, high=high)


@pytest.mark.parametrize(("people", "direction", "sign"), [
    pytest.param(criterion("harm"), "lower", -1, id="grades of a metric where lower is better"),
    pytest.param(criterion("harm"), "higher", 1, id="grades of a metric where higher is better"),
    pytest.param(criterion("harm", graded=False), "lower", 1, id="pass is better whatever its name"),
    pytest.param(criterion("good"), "lower", 1, id="grades of something else"),
])  # fmt: skip
def test_a_higher_label_is_better_but_for_grades_of_a_metric_where_lower_is(people, direction, sign) -> None:
    assert label_sign(people, metric(direction)) == sign


@pytest.mark.parametrize(("people", "column", "unit", "labels"), [
    pytest.param(criterion(), metric("higher"), "metric", [0.0, 0.25, 1.0], id="scaled"),
    pytest.param(criterion(), metric("lower"), "metric", [1.0, 0.75, 0.0], id="scaled and turned"),
    pytest.param(criterion("harm"), metric("lower"), "metric", [0.0, 0.25, 1.0], id="both better low"),
    pytest.param(criterion(), metric("higher", 1.0, 9.0), "metric", [1.0, 2.0, 5.0], id="from the same low end"),
    pytest.param(criterion(), metric("higher", 0.0, 5.0), "metric", [1.0, 2.0, 5.0], id="to the same high end"),
    pytest.param(criterion(), metric("lower", 0.0, 9.0), "metric", [5.0, 4.0, 1.0], id="turned in their own range"),
    pytest.param(criterion(), metric("higher", 2.0, 10.0), "metric", [2.0, 4.0, 10.0], id="low is outside"),
    pytest.param(criterion(), metric("higher", 0.0, np.inf), "labels", [1.0, 2.0, 5.0], id="open"),
    pytest.param(criterion(), metric("lower", 0.0, np.inf), "labels", [1.0, 2.0, 5.0], id="open and lower"),
])  # fmt: skip
def test_labels_in_the_range_of_a_metric(people: Any, column: Any, unit: str, labels: list[float]) -> None:
    found = _translated(np.array([1.0, 2.0, 5.0]), people, column)
    assert (found[0], found[1].tolist()) == (unit, labels)


def test_no_interval_has_the_width_0() -> None:
    """Where ρ is 1 in every resample, its lower end is that of a share of as many of as many clusters."""
    found = stat_of(np.ones(20), np.arange(12) // 2)
    low = 1 / (1 + student(5) ** 2 / 6)
    assert (found.value, found.low, found.high) == (1.0, pytest.approx(2 * low - 1), 1.0)
    found_all = agreement(replace(scores(threshold=0.4), score=LABEL))
    assert found_all.pooled == UNDEFINED, "which takes several models or tags"
    names = {field.name for field in fields(Agreement)} - {"suggested", "pooled"}
    every = [getattr(found_all, name) for name in sorted(names)]
    ends = [(one.low, one.high) for one in every if isinstance(one, Stat)]
    assert all(low < high for low, high in ends), ends


@pytest.mark.parametrize(("near", "drawn_next", "most", "expected"), [
    pytest.param([1, 3, 7], True, 10, ["5 drawn", "1 weighted", "3 drawn"], id="in turn, until none is left to draw"),
    pytest.param([1, 3, 7], False, 10, ["1 weighted", "5 drawn", "3 weighted"], id="until none is left to draw, again"),
    pytest.param([7, 8, 9], False, 4, ["7 weighted", "5 drawn", "8 weighted", "3 drawn"], id="as many as asked for"),
    pytest.param([1], True, 10, ["5 drawn", "1 weighted", "3 drawn"], id="each once"),
    pytest.param([], False, 2, ["5 drawn", "3 drawn"], id="none in doubt"),
])  # fmt: skip
def test_outputs_to_label_are_drawn_in_turn(near, drawn_next, most, expected) -> None:
    found = _interleaved(np.array([5, 3, 1]), np.array(near, np.int64), drawn_next, most)
    assert [f"{place} {how}" for place, how in found] == expected


def test_sensitivity_is_of_what_people_pass_and_specificity_of_what_they_fail() -> None:
    found = agreement(replace(scores(threshold=0.38), score=np.where(PASSED, 0.9, 0.1)).part(np.arange(11)))
    assert (found.sensitivity, found.specificity) == (Stat(1.0, *wilson(6, 6)), Stat(1.0, *wilson(5, 5)))
    assert found.accuracy == Stat(1.0, *wilson(11, 11))
    assert not found.judged


def test_outputs_of_one_case_count_as_copies_where_nothing_differs() -> None:
    """Twelve outputs of six cases: the interval is that of 6 of 6, for few cases."""
    both = replace(scores(threshold=0.38), score=np.where(PASSED, 0.9, 0.1), clusters=np.arange(12) // 2)
    size = 6 * (student(11) / student(5)) ** 2
    assert agreement(both).accuracy == Stat(1.0, *wilson(size, size))


def test_a_suggested_threshold_is_judged_by_the_labels_that_did_not_choose_it() -> None:
    own, given = agreement(scores()), agreement(scores(), threshold=agreement(scores()).suggested.value)
    elsewhere = agreement(scores(), threshold=0.37)  # as good on these labels
    assert own.held_out
    assert given == own
    assert not elsewhere.held_out
    assert elsewhere.table == own.table
    assert own.accuracy.value < elsewhere.accuracy.value
    mean = (own.sensitivity.value + own.specificity.value) / 2
    assert own.balanced.value == elsewhere.balanced.value == pytest.approx(mean)


def test_a_threshold_calibrated_on_these_labels_is_judged_like_a_suggested_one() -> None:
    both = scores()
    cut = agreement(both).suggested.value
    column: Any = SimpleNamespace(direction="higher", threshold=cut, calibration=SimpleNamespace(threshold=cut))
    found = agreement(replace(both, column=column))
    assert (found.chosen, found.held_out, found.kappa) == ("calibrated", True, agreement(both).kappa)
    column.calibration = None
    assert agreement(replace(both, column=column)).chosen == "declared"


def test_with_a_random_sample_the_picked_outputs_choose_thresholds_only() -> None:
    right = np.arange(12) < 10
    both = replace(scores(threshold=0.38), score=np.where(right == PASSED, 0.9, 0.1), random=right)
    found, all_random = agreement(both), agreement(replace(both, random=np.ones(12, bool)))
    assert (found.sample, found.n, found.picked, found.accuracy.value) == ("outputs", 10, 2, 1.0)
    assert (all_random.n, all_random.picked, all_random.accuracy.value) == (12, 0, pytest.approx(10 / 12))
    assert found.suggested == all_random.suggested
    none = agreement(replace(both, random=np.zeros(12, bool)))
    assert (none.sample, none.n, none.picked, none.accuracy) == ("labelled", 12, 0, all_random.accuracy)


def test_each_random_output_counts_for_those_that_it_stands_for() -> None:
    """Six of one model, of 60, are right; six of another, of 20, wrong: 75 % of all outputs."""
    right = np.arange(12) < 6
    both = replace(
        scores(threshold=0.38), score=np.where(right == PASSED, 0.9, 0.1), weight=np.where(right, 10.0, 20 / 6)
    )
    assert agreement(both).accuracy.value == pytest.approx(0.75)


def test_where_people_pass_every_output_no_threshold_is_suggested() -> None:
    found = agreement(replace(scores(), passed=np.ones(12, bool)))
    assert (found.n, found.threshold, found.chosen, found.table) == (12, None, "", ())
    assert found.suggested == found.kappa == UNDEFINED
