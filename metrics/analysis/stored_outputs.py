"""A part of a run's outputs, read from its tables without the rest."""

from typing import Any

from metrics.core.suite import PREDICTIONS, Outputs, conform
from metrics.store import Run


def outputs_where(run: Run, filters: Any) -> Outputs:
    """Return the outputs that `filters` (of pyarrow) leave, with predictions where any model predicted objects."""
    predictions = run.stored("outputs/predictions.parquet")
    return Outputs(
        run.needed("outputs/outputs.parquet").rows(None, filters),
        None if predictions is None else conform(predictions.rows(None, filters), PREDICTIONS),
    )
