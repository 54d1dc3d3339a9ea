"""Where formulas meet their ends: nothing, one, all; missing pairs; work done in parts."""

import math
from fractions import Fraction
from random import Random

import duckdb
import numpy as np
import pytest
from hypothesis import given, strategies as st

from metrics.core.rounding import at_least, at_least_sql, exact_sum
from metrics.stats import bootstrap, drift, model_ranking, paired_tests, rater_agreement
from metrics.stats.bootstrap import Draws, draw_weights, resampled_sums
from metrics.stats.bradley_terry import bradley_terry
from metrics.stats.classification.calibration import log_losses
from metrics.stats.classification.confusion import mean_scores
from metrics.stats.classification.roc import resampled_areas, roc
from metrics.stats.cluster_variance import cluster_sums
from metrics.stats.correlation import clustered_coefficient
from metrics.stats.intervals import mean_intervals, wilson
from metrics.stats.judge_correction import corrected_mean
from metrics.stats.model_ranking import rank_ranges
from metrics.stats.paired_intervals import difference_intervals, newcombe_paired
from metrics.stats.resample_intervals import resample_interval
from metrics.stats.student_t import student


@given(st.lists(st.floats(-1e300, 1e300)), st.randoms())
def test_a_sum_has_no_order(values: list[float], random: Random) -> None:
    mixed = random.sample(values, len(values))
    assert exact_sum(values) == exact_sum(mixed) == float(sum(map(Fraction, values)))


@pytest.mark.parametrize(
    ("values", "total"),
    [([], 0.0), ([1e308, 1e308], math.inf), ([-1e308, -1e308], -math.inf), ([math.inf, -math.inf], math.nan)],
)
def test_a_sum_beyond_the_floats(values: list[float], total: float) -> None:
    assert exact_sum(values) == pytest.approx(total, nan_ok=True)


@pytest.mark.parametrize("n", [1, 2, 7, 10, 49, 1000])
def test_none_and_all_are_ends_without_rounding(n: int) -> None:
    assert (wilson(0, n)[0], wilson(n, n)[1]) == (0.0, 1.0)
    assert wilson(0, 0) == wilson(1, -1) == (None, None)


def test_the_log_of_a_certain_truth_is_cut() -> None:
    assert log_losses(np.array([1.0]))[0] == pytest.approx(2.22045e-16, rel=1e-3)
    assert log_losses(np.array([0.0]))[0] == pytest.approx(36.0437, rel=1e-5)


@pytest.mark.parametrize(("average", "expected"), [
    pytest.param("micro", [[5 / 8, 5 / 9, 10 / 17], [3 / 6, 3 / 4, 0.6]], id="micro"),
    pytest.param("macro", [[(1 / 2 + 4 / 6) / 2, (1 / 3 + 4 / 6) / 2, (2 / 5 + 8 / 12) / 2], [0.5, 0.75, 0.6]]),
    pytest.param("weighted", [[11 / 18, 5 / 9, (6 / 5 + 4) / 9], [0.5, 0.75, 0.6]], id="weighted"),
])  # fmt: skip
def test_mean_scores_of_several_data_sets_at_once(average: str, expected: list[list[float]]) -> None:
    """Rows are data sets, columns labels; the second label of the second set is neither there nor predicted."""
    right, predicted, truths = (np.array(one, float) for one in ([[1, 4], [3, 0]], [[2, 6], [6, 0]], [[3, 6], [4, 0]]))
    assert pytest.approx(np.array(expected)) == np.array(mean_scores(right, predicted, truths, average)).T


def test_the_area_of_one_positive_varies_by_the_negatives_alone() -> None:
    positive = np.array([True, False, False, False])
    curve = roc(np.array([2.0, 1.0, 3.0, 0.0]), positive)
    found = resampled_areas([curve], positive[:, None], Draws.of(np.arange(4), 20))
    assert curve.influence[0] == 0
    assert np.isfinite(found).all()
    assert found.std() > 0


@pytest.mark.parametrize("count", [1, 3, 300])
def test_one_cluster_is_all_that_can_be_drawn(count: int) -> None:
    assert (draw_weights(np.zeros(count, np.int64), 5) == 1).all()
    assert np.iinfo(np.uint8).max == bootstrap.MAX_TIMES_DRAWN


