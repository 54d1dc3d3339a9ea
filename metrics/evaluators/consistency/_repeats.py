"""The consistency family: evaluators that compare the repeats of a case with one another."""

from collections.abc import Mapping, Sequence

import numpy as np

from metrics.core.array_types import Floats
from metrics.core.cases import join_cases
from metrics.core.evaluator import Aggregate, CaseScore, Findings, Metric, not_applicable
from metrics.core.evidence import Evidence
from metrics.core.sampling_design import SamplingDesign
from metrics.core.suite import Case, Outputs, Suite
from metrics.stats.intervals import mean_intervals

NO_OUTPUT = "the model has no output for this case"


def repeats_by_case(suite: Suite, outputs: Outputs) -> dict[str, list[Case]]:
    """Return the repeats of every case of the suite, in its order, sorted by `run`; none without an output."""
    found: dict[str, list[Case]] = {case_id: [] for case_id in suite.cases["case_id"].to_pylist()}
    for case in join_cases(suite, outputs):
        found[case.case_id].append(case)
    return {case_id: sorted(repeats, key=lambda case: case.run) for case_id, repeats in found.items()}


def summarised(suite: Suite, metrics: Sequence[Metric], cases: Mapping[str, CaseScore]) -> Findings:
    """Return the mean of each metric over the cases that have a value, with a bootstrap interval over cases.

    Weighted if the suite has weights, resampled by `group` if it has groups. The scores of the cases are kept.
    """
    values = np.array(
        [[np.nan if (value := score.values.get(metric.name)) is None else value for metric in metrics]
         for score in cases.values()],
        np.float64,
    ).reshape(len(cases), len(metrics))  # fmt: skip
    design = SamplingDesign.of(suite.cases)
    low, high = np.array([(metric.low, metric.high) for metric in metrics]).T
    lows, highs, method = mean_intervals(values, design.weights, design.clusters, low=low, high=high)
    return Findings(
        [
            _aggregate(metric, values[:, column], design.weights, (lows[column], highs[column]), method, cases)
            for column, metric in enumerate(metrics)
        ],
        cases,
    )


def too_few(kind: str, there: int, evidence: Mapping[str, object]) -> CaseScore:
    """Return the score of a case with fewer than two repeats to compare."""
    return not_applicable(f"needs two {kind} of the case, has {there}", Evidence(facts=evidence))


def _aggregate(
    metric: Metric,
    values: Floats,
    weights: Floats | None,
    interval: tuple[float, float],
    method: str,
    cases: Mapping[str, CaseScore],
) -> Aggregate:
    present = ~np.isnan(values)
    masses = present if weights is None else present * weights
    n = int(present.sum())
    if not masses.sum():
        reasons = [score.reason for score in cases.values() if score.reason] or ["no case"]
        reason = f"no case could be scored; most often: {max(sorted(set(reasons)), key=reasons.count)}"
        return Aggregate(metric.name, None, unscored=len(values), reason=reason)
    value = float((np.where(present, values, 0.0) * masses).sum() / masses.sum())
    low, high = (None if np.isnan(bound) else float(min(max(bound, metric.low), metric.high)) for bound in interval)
    return Aggregate(metric.name, value, low, high, n, len(values) - n, interval=None if low is None else method)
