"""The judge's work units, all in one event loop beside the pool that crunches numbers: they wait for replies mostly."""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future

import pyarrow as pa

from metrics.core.errors import CacheRefused, InputError, JudgeDown
from metrics.core.evaluator import CaseScore, Evaluator, Parameters
from metrics.core.registry import choose
from metrics.core.schema import JUDGEMENTS
from metrics.core.suite import Case
from metrics.engine.judging import Judged, judge_case
from metrics.engine.unit_work import Done, Job, case_tables, failed_score, joined, lacking_inputs
from metrics.judge.budget import Spend
from metrics.judge.client import Call, Client
from metrics.judge.opening import open_judges
from metrics.judge.settings import settings_of
from metrics.models import JUDGE, equip
from metrics.store import Run, Workspace
from metrics.store.files import write_json
from metrics.store.run import SPEND

CASES_PER_CALL = 4  # cases under way for each request in flight: some wait for one another's shared steps
RUN_WIDE = (JudgeDown, CacheRefused, InputError)  # nothing to do with the case that meets them first
STORED = ("reply", "prompt_tokens", "completion_tokens", "cost_usd", "seconds")


class JudgeWorker:
    """Does judge units in a thread with an event loop; a context manager, which on leaving gives up what is unfinished.

    What a judge has answered is in the cache by then, so no answered question is ever asked again.
    """

    def __init__(self, run: Run):
        self._run = run
        self._cache_folder = run.workspace.path / "cache"
        self._setting = run.spec.get("resources", {}).get(JUDGE)
        self.spend = Spend.of(run.spend or {})
        self._written = self.spend.as_row()
        self.progress: Counter[str] = Counter()  # cases judged, by name of the unit, of units under way
        self._loop: asyncio.AbstractEventLoop | None = None
        self._judges: tuple[Client, ...] = ()
        self._opening = asyncio.Lock()
        self._slots = asyncio.Semaphore()

    def __enter__(self) -> "JudgeWorker":
        return self

    def __exit__(self, *_: object) -> None:
        if self._loop is not None:
            asyncio.run_coroutine_threadsafe(self._give_up(), self._loop).result()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            self._loop = None
        self.write_spend()

    def submit(self, job: Job) -> "Future[Done]":
        """Begin with a unit. The future fails with JudgeDown and CacheRefused; the unit can be done later then."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, name="judge", daemon=True)
            self._thread.start()
        return asyncio.run_coroutine_threadsafe(self._perform(job), self._loop)

    def write_spend(self) -> None:
        """Write down what was spent, if that has changed."""
        spent = self.spend.as_row()
        if spent != self._written:
            names = [judge.name for judge in settings_of(self._setting).judges]
            write_json(self._run.folder / SPEND, {"judges": names} | spent)
            self._written = spent

    async def _perform(self, job: Job) -> Done:
        begun = time.perf_counter()
        entry, parameters = choose([job.unit.evaluator], {job.unit.evaluator: job.parameters})[job.unit.evaluator]
        suite = Workspace(job.workspace).suite(job.suite)
        cases = await asyncio.to_thread(joined, job, suite)
        results: list[CaseScore | None] = [lacking_inputs(entry, case) for case in cases]
        open_places = [place for place, result in enumerate(results) if result is None]
        calls: list[tuple[Case, Sequence[Call]]] = []
        self.progress[job.unit.name] += len(cases) - len(open_places)
        if open_places:
            try:
                judged = await self._judged(job, entry, parameters, [cases[place] for place in open_places])
            except RUN_WIDE:
                raise
            except Exception as failure:  # a model that is missing, or that cannot be loaded
                judged = [Judged(failed_score(failure), ())] * len(open_places)
            for place, one in zip(open_places, judged, strict=True):
                results[place] = one.score
                calls.append((cases[place], one.calls))
        tables, failed = case_tables(job, entry, suite, cases, results)
        if any(made for _, made in calls):
            tables["judgements"] = _judgements(entry, calls)
        del self.progress[job.unit.name]
        return Done(tables, failed, time.perf_counter() - begun)

    async def _judged(self, job: Job, entry: Evaluator, parameters: Parameters, cases: Sequence[Case]) -> list[Judged]:
        resources = await asyncio.to_thread(equip, entry, parameters, job.resources, self._cache_folder)
        judges = await self._opened() if JUDGE in parameters.used(entry.resources) else ()
        slots = self._slots

        async def one(case: Case) -> Judged:
            judged = await judge_case(entry, parameters, case, judges, resources)
            self.progress[job.unit.name] += 1
            return judged

        tasks: list[asyncio.Task[Judged]] = []
        try:
            for case in cases:
                await slots.acquire()
                tasks.append(asyncio.create_task(one(case)))
                tasks[-1].add_done_callback(lambda _: slots.release())
            return list(await asyncio.gather(*tasks))
        except BaseException:  # cancelled, or the judge is down
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise

    async def _opened(self) -> tuple[Client, ...]:
        """Return the judges, opened by the first who wants them."""
        async with self._opening:
            if not self._judges:
                self._judges = await asyncio.to_thread(open_judges, self._setting, self._cache_folder, self.spend)
                concurrency = max(judge.settings.concurrency for judge in self._judges)
                self._slots = asyncio.Semaphore(CASES_PER_CALL * concurrency)
        return self._judges

    async def _give_up(self) -> None:
        units = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for unit in units:
            unit.cancel()
        await asyncio.gather(*units, return_exceptions=True)
        for judge in self._judges:
            await judge.close()


def _judgements(entry: Evaluator, made: Sequence[tuple[Case, Sequence[Call]]]) -> pa.Table:
    """Return a row per reply that a score rests on, in the order of the cases and of the asking."""
    rows = []
    for case, calls in made:
        for call in calls:
            stored = call.stored
            rows.append(
                {
                    "case_id": case.case_id, "model": case.model, "run": case.run, "evaluator": entry.id,
                    "judge": call.judge, "step": call.step, "key": call.key, "cached": call.cached,
                    "error": call.error,
                    **({name: getattr(stored, name) for name in STORED} if stored is not None else {}),
                }
            )  # fmt: skip
    return pa.Table.from_pylist(rows, schema=JUDGEMENTS)
