"""Intervals and tests against tables, other libraries and their definitions solved by a root finder."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq

from metrics.stats import bootstrap, slice_means
from metrics.stats.bootstrap import Draws, counted
from metrics.stats.classification.calibration import calibration_errors, reliability, resampled_error
from metrics.stats.classification.roc import corners, resampled_areas, roc
from metrics.stats.correlation import clustered_coefficient
from metrics.stats.judge_correction import corrected_mean
from metrics.stats.resample_intervals import has_enough_truths, resample_interval
from metrics.stats.slice_means import rest_differences
from metrics.stats.student_t import student, student_p


def least_squares(design: np.ndarray, y: np.ndarray, weights: np.ndarray, groups: np.ndarray) -> tuple[float, float]:
    """The second coefficient and its standard error, (XᵀWX)⁻¹ (Σ Xᵍᵀeᵍeᵍᵀ Xᵍ) (XᵀWX)⁻¹."""
    bread = np.linalg.inv(design.T @ (weights[:, None] * design))
    fitted = bread @ design.T @ (weights * y)
    pull = design * (weights * (y - design @ fitted))[:, None]
    meat = sum(np.outer(own, own) for own in (pull[groups == group].sum(axis=0) for group in np.unique(groups)))
    return float(fitted[1]), math.sqrt((bread @ meat @ bread)[1, 1])


def test_the_expansion_falls_short_by_its_next_term() -> None:
    """Its error falls as ν⁻⁵: by 32 for twice the degrees of freedom."""
    apart = [stats.t.ppf(0.975, freedom) - student(freedom) for freedom in (10, 20)]
    assert apart[0] / apart[1] == pytest.approx(32, rel=0.25)


@pytest.mark.parametrize("freedom", [0, -1])
def test_no_degree_of_freedom_has_no_point(freedom: int) -> None:
    assert student(freedom) == math.inf


@pytest.mark.parametrize("objects", [6.0, 40.0, math.inf])
@pytest.mark.parametrize("value", [0.2, 0.5, 0.93])
@pytest.mark.parametrize("bias", [0.0, 2.0])
def test_the_ends_from_resamples_solve_their_equation(objects, value, bias, rng) -> None:
    samples = np.clip(value + 0.01 + 0.05 * rng.normal(size=40), 0, 1)
    q = lambda p: p * (1 - p)  # noqa: E731
    mean = samples.mean()
    centre = min(1.0, max(0.0, value - bias * (mean - value)))
    phi = (samples.var() + 0.5 * (mean - value) ** 2) / max(q(centre), q(value))
    known = objects * q(value) / (objects * q(value) + 1) if math.isfinite(objects) else 1.0
    phi = known * phi + (1 - known) * max(phi, 1 / objects)
    t = student(int(min(objects, 9)) - 1)
    apart = lambda p: (centre - p) ** 2 - t * t * phi * q(p)  # noqa: E731
    wanted = min(brentq(apart, 0, centre), value), max(brentq(apart, centre, 1), value)
    low, high = resample_interval(np.array(value), samples, objects, 9, bias=bias)
    assert (float(low), float(high)) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize(("value", "wanted"), [(1.0, (None, 1.0)), (0.0, (0.0, None))])
def test_all_or_nothing_found_is_as_sure_as_a_share(value: float, wanted: tuple[float | None, float | None]) -> None:
    """Ten of ten: Wilson's interval with t for z, 1 / (1 + t² / n)."""
    low, high = resample_interval(np.array(value), np.full(30, value), 10, 50)
    t = student(9)
    assert float(low) == pytest.approx(1 / (1 + t * t / 10) if value else 0.0)
    assert float(high) == pytest.approx(1.0 if value else 1 - 1 / (1 + t * t / 10))


@pytest.mark.parametrize(
    ("truths", "enough"),
    [
        pytest.param([1] * 5, True, id="few labels"),
        pytest.param([1] * 5 + [0] * 9, True, id="few labels that there are"),
        pytest.param([6] * 6, True, id="as many as needed"),
        pytest.param([5] * 6, False, id="too few of each"),
        pytest.param([100] * 5 + [1], False, id="one label with too few"),  # 6 / 1.05
        pytest.param([3] + [12] * 6, True, id="in the harmonic mean"),  # 7 / (1/3 + 1/2)
    ],
)
def test_labels_need_ground_truths(truths: list[int], enough: bool) -> None:
    assert has_enough_truths(np.array(truths)) is enough


