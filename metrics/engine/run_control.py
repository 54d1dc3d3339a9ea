"""Asking for runs: create one, start it in a process of its own, cancel it, take it up again."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from metrics.core.errors import InputError, InputProblem, RunBusy, RunSealed
from metrics.core.registry import choose
from metrics.core.suite import Outputs, Suite
from metrics.judge.settings import settings_of
from metrics.store import Run, Workspace

ROOT = Path(__file__).parents[2]  # where `python -m metrics` finds the package


def create(
    workspace: Workspace,
    suite: Suite,
    outputs: Outputs,
    evaluators: Sequence[str],
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    name: str | None = None,
    seed: int = 0,
    sample: str | None = None,
    resources: Mapping[str, Any] | None = None,
) -> Run:
    """Store the inputs and write down what is to be done; nothing is computed yet.

    InputError where an evaluator or a parameter is unknown, an evaluator does not fit the suite's task, or an output
    answers a case that the suite lacks. `sample` names the bundled sample the run shows; `resources` chooses the model
    behind a resource, see metrics.models.provide.
    """
    chosen = choose(evaluators, parameters)
    problems = [
        InputProblem("evaluators", entry.id, f"evaluators for {suite.task}; {entry.id} is for {', '.join(entry.tasks)}")
        for entry, _ in chosen.values()
        if suite.task not in entry.tasks
    ]
    if not chosen:
        problems.append(InputProblem("evaluators", "none", "at least one evaluator"))
    known = suite.cases["case_id"].combine_chunks()
    strangers = (
        outputs.outputs["case_id"].unique().filter(pc.invert(pc.is_in(outputs.outputs["case_id"].unique(), known)))
    )
    problems += [
        InputProblem("outputs", repr(case_id), "the case_id of a case in the suite", column="case_id")
        for case_id in strangers.to_pylist()
    ]
    if not outputs.models:
        problems.append(InputProblem("outputs", "no rows", "outputs of at least one model"))
    if problems:
        raise InputError(problems)
    return workspace.create_run(
        {
            "name": name or f"{suite.name}: {', '.join(chosen)}",
            "sample": sample,
            "suite": {
                "fingerprint": workspace.save_suite(suite), "name": suite.name, "task": suite.task,
                "cases": len(suite), "left_out": suite.left_out,
            },
            "outputs": {
                "fingerprint": workspace.save_outputs(outputs, suite), "models": outputs.models,
                "rows": outputs.outputs.num_rows, "left_out": outputs.left_out,
            },
            "evaluators": [
                {"id": entry.id, "version": entry.version, "parameters": values.model_dump(mode="json")}
                for entry, values in chosen.values()
            ],
            "resources": _resources(resources),
            "seed": seed,
        }
    )  # fmt: skip


def _resources(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the choices as they are saved; InputError where the judge's settings are none."""
    chosen = dict(given or {})
    if chosen.get("judge"):
        chosen["judge"] = settings_of(chosen["judge"]).model_dump(mode="json", exclude_defaults=True)
    return chosen


def start(run: Run) -> "subprocess.Popen[bytes]":
    """Work on a run in a process of its own, which outlives this one; RunSealed or RunBusy where that cannot be."""
    if run.state == "finished":
        raise RunSealed(f"run {run.id} is finished; a sealed run never changes")
    if run.state == "running":
        raise RunBusy(f"run {run.id} is being worked on already")
    command = [sys.executable, "-m", "metrics", "resume", run.id, "--workspace", str(run.workspace.path), "--quiet"]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    }
    with (run.folder / "log.txt").open("ab") as log:
        return subprocess.Popen(  # noqa: S603 - our own interpreter on our own module
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, start_new_session=True
        )


resume = start  # a run that stopped goes on exactly as it began


def cancel(run: Run) -> None:
    """Ask the process that works on a run to stop; what it has computed is kept. RunSealed on a finished run."""
    if run.state == "finished":
        raise RunSealed(f"run {run.id} is finished; there is nothing to cancel")
    (run.folder / "cancel").touch()
