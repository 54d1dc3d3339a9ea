"""One case in full: the question, the output of each model, every score with its evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from metrics.analysis.cases.old_evidence import read_evidence
from metrics.analysis.objects.object_rings import bones, object_rings
from metrics.analysis.stored_outputs import outputs_where
from metrics.core.classes import ClassFacts
from metrics.core.errors import InputError
from metrics.store import Run
from metrics.store.run_tables import listed

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class ExampleView:
    """One case of a run.

    case: the suite's columns; image: its file or None; outputs: a record per model and repeat; scores: data frame with
    model, run, evaluator, metric, value, status, reason, evidence (an Evidence or None); annotations, predictions: data
    frames with the columns of core.suite's schemas, `rings`, the outlines to draw, and `bones`, the lines of key
    points; empty if the task has none.
    """

    case: dict[str, Any]
    image: Path | None
    outputs: list[dict[str, Any]]
    scores: pd.DataFrame
    annotations: pd.DataFrame
    predictions: pd.DataFrame


def example(run: Run, case_id: str) -> ExampleView:
    """Return the case of that id with everything the run knows about it; InputError if the suite has no such case."""
    return next(examples(run, [case_id]))


def examples(run: Run, case_ids: Sequence[str]) -> Iterator[ExampleView]:
    """Yield each case as `example` returns it, in this order; the run's tables are read once for all of them."""
    ids = list(case_ids)
    places = _places(run, ids)
    suite, given = run.cases_at(places), outputs_where(run, [("case_id", "in", ids)])
    outputs = _by_case(given.outputs)
    scores = run.query_rows(f"SELECT * EXCLUDE (case_id) FROM scores WHERE position IN ({listed(places)})")
    for place, case_id, case in zip(places, ids, suite.cases.to_pylist(), strict=True):
        own = scores.filter(pc.equal(scores["position"], place)).drop_columns(["position"])
        yield ExampleView(
            case,
            suite.media / case["image"] if suite.media is not None and case["image"] else None,
            outputs.get(case_id, []),
            own.to_pandas().assign(evidence=list(map(read_evidence, own["evidence"].to_pylist()))),
            _frame(_of_case(suite.annotations, case_id), case, suite.classes),
            _frame(_of_case(given.predictions, case_id), case, suite.classes, guessed=True),
        )


def cases_with_outputs(run: Run, case_ids: Sequence[str]) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Return each case and the records of its outputs, without scores; InputError if the suite lacks one."""
    ids = list(case_ids)
    rows = run.cases_at(_places(run, ids)).cases.to_pylist()
    outputs = _by_case(outputs_where(run, [("case_id", "in", ids)]).outputs)
    return [(row, outputs.get(case_id, [])) for case_id, row in zip(ids, rows, strict=True)]


def _places(run: Run, ids: Sequence[str]) -> list[int]:
    """Return the places of these cases in the suite."""
    names = run.case_columns(["case_id"])["case_id"]
    there = pc.indices_nonzero(pc.is_in(names, value_set=pa.array(ids, names.type)))
    places = dict(zip(names.take(there).to_pylist(), there.to_pylist(), strict=True))
    if missing := [case_id for case_id in ids if case_id not in places]:
        raise InputError(f"the suite of run {run.id} has no case {missing[0]!r}")
    return [places[case_id] for case_id in ids]


def _by_case(outputs: pa.Table) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in outputs.to_pylist():
        found.setdefault(row["case_id"], []).append(row)
    return found


def _of_case(table: pa.Table | None, case_id: str) -> pa.Table | None:
    return None if table is None else table.filter(pc.equal(table["case_id"], case_id))


def _frame(
    table: pa.Table | None, case: dict[str, Any], classes: Mapping[str, ClassFacts], guessed: bool = False
) -> pd.DataFrame:
    import pandas as pd

    if table is None:
        return pd.DataFrame()
    frame: pd.DataFrame = table.to_pandas()
    posed = zip(table["label"].to_pylist(), table["keypoints"].to_pylist(), strict=True)
    drawn = [bones(points, classes.get(label), guessed) for label, points in posed]
    rings = object_rings(table, case["image_height"])
    return frame.assign(rings=pd.Series(rings, frame.index, object), bones=pd.Series(drawn, frame.index, object))
