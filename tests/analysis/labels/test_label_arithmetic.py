"""What is worked out of scores and labels, without a run."""

from dataclasses import fields, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score, roc_auc_score

from metrics.analysis.labels.corrected_means import _translated
from metrics.analysis.labels.human_labels import Criterion
from metrics.analysis.labels.judge_agreement import UNDEFINED, Agreement, Stat, _rate, agreement, cell_codes, stat_of
from metrics.analysis.labels.judge_bias import DUMMIES, _levels
from metrics.analysis.labels.label_queue import _interleaved
from metrics.analysis.labels.labelled_scores import LabelledScores, label_sign
from metrics.analysis.labels.raters import _paired
from metrics.analysis.leaderboard.label_numbers import curves
from metrics.stats.intervals import wilson

SCORE = np.array([0.1, 0.4, 0.35, 0.8, 0.9, 0.5])
LABEL = np.array([1.0, 2.0, 1.0, 3.0, 3.0, 1.0])
PASSED = LABEL > 1.5


def scores(direction: str = "higher", threshold: float | None = None, sign: int = 1, rows: int = 6) -> LabelledScores:
    column: Any = SimpleNamespace(direction=direction, threshold=threshold)
    places = np.arange(rows)
    return LabelledScores(
        column, sign, sign, SCORE[:rows], LABEL[:rows], PASSED[:rows], places, np.zeros(rows, np.int64), places
    )  # fmt: skip


def value(found: Agreement, name: str) -> float | None:
    stat = getattr(found, name)
    assert isinstance(stat, Stat)
    return stat.value


def test_agreement_by_hand() -> None:
    found = agreement(scores(threshold=0.4), judged=True)
    assert (found.judged, found.n, found.cases, found.threshold, found.chosen) == (True, 6, 6, 0.4, "declared")
    assert value(found, "spearman") == pytest.approx(spearmanr(SCORE, LABEL).statistic)
    assert value(found, "auc") == pytest.approx(roc_auc_score(PASSED, SCORE))
    assert found.table == (2, 1, 0, 3)  # on the threshold passes
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
    assert cell_codes(scores(sign=-1), 0.4).tolist() == [1, 3, 1, 2, 2, 0]


def test_a_metric_without_a_direction_has_a_correlation_alone() -> None:
    found = agreement(scores("none"))
    assert value(found, "spearman") == pytest.approx(spearmanr(SCORE, LABEL).statistic)
    stats = [field.name for field in fields(Agreement) if isinstance(getattr(found, field.name), Stat)]
    assert [name for name in stats if value(found, name) is not None] == ["spearman"]
    assert (found.threshold, found.chosen, found.table) == (None, "", ())


@pytest.mark.parametrize(("rows", "some"), [(2, False), (3, True)])
def test_three_outputs_are_the_fewest(rows: int, some: bool) -> None:
    found = agreement(scores(rows=rows))
    assert (found.n, found.cases) == (rows, rows)
    assert (value(found, "spearman") is not None) is some


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
        names, found = _paired(SimpleNamespace(raters=("a", "b", "c", "d", "e"), ratings=ratings, by_place=places))  # type: ignore[arg-type]
        assert names == ["a", "b", "c", "d", "e"]
        assert found is ratings


def test_a_line_is_a_model_and_its_repeat_where_there_are_several() -> None:
    frame = pd.DataFrame({"model": ["a", "a", "b", "b"], "run": [1, 2, 1, 1], "x": range(4)})
    run: Any = SimpleNamespace(curves=lambda evaluator: frame)
    assert curves(run, "roc")["series"].tolist() == ["a #1", "a #2", "b", "b"]


def criterion(name: str = "good", graded: bool = True, low: float = 1.0, high: float = 5.0) -> Any:
    return SimpleNamespace(criterion=Criterion(name, 3, 0, 1, graded, low, high))


def metric(direction: str, low: float = 0.0, high: float = 1.0) -> Any:
    return SimpleNamespace(metric="harm", direction=direction, low=low, high=high)


@pytest.mark.parametrize(
    ("people", "direction", "sign"),
    [
        pytest.param(criterion("harm"), "lower", -1, id="grades of a metric where lower is better"),
        pytest.param(criterion("harm"), "higher", 1, id="grades of a metric where higher is better"),
        pytest.param(criterion("harm", graded=False), "lower", 1, id="pass is better whatever its name"),
        pytest.param(criterion("good"), "lower", 1, id="grades of something else"),
    ],
)
def test_a_higher_label_is_better_but_for_grades_of_a_metric_where_lower_is(
    people: Any, direction: str, sign: int
) -> None:
    assert label_sign(people, metric(direction)) == sign


