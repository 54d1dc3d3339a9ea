"""Repairing a damaged run: it is evaluated once more, and what comes out the same as was sealed takes its place."""

import shutil
from collections.abc import Callable
from concurrent.futures import Executor
from typing import NamedTuple

from metrics.core.errors import RunCorrupt
from metrics.core.files import written_whole
from metrics.engine.execute import execute
from metrics.engine.run_control import repeat
from metrics.store import Progress, Run, Workspace
from metrics.store.own_files import REMOTE
from metrics.store.run_check import Checked, can_be_made_again, check, damaged


class Repaired(NamedTuple):
    """What a repair has done: the `parts` that are whole again, or the new run `again` with numbers of its own."""

    parts: tuple[str, ...] = ()
    again: Run | None = None


def repair(
    run: Run,
    make_executor: Callable[[], Executor] | None = None,
    listen: Callable[[Progress], None] | None = None,
    allow_code: bool = False,
) -> Repaired:
    """Make the damaged tables of a finished run again, from its specification, suite and outputs; see `execute`.

    The run is evaluated as a new one, judged cases from the judge's cache. Where each damaged table comes out with the
    very bytes that were sealed, it takes the place of the damaged one and the new run is removed; else the new run is
    kept beside the damaged one, which stays as it is. So does a run whose seal cannot be read: nothing says what its
    tables were. In the local copy of a workspace at a URL the damaged tables are fetched again instead.

    Raises RunCorrupt where the specification, suite or outputs are damaged, from which nothing can be made; RunBusy;
    InputError where the run came from elsewhere and would do more than compute, unless `allow_code`.
    """
    with run.locked():
        found = check(run)
        bad = damaged(found)
        if not can_be_made_again(found):
            raise RunCorrupt("; ".join(one.why for one in bad if one.table is None), run.id)
        if not bad:
            return Repaired()
        if (run.workspace.path / REMOTE).exists() and _fetched(run, bad):
            return Repaired(tuple(one.name for one in bad))
        again = execute(repeat(run, Workspace(run.workspace.path), allow_code), make_executor, listen)
        if not _same(run, again, bad):
            return Repaired(again=again)
        for one in bad:
            _take(run, again, str(one.table))
        shutil.rmtree(again.folder)
        return Repaired(tuple(one.name for one in bad))


def _same(run: Run, again: Run, bad: list[Checked]) -> bool:
    """Return whether the new run has each damaged table with the bytes that were sealed."""
    if any(one.table is None for one in bad):
        return False
    sealed, made = ((one.manifest or {"tables": {}})["tables"] for one in (run, again))
    return all(made.get(one.table, {}).get("sha256") == sealed[one.table]["sha256"] for one in bad)


def _take(run: Run, again: Run, table: str) -> None:
    source, manifest = again.table_path(table), run.manifest
    if source is not None and manifest is not None:
        with written_whole(run.folder / manifest["tables"][table]["file"]) as beside:
            shutil.copyfile(source, beside)


def _fetched(run: Run, bad: list[Checked]) -> bool:
    """Fetch damaged tables from the URL of the workspace again; return whether all are whole now."""
    if run.manifest is None or any(one.table is None for one in bad):
        return False
    for one in bad:
        (run.folder / run.manifest["tables"][one.table]["file"]).unlink(missing_ok=True)
    return not damaged(check(run))
