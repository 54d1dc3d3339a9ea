"""Snapshots: what an unfinished run has done so far as tables, by the arithmetic that will seal it."""

import hashlib
import shutil
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from metrics.core.files import hold_lock, make_folder
from metrics.core.registry import choose
from metrics.core.schema import SCHEMA_VERSION
from metrics.engine.parts import Parts
from metrics.engine.plan import Unit, plan
from metrics.engine.seal import table_facts, write_tables
from metrics.store import Run
from metrics.store.manifest import write_manifest
from metrics.store.run import FOLDER, Snapshot

MAX_SNAPSHOTS_KEPT = 3  # snapshots of a run: pages that show an older one may still be reading it


def snapshot(run: Run) -> Snapshot | None:
    """Return the tables of what an unfinished run has done so far; None where nothing is, or the run is finished.

    An evaluator of single cases is in it from its first unit on, with the cases done; one of the whole data set with
    the models that are done. Raises RunBusy while another process makes the same.
    """
    units = _planned(run.folder)
    parts = Parts(run.folder)
    done = _usable(run, units, parts.stored(units))
    if run.state == "finished" or not done:
        return None
    folder = run.folder / FOLDER / hashlib.sha256(repr([unit.name for unit in done]).encode()).hexdigest()[:12]
    if not (folder / "manifest.json").exists():
        busy = f"run {run.id} is being read by another process; try again"
        # parts, snapshots and their lock go when the run is sealed, as it may be meanwhile
        with suppress(FileNotFoundError), hold_lock(make_folder(folder.parent) / "lock", busy):
            write_manifest(folder, _manifest(run, units, done, write_tables(run, done, parts, folder), folder))
            stored = [entry for entry in folder.parent.iterdir() if (entry / "manifest.json").exists()]
            for old in sorted(stored, key=lambda entry: entry.stat().st_mtime_ns)[:-MAX_SNAPSHOTS_KEPT]:
                shutil.rmtree(old, ignore_errors=True)
        if run.manifest is not None or not (folder / "manifest.json").exists():
            shutil.rmtree(folder, ignore_errors=True)
            return None
    return Snapshot(folder)


def _manifest(
    run: Run, units: Sequence[Unit], done: Sequence[Unit], tables: dict[str, Path], folder: Path
) -> dict[str, Any]:
    total: defaultdict[str, int] = defaultdict(int)
    ready: defaultdict[str, int] = defaultdict(int)
    for rows, counted in ((total, units), (ready, done)):
        for unit in counted:
            rows[unit.evaluator] += unit.rows
    return {
        "schema": SCHEMA_VERSION,
        "run": run.id,
        "units": len(done),
        "evaluators": run.spec.stored["evaluators"],
        "partly": {name: (ready[name], total[name]) for name in ready if ready[name] < total[name]},
        "tables": table_facts(tables, folder),
    }


def clear(run: Run) -> None:
    """Remove what a sealed run no longer needs: its parts and snapshots."""
    shutil.rmtree(Parts(run.folder).folder, ignore_errors=True)
    shutil.rmtree(run.folder / FOLDER, ignore_errors=True)


@lru_cache(maxsize=8)
def _planned(folder: Path) -> tuple[Unit, ...]:
    """Return the plan of the run in a folder, which never changes: a page asks for it every few seconds."""
    return tuple(plan(Run(folder)))


def _usable(run: Run, units: Sequence[Unit], done: Sequence[Unit]) -> list[Unit]:
    """Return the units that count; a number of the whole data set needs every unit of its model (tags, repeats)."""
    chosen = choose(list(run.evaluators), run.evaluators)
    whole = {name for name, (entry, _) in chosen.items() if entry.shape == "dataset"}
    left = Counter((unit.evaluator, unit.model) for unit in units)
    left.subtract((unit.evaluator, unit.model) for unit in done)
    return [unit for unit in done if unit.evaluator not in whole or not left[unit.evaluator, unit.model]]
