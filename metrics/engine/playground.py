"""Trying a judged evaluator on a few cases, at once and without a run; the judge's replies are kept in the cache."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from metrics.core.cases import join_cases
from metrics.core.errors import MissingResource
from metrics.core.registry import choose
from metrics.core.suite import Case, Outputs
from metrics.engine.judge_case import ScoredCase
from metrics.engine.load_resources import Resources, missing_resources
from metrics.engine.score_cases import judge_cases
from metrics.store import Run


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
