"""The bundled samples: evaluations that a new workspace begins with."""

import fcntl
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metrics.store import Run, Workspace
from metrics.store.files import make_folder

FOLDER = Path(__file__).parents[1] / "data" / "samples"


@dataclass(frozen=True, slots=True)
class Sample:
    """A bundled suite with outputs of several models; `facts` is its sample.json."""

    id: str
    folder: Path
    facts: dict[str, Any]

    @property
    def title(self) -> str:
        """The sample's name."""
        return str(self.facts["name"])


def samples() -> list[Sample]:
    """The bundled samples, by folder name."""
    return [
        Sample(path.parent.name, path.parent, json.loads(path.read_text(encoding="utf-8")))
        for path in sorted(FOLDER.glob("*/sample.json"))
    ]


def sample_runs(workspace: Workspace) -> dict[str, Run]:
    """The newest run of each sample that has one, by sample id."""
    runs: dict[str, Run] = {}
    for run in reversed(workspace.runs()):
        if run.spec.get("sample"):
            runs[run.spec["sample"]] = run
    return runs


def start_missing(workspace: Workspace) -> bool:
    """Compute the samples that are not finished, in a process of its own; False where none is missing."""
    runs = sample_runs(workspace)
    if all(sample.id in runs and runs[sample.id].state == "finished" for sample in samples()):
        return False
    make_folder(workspace.path)
    with (workspace.path / "samples.log").open("ab") as log:
        subprocess.Popen(  # noqa: S603 - our own interpreter on our own module
            [sys.executable, "-m", "metrics", "samples", "--workspace", str(workspace.path)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=FOLDER.parents[1], start_new_session=True,
            env=os.environ | {"PYTHONPATH": str(FOLDER.parents[1])},
        )  # fmt: skip
    return True


def compute_missing(workspace: Workspace) -> list[Run]:
    """Evaluate each sample that is not finished, one after the other; at once only one process does."""
    from metrics import engine  # here, not above: the start page asks for start_missing alone

    make_folder(workspace.path)
    with (workspace.path / "samples.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return []
        existing = sample_runs(workspace)
        runs = [existing.get(sample.id) or _create(workspace, sample) for sample in samples()]
        return [run if run.state in ("finished", "running") else engine.execute(run) for run in runs]


def _create(workspace: Workspace, sample: Sample) -> Run:
    from metrics import engine
    from metrics.ingest import read_outputs, read_suite

    facts = sample.facts
    images = sample.folder / facts["images"] if "images" in facts else None
    suite = read_suite(sample.folder / facts["suite"], task=facts["task"], images=images, name=sample.title)
    outputs = read_outputs([sample.folder / name for name in facts["outputs"]], suite=suite)
    return engine.create(
        workspace, suite, outputs, facts["evaluators"], facts.get("parameters"), sample.title, sample=sample.id
    )