@pytest.mark.parametrize("weighted", [False, True])
def test_difference_from_the_rest_is_a_weighted_regression_on_the_slice(weighted, rng) -> None:
    """Of many clusters the sandwich (HC0) of least squares on an indicator; clusters have cases on both sides."""
    values, mask = rng.normal(size=1_200) + np.repeat(rng.normal(size=300), 4), np.arange(1_200) % 3 == 0
    weights = rng.integers(1, 5, 1_200).astype(float) if weighted else np.ones(1_200)
    for clusters in (None, np.arange(1_200) // 4):
        groups = np.arange(1_200) if clusters is None else clusters
        value, error = least_squares(np.column_stack([np.ones(1_200), mask]), values, weights, groups)
        design = (weights if weighted else None, clusters)
        means, _ = slice_means.slice_means(values, mask[None], *design)
        apart, low, high = rest_differences(values, mask[None], means, *design)[0]
        assert apart == pytest.approx(value)
        assert (high - low) / 2 == pytest.approx(1.97 * error, rel=0.03)


def test_difference_of_shares_is_newcombes() -> None:
    """56 of 70 against 48 of 80: Newcombe 1998, table II, example (a), method 10."""
    values = np.repeat([1.0, 0.0, 1.0, 0.0], [56, 14, 48, 32])
    mask = np.arange(150) < 70
    masks = np.array([mask, np.ones(150, bool)])
    found = rest_differences(values, masks, slice_means.slice_means(values, masks, binary=True)[0], binary=True)
    assert found[0] == pytest.approx([0.2, 0.0524, 0.3339], abs=5e-5)
    assert np.isnan(found[1]).all()


def test_means_of_slices_in_parts(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    values, masks = rng.random(30), rng.random((7, 30)) < 0.5
    weights = rng.integers(1, 4, 30).astype(float)
    whole, method = slice_means.slice_means(values, masks, weights, within=(0, 1))
    assert method == "bootstrap"
    assert whole[:, 0] == pytest.approx([np.average(values[mask], weights=weights[mask]) for mask in masks])
    assert ((whole[:, 1] < whole[:, 0]) & (whole[:, 0] < whole[:, 2])).all()
    assert ((whole[:, 1] > 0) & (whole[:, 2] < 1)).all()
    monkeypatch.setattr(slice_means, "AT_ONCE", 3)
    assert slice_means.slice_means(values, masks, weights, within=(0, 1))[0] == pytest.approx(whole)


def test_a_cluster_of_cases_counts_once_in_a_resample_of_m_less_1() -> None:
    units = np.array([0, 0, 1, 2, 2, 2, 3])
    drawn = Draws.of(units, 30, seed=5)
    assert drawn.times.shape == (31, 4)
    assert (drawn.times[0] == 1).all()
    assert (drawn.times[1:].sum(axis=1) == 3).all()
    assert drawn.units == pytest.approx(64 / 19)  # worth of four of 2, 1, 3 and 1
    assert not drawn.single
    assert Draws.of(np.arange(3), 2).single
    assert Draws.of(np.zeros(3, np.int64), 9).times.shape == (1, 1)
    codes, values = np.array([1, 0, 1, 1, 2, 2, 1]), np.array([2.0, 1.0, 3.0, 0.5, 4.0, 1.0, 2.0])
    for row in range(31):
        times = drawn.times[row][units]
        wanted = [sum(times[codes == code]) for code in range(3)]
        assert drawn.sums(codes, 3)[row].tolist() == wanted
        assert drawn.sums(codes, 3, values)[row] == pytest.approx([sum((times * values)[codes == k]) for k in range(3)])
        some = np.array([0, 3, 6])
        part = [float(times[some][codes[some] == code].sum()) for code in range(3)]
        assert drawn.sums(codes[some], 3, cases=some)[row].tolist() == part
        assert drawn.of_cases(some).sums(codes[some], 3)[row].tolist() == part


def test_of_many_units_groups_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "MAX_DRAWN_GROUPS", 5)
    assert Draws.of(np.arange(5), 3).times.shape == (4, 5)
    drawn = Draws.of(np.arange(12), 3)
    assert (drawn.times.shape, sorted(np.bincount(drawn.unit).tolist())) == ((4, 5), [2, 2, 2, 3, 3])
    assert drawn.single


def test_images_are_drawn_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    clusters = np.array([0, 0, 1, 2, 3])
    whole = bootstrap.draw_weights(clusters, 7, 1)
    assert (whole[:, 0] == whole[:, 1]).all()
    assert (whole[:, 1:].sum(axis=1) == 4).all()
    monkeypatch.setattr(bootstrap, "DRAWS_AT_ONCE", 8)  # two resamples
    assert (bootstrap.draw_weights(clusters, 7, 1) == whole).all()
    monkeypatch.setattr(bootstrap, "MAX_TIMES_DRAWN", 1)
    assert (bootstrap.draw_weights(clusters, 7, 1) == np.minimum(whole, 1)).all()


def test_halves_complete_each_other() -> None:
    halves = bootstrap.draw_halves(np.array([0, 1, 1, 2, 3]), 5, 2)
    assert halves.shape == (5, 5)
    assert (halves[[0, 2]] + halves[[1, 3]] == 1).all()
    assert (halves[:, [0, 1, 3, 4]].sum(axis=1) == 2).all()
    assert (halves[:, 1] == halves[:, 2]).all()
    assert bootstrap.draw_halves(np.zeros(0, np.int64), 3).shape == (3, 0)
    assert bootstrap.draw_weights(np.zeros(0, np.int64), 3).shape == (3, 0)


def test_sums_over_kinds() -> None:
    drawn = np.array([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]])
    assert counted(drawn, np.array([2, 0, 2]), 4).tolist() == [[2, 0, 5, 0], [16, 0, 40, 0]]
    assert counted(drawn[:, :0], np.zeros(0, np.int64), 2).tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("count", [3, 8])
