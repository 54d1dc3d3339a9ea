"""Scoring cases by one evaluator: check inputs, load resources, call it. A failure becomes the score's status."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from metrics.core.cases import Cases, with_plain_output
from metrics.core.errors import CacheRefused, InputError, JudgeDown, MissingResource, StorageError
from metrics.core.evaluator import CaseScore, Evaluator, Parameters, Status
from metrics.core.fields import LEFT_OUT
from metrics.core.score_columns import ScoreColumns
from metrics.core.suite import Case
from metrics.engine.deadlines import Limits, begin, longest, too_long
from metrics.engine.judge_case import ScoredCase, blame_output, failed_score, judge_case
from metrics.engine.load_resources import Resources, missing_inputs

RUN_WIDE = (JudgeDown, CacheRefused, InputError, StorageError)  # not the fault of the case that meets them first
BY_ITSELF = ("safety", "attacks")  # families that judge an answer by nothing that its case expects


def score_cases(
    entry: Evaluator,
    parameters: Parameters,
    cases: Cases,
    resources: Resources,
    timeout: float = 0.0,
    late: Mapping[int, CaseScore] | None = None,
    alone: bool = False,
) -> ScoreColumns:
    """Return the score of each case by an evaluator that asks no judge; `alone`: of each by itself, also of a batch.

    A case without an input is `not_applicable`, one that fails `error`, unless its output is at fault: it has failed
    then; `skipped` where a model is missing. Whoever watches this process may end it where a case takes longer than
    `timeout` seconds, see deadlines; `late` has the scores of those that did, by place.
    """
    cases = cases if parameters.reads_as_written() else cases.compose_texts()
    absent = missing_inputs(entry, cases) | dict(late or {})
    limits = Limits.of(entry, parameters, len(cases), timeout)
    if not absent:
        return _scores(entry, parameters, cases, resources, limits, range(len(cases)), alone)
    there = np.ones(len(cases), bool)
    there[list(absent)] = False
    places = np.flatnonzero(there)
    order = np.argsort(np.concatenate([places, list(absent)]))
    complete = cases.take(pa.array(places))
    left = columns_of(entry, cases.take(pa.array(list(absent))), list(absent.values()))
    found = _scores(entry, parameters, complete, resources, limits, places.tolist(), alone)
    return ScoreColumns.concat([found, left]).take(pa.array(order))


def _scores(
    entry: Evaluator,
    parameters: Parameters,
    cases: Cases,
    resources: Resources,
    limits: Limits,
    places: Sequence[int],
    alone: bool,
) -> ScoreColumns:
    """Return the score of each of these cases, which have every input and stand at `places` in their unit."""
    try:
        models = resources.models(entry, parameters) if len(cases) else {}
        if entry.shape == "case":
            return columns_of(entry, cases, list(_each(entry, parameters, cases, models, limits, places)))
        if not alone:
            begin(None, limits.whole)
            return _score_all(entry, parameters, cases, models)
    except (MissingResource, StorageError) as failure:
        return columns_of(entry, cases, [failed_score(failure)] * len(cases))
    except Exception as failure:  # of one case: it must not take the others with it
        failed_score(failure)
    finally:
        begin(None, limits.longest)
    scores = columns_of(entry, cases, list(_each(entry, parameters, cases, models, limits, places)))
    begin(None, limits.longest)
    return scores


async def judge_cases(
    entry: Evaluator,
    parameters: Parameters,
    cases: Sequence[Case],
    resources: Resources,
    *,
    scored: Callable[[int, bool], None] = lambda _count, _asked: None,
    skip_when_down: bool = False,
    timeout: float = 0.0,
) -> list[ScoredCase]:
    """Return the score of each case by an evaluator that may ask a judge, as many at once as its settings allow.

    `scored` is called with the number of cases just finished, and whether they took a request. Raises RUN_WIDE errors;
    where `skip_when_down`, a judge that is down makes its cases `skipped` instead. A case waits for other cases' calls
    as well as for its own, each of which has a time limit; it is an error after deadlines.longest(timeout) seconds.
    """
    limit = longest(timeout)
    own = Cases.of(cases)
    complete, merged = _split(entry, own if parameters.reads_as_written() else own.compose_texts())
    scored(len(cases) - len(complete), False)
    if not complete:
        return merged([])
    try:
        models = await asyncio.to_thread(resources.models, entry, parameters)
        judges = await resources.judges(entry, parameters)
    except RUN_WIDE:
        raise
    except Exception as failure:  # a model that is missing, or that cannot be loaded
        return merged([ScoredCase(failed_score(failure))] * len(complete))

    async def one(case: Case) -> ScoredCase:
        try:
            async with asyncio.timeout(limit):
                found = await judge_case(entry, parameters, case, judges, models)
        except TimeoutError:
            found = ScoredCase(CaseScore({}, Status.ERROR, too_long(limit)))
        except JudgeDown as failure:
            if not skip_when_down:
                raise
            found = ScoredCase(CaseScore({}, Status.SKIPPED, str(failure)))
        scored(1, any(not call.cached for call in found.calls))
        return found

    slots = resources.slots
    tasks: list[asyncio.Task[ScoredCase]] = []
    try:
        for case in complete:  # a task only when there is a slot, so that units which share slots take turns
            await slots.acquire()
            tasks.append(asyncio.create_task(one(case)))
            tasks[-1].add_done_callback(lambda _: slots.release())
        return merged(await asyncio.gather(*tasks))
    except BaseException:  # cancelled, or the judge is down
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


def _split(entry: Evaluator, cases: Cases) -> tuple[list[Case], Callable[[Sequence[ScoredCase]], list[ScoredCase]]]:
    """Return the cases that have every input, and a function that puts their scores among those of the others."""
    absent = missing_inputs(entry, cases)

    def merged(scores: Sequence[ScoredCase]) -> list[ScoredCase]:
        rest = iter(scores)
        return [ScoredCase(absent[place]) if place in absent else next(rest) for place in range(len(cases))]

    return [case for place, case in enumerate(cases) if place not in absent], merged


def withhold_passes(entry: Evaluator, cases: Cases, scores: ScoreColumns) -> ScoreColumns:
    """Return the scores, a verdict (0 or 1) that a case passes an error where assertions of the case are left out.

    Where it fails, the case fails, whatever those would say. An evaluator that judges answers by themselves says
    nothing of assertions.
    """
    if entry.family in BY_ITSELF or not entry.primary.binary or not (places := cases.places_of(LEFT_OUT)):
        return scores
    made = [scores.at(place) for place in range(len(scores))]
    for place in places:
        given = {name: value for name, value in made[place].values.items() if value is not None}
        good = {one.name for one in entry.metrics if one.binary and (one.goodness(given.get(one.name, -1)) or 0) >= 0.5}
        if entry.primary.name in good & given.keys():
            kept = {name: value for name, value in given.items() if name not in good}
            made[place] = replace(made[place], values=kept, status=Status.ERROR, reason=cases[place].metadata[LEFT_OUT])
    return columns_of(entry, cases, made)


def columns_of(entry: Evaluator, cases: Cases, scores: Sequence[CaseScore]) -> ScoreColumns:
    """Return a score a case as columns, of the evaluator's metrics."""
    names = [metric.name for metric in entry.metrics]
    return ScoreColumns.of(cases.column("case_id"), names, list(map(entry.settle, scores)))


