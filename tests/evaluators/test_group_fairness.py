"""Group fairness: fairlearn's differences and ratios, their intervals, and corrected tests between groups."""

from typing import Any

import numpy as np
import pytest

from metrics.core.errors import InputError
from metrics.core.evaluator import Findings
from metrics.core.suite import Outputs, Suite
from tests.evaluators import tabular
from tests.evaluators.tabular import classified, overall
from tests.random_seeds import least_covered, seeds

# of fairlearn 0.15.0, for random_cases(seed): differences and ratios of demographic parity and of equalized odds
FAIRLEARN = {1: (0.5059808612440191, 0.36390977443609024, 0.4083333333333333, 0.234375)}


def random_cases(seed: int, n: int = 120, groups: int = 3) -> tuple[Any, Any, Any]:
    """Group, truth and a score of the class of each case."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, groups, n)
    truth = rng.random(n) < 0.4 + 0.1 * group
    score = np.clip(0.25 + 0.4 * truth + 0.1 * group + rng.normal(0, 0.25, n), 0, 1)
    return group, truth, score


def data_set(group: Any, truth: Any, score: Any) -> tuple[Suite, Outputs]:
    cases = [
        {"label": "yes" if true else "no", "metadata.tribe": f"g{own}"} for own, true in zip(group, truth, strict=True)
    ]
    return classified(cases, np.stack([1 - score, score], axis=1), ("no", "yes"))


def run(data: tuple[Suite, Outputs], **parameters: Any) -> Findings:
    return tabular.run("group_fairness", data, **{"column": "tribe"} | parameters)


def test_equal_to_the_definitions_on_random_data() -> None:
    for seed in seeds(20, 200):
        group, truth, score = random_cases(seed)
        made = score >= 0.5
        found = overall(run(data_set(group, truth, score), least=2, resamples=0))
        rates = [
            (made[own].mean(), made[own & truth].mean(), made[own & ~truth].mean(), (made == truth)[own].mean(),
             (score - truth)[own].mean())
            for own in (group == code for code in range(3))
        ]  # fmt: skip
        least, most = np.min(rates, axis=0), np.max(rates, axis=0)
        expected = {
            "demographic_parity_difference": most[0] - least[0], "demographic_parity_ratio": least[0] / most[0],
            "equalized_odds_difference": max(most[1] - least[1], most[2] - least[2]),
            "equalized_odds_ratio": min(least[1] / most[1], least[2] / most[2]),
            "accuracy_difference": most[3] - least[3], "calibration_difference": most[4] - least[4],
        }  # fmt: skip
        for metric, value in expected.items():
            assert found[metric].value == pytest.approx(value, abs=1e-9), (seed, metric)


@pytest.mark.parametrize("seed", FAIRLEARN)
def test_the_numbers_of_fairlearn(seed: int) -> None:
    found = overall(run(data_set(*random_cases(seed))))
    names = ("demographic_parity_difference", "demographic_parity_ratio", "equalized_odds_difference",
             "equalized_odds_ratio")  # fmt: skip
    assert [found[name].value for name in names] == pytest.approx(FAIRLEARN[seed])


def test_small_groups_are_shown_and_named_but_not_compared() -> None:
    group, truth, score = random_cases(2)
    group = np.where(np.arange(120) < 4, 9, group)
    findings = run(data_set(group, truth, score))
    row = overall(findings)["demographic_parity_difference"]
    assert (row.reason, row.n) == ("left out, fewer than 10 cases: g9", 116)
    assert any(row.label == "g9" and row.metric == "selection_rate" for row in findings.aggregates)
    assert "g9" not in findings.curves["other"].to_pylist()


def test_groups_that_differ_are_found_and_equal_ones_are_not() -> None:
    found = {}
    for shift in (0.0, 0.5):
        least = []
        for seed in seeds(20, 40):
            rng = np.random.default_rng(seed)
            group, truth = np.repeat([0, 1], 100), rng.random(200) < 0.5
            score = np.clip(rng.random(200) + shift * group, 0, 1)
            curves = run(data_set(group, truth, score), resamples=100).curves
            least.append(min(curves["adjusted_p"].to_pylist()))
        found[shift] = int(np.sum(np.array(least) <= 0.05))
    assert found[0.5] == seed + 1
    assert found[0.0] <= (seed + 1) / 8


def test_an_interval_holds_the_difference_of_two_groups_as_often_as_it_says() -> None:
    held = 0
    draws = seeds(40, 100)
    for seed in draws:
        rng = np.random.default_rng(seed)
        group = np.repeat([0, 1], 50)
        score = (rng.random(100) < np.where(group, 0.8, 0.4)).astype(float)
        row = overall(run(data_set(group, rng.random(100) < 0.5, score), resamples=50))["demographic_parity_difference"]
        held += int(row.low <= 0.4 <= row.high)
    assert held >= least_covered(len(draws))


def test_what_cannot_be_compared_says_why() -> None:
    group, truth, score = random_cases(3)
    unnamed = overall(tabular.run("group_fairness", data_set(group, truth, score)))
    assert unnamed["equalized_odds_ratio"].reason == "name the column of groups in the parameter column"
    ids = overall(run(data_set(range(120), truth, score)))
    assert ids["equalized_odds_ratio"].reason == "120 groups, more than 50: no column of groups"
    alone = overall(run(data_set(np.zeros(120, int), truth, score)))
    assert alone["demographic_parity_ratio"].reason == "fewer than two groups have 10 cases"
    with pytest.raises(InputError, match=r"the column 'tribes'.*tribe"):
        run(data_set(group, truth, score), column="tribes")
    with pytest.raises(InputError, match="the class 'maybe'"):
        run(data_set(group, truth, score), positive="maybe")


def test_odds_of_a_group_without_positives_have_no_value_and_say_so() -> None:
    group = np.repeat([0, 1], 40)
    truth = np.concatenate([np.tile([True, False], 20), np.zeros(40, bool)])
    found = overall(run(data_set(group, truth, np.tile([0.8, 0.2], 40))))
    why = "no case of the class in g1: tpr has no value there"
    assert {(found[f"equalized_odds_{kind}"].value, found[f"equalized_odds_{kind}"].reason)
            for kind in ("difference", "ratio")} == {(None, why)}  # fmt: skip
    assert found["demographic_parity_difference"].value == 0


def test_classes_without_scores_are_compared_but_not_calibrated() -> None:
    suite, outputs = data_set(np.repeat([0, 1], 40), np.tile([True, False], 40), np.tile([0.8, 0.2], 40))
    rows = [row | {"score": None} for row in outputs.predictions.to_pylist()[1::4]]
    found = overall(run((suite, Outputs.from_rows(outputs.outputs.to_pylist(), rows))))
    assert found["demographic_parity_difference"].value is not None
    assert found["calibration_difference"].value is None