def test_a_coefficient_is_that_of_the_sandwich(count: int, rng: np.random.Generator) -> None:
    clusters = np.arange(24) % count
    x, others = rng.normal(size=24), rng.normal(size=(24, 2))
    y = 0.5 * x + others @ [1.0, -1.0] + rng.normal(size=24)
    value, error = least_squares(np.column_stack([np.ones(24), x, others]), y, np.ones(24), clusters)
    found = clustered_coefficient(x, others, y, clusters)
    reach = student(count - 1) * error * math.sqrt(count / (count - 1) * 23 / 20)
    assert (found.value, found.low, found.high) == pytest.approx((value, value - reach, value + reach))


def test_there_is_no_coefficient_without_variation_clusters_or_freedom(rng: np.random.Generator) -> None:
    x, others, y = rng.normal(size=12), rng.normal(size=(12, 2)), rng.normal(size=12)
    clusters = np.arange(12) % 4
    assert clustered_coefficient(others @ [2.0, 1.0] + 3, others, y, clusters) is None
    assert clustered_coefficient(x, others, y, np.arange(12) % 2) is None
    assert clustered_coefficient(x, others, y, np.arange(12) % 3) is not None
    assert clustered_coefficient(x[:4], others[:4], y[:4], np.arange(4)) is None  # 4 unknowns with the constant
    assert clustered_coefficient(x[:5], others[:5], y[:5], np.arange(5)) is not None


def test_a_judges_correction_by_hand() -> None:
    """The slope of each label is fitted again without it; a slope that may be chance counts nothing."""
    judged = np.array([0.1, 0.4, 0.2, 0.8, 0.9, 0.6, 0.7, 0.3, 0.5, 1.0])
    labels = np.array([0.2, 0.5, 0.1, 0.9, 1.0, 0.6, *[np.nan] * 4])
    f, y, n, total = judged[:6], labels[:6], 6, 10

    def shrunk(f: np.ndarray, y: np.ndarray) -> float:
        fit = stats.linregress(f, y)
        apart = y - y.mean()
        freedom = min(len(y) - 2, (apart @ apart) ** 2 / (apart**4).sum() - 1)
        rest = (1 - fit.rvalue**2) * (apart @ apart) / (n - 3)
        return float(fit.slope * max(0.0, 1 - student(freedom) ** 2 * rest / (fit.rvalue**2 * (apart @ apart))))

    others = np.array([shrunk(np.delete(f, i), np.delete(y, i)) for i in range(n)])
    slope = shrunk(f, y)
    value = y.mean() - np.mean(others * (f - judged[6:].mean())) * 4 / 10
    parts = np.concatenate([(y - y.mean() - others * (f - f.mean())) / n, np.zeros(4)])
    parts += np.concatenate([others, np.full(4, slope)]) * (judged - judged.mean()) / total
    squares = parts[:6] ** 2
    variance = (parts @ parts) * n / (n - 2)
    variance += 0.4 * 8 * (0.9 / 2 / n) ** 2 / (1 + squares.sum() ** 2 / (squares**2).sum() / 2)
    found = corrected_mean(judged, labels)
    assert (found.n, found.total, found.clusters) == (6, 10, 6)
    half = student(4) * math.sqrt(variance)
    assert (found.value, found.weight) == pytest.approx((value, slope * 0.4))
    assert (found.low, found.high) == pytest.approx((value - half, value + half))
    plain = corrected_mean(judged, labels, power=False)
    half = student(5) * y.std() / math.sqrt(5)  # s / √n with n − 1
    assert (plain.value, plain.low, plain.high) == pytest.approx((0.55, 0.55 - half, 0.55 + half))
    assert plain.weight == 0


@pytest.mark.parametrize(("labelled", "bounds"), [(3, False), (4, True)])
def test_four_labels_are_the_fewest_for_an_interval(labelled: int, bounds: bool) -> None:
    labels = np.array([0.1, 0.5, 0.3, 0.9, *[np.nan] * 6])
    labels[labelled:] = np.nan
    assert (corrected_mean(np.linspace(0, 1, 10), labels).low is not None) is bounds


