"""A model's part of a run for experiment trackers: flat parameters, metrics by name, tables as files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from metrics.reports.exchange.contents import Number
from metrics.reports.renderers.export_tables import table
from metrics.store import Run
from metrics.store.table_files import write


def parameters(run: Run, model: str) -> dict[str, str]:
    """Return what the numbers rest on: model, suite, and each evaluator's parameters that are set."""
    suite = run.spec.suite
    found = {
        "model": model, "assay_run": run.id, "suite": suite.name, "suite_fingerprint": suite.fingerprint,
        "outputs_fingerprint": run.spec.outputs.fingerprint, "seed": str(run.spec.seed),
    }  # fmt: skip
    own = {
        f"{id}.{name}": str(value)
        for id, values in run.evaluators.items()
        for name, value in values.items()
        if value not in (None, {}, [], "")
    }
    return found | own


def metrics(found: list[Number]) -> Iterator[tuple[str, float]]:
    """Yield each number with a value, and beside it the ends of its interval, n and unscored."""
    for one in found:
        parts = {"": one.cell.value, ".low": one.cell.low, ".high": one.cell.high, ".n": one.cell.n}
        for ending, value in ({**parts, ".unscored": one.cell.unscored}).items():
            if value is not None and (one.cell.value is not None or ending in (".n", ".unscored")):
                yield one.name + ending, float(value)


def write_tables(run: Run, model: str, folder: Path) -> dict[str, Any]:
    """Write aggregates (CSV) and scores (Parquet) of one model to a folder; return them as data frames by name."""
    frames = {name: table(run, name, model) for name in ("aggregates", "scores")}
    (folder / "aggregates.csv").write_bytes(write(frames["aggregates"], "csv"))
    (folder / "scores.parquet").write_bytes(write(frames["scores"], "parquet"))
    return frames
