"""Small suites and outputs for the tests of engine, store and analysis."""

import json
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

from metrics import engine
from metrics.core.files import sha256_of
from metrics.core.suite import Outputs, Suite
from metrics.engine.seal import table_facts
from metrics.store import Run, Workspace
from metrics.store.manifest import write_manifest

WORDS = "the river runs past an old mill where nine herons wait for the evening train to leave".split()


def text_suite(size: int = 6) -> Suite:
    """Cases whose expected answer is a turn of WORDS; every second one is tagged `even`, every third `third`."""
    cases = [
        {
            "case_id": f"c{index}",
            "question": f"What is said of number {index}?",
            "expected_answers": [_turn(index)],
            "tags": [tag for tag, every in (("even", 2), ("third", 3)) if index % every == 0],
        }
        for index in range(size)
    ]
    return Suite.from_rows("turns", "text", cases)


def text_outputs(size: int = 6, models: tuple[str, ...] = ("good", "poor"), repeats: int = 1) -> Outputs:
    """`good` repeats the expected answer, `poor` has only half of it."""
    rows = [
        {"case_id": f"c{index}", "model": model, "run": repeat + 1, "answer": _answer(index, model), "duration_s": 0.5}
        for model in models
        for index in range(size)
        for repeat in range(repeats)
    ]
    return Outputs.from_rows(rows)


def _turn(index: int) -> str:
    turn = index % len(WORDS)
    return " ".join(WORDS[turn:] + WORDS[:turn])


def _answer(index: int, model: str) -> str:
    words = _turn(index).split()
    return " ".join(words if model == "good" else words[: len(words) // 2])


def one_thread() -> Executor:
    """An executor inside this process."""
    return ThreadPoolExecutor(1)


def finished(workspace: Workspace, suite: Suite, outputs: Outputs, *evaluators: str, **options: object) -> Run:
    """A sealed run, made in this process."""
    return engine.execute(engine.create(workspace, suite, outputs, evaluators, **options), one_thread)  # type: ignore[arg-type]


class AtOnce(Executor):
    """An executor that has done what it is given before anybody waits for it."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(fn(*args, **named))
        return done


def stopped(run: Run, units: int) -> Run:
    """The run, cancelled when so many more of its units were done, in this process."""
    for _ in range(units):
        (run.folder / "cancel").unlink(missing_ok=True)
        engine.execute(run, AtOnce, lambda now: engine.cancel(run) if now.message == "starting" else None)
    return run


MARKED = {"rouge": {"threshold": 0.75}}  # ROUGE has no threshold of its own; `finished(…, parameters=MARKED)`


def dated(run: Run, day: int) -> Run:
    """The run as if it had been made on that day of March 2026: its id and its folder begin with its time."""
    spec = json.loads((run.folder / "spec.json").read_text())
    folder = run.folder.with_name(f"202603{day:02}-120000-{run.id[-6:]}")
    spec |= {"id": folder.name, "created": f"2026-03-{day:02}T12:00:00+00:00"}
    del spec["place"]  # as of an earlier version: its time is its place
    (run.folder / "spec.json").write_text(json.dumps(spec))
    resealed(run)
    return Run(run.folder.rename(folder))


def resealed(run: Run, /, **changed: Any) -> Run:
    """The run, its seal computed again over what a test changed in its files and with these facts changed in it."""
    facts = json.loads((run.folder / "manifest.json").read_text())
    del facts["sha256"]
    facts |= {"spec": sha256_of(run.folder / "spec.json")} | changed
    facts["tables"] = table_facts({name: run.folder / one["file"] for name, one in facts["tables"].items()}, run.folder)
    write_manifest(run.folder, facts)
    return Run(run.folder)
