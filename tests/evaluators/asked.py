"""An evaluator's score of one case, by itself or with a scripted judge."""

import asyncio
from collections.abc import Mapping
from typing import Any

from metrics.core.cases import Cases
from metrics.core.evaluator import CaseScore
from metrics.core.registry import choose, evaluators
from metrics.core.score_columns import ScoreColumns
from metrics.core.suite import Case
from tests.judge.scripted import ScriptedJudge, answers
from tests.laws.judges import awaited
from tests.models.word_vectors import WordVectors


def score(evaluator: str, parameters: dict[str, Any] | None = None, **case: Any) -> CaseScore:
    """Return the score by an evaluator that asks nobody."""
    entry = evaluators()[evaluator]
    chosen, given = entry.parameters.model_validate(parameters or {}), Case.of(**case)
    if entry.shape == "batch":
        made = entry(Cases.of([given]), chosen)
        return made.at(0) if isinstance(made, ScoreColumns) else made[0]
    return asyncio.run(awaited(entry(given, chosen)))


def ask(
    name: str, given: Mapping[str, Any], script: Mapping[str, Any], model: Any = None, **parameters: Any
) -> tuple[CaseScore, ScriptedJudge]:
    """Return the score and the judge that was asked; `model` is the embedder or the classifier."""
    entry, chosen = choose([name], {name: parameters})[name]
    judge = ScriptedJudge(answers(script))
    resources = {"judge": judge, "embedder": model or WordVectors(), "classifier": model}
    score = entry(
        Case.of(**given), chosen, **{resource: resources[resource] for resource in chosen.used(entry.resources)}
    )
    return asyncio.run(awaited(score)), judge


def steps(judge: ScriptedJudge) -> list[str]:
    return [request.step for request in judge.calls]
