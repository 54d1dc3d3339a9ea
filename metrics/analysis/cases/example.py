"""One case in full: the question, the output of each model, every score with its evidence."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from metrics.analysis.cases.old_evidence import read_evidence
from metrics.analysis.objects.object_rings import object_rings
from metrics.core.errors import InputError
from metrics.store import Run

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class ExampleView:
    """One case of a run.

    case: the suite's columns; image: its file or None; outputs: a record per model and repeat; scores: data frame with
    model, run, evaluator, metric, value, status, reason, evidence (an Evidence or None); annotations, predictions: data
    frames with the columns of core.suite's schemas and `rings`, the outlines to draw; empty if the task has none.
    """

    case: dict[str, Any]
    image: Path | None
    outputs: list[dict[str, Any]]
    scores: pd.DataFrame
    annotations: pd.DataFrame
    predictions: pd.DataFrame


def example(run: Run, case_id: str) -> ExampleView:
    """Return the case of that id with everything the run knows about it; InputError if the suite has no such case."""
    suite = run.suite
    position = pc.index(suite.cases["case_id"], case_id).as_py()
    if position < 0:
        raise InputError(f"the suite of run {run.id} has no case {case_id!r}")
    case = suite.cases.slice(position, 1).to_pylist()[0]
    image = suite.media / case["image"] if suite.media is not None and case["image"] else None
    folder = run.outputs_folder
    this = [("case_id", "==", case_id)]
    outputs = pq.read_table(folder / "outputs.parquet", filters=this).to_pylist()
    scores = run.stored_table("scores", filters=[("position", "==", position)])
    frame = scores.drop_columns(["case_id", "position"]).to_pandas()
    frame["evidence"] = list(map(read_evidence, scores["evidence"].to_pylist()))
    predictions = folder / "predictions.parquet"
    annotations = None
    if suite.annotations is not None:
        annotations = suite.annotations.filter(pc.equal(suite.annotations["case_id"], case_id))
    return ExampleView(
        case,
        image,
        outputs,
        frame,
        _frame(annotations, case),
        _frame(pq.read_table(predictions, filters=this) if predictions.exists() else None, case),
    )


def _frame(table: pa.Table | None, case: dict[str, Any]) -> pd.DataFrame:
    import pandas as pd

    if table is None:
        return pd.DataFrame()
    frame: pd.DataFrame = table.to_pandas()
    return frame.assign(rings=pd.Series(object_rings(table, case["image_height"]), frame.index, object))