def _each(
    entry: Evaluator,
    parameters: Parameters,
    cases: Cases,
    models: Mapping[str, Any],
    limits: Limits,
    places: Sequence[int],
) -> Iterator[CaseScore]:
    """Yield the score of each case by itself, also of an evaluator of batches."""
    score = partial(entry.function, **models)
    for place, case in zip(places, cases, strict=True):
        begin(place, limits.case)
        try:
            yield score(case, parameters) if entry.shape == "case" else _score_alone(entry, parameters, case, models)
        except Exception as failure:
            found, blamed = blame_output(entry, failure)
            with suppress(Exception):
                if blamed is not None:
                    _score_alone(entry, parameters, with_plain_output(case), models)
                    found = blamed
            yield found


def _score_alone(entry: Evaluator, parameters: Parameters, case: Case, models: Mapping[str, Any]) -> CaseScore:
    return _score_all(entry, parameters, Cases.of([case]), models).at(0)


def _score_all(entry: Evaluator, parameters: Parameters, cases: Cases, models: Mapping[str, Any]) -> ScoreColumns:
    """Return what the evaluator makes of cases. Raises what it raises, ValueError where the scores are too few."""
    if entry.shape == "case":
        return columns_of(entry, cases, [entry(case, parameters, **models) for case in cases])
    made = entry(cases, parameters, **models) if len(cases) else []
    if len(made) != len(cases):
        raise ValueError(f"{entry.id} returned {len(made)} scores for {len(cases)} cases")
    return made if isinstance(made, ScoreColumns) else columns_of(entry, cases, made)
