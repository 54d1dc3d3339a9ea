"""Scores of some cases of a suite as columns of all of them."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from metrics.core.array_types import Bools, Floats
from metrics.core.evaluator import GAVE_NOTHING, Status
from metrics.core.evidence import facts_json
from metrics.core.score_columns import STATUSES, ScoreColumns


def spread_scores(
    case_ids: pa.Array, place: NDArray[np.intp], reasons: pa.Array, metrics: Mapping[str, Floats], **facts: pa.Array
) -> ScoreColumns:
    """Return the scores of all N cases from those of the n at `place`, with facts as their evidence.

    reasons: [N], why a case has no value, or null; metrics: [n] each, NaN for none; facts: [n], or [N] where they are
    of all cases.
    """
    which = _rows(len(case_ids), place)
    spread = {name: own if len(own) == len(case_ids) else own.take(which) for name, own in facts.items()}
    return spread_columns(case_ids, place, reasons, metrics, facts_json(**spread))


def spread_columns(
    case_ids: pa.Array, place: NDArray[np.intp], reasons: pa.Array, metrics: Mapping[str, Floats], evidence: pa.Array
) -> ScoreColumns:
    """Return the scores of all N cases from those of the n at `place`; evidence: JSON text, of these or of all."""
    count, which = len(case_ids), _rows(len(case_ids), place)
    status = np.full(count, STATUSES.index(Status.NOT_APPLICABLE), np.int8)
    status[gave_nothing(reasons)] = STATUSES.index(Status.SKIPPED)
    known = [~np.isnan(own if len(own) == len(place) else own[place]) for own in metrics.values()]
    status[place[np.any(known, axis=0)]] = STATUSES.index(Status.OK)
    values = {name: pa.array(own, mask=np.isnan(own)) for name, own in metrics.items()}
    return ScoreColumns(
        case_ids,
        {name: own if len(own) == count else own.take(which) for name, own in values.items()},
        pa.array(status),
        reasons,
        evidence if len(evidence) == count else evidence.take(which),
    )


def gave_nothing(reasons: pa.Array) -> Bools:
    """Return where the reason [N] why a case has no value is that the model gave nothing."""
    found = pc.fill_null(pc.starts_with(pc.cast(reasons, pa.string()), GAVE_NOTHING), False)
    return np.asarray(found.to_numpy(zero_copy_only=False), bool)


def _rows(count: int, place: NDArray[np.intp]) -> pa.Array:
    """Return for each of all cases its row among those at `place`, or null."""
    rows = np.full(count, -1)
    rows[place] = np.arange(len(place))
    return pa.array(rows, mask=rows < 0)
