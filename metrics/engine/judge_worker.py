"""The judge's work units, all in one event loop beside the process pool: they mostly wait for replies."""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any

import pyarrow as pa

from metrics.core.evaluator import Evaluator
from metrics.core.files import write_json
from metrics.core.schema import JUDGEMENTS
from metrics.core.suite import Case
from metrics.engine.judge_case import ScoredCase
from metrics.engine.load_resources import Resources
from metrics.engine.parts import UnitResult
from metrics.engine.score_cases import columns_of, judge_cases
from metrics.engine.unit_work import Job, case_tables, unit_cases
from metrics.judge.budget import Spend
from metrics.judge.settings import settings_of
from metrics.store import Run
from metrics.store.run_files import SPEND

ASKED = ("judge", "step", "key", "error")
STORED = ("reply", "prompt_tokens", "completion_tokens", "cost_usd", "seconds")


def write_spend(run: Run, spent: Mapping[str, Any]) -> None:
    """Write what the judges of a run have cost into its folder; `spent`: Spend.as_row."""
    names = [judge.name for judge in settings_of(run.spec.judge).judges]
    write_json(run.folder / SPEND, {"judges": names} | dict(spent))


class JudgeWorker:
    """Does judge units in a thread with an event loop; a context manager that cancels what is unfinished on leaving.

    What a judge has answered is in the cache by then, so no answered question is ever asked again.
    """

    def __init__(self, run: Run):
        self._run = run
        self._settings = run.spec.resources
        cache, spend = run.workspace.path / "cache", Spend.of(run.spend or {})
        self._resources = Resources(self._settings, cache, spend, asked_by=run.id, case_timeout=run.spec.case_timeout)
        self._written = self._resources.spend.as_row()
        self.progress: Counter[str] = Counter()  # cases judged, by name of the unit
        self.asked = 0  # cases judged that took a request
        self._calls_before = self._resources.spend.calls  # in earlier sessions
        self._loop: asyncio.AbstractEventLoop | None = None

    def __enter__(self) -> "JudgeWorker":
        return self

    def __exit__(self, *_: object) -> None:
        if self._loop is not None:
            asyncio.run_coroutine_threadsafe(self._cancel_all(), self._loop).result()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            self._loop = None
        self.write_spend()

    def submit(self, job: Job) -> "Future[UnitResult]":
        """Start a unit. The future fails with a RUN_WIDE error (see score_cases); the unit can be done later then."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, name="judge", daemon=True)
            self._thread.start()
        return asyncio.run_coroutine_threadsafe(self._perform(job), self._loop)

    @property
    def calls(self) -> int:
        """The requests sent in this session."""
        return self._resources.spend.calls - self._calls_before

    def write_spend(self) -> None:
        """Write what was spent into the run's folder, if it has changed."""
        spent = self._resources.spend.as_row()
        if spent != self._written:
            write_spend(self._run, spent)
            self._written = spent

    async def _perform(self, job: Job) -> UnitResult:
        begun = time.perf_counter()
        entry, parameters = job.evaluator()
        suite = job.stored_suite()
        job = await asyncio.to_thread(job.carry)
        cases = await asyncio.to_thread(unit_cases, job, suite)

        def scored(count: int, asked: bool) -> None:
            self.progress[job.unit.name] += count
            self.asked += asked

        made = await judge_cases(entry, parameters, cases, self._resources, scored=scored, timeout=job.timeout)
        tables, failed = case_tables(job, entry, cases, columns_of(entry, cases, [one.score for one in made]))
        own = _judgements(self._run.id, entry, cases, made)
        judgements = job.with_given("judgements", own, [len(one.calls) for one in made])
        if len(judgements):
            tables["judgements"] = judgements
        return UnitResult(tables, failed, time.perf_counter() - begun)

    async def _cancel_all(self) -> None:
        units = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for unit in units:
            unit.cancel()
        await asyncio.gather(*units, return_exceptions=True)
        await self._resources.close()


def _judgements(run_id: str, entry: Evaluator, cases: Sequence[Case], made: Sequence[ScoredCase]) -> pa.Table:
    """Return a row per reply that a score rests on (schema JUDGEMENTS), in the order of the cases and the questions.

    `cached`: another run asked; that is the same after a kill. Of scores that share a reply, seal knows the first.
    """
    rows = []
    for case, one in zip(cases, made, strict=True):
        about = {"case_id": case.case_id, "model": case.model, "run": case.run, "evaluator": entry.id}
        for call in one.calls:
            stored = {} if call.stored is None else {name: getattr(call.stored, name) for name in STORED}
            cached = call.stored is not None and call.stored.asked_by != run_id
            rows.append(about | {name: getattr(call, name) for name in ASKED} | {"cached": cached} | stored)
    return pa.Table.from_pylist(rows, schema=JUDGEMENTS)
