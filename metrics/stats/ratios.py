"""Ratios with a fallback where the divisor is 0, and means without missing values."""

import numpy as np

from metrics.core.array_types import Floats, Numbers


def ratio(part: Numbers, whole: Numbers, otherwise: float = np.nan) -> Floats:
    """Return part / whole; `otherwise`, NaN by default, where `whole` is not above 0."""
    found: Floats = np.divide(
        part, whole, out=np.full(np.broadcast_shapes(np.shape(part), np.shape(whole)), otherwise), where=whole > 0
    )
    return found


def weighted_mean(values: Floats, weights: Floats | None = None) -> float:
    """Return the mean of the `values` [n] that are not NaN, each times its weight [n], default 1; NaN of no weight."""
    known = ~np.isnan(values)
    if weights is None:
        return float(values[known].sum() / known.sum()) if known.any() else float("nan")
    total = weights[known].sum()
    return float((values[known] * weights[known]).sum() / total) if total > 0 else float("nan")


def mean_over(values: Floats, *axes: int, weights: Numbers | None = None) -> Floats:
    """Return the mean over `axes` of what is not NaN, weighted; NaN where nothing has weight."""
    known = ~np.isnan(values)
    total = np.where(known, values if weights is None else values * weights, 0.0)
    return ratio(total.sum(axis=axes), (known if weights is None else known * weights).sum(axis=axes))
