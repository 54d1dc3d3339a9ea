"""A completion in a process of its own: the studio starts it, watches its folder, and may cancel it."""

import json
import os
import re
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from subprocess import Popen
from typing import Any, Literal
from urllib.parse import urlsplit

from metrics.core.errors import AssayError, InputProblem, RunNotFound, StorageError, refuse, stored_at
from metrics.core.files import hold_lock, is_held, make_file, make_folder, read_json, write_json, write_text
from metrics.core.suite import Suite
from metrics.engine.run_control import start_module
from metrics.judge.keys import ALLOWED, may_go, redact
from metrics.judge.settings import Budget
from metrics.store import Progress, Workspace
from metrics.store.own_files import own_folder
from metrics.store.run_progress import read_progress
from metrics.targets.complete import check_fits, complete
from metrics.targets.description import HttpTarget, ModelTarget, Target
from metrics.targets.spec import Spec, described, targets_of

FOLDER = "completions"  # of a workspace
ID = re.compile(r"[0-9a-f]{24}")
State = Literal["queued", "running", "finished", "cancelled", "failed", "interrupted"]


class Job:
    """One completion: spec.json, progress.json while it works, and in the end result.json or failure.txt."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.id = folder.name

    @property
    def spec(self) -> dict[str, Any]:
        """What is asked: `suite` (fingerprint), `targets`, `repeats`, `budget`, `retry_errors`."""
        return dict(read_json(self.folder / "spec.json"))

    @property
    def outputs(self) -> str | None:
        """The fingerprint of the stored outputs; None until it has finished."""
        found = read_json(self.folder / "result.json")
        return None if found is None else str(found["outputs"])

    @property
    def state(self) -> State:
        """The state; `interrupted`: begun and unfinished, but no process works on it."""
        if is_held(self.folder / "lock"):
            return "running"
        for name, state in (("result.json", "finished"), ("failure.txt", "failed"), ("cancel", "cancelled")):
            if (self.folder / name).exists():
                return state  # type: ignore[return-value]
        return "interrupted" if (self.folder / "progress.json").exists() else "queued"

    @property
    def failure(self) -> str:
        """Why it failed; "" where it did not."""
        path = self.folder / "failure.txt"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def progress(self) -> Progress:
        """Return the progress that the process last wrote; the entries are targets."""
        return read_progress(self.folder)

    def start(self) -> "Popen[bytes]":
        """Start a process that works on it and outlives this one."""
        with stored_at(self.folder):
            for name in ("cancel", "failure.txt", "result.json"):
                (self.folder / name).unlink(missing_ok=True)
        workspace = self.folder.parents[1]
        return start_module(["complete", "--job", self.id, "--workspace", str(workspace)], self.folder / "log.txt")

    def cancel(self) -> None:
        """Ask the process that works on it to stop; its answers are kept."""
        with stored_at(self.folder):
            make_file(self.folder / "cancel")

    def execute(self) -> str:
        """Do it, in this process; return the fingerprint of the outputs. Raises RunBusy where another process does."""
        workspace, spec = Workspace(self.folder.parents[1]), self.spec
        with hold_lock(self.folder / "lock", f"the completion {self.id} is being worked on by another process"):
            threading.Thread(target=self._watch, daemon=True).start()
            suite = workspace.suite(spec["suite"])
            targets = web_targets(spec["targets"])
            try:
                outputs = complete(
                    suite,
                    targets,
                    repeats=spec["repeats"],
                    budget=spec["budget"],
                    retry_errors=spec["retry_errors"],
                    workspace=workspace.path,
                    listen=self._listen,
                )
            except AssayError as failure:
                with suppress(StorageError):  # the disk is full; the exit and the log tell
                    write_text(self.folder / "failure.txt", redact(str(failure)))
                raise
            fingerprint = workspace.save_outputs(outputs, suite)
            write_json(self.folder / "result.json", {"outputs": fingerprint})
        return fingerprint

    def _listen(self, progress: Progress) -> None:
        write_json(self.folder / "progress.json", asdict(progress))

    def _watch(self) -> None:
        """End this process when it is to be cancelled: every answer that came is on disk."""
        while not (self.folder / "cancel").exists():
            time.sleep(0.5)
        os._exit(0)


def create_job(
    workspace: Workspace,
    suite: Suite,
    targets: Sequence[Target],
    repeats: int = 1,
    budget: Mapping[str, Any] | None = None,
    retry_errors: bool = False,
) -> Job:
    """Store a suite and what it is to be asked, and return the job; the same again is the same job."""
    check_fits(suite, web_targets(targets), repeats, Budget.model_validate(budget or {}))
    spec = {
        "suite": workspace.save_suite(suite),
        "targets": [target.stored() for target in targets],
        "repeats": repeats,
        "budget": dict(budget or {}),
        "retry_errors": retry_errors,
    }
    name = sha256(json.dumps(spec, sort_keys=True).encode("utf-8", "replace")).hexdigest()[:24]
    folder = make_folder(own_folder(workspace.path, FOLDER, name))
    write_json(folder / "spec.json", spec)
    return Job(folder)


def job_of(workspace: Workspace, name: str) -> Job:
    """Return the job of that id. Raises RunNotFound."""
    folder = workspace.path / FOLDER / name
    if not ID.fullmatch(name) or not (folder / "spec.json").exists():
        raise RunNotFound(f"there is no completion {name!r} in {workspace.path}")
    return Job(own_folder(workspace.path, FOLDER, name))


def web_targets(given: Spec | Sequence[Spec]) -> tuple[Target, ...]:
    """Return targets that a web page may ask for. Raises InputError for others.

    Programs and functions are for those who can run commands on this machine anyway; a key goes only to hosts that
    $ASSAY_TARGET_KEYS allows it for.
    """
    problems = []
    found = described(given)  # no code is imported for the question whether it may be
    for target in found:
        if not isinstance(target, ModelTarget | HttpTarget):
            problems.append(InputProblem(target.title, f"a {target.kind}", "a model or an HTTP address in the studio"))
        elif isinstance(target, HttpTarget):
            host = urlsplit(target.url).hostname
            problems += [
                InputProblem(
                    target.title,
                    f"the key {name} for {host}",
                    f"a key that may go there: start the studio with {ALLOWED}={name}@{host}",
                )
                for name in target.variables
                if not may_go(name, target.url)
            ]
    refuse(problems)
    return targets_of(found)
