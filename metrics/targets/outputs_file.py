"""Outputs as a file that read_outputs reads back: JSON lines, Parquet or CSV."""

from pathlib import Path

import pyarrow as pa

from metrics.core.files import write_export
from metrics.core.suite import Outputs
from metrics.store.table_files import check_format, table_bytes


def write_outputs(outputs: Outputs, path: str | Path) -> None:
    """Write outputs to a file, in the format that its name ends in; in classification with label and score."""
    write_export(Path(path), table_bytes(_with_labels(outputs), check_format(path)))


def _with_labels(outputs: Outputs) -> pa.Table:
    """Return the outputs, in classification those with a class, and that class with its score."""
    table = outputs.outputs
    if outputs.predictions is None:
        return table
    found = {(row["case_id"], row["model"], row["run"]): row for row in outputs.predictions.to_pylist()}
    keys = list(zip(*(table[name].to_pylist() for name in ("case_id", "model", "run")), strict=True))
    kept = table.filter(pa.array([key in found for key in keys]))
    own = [found[key] for key in keys if key in found]
    return kept.append_column("label", pa.array([row["label"] for row in own], pa.string())).append_column(
        "score", pa.array([row["score"] for row in own], pa.float64())
    )