def test_pairs_in_parts_are_those_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    wins, losses = np.array([0, 3, 12, 40, 7]), np.array([5, 3, 30, 41, 0])
    whole = paired_tests.mcnemar_mid_p(wins, losses)
    values = np.random.default_rng(2).random((9, 6))
    flips = paired_tests.paired_tests(values - 0.4).p
    pairs = model_ranking.compare_pairs(values)
    samples = model_ranking.compare_resamples(values[0], np.random.default_rng(3).random((6, 30)))
    monkeypatch.setattr(paired_tests, "AT_ONCE", 1)
    monkeypatch.setattr(model_ranking, "CELLS", 5)
    assert paired_tests.mcnemar_mid_p(wins, losses).tolist() == whole.tolist()
    assert paired_tests.paired_tests(values - 0.4).p == pytest.approx(flips, abs=1e-15)
    again = model_ranking.compare_pairs(values)
    assert (again.better.tolist(), again.worse.tolist()) == (pairs.better.tolist(), pairs.worse.tolist())
    assert again.adjusted == pytest.approx(pairs.adjusted)
    once_more = model_ranking.compare_resamples(values[0], np.random.default_rng(3).random((6, 30)))
    assert once_more.p.tolist() == samples.p.tolist()


def test_shares_with_gaps_are_wilsons_of_the_answers_there_are() -> None:
    values = np.array([[1.0, 0.0], [1.0, np.nan], [0.0, np.nan], [np.nan, np.nan]])
    low, high, method = mean_intervals(values, shares=True)
    assert method == "wilson"
    assert (low[0], high[0]) == wilson(2, 3)
    assert (low[1], high[1]) == wilson(0, 1)
    low, high, method = mean_intervals(np.zeros((0, 1)), shares=True)
    assert np.isnan([*low, *high]).all()


def test_a_corrected_share_is_wilsons_of_as_many_labels_as_are_as_sure() -> None:
    """6 of 8 with s² = .75·.25·8 / 7 and t = 2.3646 of 7 degrees of freedom: as many as 4.81 labels by z."""
    labels = np.array([1.0, 1, 1, 1, 1, 1, 0, 0])
    found = corrected_mean(labels, labels, power=False)
    sure = 8 * 7 / 8 / (student(7) / 1.959964) ** 2
    assert (found.low, found.high) == pytest.approx(wilson(0.75 * sure, sure), rel=1e-6)


@pytest.mark.parametrize(("scores", "threshold"), [(4, 1.5), (5, 1.5), (6, 2.5)])
def test_of_equally_good_thresholds_the_middle(scores: int, threshold: float) -> None:
    """Only the lowest, failed, and the highest, passed, were drawn: every cut between them is right."""
    drawn = np.zeros((1, scores))
    drawn[0, [0, -1]] = 1
    passed = np.arange(scores) == scores - 1
    found = rater_agreement.best_thresholds(np.arange(float(scores)), passed, drawn)
    assert (found[0][0], found[1][0]) == (threshold, 1.0)


def test_of_many_scores_an_even_selection_of_thresholds_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rater_agreement, "CANDIDATES", 5)
    scores = np.arange(41.0)
    found = rater_agreement.best_thresholds(scores, scores > 12, np.ones((1, 41)))
    assert found[0][0] == 15.0  # of 5, 15, 25 and 35, between 0, 10, 20, 30 and 40
    assert found[1][0] == pytest.approx((26 / 28 + 1) / 2)  # 13 and 14 are below it


@pytest.mark.parametrize(("cells", "rows"), [(40_000_000, 1001), (4 * 600, 601), (4, 201)])
def test_of_many_items_fewer_resamples_are_drawn(cells: int, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rater_agreement, "CELLS", cells)
    assert rater_agreement.draws_of(np.arange(4)).shape == (rows, 4)
    assert rater_agreement.draws_of(np.arange(4), resamples=20).shape == (21, 4)


def test_ten_values_have_a_bin_each_and_eleven_share() -> None:
    assert drift.equal_bins(np.ones(10, np.int64)).tolist() == list(range(10))
    assert drift.equal_bins(np.ones(11, np.int64)).tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5]


def test_codes_of_clusters_may_begin_anywhere() -> None:
    values, clusters = np.random.default_rng(4).random((8, 2)) - 0.3, np.repeat([0, 1, 2, 3], 2)
    for codes in (clusters + 1, clusters * 3 + 5, 9 - clusters):
        found = paired_tests.paired_tests(values, None, codes)
        assert found.p.tolist() == paired_tests.paired_tests(values, None, clusters).p.tolist()
        assert found.units.tolist() == [4, 4]
    assert cluster_sums(np.zeros((0, 2)), np.zeros(0, np.int64)).shape == (0, 2)


def test_a_corrected_share_below_0_is_cut() -> None:
    """A judge that says far less of the others takes the estimate out of the range of a share."""
    labels = np.array([0.0] * 17 + [1.0] * 3 + [np.nan] * 30)
    found = corrected_mean(np.array([0.5] * 17 + [1.0] * 3 + [0.0, 0.1] * 15), labels)
    assert found.value < 0
    assert (found.low, found.high) == pytest.approx(wilson(0, 20))


