"""Controlling runs: create one, start it in a process of its own, cancel it, resume it."""

import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from metrics.calibrations.calibrated_thresholds import calibrated_by
from metrics.core.errors import InputProblem, RunBusy, RunSealed, refuse, stored_at
from metrics.core.files import hold_lock, make_file
from metrics.core.processes import start_own
from metrics.core.receipt import ReceiptLine
from metrics.core.registry import choose, evaluators as registered, is_missing
from metrics.core.sampling_design import Duplicates, find_equal_inputs
from metrics.core.suite import Outputs, Suite
from metrics.engine.deadlines import checked_timeout, default_timeout
from metrics.engine.identities import find_sources, in_force
from metrics.engine.load_resources import saved_settings
from metrics.engine.run_plugins import specified
from metrics.judge.rubrics import with_rubric
from metrics.store import Run, Workspace
from metrics.store.origin import check_origin
from metrics.store.run_files import STARTING
from metrics.store.run_notes import short_name
from metrics.store.run_spec import SubsetFacts

STARTED = "ASSAY_STARTED"  # the environment's name of the file descriptor that holds STARTING


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
    case_timeout: float | None = None,
    save_llm_result: bool = False,
    duplicates: Duplicates = "keep",
    subset: SubsetFacts | None = None,
    as_in: str | None = None,
    reuse: bool = False,
) -> Run:
    """Store the inputs and the specification of a run and return it; nothing is computed yet.

    A rubric saved in the workspace is chosen by its id (`rubric` of evaluator rubric), and stored whole with the run.
    `sample` names the bundled sample that the run shows; `resources` chooses models and judge, see load_resources;
    `case_timeout` is the most seconds that a case may take, 0 for no limit (default: see deadlines.default_timeout);
    `save_llm_result`: whether H2O's LLM results are written once the run is finished; `duplicates`: whether cases that
    ask the same count as one unit, where the suite has no groups of its own; `subset`: what of the data that was given
    these are; `as_in`: the system whose conventions the parameters hold; `reuse`: whether scores of equal cases are
    taken from earlier runs of the workspace, see engine.reuse. Raises InputError where an evaluator or a parameter is
    unknown, an evaluator does not fit the suite's task, or the outputs have cases that the suite lacks.
    """
    ids, spelled = with_followed(evaluators, with_rubric(parameters, workspace.path))
    chosen = choose(ids, spelled)
    problems = [
        InputProblem("evaluators", entry.id, f"evaluators for {suite.task}; {entry.id} is for {', '.join(entry.tasks)}")
        for entry, _ in chosen.values()
        if suite.task not in entry.tasks
    ]
    expected = "its package, or --plugin MODULE:OBJECT"
    problems += [
        InputProblem("evaluators", f"the plugin of {id!r} is not loaded", expected) for id in chosen if is_missing(id)
    ]
    if not chosen:
        problems.append(InputProblem("evaluators", "none", "at least one evaluator"))
    answered = outputs.outputs["case_id"].unique()
    unknown_ids = answered.filter(pc.invert(pc.is_in(answered, suite.cases["case_id"].combine_chunks())))
    expected = "the case_id of a case in the suite"
    problems += [InputProblem("outputs", repr(id), expected, column="case_id") for id in unknown_ids.to_pylist()]
    if not outputs.models:
        problems.append(InputProblem("outputs", "no rows", "outputs of at least one model"))
    refuse(problems)
    models = saved_settings(resources or {})
    equal = equal_facts(suite, duplicates)
    receipt = (*suite.receipt, *outputs.receipt, *_asked_lines(suite, subset, equal))
    of_suite, of_outputs = workspace.save_suite(suite), workspace.save_outputs(outputs, suite)
    given = in_force(chosen.values(), models, workspace.path)
    sources = find_sources(workspace, suite, outputs, given, models) if reuse else ()
    return workspace.create_run(
        {
            "name": name or short_name(suite.name, outputs.models),
            "sample": sample,
            **({} if as_in is None else {"as_in": as_in}),
            "suite": {
                "fingerprint": of_suite,
                "name": suite.name,
                "task": suite.task,
                "cases": len(suite),
                "left_out": suite.left_out,
                "label_keys": list(suite.label_keys),
                **({} if equal is None else {"equal_inputs": equal}),
                **({} if subset is None else subset.model_dump(mode="json", exclude_defaults=True)),
            },
            "outputs": {
                "fingerprint": of_outputs,
                "models": outputs.models,
                "rows": outputs.outputs.num_rows,
                "left_out": outputs.left_out,
                "changes": [dict(change) for change in outputs.changes],
            },
            "evaluators": [
                {"id": entry.id, "version": entry.version, "parameters": values.model_dump(mode="json")}
                | calibrated_by(entry, values, models, workspace.path)
                | specified(entry, workspace.path)
                for entry, values in chosen.values()
            ],
            "resources": models,
            "receipt": [line.as_row() for line in receipt],
            "seed": seed,
            "case_timeout": default_timeout() if case_timeout is None else checked_timeout(str(case_timeout)),
            **({"save_llm_result": True} if save_llm_result else {}),
            **({"reused": [source.id for source in sources]} if sources else {}),
        }
    )


