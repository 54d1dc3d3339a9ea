"""Consistency by statistics: how much a metric of the same case varies between repeated runs."""

import math

from pydantic import Field, field_validator

from metrics.core.evaluator import (
    CaseScore,
    Evaluator,
    Example,
    Findings,
    Metric,
    Parameters,
    evaluator,
    not_applicable,
    unreadable_value,
)
from metrics.core.evidence import Evidence
from metrics.core.suite import Case, Outputs, Suite
from metrics.evaluators.consistency._examples import repeated_answers
from metrics.evaluators.consistency._repeats import NO_OUTPUT, repeats_by_case, summarised, too_few
from metrics.stats.dispersion import dispersion

METRICS = (
    Metric.neutral("mean", "Mean of the metric over the repeats of a case.", low=-math.inf, high=math.inf),
    Metric.lower("variance", "Population variance of the metric over the repeats of a case.",
                 high=math.inf, threshold=None),
    Metric.lower("coefficient_of_variation", "Population standard deviation divided by the mean, over the repeats of a "
                 "case.", high=math.inf, primary=True),
)  # fmt: skip
TEN = "one two three four five six seven eight nine ten"


class StatisticsParameters(Parameters):
    """Which metric is compared over the repeats."""

    of: str = Field(
        "rouge.rougeL",
        description="The metric to compare, as evaluator.metric (an evaluator alone: its primary metric). Evaluators "
        "of single cases that need no model; their own parameters keep the defaults.",
    )

    @field_validator("of")
    @classmethod
    def _known(cls, of: str) -> str:
        followed(of)
        return of


@evaluator(
    id="consistency_statistics",
    title="Consistency: statistics",
    tasks=("text", "agent"),
    inputs=("answer",),
    metrics=METRICS,
    repeats=True,
    default_needs=("repeats",),
    sources=("Open RAG Eval: consistency, statistics of numeric metrics",),
    standards=("NIST AI RMF: valid and reliable", "SR 11-7: ongoing monitoring", "SR 11-7: outcomes analysis"),
    differs_from_source=(
        "Variance and standard deviation are those of the population; Open RAG Eval does not say. CV divides by the "
        "absolute mean and has no value where that is 0. The threshold .25 of the CV is Assay's."
    ),
    examples=(
        Example(
            "three repeats with a rouge1 of .8, .9 and .7",
            repeated_answers(
                [TEN.replace("one two", "x y"), TEN.replace("one", "x"), TEN.replace("one two three", "x y z")],
                expected=[TEN],
            ),
            rows=(
                {"metric": "mean", "value": 0.8, "n": 1},
                {"metric": "variance", "value": 0.02 / 3},
                {"metric": "coefficient_of_variation", "value": math.sqrt(0.02 / 3) / 0.8},
            ),
            parameters={"of": "rouge.rouge1"},
        ),
        Example(
            "a mean of 0 has no coefficient of variation, and a single repeat has no value",
            repeated_answers(["London", ""], ["Rome"], expected=["Paris", "Rome"]),
            rows=(
                {"metric": "mean", "value": 0.0, "n": 1, "unscored": 1},
                {"metric": "variance", "value": 0.0},
                {"metric": "coefficient_of_variation", "value": None, "n": 0, "unscored": 2},
            ),
        ),
    ),
)
def consistency_statistics(suite: Suite, outputs: Outputs, parameters: StatisticsParameters) -> Findings:
    """How much a metric of the same case varies between repeated runs: mean, variance and coefficient of variation.

        μ = Σ xᵢ / n        σ² = Σ (xᵢ − μ)² / n        CV = σ / |μ|

    over the values xᵢ of the chosen metric on the n repeats of a case, taken as the whole population. The model's
    numbers are means over cases, with a bootstrap interval over cases; a low variance and CV mean that the runs agree,
    whatever the mean.

    The metric is computed on every repeat, with its evaluator's default parameters. A repeat without a value is listed
    in the evidence with the reason; a case needs two values, else it is not applicable. If the mean is 0, the
    coefficient of variation has no value. An empty answer is scored like any other.

    Evidence: the runs with their values, or the reason for none.
    """
    entry, metric = followed(parameters.of)
    options = entry.parameters.model_validate({})
    cases = {
        case_id: _case(repeats, entry, metric, options) for case_id, repeats in repeats_by_case(suite, outputs).items()
    }
    return summarised(suite, METRICS, cases)


def followed(of: str) -> tuple[Evaluator, Metric]:
    """Return the evaluator and the metric that `of` names; ValueError with the possible names if there is none."""
    from metrics.core.registry import evaluators  # the registry imports this module

    known = {entry.id: entry for entry in evaluators().values() if entry.shape == "case" and not entry.needs}
    name, _, metric_name = of.partition(".")
    if name not in known:
        raise ValueError(f"one of {', '.join(known)}, with or without .metric")
    entry = known[name]
    names = {metric.name: metric for metric in entry.metrics}
    if metric_name and metric_name not in names:
        raise ValueError(f"one of {', '.join(f'{name}.{metric}' for metric in names)}")
    return entry, names[metric_name] if metric_name else entry.primary


def _case(repeats: list[Case], entry: Evaluator, metric: Metric, options: Parameters) -> CaseScore:
    if not repeats:
        return not_applicable(NO_OUTPUT)
    values: dict[int, float] = {}
    unscored: dict[int, str] = {}
    for case in repeats:
        found = _value(case, entry, metric, options)
        if isinstance(found, str):
            unscored[case.run] = found
        else:
            values[case.run] = found
    facts = {
        "of": f"{entry.id}.{metric.name}",
        "values": [{"run": run, "value": value} for run, value in values.items()],
        "unscored": [{"run": run, "reason": reason} for run, reason in unscored.items()],
    }
    if len(values) < 2:
        return too_few(f"repeats with a value of {metric.name}", len(values), facts)
    spread = dispersion(list(values.values()))
    reason = "the mean is 0" if spread.coefficient_of_variation is None else None
    return CaseScore(spread._asdict(), reason=reason, evidence=Evidence(facts=facts))


def _value(case: Case, entry: Evaluator, metric: Metric, options: Parameters) -> float | str:
    """Return the metric's value on one repeat, or why there is none."""
    missing = entry.missing_inputs(case)
    if missing:
        return f"the case has no {' and no '.join(name.replace('_', ' ') for name in missing)}"
    try:
        score: CaseScore = entry(case, options)
    except Exception as failure:  # as in the engine: one repeat must not fail the others
        return f"{type(failure).__name__}: {failure}"
    value = score.values.get(metric.name)
    if value is None:
        return score.reason or score.status.value
    return unreadable_value(metric, value) or value
