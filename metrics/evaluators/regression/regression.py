"""Regression: errors of predicted numbers, the variance explained and rank correlations."""

import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
from pydantic import Field

from metrics.core.array_types import Floats
from metrics.core.errors import InputError, InputProblem, one_of
from metrics.core.evaluator import Aggregate, Example, Findings, Metric
from metrics.core.evaluator_decorator import evaluator
from metrics.core.fields import METADATA
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._classification import ResamplingParameters, aggregate
from metrics.evaluators.regression._values import HUGE, NOTHING_SCORED, Values, number_cases, read_values
from metrics.stats.correlation import Ranks, kendall, pearson, resampled, spearman
from metrics.stats.intervals import NONE
from metrics.stats.prediction_errors import r2_error, resampled_r2
from metrics.stats.quantiles import describe_missing_end, quantile_interval, resampled_quantiles
from metrics.stats.resample_intervals import Scale, scaled_interval

RESIDUALS = pa.schema([("case_id", pa.string()), ("truth", pa.float64()), ("predicted", pa.float64())])
ZERO = "the true value is 0: no error in percent"
CONSTANT = "all true values, or all predictions, are the same"
SAME_TRUTHS = "all true values are the same"
NO_INTERVAL = "No 95 % interval: all resamples of these cases give the same value, or one is at the end of the range."
NO_LARGEST = "No 95 % interval and no test: the largest error of more cases is larger."
ONE_CASE = "one case has no variance"
FOUR = number_cases((3.0, 2.5), (-0.5, 0.0), (2.0, 2.0), (7.0, 8.0))
NO_ORDER = "no naive forecast: name the column that orders the cases in time in the parameter order"
NO_SCALE = "no naive forecast, as the case has no place in the order or its series has no two different values"


class RegressionParameters(ResamplingParameters):
    """What orders the cases, and how many points the plots show."""

    order: str = Field(
        "", description="The column of the cases' metadata that orders them in time, in each group: for MASE."
    )
    plot_points: int = Field(
        1_000, ge=2, le=100_000, description="Most cases in the residual plots, an even selection by residual."
    )