@pytest.mark.parametrize(("value", "centre"), [(0.99, 1.0), (0.01, 0.0)])
def test_what_is_corrected_beyond_the_range_stands_at_its_end(value: float, centre: float) -> None:
    samples = np.array([0.9, 0.94, 0.96]) if value > 0.5 else np.array([0.1, 0.06, 0.04])
    low, high = resample_interval(np.array(value), samples, math.inf, 9)
    phi = (samples.var() + 0.5 * (samples.mean() - value) ** 2) / (value * (1 - value))
    k = student(8) ** 2 * phi
    far = k / (1 + k)  # d² = k · d · (1 − d), from either end
    assert (float(low), float(high)) == pytest.approx((1 - far, 1.0) if centre else (0.0, far))


def test_what_the_others_explain_but_for_rounding_has_no_coefficient() -> None:
    rng = np.random.default_rng(6)
    others = rng.normal(size=(12, 2))
    for scale in (1.0, 1e6, 1e9):
        x = scale * (others @ [2.0, 1.0] + 3)
        assert clustered_coefficient(x, others, rng.normal(size=12), np.arange(12) % 4) is None


@pytest.mark.parametrize(("clusters", "freedom"), [(1, 1), (2, 1), (3, 2), (4, 3)])
def test_two_clusters_are_the_fewest_of_an_interval_from_resamples(clusters: int, freedom: int) -> None:
    low, high = resample_interval(np.array(0.5), np.array([0.45, 0.55]), math.inf, clusters)
    k = student(freedom) ** 2 * 0.0025 / 0.25
    assert float(high - low) == pytest.approx(math.sqrt(k * k + k) / (1 + k))


def test_x_that_hardly_varies_has_no_coefficient() -> None:
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=12), rng.normal(size=12)
    assert clustered_coefficient(1e-6 * x, np.zeros((12, 0)), y, np.arange(12)) is None
    assert clustered_coefficient(1e-3 * x, np.zeros((12, 0)), y, np.arange(12)) is not None


def test_one_cluster_is_drawn_once_each_time() -> None:
    assert resampled_sums(np.array([[1.0], [2.0], [4.0]]), np.zeros(3, np.int64), resamples=5).tolist() == [[7.0]] * 5


@pytest.mark.parametrize(("values", "there"), [([0.2], False), ([0.2, 0.5], True)])
def test_two_pairs_are_the_fewest_of_an_interval_of_differences(values: list[float], there: bool) -> None:
    low, high = difference_intervals(np.array([values]).T)
    assert np.isfinite([low[0], high[0]]).tolist() == [there, there]


@pytest.mark.parametrize("units", [14, 20])
def test_students_p_is_never_below_what_flipped_signs_reach(units: int) -> None:
    values = 1 + np.random.default_rng(8).random((units, 1)) / 1e6
    assert paired_tests.paired_tests(values).p.tolist() == [2.0 ** (1 - units)]


def test_a_correlation_of_less_than_half_a_pair_does_not_count() -> None:
    """One pair right twice, one wrong twice: φ is 0, and either Wilson interval of 1 of 2 reaches .4055."""
    low, high = newcombe_paired(1, 0, 0, 1)
    arm = 0.5 - wilson(1, 2)[0]  # type: ignore[operator]
    assert (low, high) == pytest.approx((-math.sqrt(2) * arm, math.sqrt(2) * arm))


def test_sql_and_python_agree_at_a_limit() -> None:
    limits = [0.3, 0.8, -0.3, 1e6 / 3]
    pairs = [(limit + apart, limit) for limit in limits for apart in (-1e-3, -1e-16, 0.0, 1e-16, 1e-3)]
    rows = f"SELECT {at_least_sql('v', 'l')} FROM (SELECT unnest(?) AS v, unnest(?) AS l)"
    asked = duckdb.execute(rows, [list(side) for side in zip(*pairs, strict=True)]).fetchall()
    assert [one for (one,) in asked] == [at_least(*pair) for pair in pairs]
    assert [one for (one,) in asked] == [False, True, True, True, True] * 4


def test_models_that_are_equal_but_for_rounding_share_their_ranks() -> None:
    """A variance of −1.5e-34 was a chance of 0 that two equal strengths are one."""
    best, worst = rank_ranges(np.array([0.0, -7e-17, 0.1]), np.diag([1e-34, -1.5e-34, 0.25]), 11)
    assert (best.tolist(), worst.tolist()) == ([1, 1, 1], [3, 3, 3])
    found = bradley_terry(np.array([0, 0, 1]), np.array([1, 2, 2]), np.ones(3), 3, clusters=np.arange(3), prior=1.0)
    assert np.isfinite([*found.low, *found.high]).all()


def test_equal_shares_that_no_float_holds_are_one_group_of_cases() -> None:
    low, high = drift.exact_share(np.full(10, 0.1), 0.05)
    assert 0 <= low < 0.1 < high <= 1


def test_labels_that_are_all_1_are_as_sure_as_wilsons_share_whatever_they_weigh() -> None:
    found = corrected_mean(np.full(10, 0.5), np.ones(10), np.full(10, 0.1))
    assert (found.low, found.high) == pytest.approx(wilson(10, 10))