def equal_facts(suite: Suite, duplicates: Duplicates) -> dict[str, Any] | None:
    """Return what the specification says of cases that ask the same; None where no two do."""
    found = find_equal_inputs(suite)
    if found is None:
        return None
    grouped = duplicates == "group" and suite.cases["group"].null_count == len(suite)
    return {"alike": found.alike, "units": found.units, "across": found.across, "grouped": grouped}


def _asked_lines(suite: Suite, subset: SubsetFacts | None, equal: Mapping[str, Any] | None) -> Iterator[ReceiptLine]:
    """Yield the lines of the receipt on what was evaluated of the data, and on cases that count as one unit."""
    file = suite.receipt[0].file if suite.receipt else suite.name
    for question, meaning in subset.in_words(len(suite)).items() if subset else ():
        place, count = ("classes", len(suite.labels)) if question == "label_map" else ("cases", len(suite))
        yield ReceiptLine(file, place, "asked", meaning, count, question=question)
    if equal is not None and equal["grouped"]:
        meaning = f"one unit where cases ask the same: {equal['units']:,} units of {len(suite):,} cases"
        place = "cases that ask the same"
        yield ReceiptLine(file, place, "asked", meaning, equal["alike"], question="duplicates")


def with_followed(
    ids: Sequence[str], parameters: Mapping[str, Mapping[str, Any]] | None = None
) -> tuple[list[str], dict[str, dict[str, Any]]]:
    """Return the evaluators and parameters with the metrics that some follow over the others spelled out.

    An evaluator that is followed by name and needs no model is added where it was not chosen. Raises InputError for
    metrics that cannot be followed, and as `choose` does.
    """
    given = {id: dict(values) for id, values in (parameters or {}).items()}
    # thresholds may be of metrics that are only now spelled out
    plain = {id: {name: own[name] for name in own if name != "thresholds"} for id, own in given.items()}
    followers = {id: own for id, (entry, own) in choose(ids, plain).items() if entry.follows}
    known = registered()
    named = (name for own in followers.values() for name in own.followed())
    added = [name for name in dict.fromkeys(named) if name not in ids and name in known and not known[name].needs]
    chosen = choose([*added, *ids], plain)
    problems = []
    for id, own in followers.items():
        try:
            spelled = own.following([entry for name, (entry, _) in chosen.items() if name != id])
            given[id] = given.get(id, {}) | spelled.model_dump(mode="json", exclude_defaults=True)
        except ValueError as failure:
            found = ", ".join(own.followed()) or f"{id} alone"
            problems.append(InputProblem("evaluators", found, str(failure), column=id))
    refuse(problems)
    return list(chosen), given


def repeat(run: Run, workspace: Workspace, allow_code: bool = False) -> Run:
    """Create a run that asks the same as a stored one, and return it; nothing is computed yet.

    Raises InputError where that one came from elsewhere and would do more than compute, unless that is allowed.
    """
    check_origin(run, allow_code)
    return workspace.create_run(run.spec.request)


def start(run: Run) -> "subprocess.Popen[bytes]":
    """Start a process that works on a run and outlives this one; a stopped run is continued in the same way.

    The run is `starting` from now on. Raises RunSealed, RunBusy, or InputError where it came from elsewhere.
    """
    if run.state == "finished":
        raise RunSealed(f"run {run.id} is finished; a sealed run never changes")
    busy = f"run {run.id} is being worked on already"
    if run.state == "running":
        raise RunBusy(busy)
    check_origin(run)
    with hold_lock(run.folder / STARTING, busy) as lock:
        clear_stop(run)
        with stored_at(run.folder):
            os.utime(run.folder / STARTING)  # the start, from which the time is counted
        arguments = ["resume", run.id, "--workspace", str(run.workspace.path), "--quiet"]
        return start_module(arguments, run.folder / "log.txt", lock)


resume = start


def claim_start(run: Run) -> float | None:
    """End the start that another process made of this one; return its seconds, None where nobody started this one.

    The run's lock, which is held, gets the time of the start: readers go on counting from it.
    """
    descriptor = os.environ.pop(STARTED, None)
    if descriptor is None:
        return None
    os.close(int(descriptor))
    started = (run.folder / STARTING).stat().st_mtime
    os.utime(run.folder / "lock", (started, started))
    return max(0.0, time.time() - started)


def clear_stop(run: Run) -> None:
    """Delete the record of why a run stopped (cancelled or failed), so that it can be resumed."""
    with stored_at(run.folder):
        for name in ("cancel", "failure.txt"):
            (run.folder / name).unlink(missing_ok=True)


def start_module(arguments: Sequence[str], log_file: Path, lock: int | None = None) -> "subprocess.Popen[bytes]":
    """Start `python -m metrics` in a process that outlives this one; what it prints is appended to a file.

    The process inherits the open `lock`, a file descriptor, and so holds it until `claim_start` or its end.
    """
    held: dict[str, Any] = {} if lock is None else {"environment": {STARTED: str(lock)}, "pass_fds": (lock,)}
    with stored_at(log_file), make_file(log_file).open("ab") as log:
        return start_own("metrics", *arguments, stdout=log, stderr=log, **held)


def cancel(run: Run) -> None:
    """Ask the process that works on a run to stop; its results are kept. Raises RunSealed for a finished run."""
    if run.state == "finished":
        raise RunSealed(f"run {run.id} is finished; there is nothing to cancel")
    with stored_at(run.folder):
        make_file(run.folder / "cancel")
