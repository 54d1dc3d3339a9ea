"""Consistency by statistics: how much the metrics of the same case vary between repeated runs."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pyarrow as pa
from pydantic import Field, field_validator

from metrics.core.evaluator import (
    NO_OUTPUT,
    Aggregate,
    CaseScore,
    Evaluator,
    Example,
    Findings,
    Metric,
    Parameters,
    Status,
)
from metrics.core.evidence import Evidence
from metrics.core.suite import Outputs, Suite
from metrics.evaluators.consistency.answers import consistency_evaluator, repeated_answers, repeated_scores, summarise
from metrics.stats.repeated_samples import dispersion

PRIMARY = "coefficient_of_variation"
SHORT = {PRIMARY: "cv", "interquartile_range": "iqr"}  # in names that say which metric they are about
MOST_REASONS = 3  # of a case that are spelled out


class Followed(NamedTuple):
    """A metric that is followed over the repeats: its evaluator and name, and the end of the names of its numbers."""

    evaluator: str
    metric: str
    suffix: str

    @property
    def name(self) -> str:
        """The metric as evaluator.metric."""
        return f"{self.evaluator}.{self.metric}" if self.evaluator else self.metric

    def statistic(self, name: str) -> str:
        """Return the name of one of its numbers: `range_of_umbrela:mrr`, or without a suffix `range`."""
        return SHORT.get(name, name) + self.suffix if self.suffix else name


class Repeat(NamedTuple):
    """A stored score of one repeat: its value, or the reason for none."""

    run: int
    value: float | None
    reason: str


def statistics_of(metric: Metric, of: Followed, primary: bool = True) -> tuple[Metric, ...]:
    """Return the statistics of a metric over repeats, with the bounds that follow from the metric's own."""
    about = f"of {of.name} over the repeats of a case"
    span = metric.high - metric.low
    described = (
        Metric.neutral("mean", f"Mean {about}.", low=metric.low, high=metric.high, unit=metric.unit),
        Metric.neutral("median", f"Median {about}.", low=metric.low, high=metric.high, unit=metric.unit),
        Metric.lower("variance", f"Population variance {about}.", high=span**2 / 4, threshold=None),
        Metric.lower("standard_deviation", f"Population standard deviation {about}.",
                     high=span / 2, threshold=None, unit=metric.unit),
        Metric.lower(PRIMARY, f"Population standard deviation divided by the mean, {about}.",
                     high=math.inf, threshold=0.25 if primary or metric.primary else None),
        Metric.lower("range", f"Highest less lowest value {about}.", high=span, threshold=None, unit=metric.unit),
        Metric.lower("interquartile_range", f"Upper less lower quartile {about}.", high=span, threshold=None,
                     unit=metric.unit),
    )  # fmt: skip
    return tuple(
        replace(one, name=of.statistic(one.name), primary=primary and one.name == PRIMARY,
                minor=one.name != PRIMARY or not (primary or metric.primary))
        for one in described
    )  # fmt: skip


ANY = Metric("metric", "Any metric.", low=-math.inf, high=math.inf)
METRICS = statistics_of(ANY, Followed("", "a metric", ""))


