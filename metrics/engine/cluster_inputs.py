"""Sending the inputs of a run to workers that do not see its workspace: each file once a machine, in pieces."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from metrics.core.files import sha256_of
from metrics.core.registry import choose
from metrics.engine import cluster_worker as there
from metrics.engine.cluster_worker import Sent
from metrics.store import Run
from metrics.store.stored_inputs import FILES

PIECE = 8 * 2**20  # bytes of a message
SUITE = ("suite.json", "cases.parquet", "annotations.parquet")
OUTPUTS = ("outputs.parquet", "predictions.parquet")  # read by evaluators of the whole data set
Ask = Callable[..., dict[str, Any]]


def files_of(run: Run, evaluators: Mapping[str, Mapping[str, Any]]) -> list[Sent]:
    """Return the files of suite and outputs that these evaluators read; the rows of single cases travel with jobs."""
    chosen = [entry for entry, _ in choose(list(evaluators), evaluators).values()]
    suite, outputs = run.suite_folder, run.outputs_folder
    found = [suite / name for name in SUITE] + [outputs / "outputs.json"]
    if any(entry.shape == "dataset" for entry in chosen):
        found += [outputs / name for name in OUTPUTS]
    if any("artifacts" in entry.inputs for entry in chosen):
        found += sorted(path for path in (outputs / FILES).rglob("*") if path.is_file())
    home = run.workspace.path
    return [
        Sent(path.relative_to(home).as_posix(), path.stat().st_size, sha256_of(path)) for path in found if path.exists()
    ]


def send(ask: Ask, files: Sequence[Sent], home: Path, workers: Iterable[str]) -> list[str]:
    """Send the files that workers lack, and return the workers that have them all.

    Workers of a machine share their copies, so one of each gets them. `ask` asks workers, see ClusterExecutor.
    """
    known = ask(there.lacking, files, workers=list(workers))
    machines = {(host, folder): (worker, set(lacks)) for worker, (host, folder, lacks) in known.items()}
    for file in files:
        receivers = [worker for worker, lacks in machines.values() if file.path in lacks]
        if not receivers:
            continue
        with (home / file.path).open("rb") as stream:
            for offset in range(0, max(file.size, 1), PIECE):
                ask(there.receive, file, offset, stream.read(PIECE), workers=receivers)
    return [worker for worker, (_, _, lacks) in ask(there.lacking, files, workers=list(known)).items() if not lacks]
