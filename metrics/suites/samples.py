"""The bundled samples: evaluations that a new workspace begins with."""

import fcntl
import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from metrics.core.files import make_file, make_folder
from metrics.core.install_paths import SAMPLES, own_environment, python_module
from metrics.core.storage import stored_at
from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace

OPENED = "rag-judged"  # the sample that a studio without other runs opens: the newest run


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

    @property
    def description(self) -> str:
        """What the sample is about, and what is wrong with each model."""
        return str(self.facts["description"])

    def read(self) -> "tuple[Suite, Outputs]":
        """Return the suite and the outputs, restricted to the cases that the sample lists, if it does."""
        from metrics.ingest import read_outputs, read_suite

        images = self.folder / self.facts["images"] if "images" in self.facts else None
        place = self.folder / self.facts["suite"]
        suite = read_suite(place, task=self.facts["task"], images=images, name=self.title)
        outputs = read_outputs([self.folder / name for name in self.facts["outputs"]], suite=suite)
        if "cases" not in self.facts:
            return suite, outputs
        chosen = pa.array(self.facts["cases"])
        return suite.restricted(chosen), outputs.restricted(case_ids=chosen)


def samples() -> list[Sample]:
    """Return the bundled samples, by folder name."""
    return [
        Sample(path.parent.name, path.parent, json.loads(path.read_text(encoding="utf-8")))
        for path in sorted(SAMPLES.glob("*/sample.json"))
    ]


def sample_runs(workspace: Workspace) -> dict[str, Run]:
    """Return the newest run of each sample that has one, by sample id."""
    runs: dict[str, Run] = {}
    for run in reversed(workspace.runs()):
        if run.spec.sample:
            runs[run.spec.sample] = run
    return runs


def samples_kept(workspace: Workspace) -> list[Sample]:
    """Return the bundled samples whose run the user has not deleted."""
    deleted = workspace.bin.samples()
    return [sample for sample in samples() if sample.id not in deleted]


def start_missing(workspace: Workspace) -> bool:
    """Compute the unfinished samples in a process of its own; return False where there are none."""
    runs = sample_runs(workspace)
    if all(sample.id in runs and runs[sample.id].state == "finished" for sample in samples_kept(workspace)):
        return False
    make_folder(workspace.path)
    file = workspace.path / "samples.log"
    with stored_at(file), make_file(file).open("ab") as log:
        subprocess.Popen(  # noqa: S603 - our own interpreter on our own module
            python_module("metrics", "samples", "--workspace", str(workspace.path)),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=own_environment(),
            start_new_session=True,
        )
    return True


def compute_missing(workspace: Workspace) -> list[Run]:
    """Evaluate each unfinished sample, one after the other, OPENED last; does nothing while another process does so."""
    from metrics import engine  # on use: the start page only needs start_missing

    make_folder(workspace.path)
    with make_file(workspace.path / "samples.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return []
        existing = sample_runs(workspace)
        kept = sorted(samples_kept(workspace), key=lambda sample: sample.id == OPENED)
        runs = [existing.get(sample.id) or create(workspace, sample) for sample in kept]
        return [run if run.state in ("finished", "running") else engine.execute(run) for run in runs]


def create(workspace: Workspace, sample: Sample, judge: Mapping[str, Any] | None = None) -> Run:
    """Return the sample's run, not yet computed; `judge` replaces the sample's recorded replies."""
    from metrics import engine

    facts = sample.facts
    suite, outputs = sample.read()
    resources = {}
    if "judge" in facts:
        recorded = facts["judge"] | {"replay": str(sample.folder / facts["judge"]["replay"])}
        resources["judge"] = recorded if judge is None else dict(judge)
    return engine.create(
        workspace,
        suite,
        outputs,
        facts["evaluators"],
        facts.get("parameters"),
        sample.title,
        sample=sample.id,
        resources=resources,
    )
