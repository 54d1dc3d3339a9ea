"""complete(): targets answer a suite; the answers are Outputs, and stay on disk."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from metrics.core.errors import InputError, InputProblem, TargetDown, refuse
from metrics.core.receipt import ReceiptLine
from metrics.core.suite import METADATA, Outputs, Suite
from metrics.judge.budget import Ledger, check_priced
from metrics.judge.settings import Budget
from metrics.store import Progress, Workspace
from metrics.store.run_progress import EvaluatorProgress
from metrics.targets.answers import Answer
from metrics.targets.ask_all import Question, TargetSession
from metrics.targets.asker import Asker, open_asker
from metrics.targets.description import ModelTarget, Target
from metrics.targets.recording import Entry, Recording, key_of, recording
from metrics.targets.spec import Spec, targets_of
from metrics.targets.templates import cases_seen, check
from metrics.text.thoughts import Thoughts, split_all

TASKS = ("text", "classification", "agent")
NOT_ASKED = "not asked: "
OWN = ("key", "tries", "at", "label", "score", "metadata", "error")  # of an entry, and no column or a checked one
EVERY = 0.5  # seconds between two reports of progress

Listen = Callable[[Progress], None]
T = TypeVar("T")


def complete(
    suite: "Suite | str | Path",
    target: "Spec | Sequence[Spec]",
    *,
    repeats: int = 1,
    budget: Budget | Mapping[str, Any] | None = None,
    retry_errors: bool = False,
    fresh: bool = False,
    workspace: str | Path | None = None,
    listen: Listen | None = None,
) -> Outputs:
    """Return the outputs of one or more targets on a suite, each asked every case `repeats` times.

        complete("suite.csv", my_function)
        complete("suite.csv", ["gpt-4o-mini", "bot.py:answer", "https://bot.example/ask"], repeats=3)

    A target is a function, a text (see targets_of), a description or a mapping with its fields. Every answer is
    recorded in the workspace before the next case is asked, so that the same call reads them and asks only what is
    missing: after a kill, with more cases or with more repeats. A case that fails after all its tries has `error` in
    its row; `retry_errors` asks those again, `fresh` forgets all answers first. `budget` limits what this call may
    spend (usd, calls, tokens, seconds); cases beyond it have an error that says so, and are asked by the next call.

    Raises InputError for descriptions, placeholders and suites that do not fit, TargetDown where a target does not
    answer at all; everything answered is kept.
    """
    if not isinstance(suite, Suite):
        from metrics.ingest import read_suite

        suite = read_suite(suite)
    targets = targets_of(target)
    limits = _budget(budget)
    check_fits(suite, targets, repeats, limits)
    folder = Workspace(workspace).path
    return in_loop(lambda: _complete(suite, targets, repeats, limits, retry_errors, fresh, folder, listen))


def check_fits(suite: Suite, targets: Sequence[Target], repeats: int, budget: Budget) -> None:
    """Raise InputError listing why these targets cannot complete the suite."""
    problems = []
    if suite.task not in TASKS:
        problems.append(InputProblem(suite.name, f"a suite of task {suite.task}", f"a task of {', '.join(TASKS)}"))
    if repeats < 1:
        problems.append(InputProblem("repeats", str(repeats), "1 or more"))
    for target in targets:
        problems += check(target.texts(), suite, target.reveal_expected, target.title)
    refuse(problems)
    for target in targets:
        if isinstance(target, ModelTarget):
            check_priced(budget, target.settings())


def ask_once(suite: Suite, target: Target) -> tuple[Any, Answer]:
    """Return what is sent for the first case of a suite, and the answer; nothing is recorded.

    Raises InputError, MissingResource, or CallFailed where no answer comes.
    """
    check_fits(suite, [target], 1, Budget())
    asker = open_asker(target)
    question = next(questions_of(suite, target, asker, 1))

    async def ask() -> Answer:
        try:
            return await asker.send(question.request)
        finally:
            await asker.close()

    return question.request, in_loop(ask)


def questions_of(suite: Suite, target: Target, asker: Asker, repeats: int) -> Iterator[Question]:
    """Yield every case for the first repeat, then for the second …"""
    for run in range(1, repeats + 1):
        for fields in cases_seen(suite, target.reveal_expected):
            request = asker.request(fields, run)
            yield Question(fields["case_id"], run, request, key_of(request))


async def _complete(
    suite: Suite,
    targets: Sequence[Target],
    repeats: int,
    budget: Budget,
    retry_errors: bool,
    fresh: bool,
    folder: Path,
    listen: Listen | None,
) -> Outputs:
    ledger = Ledger(budget, asked="target")
    with ExitStack() as stack:
        kept = [stack.enter_context(recording(folder, target, fresh=fresh)) for target in targets]
        askers = [open_asker(target) for target in targets]
        plans = [
            [(q, _is_answered(own, q.key, retry_errors)) for q in questions_of(suite, target, asker, repeats)]
            for target, asker, own in zip(targets, askers, kept, strict=True)
        ]
        report = _Report(targets, kept, plans, listen)
        sessions = [
            TargetSession(target, asker, own, ledger, report.tick)
            for target, asker, own in zip(targets, askers, kept, strict=True)
        ]
        last = "stopped"
        try:
            report.say("asking")
            async with asyncio.TaskGroup() as group:
                for session, plan in zip(sessions, plans, strict=True):
                    group.create_task(session.ask([question for question, known in plan if not known]))
            last = "stopped" if any(session.stopped for session in sessions) else "finished"
        finally:
            report.say(last)
            for asker in askers:
                await asker.close()
        if dead := [session for session in sessions if session.down]:
            reasons = "; ".join(str(session.stopped) for session in dead)
            what = "Everything answered is kept; check address, key and quota and run the same again"
            raise TargetDown(f"{reasons}. {what}")
        rows, predictions, receipt = [], [], []
        for session, own, plan in zip(sessions, kept, plans, strict=True):
            reason = NOT_ASKED + (session.stopped or "")
            given = [own.entries.get(question.key, {"error": reason}) for question, _ in plan]
            said = [entry["answer"] if isinstance(entry.get("answer"), str) else None for entry in given]
            split = split_all(said, len(said))
            entries = [entry if own is None else _strip(entry, own) for entry, own in zip(given, split, strict=True)]
            if count := sum(old is not new for old, new in zip(given, entries, strict=True)):
                what = f"{METADATA}reasoning, stripped from the answers, as are marks of a turn's end"
                receipt.append(ReceiptLine(session.target.title, "answer: thoughts", "kept", what, count))
            for (question, _), entry in zip(plan, entries, strict=True):
                where = {"case_id": question.case_id, "model": session.target.title, "run": question.run}
                rows.append({**_columns(entry), **where})
                if suite.task == "classification":
                    predictions += _predicted(entry, where)
    stored = {target.title: target.stored() | {"sha256": target.code()} for target in targets}
    outputs = Outputs.from_rows(rows, predictions if suite.task == "classification" else None)
    return replace(outputs, targets=stored, receipt=tuple(receipt))


def _is_answered(own: Recording, key: str, retry_errors: bool) -> bool:
    entry = own.entries.get(key)
    return entry is not None and not (retry_errors and "error" in entry)


def _strip(entry: Entry, split: Thoughts) -> Entry:
    """Return an entry with its answer alone, and the thoughts before it in the metadata."""
    told = "\n".join(filter(None, [entry.get("metadata", {}).get("reasoning"), split.thoughts]))
    more = {"reasoning": told} if told else {}
    return {**entry, "answer": split.answer, "metadata": {**entry.get("metadata", {}), **more}}


def _columns(entry: Entry) -> dict[str, Any]:
    """Return the columns of OUTPUTS that an entry has, `error` included, and its metadata."""
    own = {name: value for name, value in entry.items() if name not in OWN or name == "error"}
    if "answer" not in own and "label" in entry:
        own["answer"] = entry["label"]
    return own | {f"metadata.{name}": value for name, value in entry.get("metadata", {}).items()}


def _predicted(entry: Entry, where: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the class that an answer names: its label, or its whole text; none for an error."""
    label = entry.get("label") or entry.get("answer", "").strip()
    return [{**where, "label": label, "score": entry.get("score")}] if label else []


