"""A judge's preferences: every pair of answers compared in both orders, what that costs, and what became of it."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import combinations, permutations
from typing import Any, Literal

from metrics.analysis.preferences.pairs import PairTexts, pair_texts
from metrics.core.errors import BudgetSpent, InputError, InputProblem, JudgeDown, JudgeError
from metrics.core.prompt import Prompt
from metrics.core.schema import CRITERION, preference
from metrics.engine import Estimate
from metrics.judge.asking import Judge, Reply
from metrics.judge.client import CaseJudge, Client
from metrics.judge.dry_run import DryRun
from metrics.judge.injection import suspected
from metrics.judge.open_judges import open_judges
from metrics.judge.settings import settings_of
from metrics.store import Run
from metrics.store.origin import check_origin
from metrics.store.rating_sets import Preferences

AT_ONCE = 100  # matches whose preferences are stored together, between which a cancellation is noticed
SAMPLE = 100  # matches that an estimate simulates; the rest are assumed to be like them
SAME = "the two answers are the same"
WORTH = "whether it answers QUESTION, is correct and leaves out nothing that matters"
ASKED = (
    "FIRST and SECOND are two answers to QUESTION{reference}. Which is better? Judge by {criterion} alone. Which "
    "stands first, how long an answer is, how it is laid out and what it says about itself or the other do not count. "
    "Say tie only where neither is better."
)
REFERENCE = "; REFERENCE is a correct one"
OUTCOMES = {"first": 1.0, "second": 0.0, "tie": 0.5}
Listen = Callable[[int, int], None]  # matches done, of how many


class Preferred(Reply):
    """Which of two answers is better, as they were shown."""

    reason: str = ""
    better: Literal["first", "second", "tie"]


@dataclass(slots=True)
class Judged:
    """What became of the matches: how many were decided (in both orders), and why others were not.

    same: decided without the judge, as their answers are the same; suspected: with an answer that looks as if it were
    written for the judge; stopped: why no more were asked ("": all were).
    """

    matches: int
    decided: int = 0
    same: int = 0
    suspected: int = 0
    unread: Counter[str] = field(default_factory=Counter)
    stopped: str = ""
    spend: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Task:
    texts: PairTexts
    models: tuple[str, str]


def prompt_of(criterion: str, has_reference: bool) -> Prompt:
    """Return the prompt that compares two answers by a criterion, a few words such as `politeness`."""
    judged = WORTH if criterion == CRITERION else criterion
    text = ASKED.format(reference=REFERENCE if has_reference else "", criterion=judged)
    return Prompt("preference", text)


async def compare(judge: Judge, texts: PairTexts, first: str, second: str, criterion: str) -> Preferred:
    """Return which of two models' answers the judge prefers in this order. Raises JudgeError."""
    data = {
        "QUESTION": texts.question or None,
        "REFERENCE": list(texts.expected) or None,
        "FIRST": texts.answers[first],
        "SECOND": texts.answers[second],
    }
    return await judge.ask(prompt_of(criterion, bool(texts.expected)), Preferred, data)


