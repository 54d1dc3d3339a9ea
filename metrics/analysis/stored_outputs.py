"""A part of a run's outputs, read from its tables without the rest."""

from collections.abc import Sequence
from typing import Any

from metrics.core.suite import PREDICTIONS, Outputs, conform
from metrics.store import Run
from metrics.store.board import Board, Source


def outputs_where(run: Run, filters: Any) -> Outputs:
    """Return the outputs that `filters` (of pyarrow) leave, with predictions where any model predicted objects."""
    predictions = run.stored("outputs/predictions.parquet")
    return Outputs(
        run.needed("outputs/outputs.parquet").rows(None, filters),
        None if predictions is None else conform(predictions.rows(None, filters), PREDICTIONS),
    )


def repeats(run: Run, model: str) -> Sequence[int]:
    """Return the repeats that there are of a model's outputs: 1, 2, …"""
    entries = run.entries if isinstance(run, Board) else ()
    own = next((entry.answers for entry in entries if entry.name == model), Source(run, model))
    return tuple(run.workspace.outputs_facts(own.run.spec.outputs.fingerprint)["models"][own.model]["runs"])


def has_repeats(run: Run) -> bool:
    """Return whether a model of a run answered a case more than once."""
    return any(len(repeats(run, model)) > 1 for model in run.models)