@evaluator(
    version=2,
    stand="first",
    tasks=("regression",),
    inputs=("true_value", "predicted_value"),
    metrics=(
        Metric.amount("mae", "Mean absolute error: mean of |predicted − true|.", primary=True, title="MAE"),
        Metric.amount("rmse", "Root of the mean squared error.", title="RMSE"),
        Metric("r2", "R²: the share of the variance of the true values that is explained.", -math.inf, title="R²"),
        Metric.amount("mape", "Mean of |predicted − true| / |true|, as a share.", title="MAPE"),
        Metric.neutral(
            "bias", "Mean of predicted − true: above 0 where predictions are too high.", low=-math.inf, high=math.inf
        ),
        Metric(
            "spearman",
            "Spearman's ρ: correlation of the ranks of true and predicted values.",
            -1.0,
            title="Spearman's ρ",
        ),
        Metric(
            "kendall",
            "Kendall's τ-b: pairs in order less pairs out of order, over those that both order.",
            -1.0,
            minor=True,
            title="Kendall's τ-b",
        ),
        Metric(
            "pearson",
            "Pearson's r: linear correlation of true and predicted values.",
            -1.0,
            minor=True,
            title="Pearson's r",
        ),
        Metric.amount("mse", "Mean squared error.", minor=True, title="MSE"),
        Metric.lower(
            "smape",
            "Symmetric MAPE: mean of 2·|predicted − true| / (|predicted| + |true|).",
            high=2.0,
            minor=True,
            title="sMAPE",
        ),
        Metric.amount(
            "mase",
            "Mean absolute error over that of the naive forecast, the true value before: below 1 is better.",
            minor=True,
            title="MASE",
        ),
        Metric.amount("max_error", "Largest |predicted − true|.", minor=True),
        Metric.amount("median_absolute_error", "Median of |predicted − true|.", minor=True, quantile=0.5),
    ),
    has_thresholds=False,
    sources=(
        "scikit-learn: regression metrics",
        "Kendall 1945: The treatment of ties in ranking problems",
        "Makridakis 1993: Accuracy measures (sMAPE)",
        "Hyndman & Koehler 2006: Another look at measures of forecast accuracy (MASE)",
    ),
    standards=("valid and reliable", "outcomes analysis"),
    examples=(
        Example(
            "scikit-learn's: errors −.5, .5, 0 and 1",
            FOUR,
            expect={
                "mse": 0.375,
                "rmse": math.sqrt(0.375),
                "r2": 1 - 1.5 / 29.1875,
                "mape": (0.5 / 3 + 1 + 1 / 7) / 4,
                "bias": 0.25,
                "smape": (1 / 5.5 + 2 + 0 + 2 / 15) / 4,
                "max_error": 1.0,
                "mase": None,
                "median_absolute_error": 0.5,
                "spearman": 1.0,
                "kendall": 1.0,
            },
            rows=({"metric": "mae", "value": 0.5, "n": 4},),
        ),
        Example(
            "a true value of 0 has no error in percent; a case without a prediction is unscored",
            number_cases((0.0, 1.0), (2.0, 1.0), (5.0, None)),
            expect={"r2": 0.0, "kendall": None},
            rows=(
                {"metric": "mae", "value": 1.0, "n": 2, "unscored": 1},
                {"metric": "mape", "value": 0.5, "n": 1, "unscored": 2},
            ),
        ),
        Example(
            "equal true values: nothing to explain, nothing to rank",
            number_cases((2.0, 1.0), (2.0, 4.0)),
            expect={"rmse": math.sqrt(2.5), "r2": None, "spearman": None},
        ),
    ),
    differs_from="interval_coverage judges the interval that a model gives, this one the prediction itself.",
    differs_from_source="A true value of 0 has no error in percent and is left out of MAPE, which says so; "
    "scikit-learn divides by 2.2e-16. R² of equal true values, and correlations of equal values, have no value; "
    "scikit-learn gives R² 1 or 0. Every number has an interval.",
)
def regression(suite: Suite, outputs: Outputs, parameters: RegressionParameters) -> Findings:
    """How far predicted numbers are from the true ones: MAE, RMSE, R², MAPE, bias and correlations.

    Over the n cases with a true value t and a prediction p:

        mae = mean |p − t|        mse = mean (p − t)²        rmse = √mse        bias = mean (p − t)
        mape = mean |p − t| / |t|                            r2 = 1 − Σ (p − t)² / Σ (t − mean t)²

        smape = mean 2·|p − t| / (|p| + |t|), 0 where both are 0        max_error = max |p − t|
        mase = mean |p − t| / s                              s = mean |t − t before| in the case's series

    and the median of |p − t|; Pearson's r, Spearman's ρ (of mid-ranks) and Kendall's τ-b of t and p. MAE and RMSE have
    the unit of the values; RMSE weighs large errors more. R² is 1 for perfect predictions, 0 where they are no better
    than the mean of the true values, and below 0 where they are worse. MAPE is a share, .1 for 10 %; cases whose true
    value is 0 have none and are left out of it. Correlations say whether the order is right, not the values.

    MASE needs the order of the cases in time, the metadata's column `order`; a series are the cases of one group,
    or all cases of a suite without groups. Below 1 predictions are better than to repeat the value before. Hyndman
    and Koehler take s from the past that a model was fitted to; here it is that of the cases themselves. Without an
    order, or in a series without two different values, a case has no MASE. The largest error has no interval: that
    of more cases is larger.

    R² of equal true values, and correlations where either side is constant, have no value, with the reason. A case
    without a true value or a prediction, or with one that is not finite, is unscored. Equal to scikit-learn's metrics
    and to scipy's pearsonr, spearmanr and kendalltau.

    The score of a case is its absolute error (mae), its p − t (bias) and |p − t| / |t| (mape); evidence: truth,
    predicted, residual = p − t. Curve: truth and predicted of the cases, `plot_points` at most.

    95 % intervals over cases, or over `cases.group` where given: bootstrap for means (RMSE: the root of MSE's ends),
    order statistics for the median. Where a few cases make most of the errors, a mean has no upper end, and R² no lower
    one; the reason says so. R² varies on the scale log(1 − R²), by its resamples or its jackknife, whichever varies
    more, a correlation on atanh; its resamples follow from how much each case moves it. Two models are tested on the
    same resamples.
    """
    found = read_values(suite, outputs, parameters, {"predicted_value": "prediction"})
    truth, predicted = found.truth, found.given["predicted"]
    error = predicted - truth
    size = np.abs(truth)
    share = np.abs(error) / np.where(size < 1 / HUGE, np.nan, size)
    scaled = _naive_share(suite, found, error, parameters.order)
    both = np.abs(predicted) + size
    symmetric = 2 * np.abs(error) / np.where(both < 1 / HUGE, 1.0, both)
    cases = found.case_scores({"mae": np.abs(error), "bias": error, "mape": share}, ZERO, residual=error)
    bias = found.mean("bias", error, low=-math.inf)
    mse = _without_upper(found.mean("mse", error**2), bias)
    relative = found.mean("mape", share, left_out=ZERO)
    signed = found.mean("mape", share * np.sign(error), low=-math.inf, left_out=ZERO)
    weights, clusters = found.draws.weights, None if found.draws.clusters is None else found.draws.unit
    ranks = Ranks.of(truth, weights), Ranks.of(predicted, weights)
    r2 = resampled_r2(truth, -error, found.draws)
    linear = pearson(truth, predicted, weights, clusters)
    correlations = {"pearson": linear, "spearman": spearman(*ranks), "kendall": kendall(*ranks)}
    rows = [
        _without_upper(found.mean("mae", np.abs(error)), bias),
        _root(mse),
        _without_upper(relative, signed),
        bias,
        mse,
        found.mean("smape", symmetric, high=2.0),
        found.mean("mase", scaled, left_out=NO_SCALE if parameters.order else NO_ORDER),
        _largest(found, np.abs(error)),
        _median(found, np.abs(error)),
        _bounded_as(mse, _scaled(found, "r2", r2, "below one", SAME_TRUTHS, r2_error(truth, error, found.draws))),
        *(
            _scaled(found, name, resampled(correlation, found.draws), "correlation", CONSTANT)
            for name, correlation in correlations.items()
        ),
    ]
    return Findings(rows, cases, _points(found, predicted, parameters.plot_points))


