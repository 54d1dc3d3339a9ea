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
    which = pa.array(rows, mask=rows < 0)
    status = np.where(rows < 0, STATUSES.index(Status.NOT_APPLICABLE), STATUSES.index(Status.OK))
    return ScoreColumns(
        case_ids,
        {name: pa.array(values, mask=np.isnan(values)).take(which) for name, values in metrics.items()},
        pa.array(status, pa.int8()),
        reasons,
        facts_json(**{name: own if len(own) == count else own.take(which) for name, own in facts.items()}),
    )
