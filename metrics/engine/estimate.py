"""The cost of a run's judge before it is asked (calls, tokens, dollars), and the hint that a local model would do."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics import models
from metrics.core.array_types import Bools
from metrics.core.cases import join_cases
from metrics.core.errors import AssayError
from metrics.core.evaluator import JUDGE, Evaluator, Parameters
from metrics.core.registry import choose
from metrics.core.rounding import exact_sum
from metrics.core.suite import Outputs, Suite, with_source
from metrics.engine.load_resources import Resources
from metrics.engine.plan import judged
from metrics.engine.reuse_estimate import Reusable
from metrics.engine.score_cases import judge_cases
from metrics.judge.client import Client
from metrics.judge.dry_run import DryRun
from metrics.judge.open_judges import FOLDER
from metrics.judge.rubrics import with_rubric
from metrics.judge.settings import JudgeSettings, settings_of
from metrics.store import Run, Workspace

RECENT = 20  # runs that are looked at, the newest first
ENOUGH = 5  # replies of a step, from which their mean is taken
ROUNDING = 1.05
COLUMNS = ("judge", "step", "cached", "seconds", "error")
SAMPLE = 100  # cases that are simulated; the rest are assumed to be like them


@dataclass(frozen=True, slots=True)
class JudgeTime:
    """The seconds that requests to judges take, and the runs in which that was measured.

    `unmeasured` counts the requests of the steps that no run has measured; their time is not in `seconds`.
    """

    seconds: float
    runs: tuple[str, ...]
    unmeasured: int = 0


def judge_time(workspace: Path, calls: Mapping[tuple[str, str], float], at_once: int = 1) -> JudgeTime:
    """Return the time for so many requests by (judge, step): each as long as the mean of its step in the newest run.

    `at_once` requests are in flight together; a local judge answers one question after the other. Texts of another
    length take other times, and a provider's rate limit may take longer.
    """
    seconds, runs = 0.0, []
    left = dict(calls)
    for run in _judged_runs(workspace, {judge for judge, _ in calls}):
        means = _means(run, at_once)
        for key in [key for key in left if key in means]:
            seconds += left.pop(key) * means[key]
            runs.append(run.id)
        if not left:
            break
    return JudgeTime(seconds / at_once, tuple(dict.fromkeys(runs)), round(exact_sum(left.values())))


def _judged_runs(workspace: Path, judges: set[str]) -> Iterable[Run]:
    """Yield the newest finished runs that one of these judges has judged."""
    for run in Workspace(workspace).runs()[:RECENT]:
        try:
            if run.state == "finished" and judges & set((run.spend or {}).get("judges", ())):
                yield run
        except (AssayError, OSError, ValueError):  # a damaged run does not hide the others
            continue


def _means(run: Run, at_once: int) -> dict[tuple[str, str], float]:
    """Return the mean seconds of a reply that was asked for in this run, by judge and step, where there are ENOUGH."""
    try:
        rows = run.stored_table("judgements", COLUMNS)
        manifest = run.manifest or {}
    except (AssayError, OSError, pa.ArrowInvalid):
        return {}
    rows = rows.filter(pc.and_(pc.invert(rows["cached"]), pc.is_null(rows["error"])))
    by_judge = rows.group_by("judge").aggregate([("seconds", "sum")]).to_pylist()
    # earlier versions counted the time of waiting for one's turn, too: together longer than the run
    longest = ROUNDING * at_once * manifest.get("seconds", 0)
    timed = {row["judge"] for row in by_judge if row["seconds_sum"] <= longest}
    means = rows.group_by(["judge", "step"]).aggregate([("seconds", "mean"), ("seconds", "count")]).to_pylist()
    known = (row for row in means if row["judge"] in timed and row["seconds_count"] >= ENOUGH)
    return {(row["judge"], row["step"]): row["seconds_mean"] for row in known}


LIKENESS, INFERENCE = "groundedness", "hallucination_hhem"


@dataclass(frozen=True, slots=True)
class Estimate:
    """The approximate cost of a run: requests to send, replies in the cache, tokens, dollars (None: unknown).

    `walked` of the suite's `cases` were simulated, with typical replies where the cache has none.
    """

    judges: tuple[str, ...]
    cases: int
    walked: int
    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    usd: float | None
    local: JudgeTime | None = None  # of local judges that have something to do
    hosted: JudgeTime | None = None  # of the others
    reused: tuple[str, ...] = ()  # what earlier runs have of the scores, in words

    @classmethod
    def of(cls, settings: JudgeSettings, rehearsal: DryRun, workspace: Path, cases: int, walked: int) -> "Estimate":
        """Return the estimate for `cases`, of which `walked` were simulated by `rehearsal`."""
        scale, spend = cases / max(1, walked), rehearsal.spend
        tokens = round(spend.prompt_tokens * scale), round(spend.completion_tokens * scale)
        usd = None if spend.unpriced else spend.usd * scale
        names = tuple(judge.name for judge in settings.judges)
        asked = {key: number * scale for key, number in rehearsal.calls.items()}
        near = {key: number for key, number in asked.items() if key[0] in rehearsal.local_judges}
        far = {key: number for key, number in asked.items() if key not in near}
        local = judge_time(workspace, near) if near else None
        hosted = judge_time(workspace, far, settings.concurrency) if far else None
        calls, cached = round(spend.calls * scale), round(spend.cached * scale)
        return cls(names, cases, walked, calls, cached, *tokens, usd, local, hosted)

    @classmethod
    def without_judge(cls, reusable: Reusable) -> "Estimate":
        """Return what a run takes that asks no judge: nothing, beside what it reuses."""
        return cls((), 0, 0, 0, 0, 0, 0, 0.0, reused=tuple(reusable.in_words()))

    def __str__(self) -> str:
        price = "price unknown" if self.usd is None else f"about ${self.usd:.2f}" if self.usd else "no price"
        return (
            f"about {self.calls:,} calls to {', '.join(self.judges)}, {self.prompt_tokens:,} prompt tokens and "
            f"{self.completion_tokens:,} reply tokens, {price}; {self.cached:,} more are answered by the cache"
        )


def estimate(
    suite: Suite,
    outputs: Outputs,
    evaluators: Sequence[str],
    parameters: Mapping[str, Mapping[str, Any]] | None,
    resources: Mapping[str, Any],
    workspace: Path,
    *,
    sample: int = SAMPLE,
    stopped: Callable[[], bool] = lambda: False,
    reusable: Reusable | None = None,
) -> Estimate | None:
    """Return the estimate for a run of these evaluators; None where none of them asks a judge, or no judge is chosen.

    The evaluators are simulated over up to `sample` evenly spaced cases, with all their outputs; None where they were
    `stopped` meanwhile. A question gets the cached reply, or else a typical one: as many claims as the text has
    sentences, each verdict the first of its labels. Repairs and repeated questions are not foreseen. What is `reusable`
    is not asked.
    """
    chosen = [pair for pair in choose(evaluators, with_rubric(parameters, workspace)).values() if judged(*pair)]
    if not chosen or not resources.get(JUDGE):
        return None
    settings = settings_of(resources[JUDGE])
    ids, table = suite.cases["case_id"], outputs.outputs
    given = {entry.id: np.zeros(len(table), bool) for entry, _ in chosen}
    if reusable:
        given |= {id: rows for id, rows in reusable.given.items() if id in given}
        table = reusable.outputs.outputs
        new = table["case_id"].filter(pa.array(~np.all([*given.values()], axis=0)))
        ids = ids.filter(pc.is_in(ids, new.combine_chunks()))
    places = np.unique(np.linspace(0, len(ids) - 1, min(sample, len(ids))).astype(int))
    asked = pc.is_in(table["case_id"], ids.take(pa.array(places)).combine_chunks())
    left = {id: ~rows[asked.to_numpy()] for id, rows in given.items()}
    cache_folder = workspace / "cache"
    rehearsal = DryRun(settings, cache_folder)
    asyncio.run(_walk(chosen, suite, Outputs(table.filter(asked)), left, rehearsal, cache_folder / FOLDER, stopped))
    if stopped():
        return None
    found = Estimate.of(settings, rehearsal, workspace, len(ids), len(places))
    return replace(found, reused=tuple(reusable.in_words())) if reusable else found


async def _walk(
    chosen: Sequence[tuple[Evaluator, Parameters]],
    suite: Suite,
    outputs: Outputs,
    left: Mapping[str, Bools],
    rehearsal: DryRun,
    folder: Path,
    stopped: Callable[[], bool],
) -> None:
    resources = _Supposed(rehearsal.judges, folder)
    suite = with_source(suite, {name for entry, _ in chosen for name in entry.inputs})
    for place, case in enumerate(join_cases(suite, outputs)):
        for entry, parameters in chosen if not stopped() else ():
            if left[entry.id][place]:
                await judge_cases(entry, parameters, [case], resources)
    rehearsal.close()


class _Supposed(Resources):
    """Judges that give typical replies, and no models: an evaluator's walk ends where it needs one."""

    def __init__(self, judges: tuple[Client, ...], cache_folder: Path):
        super().__init__({}, cache_folder)
        self._judges = judges

    def models(self, entry: Evaluator, parameters: Parameters) -> dict[str, Any]:
        return dict.fromkeys(name for name in parameters.used(entry.resources) if name != JUDGE)


def inference_hint(chosen: Collection[str], resources: Mapping[str, Any]) -> str | None:
    """Return what to choose beside or in place of groundedness; None where it is not chosen or there is no such model.

    `resources`: the models chosen for the run, see load_resources. Nothing is loaded or fetched.
    """
    if LIKENESS not in chosen or INFERENCE in chosen:
        return None
    model = models.inference_model(resources)
    if model is None:
        return None
    return (
        f"{LIKENESS} measures likeness, not truth. A model of inference is at hand ({model}): with it {INFERENCE} "
        "decides whether the answer follows from the contexts."
    )
