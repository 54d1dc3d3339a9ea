"""Cost, latency and tokens: median, 95 % point and mean of what answers take, of which a few may take very much."""

from inspect import cleandoc
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Floats
from metrics.core.evaluator import Aggregate, Evaluator, Example, Findings, Input, Metric
from metrics.core.evaluator_decorator import evaluator
from metrics.core.fields import TASKS
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._classification import ResamplingParameters, aggregate
from metrics.evaluators._spread_scores import spread_scores
from metrics.stats.bootstrap import Draws
from metrics.stats.prediction_errors import resampled_means
from metrics.stats.quantiles import describe_missing_end, quantile_interval, resampled_quantiles

NOT_SAID = "the output does not say it"


def _usage(
    id: str, title: str, column: Input, what: str, unit: str, asks: str, taken: tuple[float, ...],
    median: float, mean: float,
) -> Evaluator:  # fmt: skip
    """Return the evaluator of a column of the outputs.

    `what` and `unit` describe its numbers, `asks` begins its page. `taken` is what four answers take in its
    example, with their `median` and `mean`.
    """
    metrics = tuple(
        Metric.amount(name, f"{words} {what}.", unit=unit, **more)
        for name, words, more in (
            ("median", "Median", {"primary": True, "quantile": 0.5}),
            ("p95", "95 % point: 5 % of the cases take more", {"quantile": 0.95}),
            ("mean", "Mean", {}),
        )
    )

    def describe(suite: Suite, outputs: Outputs, parameters: ResamplingParameters) -> Findings:
        case_ids = suite.cases["case_id"].combine_chunks()
        rows = pc.index_in(case_ids, value_set=outputs.outputs["case_id"].combine_chunks())
        taken = outputs.outputs[column].combine_chunks().take(rows).cast(pa.float64())
        whole = taken.to_numpy(zero_copy_only=False)
        place = np.flatnonzero(np.isfinite(whole))
        values, draws = whole[place], parameters.draws(suite).of_cases(place)
        out = len(whole) - len(place)
        found = [_aggregate(metric, values, draws, out) for metric in metrics]
        reasons = pa.array([None if known else NOT_SAID for known in np.isfinite(whole).tolist()], pa.string())
        return Findings(found, spread_scores(case_ids, place, reasons, {"mean": values}, **{column: pa.array(whole)}))

    describe.__doc__ = cleandoc(f"""{asks}

    median: half of the cases take less; p95: 5 % of the cases take more; of weighted cases by weight. They are of the
    outputs' column `{column}`. Median and p95 lead because a few extreme cases neither move them nor widen their
    intervals; the mean times the number of cases is the total.

    95 % intervals of median and p95: two of the values themselves (order statistics), exact whatever the distribution;
    where cases have groups or weights, at as many independent cases as they are worth (Woodruff's, with the CR2
    variance). p95 has no upper end with fewer than 59 cases, the median no interval with fewer than 6. Of the mean: the
    bootstrap, without an upper end where few cases make the variance, which the reason says. Two models are tested on
    the same resamples of the cases, p95 from 59 cases on.

    A case whose output does not say it is unscored. The score of a case is its own number (mean).
    """)
    return evaluator(
        id=id,
        title=title,
        tasks=TASKS,
        inputs=(column,),
        metrics=metrics,
        has_thresholds=False,
        sources=("Hahn & Meeker 1991: Statistical Intervals", "Woodruff 1952: Confidence intervals for medians"),
        standards=("valid and reliable", "ongoing monitoring"),
        examples=(
            Example(
                "one answer of four takes most of all: the median does not move, the mean does",
                _answers_with(column, *taken),
                expect={"p95": taken[-1], "mean": mean},
                rows=({"metric": "median", "value": median, "n": 4},),
            ),
            Example(
                "an output that does not say it is unscored",
                _answers_with(column, taken[0], None, taken[2]),
                rows=({"metric": "median", "value": (taken[0] + taken[2]) / 2, "n": 2, "unscored": 1},),
            ),
        ),
        differs_from="agent_budget compares what was spent case by case with a budget; this one says what is usual.",
        differs_from_source="The sources define the intervals; which numbers are shown is Assay's choice.",
    )(describe)


def _answers_with(column: str, *values: float | None) -> dict[str, Any]:
    """Return the cases 1, 2, … of a worked example, with what the answer to each took."""
    ids = [str(number) for number in range(1, 1 + len(values))]
    return {
        "cases": [{"case_id": name, "question": "?"} for name in ids],
        "outputs": [{"case_id": name, "answer": "!", column: value} for name, value in zip(ids, values, strict=True)],
    }


def _aggregate(metric: Metric, values: Floats, draws: Draws, unscored: int) -> Aggregate:
    n = len(values)
    if not n:
        return aggregate(metric.name, np.nan, n=0, unscored=unscored, reason=NOT_SAID)
    if not metric.quantile:
        samples = resampled_means(values[:, None], draws)[:, 0]
        ends, why = draws.mean_interval(values, 0.0)
        return aggregate(metric.name, samples[0], ends, "bootstrap", n=n, unscored=unscored, reason=why)
    samples = resampled_quantiles(values, metric.quantile, draws)
    interval = quantile_interval(values, metric.quantile, draws.weights, draws.codes)
    why = describe_missing_end(interval, values, metric.quantile, draws.weights, draws.codes)
    return aggregate(
        metric.name, samples[0], interval, "order statistics", n=n, unscored=unscored, reason=why,
        samples=samples[1:] if why is None else samples[:0],
    )  # fmt: skip


cost = _usage(
    id="cost", title="Cost", column="cost_usd", what="cost of an answer, in US dollars", unit="USD",
    asks="What answers cost: the median, the 95 % point and the mean of their dollars.",
    taken=(0.01, 0.02, 0.03, 0.5), median=0.025, mean=0.14,
)  # fmt: skip
latency = _usage(
    id="latency", title="Latency", column="duration_s", what="time of an answer, in seconds", unit="s",
    asks="How long answers take: the median, the 95 % point and the mean of their seconds.",
    taken=(1.0, 2.0, 4.0, 30.0), median=3.0, mean=9.25,
)  # fmt: skip
tokens = _usage(
    id="tokens", title="Tokens", column="tokens", what="tokens of an answer", unit="tokens",
    asks="How many tokens answers take: their median, their 95 % point and their mean.",
    taken=(100, 200, 300, 4000), median=250.0, mean=1150.0,
)  # fmt: skip
