"""A part of a run's outputs, read from its tables without the rest."""

from typing import Any

from metrics.core.arrow import stored_rows
from metrics.core.suite import PREDICTIONS, Outputs, conform
from metrics.store import Run


def outputs_where(run: Run, filters: Any) -> Outputs:
    """Return the outputs that `filters` (of pyarrow) leave, with predictions where any model predicted objects."""
    predictions = run.stored_input("outputs/predictions.parquet")
    return Outputs(
        stored_rows(run.input_path("outputs/outputs.parquet"), filters=filters),
        None if predictions is None else conform(stored_rows(predictions, filters=filters), PREDICTIONS),
    )
