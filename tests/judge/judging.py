"""Evaluators asked end to end: over HTTP through the whole judge, with a cache in a fresh folder."""

import asyncio
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from metrics.core.cases import Cases
from metrics.core.evaluator import CaseScore, Evaluator
from metrics.core.registry import choose
from metrics.core.suite import Case
from metrics.engine.judge_case import judge_case
from metrics.engine.load_resources import missing_inputs
from metrics.judge.client import CaseJudge
from metrics.judge.open_judges import open_judges
from metrics.models import provide
from tests.judge.server import JudgeServer, Request
from tests.models.word_vectors import WordVectors

STAND_INS = {"embedder": WordVectors()}


def judged(
    evaluator: str | Evaluator,
    case: Case,
    server: JudgeServer,
    cache: Path | None = None,
    judge: Mapping[str, Any] | None = None,
    **parameters: Any,
) -> CaseScore:
    """What the engine would store of one case, judged by the scripted server.

    `cache`: a folder to keep replies in; `judge`: further settings.
    """
    if isinstance(evaluator, Evaluator):
        entry, values = evaluator, evaluator.parameters.model_validate(parameters)
    else:
        entry, values = choose([evaluator], {evaluator: parameters})[evaluator]
    missing = missing_inputs(entry, Cases.of([case])).get(0)
    if missing is not None:
        return missing
    with tempfile.TemporaryDirectory() as scratch:
        return asyncio.run(_judged(entry, values, case, server, cache or Path(scratch), judge or {}))


async def _judged(
    entry: Evaluator, parameters: Any, case: Case, server: JudgeServer, cache: Path, judge: Mapping[str, Any]
) -> CaseScore:
    judges = open_judges({"model": "scripted", "base_url": server.url, "backoff": 0.01, **judge}, cache)
    others = [name for name in parameters.used(entry.resources) if name != "judge"]
    resources = {name: STAND_INS[name] for name in others if name in STAND_INS}
    resources |= provide([name for name in others if name not in STAND_INS], {}, cache)
    try:
        return (await judge_case(entry, parameters, case, judges, resources)).score
    finally:
        for judge in judges:
            await judge.close()


def requests(entry: Evaluator, case: Case, server: JudgeServer, cache: Path, **settings: Any) -> list[Request]:
    """What a judge with these settings is asked over HTTP while the evaluator scores the case."""
    server.calls.clear()
    asyncio.run(_asking(entry, case, {"model": "scripted", "base_url": server.url, **settings}, cache))
    return list(server.calls)


async def _asking(entry: Evaluator, case: Case, settings: dict[str, Any], cache: Path) -> None:
    (judge,) = open_judges(settings, cache)
    others = {name: STAND_INS[name] for name in entry.needs if name != "judge"}
    try:
        await entry(case, entry.parameters(), judge=CaseJudge(judge), **others)
    finally:
        await judge.close()
