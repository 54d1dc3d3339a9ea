"""The relative chances with which a run's outputs are drawn for labelling, kept beside the labels by criterion.

They are written once, before the first label that rests on them, and hold for every run of the same data: an estimate
from labels drawn with unequal chances needs the chances of then, not those that another judge's scores would give now.
"""

import hashlib
from collections.abc import Sequence

import pyarrow as pa

from metrics.core.arrow import stored_rows
from metrics.core.files import hold_lock, make_folder, write_table
from metrics.store.rating_sets import DIGITS, Labels
from metrics.store.run import Run

SIZES = pa.schema([("case_id", pa.string()), ("model", pa.string()), ("size", pa.float64())])


class DrawSizes:
    """The relative chances of a criterion's outputs (schema SIZES), and the metric whose scores gave them."""

    def __init__(self, run: Run, criterion: str):
        name = hashlib.sha256(criterion.encode()).hexdigest()[:DIGITS]
        self.path = Labels(run).folder / "sizes" / f"{name}.parquet"

    def table(self) -> pa.Table | None:
        """Return the stored sizes; None while there are none."""
        return stored_rows(self.path) if self.path.exists() else None

    def metric(self) -> tuple[str, str] | None:
        """Return evaluator and metric that gave the sizes; None while there are none."""
        found = self.table()
        held = {} if found is None else found.schema.metadata or {}
        return (held[b"evaluator"].decode(), held[b"metric"].decode()) if held else None

    def keep(self, outputs: Sequence[tuple[str, str]], sizes: Sequence[float], metric: tuple[str, str]) -> None:
        """Store the sizes of outputs (case id, model) unless there are some already."""
        with hold_lock(make_folder(self.path.parent) / ".lock", "these labels are being written; try again"):
            if not self.path.exists():
                cases, models = zip(*outputs, strict=True)
                about = {"evaluator": metric[0], "metric": metric[1]}
                table = pa.table([cases, models, sizes], SIZES).replace_schema_metadata(about)
                write_table(self.path, table)
