"""The naive forecast of a series of true values: the value before, by which MASE scales errors."""

import numpy as np
import pyarrow as pa

from metrics.core.array_types import Floats
from metrics.core.errors import InputError, InputProblem, one_of
from metrics.core.fields import METADATA
from metrics.core.suite import Suite

NO_ORDER = "no naive forecast: name the column that orders the cases in time in the parameter order"
NO_SCALE = "no naive forecast, as the case has no place in the order or its series has no two different values"


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