class StatisticsParameters(Parameters):
    """Which metrics are compared over the repeats."""

    metrics_to_run_consistency: tuple[str, ...] = Field(
        (),
        description="The metrics to compare, each as evaluator.metric, or an evaluator for all of its metrics; of the "
        "run's other evaluators of single cases. Empty: every metric of theirs.",
    )
    of: str = Field(
        "", description="One metric to compare in place of the list; its numbers are called mean, variance and so on."
    )

    @field_validator("metrics_to_run_consistency", mode="before")
    @classmethod
    def _listed(cls, given: Any) -> Any:
        return [name.strip() for name in given.split(",") if name.strip()] if isinstance(given, str) else given

    def followed(self) -> tuple[str, ...]:
        """Return the evaluators whose stored scores are read."""
        return tuple(dict.fromkeys(one.evaluator for one in self.metrics))

    @property
    def metrics(self) -> tuple[Followed, ...]:
        """The metrics that are followed; none before `following` has spelled out the list."""
        if self.of:
            evaluator, _, metric = self.of.partition(".")
            known = None if metric else _evaluator_of(evaluator)
            return (Followed(evaluator, metric if known is None else known.primary.name, ""),)
        named = (text.partition(".") for text in self.metrics_to_run_consistency)
        return tuple(
            Followed(evaluator, metric, f"_of_{evaluator}" + (f":{metric}" if metric != evaluator else ""))
            for evaluator, _, metric in named
        )

    def following(self, others: Sequence[Evaluator]) -> "StatisticsParameters":
        """Return the parameters with every metric spelled out; ValueError where there is no such metric."""
        known = {entry.id: entry for entry in others if entry.shape != "dataset"}
        if not known:
            raise ValueError("other evaluators of single cases beside it: it compares their metrics over the repeats")
        asked = (self.of,) if self.of else self.metrics_to_run_consistency or tuple(known)
        spelled = tuple(dict.fromkeys(name for text in asked for name in _spell_out(text, known)))
        return self if self.of else self.model_copy(update={"metrics_to_run_consistency": spelled})

    def measured(self, declared: tuple[Metric, ...]) -> tuple[Metric, ...]:
        """Return the statistics of every metric that is followed; the `declared` ones before any is."""
        if not self.metrics:
            return declared
        return tuple(
            metric for place, one in enumerate(self.metrics) for metric in statistics_of(_metric(one), one, place == 0)
        )


def _evaluator_of(evaluator: str) -> Evaluator | None:
    from metrics.core.registry import evaluators  # the registry imports this module

    return evaluators().get(evaluator)


def _metric(one: Followed) -> Metric:
    """Return the metric; one of any range where its evaluator declares it only by parameters, or is gone."""
    known = _evaluator_of(one.evaluator)
    return next((metric for metric in known.metrics if metric.name == one.metric), ANY) if known else ANY


def _spell_out(text: str, known: Mapping[str, Evaluator]) -> Iterator[str]:
    """Yield the metrics that `text` means, the primary one first; ValueError where there is none."""
    name, _, metric = text.partition(".")
    if name not in known:
        raise ValueError(f"metrics of the run's other evaluators of single cases, which are {', '.join(known)}")
    names = [one.name for one in sorted(known[name].metrics, key=lambda one: not one.primary)]
    if metric and metric not in names:
        raise ValueError(f"one of {', '.join(f'{name}.{one}' for one in names)}")
    yield from (f"{name}.{one}" for one in ([metric] if metric else names))


@consistency_evaluator(
    title="Consistency: statistics",
    metrics=METRICS,
    version=3,
    sources=("Open RAG Eval: consistency, statistics of numeric metrics",),
    differs_from_source="Variance and standard deviation are those of the population; Open RAG Eval does not say. CV "
    "divides by the absolute mean and has no value where that is 0. Quartiles may lie between two values, as NumPy's. "
    "The threshold .25 of the CV of a primary metric is Assay's.",
    examples=(
        Example(
            "three repeats with a faithfulness of .8, .9 and .7",
            repeated_answers(["a", "b", "c"]) | repeated_scores("faithfulness.faithfulness", [0.8, 0.9, 0.7]),
            expect={
                "median_of_faithfulness": 0.8,
                "variance_of_faithfulness": 0.02 / 3,
                "standard_deviation_of_faithfulness": math.sqrt(0.02 / 3),
                "cv_of_faithfulness": math.sqrt(0.02 / 3) / 0.8,
                "range_of_faithfulness": 0.2,
                "iqr_of_faithfulness": 0.85 - 0.75,
            },
            rows=({"metric": "mean_of_faithfulness", "value": 0.8, "n": 1},),
            parameters={"metrics_to_run_consistency": ["faithfulness.faithfulness"]},
        ),
        Example(
            "a mean of 0 has no coefficient of variation, and a single repeat has no value",
            repeated_answers(["London", ""], ["Rome"]) | repeated_scores("rouge.rougeL", [0.0, 0.0], [1.0]),
            expect={"variance": 0.0},
            rows=(
                {"metric": "mean", "value": 0.0, "n": 1, "unscored": 1},
                {"metric": "coefficient_of_variation", "value": None, "n": 0, "unscored": 2},
            ),
            parameters={"of": "rouge.rougeL"},
        ),
    ),
    differs_from="consistency_rouge and consistency_bertscore compare the answers with one another; this one compares "
    "the scores that they got.",
)
def consistency_statistics(
    suite: Suite, outputs: Outputs, parameters: StatisticsParameters, scores: pa.Table
) -> Findings:
    """How much metrics of the same case vary between repeated runs: mean, median, variance, deviation and ranges.

        μ = Σ xᵢ / n        σ² = Σ (xᵢ − μ)² / n        CV = σ / |μ|        range = max xᵢ − min xᵢ
        median = q(½)       interquartile range = q(¾) − q(¼),  q(p) at place (n − 1)·p of the sorted xᵢ, from 0

    over the values xᵢ of a metric on the n repeats of a case, taken as the whole population; a quantile whose place is
    no whole number lies on the line between its neighbours (Hyndman and Fan's type 7): of .7, .8 and .9 the quartiles
    are .75 and .85. The model's numbers are
    means over cases, with a bootstrap interval over cases; low ones mean that the runs agree, whatever the mean.

    The values are the stored scores of the run's other evaluators, judged and embedded ones included: nothing is asked
    or computed again. Every metric has its own numbers, such as `range_of_umbrela:mrr`, and the column `of` says
    which metric they are about. A repeat without a value is listed in the evidence with its reason; a case needs two
    values, else it is not applicable. If the mean is 0, the coefficient of variation has no value.

    Evidence: for each metric the value of every repeat, or the reason for none.
    """
    rows = _stored_repeats(scores)
    cases = {
        case_id: _case([(one, rows.get((one.name, case_id), [])) for one in parameters.metrics])
        for case_id in suite.cases["case_id"].to_pylist()
    }
    found = summarise(suite, parameters.measured(METRICS), cases)
    of = {one.statistic(statistic.name): one.name for one in parameters.metrics for statistic in METRICS}
    return replace(found, aggregates=[_about(row, of.get(row.metric, "")) for row in found.aggregates])


