"""The bundled samples: evaluations that a new workspace begins with."""

import fcntl
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from metrics.core.errors import stored_at
from metrics.core.files import make_file, make_folder
from metrics.core.installation import SAMPLES
from metrics.core.processes import start_own
from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace

FIRST = "rag"  # the sample that a studio without runs computes and opens; its headline names a clear winner


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

    @property
    def line(self) -> str:
        """What the sample is about, in a sentence."""
        return self.description.partition(". ")[0].removesuffix(".") + "."

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


def start_first(workspace: Workspace) -> bool:
    """Compute the sample FIRST in a process of its own where the workspace has no run; return whether it has none yet.

    It stays away once it was deleted.
    """
    runs = workspace.runs()
    if any(run.state == "finished" or run.spec.sample != FIRST for run in runs) or FIRST in workspace.bin.samples():
        return False
    make_folder(workspace.path)
    file = workspace.path / "samples.log"
    with stored_at(file), make_file(file).open("ab") as log:
        start_own("metrics", "samples", FIRST, "--workspace", str(workspace.path), stdout=log, stderr=log)
    return True


def compute_missing(workspace: Workspace, names: Collection[str] = ()) -> list[Run]:
    """Evaluate each unfinished sample, or those of `names`, in turn; does nothing while another process does so."""
    from metrics import engine  # on use: the start page only needs start_first

    make_folder(workspace.path)
    with make_file(workspace.path / "samples.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return []
        existing = sample_runs(workspace)
        kept = [sample for sample in samples_kept(workspace) if not names or sample.id in names]
        runs = [existing.get(sample.id) or create(workspace, sample) for sample in kept]
        return [run if run.state in ("finished", "running") else engine.execute(run) for run in runs]


def open_sample(workspace: Workspace, name: str) -> Run:
    """Return the run of a sample, which is computed in a process of its own where it has not been yet."""
    from metrics import engine

    run = sample_runs(workspace).get(name) or create(workspace, next(one for one in samples() if one.id == name))
    if run.state not in ("finished", "running", "starting"):
        engine.start(run)
    return run


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
