"""Thresholds belong to a model: no evaluator with local weights declares one, and calibrations give one per weights."""

import math

import pytest

from metrics.calibrations.calibrated_thresholds import models_used
from metrics.core.calibration import Calibration, calibration_of, latest, with_thresholds
from metrics.core.evaluator import JUDGE
from metrics.core.registry import choose, evaluators


def calibration(**given: object) -> Calibration:
    fields = {
        "evaluator": "groundedness", "version": 3, "metric": "groundedness", "models": {"embedder": "a" * 64},
        "threshold": 0.4, "n": 120, "passed": 70, "data": "labels", "auc": 0.7, "auc_low": 0.6, "auc_high": 0.8,
    }  # fmt: skip
    return Calibration(**fields | given)


def test_a_threshold_counts_of_the_user_and_of_the_judge_it_is_declared_for():
    for given in ({"threshold": 0.3}, {"thresholds": {"groundedness": 0.3}}):
        entry, values = choose(["groundedness"], {"groundedness": given})["groundedness"]
        assert (entry.primary.threshold, evaluators()["groundedness"].holds(0.2, values)) == (0.3, "no")
    entry, values = choose(["groundedness"])["groundedness"]
    assert entry.primary.threshold is None
    assert evaluators()["groundedness"].holds(0.2, values) == "unknown"
    for checker, expected in (("judge", 0.25), ("classifier", None)):
        entry, _ = choose(["hallucination_claims"], {"hallucination_claims": {"checker": checker}})[
            "hallucination_claims"
        ]
        assert entry.primary.threshold == expected


@pytest.mark.parametrize(("auc", "low", "separates"),
    [(0.7, 0.6, True), (0.6, 0.501, True), (0.599, 0.55, False), (0.8, 0.5, False), (0.3, 0.2, False)])  # fmt: skip
def test_a_metric_separates_from_an_auc_of_six_tenths_on_whose_interval_is_above_chance(auc, low, separates):
    assert calibration(auc=auc, auc_low=low).separates is separates


def test_a_record_is_read_again_and_replaced_by_a_later_one_alone():
    one = calibration(settings={"mode": "joined"}, sets=({"data": "a", "auc": 0.7},))
    assert calibration_of(one.record() | {"later": 1}) == one
    with pytest.raises(TypeError, match="auc"):
        calibration_of({name: value for name, value in one.record().items() if name != "auc"})
    first, again = calibration(), calibration(threshold=0.5)
    others = [calibration(models={"embedder": "b" * 64}), calibration(settings={"a": 1}), calibration(version=4)]
    assert latest([first, *others, again]) == [again, *others]


def test_calibrated_thresholds_stand_behind_given_ones_and_fill_empty_cutoffs():
    values = {"threshold": None, "thresholds": {"min": 0.1}, "cutoff": None}
    assert with_thresholds(values, {"mean": 0.3, "cutoff": 0.4}) == {
        "threshold": None, "thresholds": {"mean": 0.3, "min": 0.1}, "cutoff": 0.4,
    }  # fmt: skip
    assert with_thresholds(values, {}) == values


def test_shipped_calibrations_are_of_todays_evaluators():
    from metrics.calibrations.calibrated_thresholds import shipped

    assert shipped()
    for one in shipped():
        entry = evaluators()[one.evaluator]
        judged = JUDGE in one.models
        command = "bench_local_judge" if judged else "bench_thresholds"
        assert one.version == entry.version, f"{one.evaluator}: run tests/benchmarks/{command}.py --store"
        assert one.metric in {metric.name for metric in entry.metrics} | set(entry.parameters.model_fields)
        assert set(one.models) == set(entry.parameters().used(entry.resources))
        # a change of the judge's questions, or other weights, need other figures
        assert dict(one.models) == models_used(entry, entry.parameters(), {JUDGE: "local"})
        sets_it = any(part["sets_the_threshold"] for part in one.sets)
        assert (one.threshold is not None) == (one.separates and sets_it)
        assert all(math.isfinite(value) for value in (one.auc, one.auc_low, one.auc_high))
        assert one.n >= 30
        assert 0 < one.passed < one.n