def _about(row: Aggregate, of: str) -> Aggregate:
    """Return the number with the metric that it is about; the reason for none, which is of a whole case, is its own."""
    none = f"no case has two repeats with a value of {of} (for the variation: with a mean other than 0)"
    return replace(row, columns={"of": of}, reason=none if row.value is None else row.reason)


def _stored_repeats(scores: pa.Table) -> dict[tuple[str, str], list[Repeat]]:
    """Return the repeats by metric (evaluator.metric) and case."""
    found: dict[tuple[str, str], list[Repeat]] = {}
    names = ("evaluator", "metric", "case_id", "run", "value", "reason", "status")
    rows = zip(*(scores[name].to_pylist() for name in names), strict=True)
    for of, metric, case_id, run, value, reason, status in rows:
        found.setdefault((f"{of}.{metric}", case_id), []).append(Repeat(run, value, reason or status))
    return {key: sorted(repeats, key=lambda one: one.run) for key, repeats in found.items()}


def _case(followed: Sequence[tuple[Followed, list[Repeat]]]) -> CaseScore:
    values: dict[str, float | None] = {}
    reasons: list[str] = []
    for one, repeats in followed:
        there = [repeat.value for repeat in repeats if repeat.value is not None]
        if len(there) < 2:
            values |= {one.statistic(statistic.name): None for statistic in METRICS}
            lacking = f"needs two repeats with a value of {one.name}, has {len(there)}"
            reasons.append(lacking if repeats else f"the run has no scores of {one.name} for this case: {NO_OUTPUT}")
            continue
        spread = dispersion(there)._asdict()
        values |= {one.statistic(name): value for name, value in spread.items()}
        if spread[PRIMARY] is None:
            reasons.append(f"the mean of {one.name} is 0")
    table: list[dict[str, str | float]] = [
        {
            "metric": one.name,
            **{f"run {run}": reason if value is None else round(value, 6) for run, value, reason in repeats},
        }
        for one, repeats in followed
    ]
    more = f"; and {len(reasons) - MOST_REASONS} more" if len(reasons) > MOST_REASONS else ""
    reason = "; ".join(reasons[:MOST_REASONS]) + more or None
    evidence = Evidence(facts={"repeats": table})
    if all(value is None for value in values.values()):
        answered = any(repeats for _, repeats in followed)
        return CaseScore({}, Status.NOT_APPLICABLE if answered else Status.SKIPPED, reason or NO_OUTPUT, evidence)
    return CaseScore(values, reason=reason, evidence=evidence)