def test_the_interval_of_a_calibration_error_by_its_definition(rng: np.random.Generator) -> None:
    confidence = rng.random(60)
    right = rng.random(60) < confidence**2
    diagram, drawn = reliability(confidence, right, 3), Draws.of(np.arange(60), 200)
    (low, high), samples = resampled_error(diagram, confidence, right, drawn)
    signed = lambda times: np.bincount(diagram.place, times * (confidence - right), 3) / times.sum()  # noqa: E731
    gaps = signed(np.ones(60))
    noise = np.array([signed(times) for times in drawn.times[1:]]) - gaps
    noise *= student(59) / 1.959964
    shrunk = np.sign(gaps) * np.sqrt(np.maximum(0, gaps**2 - noise.var(axis=0)))
    own = np.abs(shrunk + noise).sum(axis=1)
    value = np.abs(gaps).sum()
    assert calibration_errors(diagram)[0] == pytest.approx(value)
    assert samples == pytest.approx(value + own - own.mean(), rel=1e-4)
    assert high == pytest.approx(value + 1.959964 * own.std(), rel=1e-4)
    exceeds = lambda share: np.quantile(np.abs(share * gaps + noise).sum(axis=1), 0.975) - value  # noqa: E731
    assert low == pytest.approx(brentq(exceeds, 0, 1) * value, rel=1e-3)


def test_areas_of_resamples_move_by_the_influences_of_their_cases(rng: np.random.Generator) -> None:
    positive = np.arange(20) % 3 == 0
    curve = roc(rng.normal(size=20) + positive, positive)
    drawn = Draws.of(np.arange(20), 50)
    found = resampled_areas([curve], positive[:, None], drawn)[:, 0]
    widened = np.sqrt(np.where(positive, student(6), student(12)) / 1.959964) * curve.influence
    wanted = curve.area + (drawn.times @ widened) * math.sqrt(20 / 19)
    assert (found[0], found[1:]) == (curve.area, pytest.approx(wanted[1:], rel=1e-5))


def test_delongs_influences_by_pairs() -> None:
    scores, positive = np.array([1.0, 2, 2, 3, np.nan, 5, 0]), np.array([0, 1, 0, 1, 1, 1, 0], bool)
    curve = roc(scores, positive)
    height = np.where(np.isnan(scores), -np.inf, scores)
    above = lambda one, other: float(one > other) + 0.5 * (one == other)  # noqa: E731
    good, bad = np.flatnonzero(positive).tolist(), np.flatnonzero(~positive).tolist()
    pairs = {(i, j): above(height[i], height[j]) for i in good for j in bad}
    area = np.mean(list(pairs.values()))
    assert curve.area == pytest.approx(area)
    wanted = np.empty(7)
    wanted[good] = [(np.mean([pairs[i, j] for j in bad]) - area) / math.sqrt(4 * 3) for i in good]
    wanted[bad] = [(np.mean([pairs[i, j] for i in good]) - area) / math.sqrt(3 * 2) for j in bad]
    assert (curve.influence, curve.threshold.tolist()) == (pytest.approx(wanted), [np.inf, 5, 3, 2, 1, 0, -np.inf])
    assert (curve.tp.tolist(), curve.fp.tolist()) == ([0, 1, 2, 3, 3, 3, 4], [0, 0, 0, 1, 2, 3, 3])


def test_only_corners_draw_a_curve() -> None:
    fp, tp = np.array([0, 0, 0, 1, 2, 2, 4]), np.array([0, 1, 2, 2, 2, 3, 5])
    assert (corners(fp, tp, 9).tolist(), corners(fp, tp, 5).tolist()) == ([0, 2, 4, 5, 6], [0, 2, 4, 5, 6])
    assert corners(fp, tp, 3).tolist() == [0, 5, 6]  # along the curve: 0, .4, .9, 1.1, 2 of 0, 1, 2


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 8, 12, 30, 1000])
def test_students_point_is_that_of_tables(freedom: int) -> None:
    assert student(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=0.003 if freedom < 6 else 1e-4)


@pytest.mark.parametrize("freedom", range(1, 13))
def test_small_tails_are_exact(freedom: int) -> None:
    t = np.array([0.0, 0.3, 1.0, 2.5, 8.0, 40.0])
    assert student_p(t, np.full(6, freedom)) == pytest.approx(2 * stats.t.sf(t, freedom), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("freedom", [13, 20, 200])
def test_large_tails_are_near(freedom: int) -> None:
    t = np.array([0.0, 0.3, 1.0, 2.0, 3.0, 4.0])
    exact = 2 * stats.t.sf(t, freedom)
    assert (np.abs(student_p(t, np.full(6, freedom)) / exact - 1) < 0.03).all()
    assert student_p(t[:4], np.full(4, freedom)) == pytest.approx(exact[:4], rel=2e-3)
