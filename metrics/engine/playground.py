"""Trying a judged evaluator on a few cases, at once and without a run; what the judge says is kept in the cache."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from metrics.core.registry import choose
from metrics.core.suite import Case, Outputs, join_cases
from metrics.engine.judging import Judged, judge_case
from metrics.engine.unit_work import lacking_inputs
from metrics.judge.opening import open_judges
from metrics.models import equip
from metrics.store import Run


def first_cases(run: Run, model: str, count: int) -> list[Case]:
    """Return the first cases of a run's suite that the model has an output for."""
    rows = run.outputs.restricted(model).outputs
    return list(join_cases(run.suite, Outputs(rows.slice(0, count))))


def try_out(
    evaluator: str, parameters: Mapping[str, Any], cases: list[Case], resources: Mapping[str, Any], cache_folder: Path
) -> list[Judged]:
    """Return what an evaluator that asks a judge says of some cases. InputError, MissingResource, JudgeDown,
    CacheRefused.
    """
    entry, values = choose([evaluator], {evaluator: parameters})[evaluator]
    others = equip(entry, values, resources, cache_folder)

    async def judged() -> list[Judged]:
        judges = open_judges(resources.get("judge"), cache_folder)

        async def one(case: Case) -> Judged:
            lacking = lacking_inputs(entry, case)
            return Judged(lacking, ()) if lacking else await judge_case(entry, values, case, judges, others)

        try:
            return list(await asyncio.gather(*(one(case) for case in cases)))
        finally:
            for judge in judges:
                await judge.close()

    return asyncio.run(judged())