def _budget(given: Budget | Mapping[str, Any] | None) -> Budget:
    if isinstance(given, Budget):
        return given
    try:
        return Budget.model_validate(given or {})
    except ValidationError as failure:
        raise InputError(
            InputProblem("budget", repr(error["input"]), error["msg"], column=".".join(map(str, error["loc"])))
            for error in failure.errors()
        ) from None


class _Report:
    """Counts for whoever listens, at most every half second."""

    def __init__(
        self,
        targets: Sequence[Target],
        kept: Sequence[Recording],
        plans: Sequence[Sequence[tuple[Question, bool]]],
        listen: Listen | None,
    ):
        self._targets = targets
        self._kept = kept
        self._keys = [{question.key for question, _ in plan} for plan in plans]
        self._before = sum(known for plan in plans for _, known in plan)
        self._listen = listen
        self._begun = time.monotonic()
        self._said = 0.0

    def tick(self) -> None:
        """Report the progress, unless the last report is too recent."""
        if time.monotonic() - self._said >= EVERY:
            self.say("asking")

    def say(self, message: str) -> None:
        """Report the progress."""
        if self._listen is None:
            return
        entries = []
        for target, own, keys in zip(self._targets, self._kept, self._keys, strict=True):
            done = [own.entries[key] for key in keys if key in own.entries]
            failed = sum("error" in entry for entry in done)
            entries.append(EvaluatorProgress(target.title, target.title, len(done), len(keys), failed))
        self._said = time.monotonic()
        spent = self._said - self._begun
        done_now = sum(entry.done for entry in entries) - self._before
        open_ = sum(entry.total - entry.done for entry in entries)
        self._listen(Progress(tuple(entries), spent, spent / done_now * open_ if done_now > 0 else None, message))


def in_loop(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Return what a coroutine returns, from a thread of its own: this one may have a running loop (a notebook)."""
    runner = asyncio.Runner()
    with ThreadPoolExecutor(1) as thread:
        future = thread.submit(_run, runner, work)
        try:
            return future.result()
        except KeyboardInterrupt:
            loop = runner.get_loop()
            loop.call_soon_threadsafe(lambda: [task.cancel() for task in asyncio.all_tasks(loop)])
            raise


def _run(runner: asyncio.Runner, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Return what a coroutine returns, or raise the first of its errors."""
    try:
        with runner:
            return runner.run(work())
    except ExceptionGroup as failures:
        raise _first(failures) from None


def _first(failure: BaseException) -> BaseException:
    return _first(failure.exceptions[0]) if isinstance(failure, BaseExceptionGroup) else failure