def _naive_share(suite: Suite, found: Values, error: Floats, order: str) -> Floats:
    """Return the absolute errors over the mean error of the naive forecast of each case's series; NaN for none."""
    if not order:
        return np.full(len(error), np.nan)
    scale = naive_errors(suite, found.whole["truth"], order)[found.place]
    return np.abs(error) / np.where(scale < 1 / HUGE, np.nan, scale)


def _largest(found: Values, errors: Floats) -> Aggregate:
    """Return the largest error, of the cases that weigh anything."""
    weights = found.draws.weights
    counted = errors if weights is None else errors[weights > 0]
    value, reason = (float(counted.max()), NO_LARGEST) if len(counted) else (math.nan, NOTHING_SCORED)
    return aggregate("max_error", value, n=len(errors), unscored=found.unscored, reason=reason)


def _root(mse: Aggregate) -> Aggregate:
    if mse.value is None:
        return replace(mse, metric="rmse")
    low, high = (None if end is None else math.sqrt(end) for end in (mse.low, mse.high))
    samples = None if mse.replicates is None else np.sqrt(mse.replicates)
    return replace(mse, metric="rmse", value=math.sqrt(mse.value), low=low, high=high, replicates=samples)


def _median(found: Values, errors: Floats) -> Aggregate:
    metric, draws = "median_absolute_error", found.draws
    if not len(errors):
        return aggregate(metric, math.nan, n=0, unscored=found.unscored, reason=NOTHING_SCORED)
    values = resampled_quantiles(errors, 0.5, draws)
    ends = quantile_interval(errors, 0.5, draws.weights, draws.codes)
    why = describe_missing_end(ends, errors, 0.5, draws.weights, draws.codes)
    return aggregate(
        metric, float(values[0]), ends, "order statistics", n=len(errors), unscored=found.unscored, reason=why,
        samples=values[1:],
    )  # fmt: skip


