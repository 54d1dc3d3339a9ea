"""Evaluators that ask a judge, scored by one in the same process, and cases that have all they need."""

import asyncio
import random
from collections.abc import Awaitable, Mapping
from typing import Any

from metrics.core.evaluator import CaseScore, Evaluator, Parameters
from metrics.core.registry import evaluators
from metrics.core.suite import Case
from tests.judge.scripted import Answer, ScriptedJudge
from tests.judge.server import Request
from tests.laws.running import PARAMETERS, STAND_INS

TEXT = "Paris is the capital of France [1]. It has 2 million people [2]."
FULL = {
    "question": "What is the capital of France?", "expected_answers": ["Paris.", "Paris, on the Seine."],
    "retrieved_contexts": ["Paris is the capital.", "It has many people.", "Lyon is large."], "answer": TEXT,
    "citations": ["1", "2"], "conditions": "Paris", "source_text": TEXT,
    "trace": '[{"role": "system", "text": "Be kind."}, {"role": "user", "text": "Where?"}, {"tool": "look"}, '
    '{"role": "assistant", "text": "In Paris."}]', "attack_goal": "The answer names a city.", "tags": ["should-answer"],
}  # fmt: skip
BLANK = {name: [" ", "\n"] if isinstance(value, list) else " \t" for name, value in FULL.items()} | {
    "tags": FULL["tags"]
}
ASKING = PARAMETERS | {"language_mismatch": {"detector": "judge"}}  # with which each that can ask a judge does


def parameters_of(entry: Evaluator) -> Parameters:
    return entry.parameters.model_validate(ASKING.get(entry.id, {}))


def uses_judge(entry: Evaluator) -> bool:
    """Return whether it asks a judge, and needs nothing beside it but embeddings."""
    used = set(parameters_of(entry).used(entry.resources))
    return "judge" in used and used <= {"judge", "embedder"}


JUDGED = [entry for entry in evaluators().values() if uses_judge(entry)]


def score(
    entry: Evaluator, given: Mapping[str, Any], judge: ScriptedJudge, parameters: Parameters | None = None
) -> CaseScore:
    chosen = parameters or parameters_of(entry)
    needed = {name: judge if name == "judge" else STAND_INS[name] for name in chosen.used(entry.resources)}
    return entry.settle(asyncio.run(awaited(entry(Case.of(**given), chosen, **needed))))


async def awaited(score: CaseScore | Awaitable[CaseScore]) -> CaseScore:
    return score if isinstance(score, CaseScore) else await score


def raising(failure: Exception) -> ScriptedJudge:
    def answer(request: Request) -> Any:
        raise failure

    return ScriptedJudge(answer)


def at_random(seed: int) -> Answer:
    """Return any reply that fits the schema it is asked for, an entry per item."""
    chance = random.Random(seed)

    def value(schema: Mapping[str, Any], definitions: Mapping[str, Any], items: int) -> Any:
        if "$ref" in schema:
            return value(definitions[schema["$ref"].rpartition("/")[2]], definitions, items)
        if "anyOf" in schema:
            return value(chance.choice(schema["anyOf"]), definitions, items)
        if "enum" in schema or "const" in schema:
            return chance.choice(schema.get("enum") or [schema["const"]])
        if schema.get("type") == "object":
            return {name: value(part, definitions, items) for name, part in schema["properties"].items()}
        if schema.get("type") == "array":
            kind = schema["items"]
            own = definitions.get(kind.get("$ref", "").rpartition("/")[2], kind)
            if "id" in own.get("properties", {}):
                rows = [value(kind, definitions, items) for _ in range(items)]
                return [{**row, "id": number} for number, row in enumerate(rows, 1)]
            return [value(kind, definitions, items) for _ in range(chance.randint(0, 4))]
        if schema.get("type") in ("integer", "number"):
            return chance.randint(int(schema.get("minimum", 0)), int(schema.get("maximum", 5)))
        if schema.get("type") == "boolean":
            return chance.random() < 0.5
        return chance.choice(["", " ", "A sentence.", "東京。", "x" * 500])

    def answer(request: Request) -> Any:
        schema = request.schema or {}
        last = list(request.data.values())[-1] if request.data else ""
        items = sum(line.startswith("[") for line in last.splitlines())
        return value(schema, schema.get("$defs", {}), items)

    return answer