@pytest.mark.parametrize(
    ("people", "column", "unit", "labels"),
    [
        pytest.param(criterion(), metric("higher"), "metric", [0.0, 0.25, 1.0], id="scaled"),
        pytest.param(criterion(), metric("lower"), "metric", [1.0, 0.75, 0.0], id="scaled and turned"),
        pytest.param(criterion("harm"), metric("lower"), "metric", [0.0, 0.25, 1.0], id="both better low"),
        pytest.param(criterion(), metric("higher", 1.0, 9.0), "metric", [1.0, 2.0, 5.0], id="from the same low end"),
        pytest.param(criterion(), metric("higher", 0.0, 5.0), "metric", [1.0, 2.0, 5.0], id="to the same high end"),
        pytest.param(criterion(), metric("lower", 0.0, 9.0), "metric", [5.0, 4.0, 1.0], id="turned in their own range"),
        pytest.param(criterion(), metric("higher", 2.0, 10.0), "metric", [2.0, 4.0, 10.0], id="low is outside"),
        pytest.param(criterion(), metric("higher", 0.0, np.inf), "labels", [1.0, 2.0, 5.0], id="open"),
        pytest.param(criterion(), metric("lower", 0.0, np.inf), "labels", [1.0, 2.0, 5.0], id="open and lower"),
    ],
)
def test_labels_in_the_range_of_a_metric(people: Any, column: Any, unit: str, labels: list[float]) -> None:
    found = _translated(np.array([1.0, 2.0, 5.0]), people, column)
    assert (found[0], found[1].tolist()) == (unit, labels)


def test_the_first_estimate_is_the_value_and_the_others_its_interval() -> None:
    assert stat_of(np.array([700.0, *range(201)])) == Stat(700.0, 5.0, 195.0)
    assert stat_of(np.array([np.nan, *range(201)])) == UNDEFINED


def test_a_share_that_no_resample_changes_has_wilsons_interval_over_the_cases() -> None:
    """Four outputs of three cases: the interval is that of 3 of 3."""
    clusters = np.array([0, 0, 1, 2])
    assert _rate(np.ones(20), clusters) == Stat(1.0, *wilson(3, 3))
    assert _rate(np.array([0.5, *[0.0, 1.0] * 20]), clusters) == Stat(0.5, 0.0, 1.0)
    assert _rate(np.full(20, np.nan), clusters) == UNDEFINED


@pytest.mark.parametrize(
    ("near", "drawn_next", "most", "expected"),
    [
        pytest.param([1, 3, 7], True, 10, ["5 drawn", "1 picked", "3 drawn"], id="in turn, until none is left to draw"),
        pytest.param([1, 3, 7], False, 10, ["1 picked", "5 drawn", "3 drawn"], id="the next to draw counts as drawn"),
        pytest.param([7, 8, 9], False, 4, ["7 picked", "5 drawn", "8 picked", "3 drawn"], id="as many as asked for"),
        pytest.param([1], True, 10, ["5 drawn", "1 picked", "3 drawn"], id="each once"),
        pytest.param([], False, 2, ["5 drawn", "3 drawn"], id="none to pick"),
    ],
)
def test_outputs_to_label_are_drawn_and_picked_in_turn(
    near: list[int], drawn_next: bool, most: int, expected: list[str]
) -> None:
    found = _interleaved(np.array([5, 3, 1]), np.array(near, np.int64), drawn_next, most)
    assert [f"{place} {how}" for place, how in found] == expected


def test_sensitivity_is_of_what_people_pass_and_specificity_of_what_they_fail() -> None:
    """At .38 the scores of all five are right: three pass, two fail."""
    found = agreement(scores(threshold=0.38, rows=5))
    assert (found.sensitivity, found.specificity) == (Stat(1.0, *wilson(3, 3)), Stat(1.0, *wilson(2, 2)))
    assert found.accuracy == Stat(1.0, *wilson(5, 5))
    balanced = value(found, "balanced")
    assert balanced is not None
    assert 0.5 < balanced < 1.0, "on held-out cases"
    assert not found.judged


def test_where_people_pass_every_output_no_threshold_is_suggested() -> None:
    found = agreement(replace(scores(), passed=np.ones(6, bool)))
    assert (found.n, found.threshold, found.chosen, found.table) == (6, None, "", ())
    assert found.suggested == found.kappa == UNDEFINED