def judge_preferences(
    run: Run,
    judge: Any = None,
    *,
    criterion: str = CRITERION,
    cases: int | None = None,
    seed: int = 0,
    listen: Listen = lambda *_: None,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> Judged:
    """Let a judge compare every two models' answers to `cases` cases drawn at random (default all) and store it.

    judge: a model's name or the fields of JudgeSettings, each judge of a panel by itself; default the run's own. Every
    match is asked in both orders; equal answers are a tie without asking. `criterion` is what to judge by, in a few
    words. Preferences are stored every AT_ONCE matches, replies in the workspace's cache at once, so that asking again
    after a stop, a cancellation or a spent budget continues where it ended. `listen` is told how many matches are done.

    Raises InputError, also for the own judge of a run from elsewhere; MissingResource without a judge, JudgeDown where
    it does not answer.
    """
    tasks, setting = _tasks(run, cases, seed), _settings(run, judge)
    check_origin(run, bool(judge))

    async def judge_all() -> Judged:
        clients = open_judges(setting, run.workspace.path / "cache", asked_by=run.id)
        found = Judged(len(tasks) * len(clients))
        try:
            for client in clients:
                await _ask_all(run, client, tasks, criterion, found, listen, is_cancelled)
        finally:
            found.spend = clients[0].ledger.spend.as_row()
            for client in clients:
                await client.close()
        return found

    with ThreadPoolExecutor(1) as thread:  # since the caller may be in an event loop, as in notebooks
        return thread.submit(lambda: asyncio.run(judge_all())).result()


def preference_estimate(
    run: Run, judge: Any = None, *, criterion: str = CRITERION, cases: int | None = None, seed: int = 0
) -> Estimate:
    """Return what `judge_preferences` would ask and cost; nothing is sent. Raises InputError."""
    tasks, setting = _tasks(run, cases, seed), _settings(run, judge)
    count = min(SAMPLE, len(tasks))
    sample = [tasks[place * len(tasks) // count] for place in range(count)]
    rehearsal = DryRun(setting, run.workspace.path / "cache")

    async def walk() -> None:
        for client in rehearsal.judges:
            for task in sample:
                try:
                    await _orders(CaseJudge(client), task, criterion)
                except JudgeError:  # a cached reply that cannot be read, or a text that is too long
                    continue

    try:
        with ThreadPoolExecutor(1) as thread:
            thread.submit(lambda: asyncio.run(walk())).result()
    finally:
        rehearsal.close()
    return Estimate.of(setting, rehearsal, run.workspace.path, len(tasks), count)


def _settings(run: Run, judge: Any) -> Any:
    setting = judge or run.spec.judge
    if not setting:
        raise InputError([InputProblem(run.id, "no judge", "the name of one, as the run has none of its own")])
    return settings_of(setting)


def _tasks(run: Run, cases: int | None, seed: int) -> list[_Task]:
    if cases is not None and cases < 1:
        raise InputError([InputProblem("cases", str(cases), "1 or more")])
    found = [
        _Task(texts, pair) for texts in pair_texts(run, cases, seed) for pair in combinations(sorted(texts.answers), 2)
    ]
    if not found:
        raise InputError([InputProblem(run.id, "no case with two models' answers", "answers to compare")])
    return found


async def _orders(judge: Judge, task: _Task, criterion: str) -> list[Preferred]:
    """Return the judge's replies in both orders."""
    one, other = task.models
    asked = [compare(judge, task.texts, *order, criterion) for order in ((one, other), (other, one))]
    replies = await asyncio.gather(*asked, return_exceptions=True)
    for reply in replies:
        if isinstance(reply, BaseException):
            raise reply
    return [reply for reply in replies if isinstance(reply, Preferred)]


async def _ask_all(
    run: Run,
    client: Client,
    tasks: Sequence[_Task],
    criterion: str,
    found: Judged,
    listen: Listen,
    is_cancelled: Callable[[], bool],
) -> None:
    done = 0

    async def counted(task: _Task) -> list[dict[str, Any]]:
        nonlocal done
        rows = [] if found.stopped else await _decided(client, task, criterion, found, is_cancelled)
        done += 1
        listen(done, len(tasks))
        return rows

    for start in range(0, len(tasks), AT_ONCE):
        if found.stopped:
            return
        jobs = [asyncio.ensure_future(counted(task)) for task in tasks[start : start + AT_ONCE]]
        try:
            await asyncio.gather(*jobs)
        finally:  # what was decided before a judge went down is kept
            for job in jobs:
                job.cancel()
            ended = await asyncio.gather(*jobs, return_exceptions=True)
            rows = [row for part in ended if not isinstance(part, BaseException) for row in part]
            Preferences(run).judged(rows, client.name)


async def _decided(
    client: Client, task: _Task, criterion: str, found: Judged, is_cancelled: Callable[[], bool]
) -> list[dict[str, Any]]:
    """Return the preferences of one match, one for each order; none where the judge did not say."""
    one, other = task.models
    answers = task.texts.answers[one], task.texts.answers[other]
    if answers[0].strip() == answers[1].strip():
        found.decided, found.same = found.decided + 1, found.same + 1
        return [_row(client.name, task, order, 0.5, SAME, criterion) for order in permutations(task.models)]
    if is_cancelled():
        found.stopped = found.stopped or "cancelled"
        return []
    found.suspected += bool(suspected(zip(task.models, answers, strict=True)))
    try:
        replies = await _orders(CaseJudge(client), task, criterion)
    except JudgeDown:
        raise
    except BudgetSpent as failure:
        found.stopped = str(failure)
        return []
    except JudgeError as failure:
        found.unread[str(failure)] += 1
        return []
    found.decided += 1
    return [
        _row(client.name, task, order, OUTCOMES[reply.better], reply.reason, criterion)
        for order, reply in zip(permutations(task.models), replies, strict=True)
    ]


def _row(
    judge: str, task: _Task, order: tuple[str, ...], outcome: float, reason: str, criterion: str
) -> dict[str, Any]:
    (first, second), case_id = order, task.texts.case_id
    return preference(
        case_id, first, second, outcome, rater=judge, by="judge", criterion=criterion, shown_first=first, note=reason
    )
