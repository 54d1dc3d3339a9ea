"""Scores of some cases of a suite as columns of all of them."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from metrics.core.array_types import Floats
from metrics.core.evaluator import Status
from metrics.core.score_columns import STATUSES, ScoreColumns, facts_json


def spread_scores(
    case_ids: pa.Array, place: NDArray[np.intp], reasons: pa.Array, metrics: Mapping[str, Floats], **facts: pa.Array
) -> ScoreColumns:
    """Return the scores of all N cases from those of the n at `place`.

    reasons: [N], why a case has no value, or null; metrics: [n] each, NaN for none; facts: [n], or [N] where they are
    of all cases.
    """
    count = len(case_ids)
    rows = np.full(count, -1)
    rows[place] = np.arange(len(place))
    left_out = rows < 0
    which = pa.array(rows, mask=left_out)

    def spread(column: pa.Array) -> pa.Array:
        return column if len(column) == count else column.take(which)

    return ScoreColumns(
        case_ids,
        {name: spread(pa.array(values, mask=np.isnan(values))) for name, values in metrics.items()},
        pa.array(np.where(left_out, STATUSES.index(Status.NOT_APPLICABLE), STATUSES.index(Status.OK)), pa.int8()),
        reasons,
        facts_json(**{name: spread(column) for name, column in facts.items()}),
    )
