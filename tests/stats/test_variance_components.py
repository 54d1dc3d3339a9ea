"""Variance components by hand, in simulated designs, and beside a mixed model."""

import numpy as np
import pandas as pd
import pytest

from metrics.stats.student_t import Z95, student
from metrics.stats.variance_components import (
    Components,
    cheapest,
    crossed_components,
    crossed_mean,
    expanded_tail,
    resampled_components,
)
from tests.random_seeds import least_covered, seeds


def components(*given, **named):
    """The components without resamples."""
    found = resampled_components(*given, **named, resamples=0)
    return None if found is None else found[0]


OF_STATSMODELS = pytest.mark.filterwarnings("ignore:.* is deprecated and will be removed")


def design(rng: np.random.Generator, cases: int, balanced: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores with variances 4, 1 and .25 of cases, repeats and draws."""
    case, repeat, value = [], [], []
    for place in range(cases):
        level = rng.normal(0, 2)
        for many in range(3 if balanced else int(rng.integers(1, 5))):
            own = level + rng.normal(0, 1)
            for _ in range(2 if balanced else int(rng.integers(1, 4))):
                case.append(place)
                repeat.append(many)
                value.append(own + rng.normal(0, 0.5))
    return np.array(value), np.array(case), np.array(repeat)


def test_a_balanced_design_by_hand() -> None:
    """Mean squares: .5 within repeats, 4.5 between repeats of a case, 50 between cases."""
    value = np.array([1.0, 2.0, 4.0, 5.0, 6.0, 7.0, 9.0, 10.0])
    case, repeat = np.repeat([0, 1], 4), np.tile([0, 0, 1, 1], 2)
    found = components(value, case, repeat)
    assert (found.draw, found.repeat) == (pytest.approx(0.5), pytest.approx((9.0 - 0.5) / 2))
    assert (found.case, found.cases, found.repeats, found.draws) == (pytest.approx((50.0 - 9.0) / 4), 2, 2.0, 2.0)


@pytest.mark.parametrize("balanced", [True, False])
def test_the_components_of_simulated_designs_are_unbiased(balanced: bool) -> None:
    rng = np.random.default_rng(0)
    each = [components(*design(rng, 40, balanced)) for _ in range(150)]
    means = np.array([[one.case, one.repeat, one.draw] for one in each if one is not None])
    error = means.std(axis=0) / len(means) ** 0.5
    assert (np.abs(means.mean(axis=0) - [4.0, 1.0, 0.25]) < 4 * error).all()


def test_levels_without_repeats_are_part_of_the_one_above() -> None:
    value = np.random.default_rng(2).normal(0, 2, 500)
    alone = components(value, np.arange(500), np.zeros(500, int))
    assert (alone.repeat, alone.draw, alone.case) == (None, None, pytest.approx(value.var(ddof=1)))
    assert components(value[:1], np.zeros(1, int), np.zeros(1, int)) is None


def test_repeats_are_numbered_within_their_case() -> None:
    value, case, repeat = design(np.random.default_rng(3), 20, False)
    shuffled = np.random.default_rng(4).permutation(len(value))
    assert components(value[shuffled], case[shuffled] * 7, repeat[shuffled] + 3) == pytest.approx(
        components(value, case, repeat)
    )


@pytest.mark.parametrize("costs", [(0.0, 1.0, 1.0), (100.0, 1.0, 0.5), (10.0, 0.1, 0.1)])
def test_no_plan_is_cheaper(costs: tuple[float, float, float]) -> None:
    known = Components(4.0, 1.0, 0.25, 0)
    found = cheapest(known, 0.2, *costs)
    every = [
        (n * (costs[0] + r * (costs[1] + d * costs[2])), n, r, d)
        for r in range(1, 51)
        for d in range(1, 51)
        for n in [int(np.ceil((Z95 / 0.2) ** 2 * (4 + 1 / r + 0.25 / (r * d))))]
    ]
    assert found.cost == pytest.approx(min(every)[0])
    assert Z95 * known.error(found.cases, found.repeats, found.draws) <= 0.2 + 1e-9


def test_what_is_not_known_is_not_repeated() -> None:
    found = cheapest(Components(4.0, None, None, 0), 0.2, 0.0, 1.0, 0.0)
    assert (found.cases, found.repeats, found.draws) == (385, 1, 1)


@OF_STATSMODELS
def test_like_a_mixed_model() -> None:
    """REML of statsmodels' MixedLM, which a balanced design solves exactly: draws in repeats in cases."""
    from statsmodels.regression.mixed_linear_model import MixedLM

    value, case, repeat = design(np.random.default_rng(5), 40, True)
    frame = pd.DataFrame({"value": value, "case": case, "repeat": repeat})
    model = MixedLM.from_formula(
        "value ~ 1", frame, groups="case", re_formula="1", vc_formula={"repeat": "0 + C(repeat)"}
    )
    fitted = model.fit(reml=True)
    found = components(value, case, repeat)
    expected = (float(fitted.cov_re.iloc[0, 0]), float(fitted.vcomp[0]), float(fitted.scale))
    assert (found.case, found.repeat, found.draw) == pytest.approx(expected, rel=1e-3)
    assert float(fitted.bse_fe.iloc[0]) == pytest.approx(found.error(40, 3, 2), rel=1e-3)


@OF_STATSMODELS
def test_groups_of_cases_like_a_mixed_model() -> None:
    from statsmodels.regression.mixed_linear_model import MixedLM

    rng = np.random.default_rng(6)
    group, case = np.repeat(np.arange(20), 12), np.repeat(np.arange(80), 3)
    value = rng.normal(0, 1.5, 20)[group] + rng.normal(0, 1, 80)[case] + rng.normal(0, 0.7, 240)
    frame = pd.DataFrame({"value": value, "case": case, "group": group})
    model = MixedLM.from_formula("value ~ 1", frame, groups="group", re_formula="1", vc_formula={"c": "0 + C(case)"})
    fitted = model.fit(reml=True)
    found = components(value, case, np.tile([0, 1, 2], 80), group)
    expected = (float(fitted.cov_re.iloc[0, 0]), float(fitted.vcomp[0]), float(fitted.scale))
    assert (found.group, found.case, found.repeat) == pytest.approx(expected, rel=1e-3)
    assert (found.size, found.cases, found.repeats) == pytest.approx((4, 80, 3))
    assert found.error(80, 3) == pytest.approx(float(fitted.bse_fe.iloc[0]), rel=1e-3)


def test_one_group_says_nothing_of_groups_and_single_cases_are_none() -> None:
    value = np.random.default_rng(7).normal(0, 1, 6)
    alone, ones = np.arange(6), np.zeros(6, int)
    assert components(value, alone, ones, ones) is None
    assert components(value, alone, ones, alone) == components(value, alone, ones)


@OF_STATSMODELS
def test_judges_of_a_panel_are_taken_off_with_their_means() -> None:
    """The residual mean square of outputs × judges, as anova_lm of statsmodels has it."""
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    rng = np.random.default_rng(8)
    table = rng.normal(0, 1, (9, 1)) + np.array([0.0, 2.0, -1.0]) + rng.normal(0, 0.5, (9, 3))
    case, judge = (places.ravel() for places in np.indices(table.shape))
    found = components((table - table.mean(axis=0)).ravel(), case, np.zeros(27, int), fixed=2)
    frame = pd.DataFrame({"value": table.ravel(), "case": case, "judge": judge})
    squares = anova_lm(ols("value ~ C(case) + C(judge)", frame).fit())["mean_sq"]
    assert found.draw == pytest.approx(squares["Residual"])
    assert found.case == pytest.approx((squares["C(case)"] - squares["Residual"]) / 3)


def test_resamples_of_whole_cases_tell_how_sure_a_share_is() -> None:
    """Intervals of the share of repeats, 1 / (1 + 4) of the variance, with 20 cases: 88 % or more of 300 hold it."""
    rng, held = np.random.default_rng(9), 0
    case, repeat = np.repeat(np.arange(20), 3), np.tile([0, 1, 2], 20)
    tail = expanded_tail(20)
    for _ in range(300):
        value = rng.normal(0, 2, 20)[case] + rng.normal(0, 1, 60)
        found = resampled_components(value, case, repeat, resamples=400)
        shares = found[1][:, 2] / found[1].sum(axis=1)
        low, high = np.quantile(shares, [tail, 1 - tail])
        held += bool(low <= 0.2 <= high)
    assert held >= 0.88 * 300
    assert found[1].mean(axis=0)[1:3] == pytest.approx([found[0].case, found[0].repeat], rel=0.1)


@OF_STATSMODELS
def test_crossed_ratings_like_the_analysis_of_variance() -> None:
    """Mean squares of outputs × raters, from anova_lm of statsmodels: without missing ratings they are the same."""
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    rng = np.random.default_rng(14)
    table = rng.normal(0, 1, (12, 1)) + rng.normal(0, 0.7, (1, 4)) + rng.normal(0, 0.5, (12, 4))
    output, rater = (places.ravel() for places in np.indices(table.shape))
    frame = pd.DataFrame({"value": table.ravel(), "output": output, "rater": rater})
    squares = anova_lm(ols("value ~ C(output) + C(rater)", frame).fit())["mean_sq"]
    rest = squares["Residual"]
    expected = [(squares["C(output)"] - rest) / 4, (squares["C(rater)"] - rest) / 12, rest]
    assert crossed_components(table, np.ones((1, 12)))[0] == pytest.approx(expected)


def test_crossed_ratings_with_gaps_are_unbiased_and_doubled_outputs_are_no_pairs() -> None:
    rng, found = np.random.default_rng(15), []
    for _ in range(400):
        table = rng.normal(0, 1, (40, 1)) + rng.normal(0, 0.5, (1, 6)) + rng.normal(0, 0.7, (40, 6))
        table[rng.random(table.shape) < 0.5] = np.nan
        found.append(crossed_components(table, np.ones((1, 40)))[0])
    error = np.std(found, axis=0) / len(found) ** 0.5
    assert (np.abs(np.mean(found, axis=0) - [1.0, 0.25, 0.49]) < 4 * error).all()
    pairs = [(i, j) for i in range(3) for j in range(i)]
    table, weights = np.array([[1.0, 2.0], [4.0, 3.0], [5.0, 9.0]]), np.array([2.0, 1.0, 1.0])
    a = sum(w * (one - other) ** 2 / 2 for w, (one, other) in zip(weights, table, strict=True)) / weights.sum()
    b, c = (
        sum(weights[i] * weights[j] * (table[i, r] - table[j, s]) ** 2 / 2 for i, j in pairs for r, s in raters)
        / (2 * sum(weights[i] * weights[j] for i, j in pairs))
        for raters in ([(0, 0), (1, 1)], [(0, 1), (1, 0)])
    )
    expected = np.maximum(0, [c - a, c - b, a + b - c])
    assert crossed_components(table, weights[None])[0] == pytest.approx(expected)


def test_the_mean_over_prompts_holds_as_often_as_it_says() -> None:
    """20 cases × 3 or 5 prompts; without the prompts' part the interval would hold 75 to 92 %."""
    for prompts in (3, 5):
        held, draws = 0, seeds(200, 1_000)
        for seed in draws:
            rng = np.random.default_rng(seed)
            values = (
                rng.normal(size=(20, 1)) + 0.5 * rng.normal(size=(1, prompts)) + 0.7 * rng.normal(size=(20, prompts))
            )
            held += int(abs(values.mean()) <= crossed_mean(values).half_width)
        assert held >= least_covered(len(draws))


def test_prompts_that_change_nothing_have_no_share() -> None:
    values = np.repeat(np.arange(10.0)[:, None], 3, axis=1)
    found = crossed_mean(values)
    assert found.share == 0.0
    assert found.half_width == pytest.approx(student(9.0) * values[:, 0].std(ddof=1) / np.sqrt(10))
