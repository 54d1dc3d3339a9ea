"""Scoring a few cases at once and without a run: what a monitor has sampled, or an evaluator that is tried out."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from metrics.core.cases import Cases, join_cases
from metrics.core.errors import MissingResource
from metrics.core.evaluator import Evaluator, Parameters
from metrics.core.registry import choose
from metrics.core.suite import Case, Outputs
from metrics.engine.judge_case import ScoredCase
from metrics.engine.load_resources import Resources, missing_resources
from metrics.engine.plan import judged
from metrics.engine.score_cases import columns_of, judge_cases, score_cases, withhold_passes
from metrics.engine.unit_work import scores_table
from metrics.judge.budget import Spend
from metrics.store import Run

Chosen = Mapping[str, tuple[Evaluator, Parameters]]


class LiveScorer:
    """Scores cases by the chosen evaluators of cases and of batches; a context manager.

    `settings` chooses the models and the judge, see engine.load_resources; `spend` is what the judge has cost so far,
    and is added to. Where the judge is down its cases are `skipped`, and it is asked again the next time. Raises
    CacheRefused and InputError.
    """

    def __init__(self, chosen: Chosen, settings: Mapping[str, Any], cache_folder: Path, spend: Spend | None = None):
        self._chosen = chosen
        self._resources = Resources(settings, cache_folder, spend)
        self.spend = self._resources.spend
        self._loop = asyncio.Runner()

    def __enter__(self) -> "LiveScorer":
        self._loop.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.run(self._resources.close())
        self._loop.close()

    def scores(self, cases: Sequence[Case]) -> pa.Table:
        """Return one row per evaluator, case and metric, in that order (schema SCORES)."""
        tables, joined = [], Cases.of(cases)
        for entry, parameters in self._chosen.values():
            if judged(entry, parameters):
                made = self._loop.run(judge_cases(entry, parameters, joined, self._resources, skip_when_down=True))
                scores = columns_of(entry, joined, [one.score for one in made])
            else:
                scores = score_cases(entry, parameters, joined, self._resources)
            tables.append(scores_table(entry, joined, withhold_passes(entry, joined, scores)))
        return pa.concat_tables(tables)


def first_cases(run: Run, model: str, count: int) -> list[Case]:
    """Return the first `count` cases of a run that the model has an output for."""
    rows = run.outputs.restricted(model).outputs
    return list(join_cases(run.suite, Outputs(rows.slice(0, count))))


def try_out(
    evaluator: str, parameters: Mapping[str, Any], cases: list[Case], settings: Mapping[str, Any], cache_folder: Path
) -> list[ScoredCase]:
    """Return the scores of some cases by an evaluator that asks a judge.

    `settings`: see engine.load_resources. Raises InputError, MissingResource, JudgeDown and CacheRefused.
    """
    entry, values = choose([evaluator], {evaluator: parameters})[evaluator]
    if reason := missing_resources(entry, values, settings):
        raise MissingResource(reason)
    resources = Resources(settings, cache_folder)

    async def scored() -> list[ScoredCase]:
        try:
            return await judge_cases(entry, values, cases, resources)
        finally:
            await resources.close()

    return asyncio.run(scored())