def _scaled(
    found: Values, metric: str, values: Floats, scale: Scale, undefined: str, least_error: float = 0.0
) -> Aggregate:
    """Return the aggregate of `values` [1 + B], of the data set and of its resamples."""
    n, value, samples = len(found.truth), float(values[0]), values[1:]
    if math.isnan(value):
        reason = undefined if n > 1 else ONE_CASE if n else NOTHING_SCORED
        return aggregate(metric, value, n=n, unscored=found.unscored, reason=reason)
    ends = scaled_interval(value, samples, found.draws.units, scale, least_error) if len(samples) else None
    why = NO_INTERVAL if ends is None and len(samples) else None
    return aggregate(
        metric, value, ends or NONE, "bootstrap", n=n, unscored=found.unscored, reason=why, samples=samples
    )


def _without_upper(sizes: Aggregate, signed: Aggregate) -> Aggregate:
    """Return the mean of sizes of errors without an upper end where the mean of the errors with signs lacks an end.

    Of ten errors with a long tail on one side the sizes may look alike, as those on the other side are large, too.
    """
    if sizes.low is None or sizes.high is None or (signed.low is None) == (signed.high is None):
        return sizes
    why = f"{signed.reason}".rpartition("; ")[2].replace("no lower", "no upper") + " (errors with their signs)"
    return replace(sizes, high=None, reason="; ".join(filter(None, [sizes.reason, why])))


def _bounded_as(mse: Aggregate, r2: Aggregate) -> Aggregate:
    """Return R² without a lower end where MSE has no upper one: few cases make the squared errors, and their tail."""
    if r2.low is None or mse.low is None or mse.high is not None:
        return r2
    return replace(r2, low=None, reason=f"{mse.reason}".replace("no upper end", "no lower end"))


def _points(found: Values, predicted: Floats, most: int) -> pa.Table:
    residual = predicted - found.truth
    order = np.argsort(residual)
    if (np.diff(residual[order]) == 0).any():  # those of equal ones in their own order, which takes twice the time
        order = np.argsort(residual, kind="stable")
    kept = np.sort(order[np.unique(np.linspace(0, len(order) - 1, min(most, len(order))).astype(int))])
    return pa.table(
        [found.case_ids.take(pa.array(found.place[kept])), found.truth[kept], predicted[kept]], schema=RESIDUALS
    )


def naive_errors(suite: Suite, truth: Floats, order: str) -> Floats:
    """Return the mean |t − t before| of the series of each case [N]; NaN where the naive forecast has no error.

    truth: [N], NaN for none. A series are the cases of one group, or all cases of a suite without groups, in the order
    of the metadata's column `order`: numbers if all of it are, else texts (2024-05-01). Cases of one place count once,
    with their mean. InputError where the suite has no such column.
    """
    columns = suite.cases.column_names
    name = METADATA + order.removeprefix(METADATA)
    if name not in columns:
        names = [own.removeprefix(METADATA) for own in columns if own.startswith(METADATA)]
        raise InputError([InputProblem(suite.name, f"the column {order!r}", one_of(order, names), column="order")])
    series = suite.cases["group"].to_pylist()
    grouped = any(group is not None for group in series)
    found = np.full(len(truth), np.nan)
    by_series: dict[str | None, dict[float | str, list[int]]] = {}
    for row, (group, place) in enumerate(zip(series, _places(suite.cases[name]), strict=True)):
        alone = grouped and group is None
        if place is not None and not alone and not np.isnan(truth[row]):
            by_series.setdefault(group, {}).setdefault(place, []).append(row)
    for rows in by_series.values():
        values = [float(truth[rows[place]].mean()) for place in sorted(rows)]
        steps = np.abs(np.diff(values))
        if steps.any():
            found[[row for own in rows.values() for row in own]] = steps.mean()
    return found


def _places(column: pa.ChunkedArray) -> list[float | str | None]:
    texts = [text if text is None or text.strip() else None for text in column.to_pylist()]
    try:
        return [None if text is None else float(text) for text in texts]
    except ValueError:
        return list(texts)
