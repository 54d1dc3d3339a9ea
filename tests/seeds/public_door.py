"""What a source describes, by `metrics.evaluate`, judged over HTTP by a server that refuses what it does not know."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from metrics import Run, evaluate
from metrics.core.evaluator import ScriptedReply
from tests.judge.scripted import fits
from tests.judge.server import Fault, JudgeServer, Request

OUTPUTS = {
    "model", "run", "answer", "retrieved_contexts", "citations", "trace", "artifacts", "duration_s", "cost_usd",
}  # fmt: skip


@contextmanager
def judge_saying(said: Sequence[ScriptedReply]) -> Iterator[JudgeServer]:
    """A judge with these replies, the first that fits; a request that none fits is refused with 400."""

    def refuse(request: Request) -> Fault | None:
        if any(fits(entry, request) for entry in said):
            return None
        return Fault(400, body=json.dumps({"error": {"message": f"unknown: {request.step} {dict(request.data)}"}}))

    with JudgeServer() as server:
        server.say(lambda _: True, lambda request: next(entry.reply for entry in said if fits(entry, request)))
        server.fail_by(refuse)
        yield server


def at(server: JudgeServer) -> dict[str, Any]:
    """The settings of the judge behind a server."""
    return {"model": "scripted", "base_url": server.url, "backoff": 0.01}


def run_of(
    evaluators: str | Sequence[str], rows: Sequence[Mapping[str, Any]], said: Sequence[ScriptedReply] = (),
    parameters: Mapping[str, Any] | None = None, **settings: Any,
) -> Run:  # fmt: skip
    """The run of evaluators over rows with the fields of cases and of outputs; `parameters` are those of the first."""
    ids = [evaluators] if isinstance(evaluators, str) else list(evaluators)
    cases: dict[str, dict[str, Any]] = {}
    outputs = []
    for place, row in enumerate(rows):
        known = {"case_id": str(place), "question": "?", "model": "m", **row}
        cases.setdefault(known["case_id"], {name: value for name, value in known.items() if name not in OUTPUTS})
        outputs.append({name: value for name, value in known.items() if name in OUTPUTS or name == "case_id"})
    with judge_saying(said) as server:
        judge = {"judge": at(server)} if said else {}
        return evaluate(
            list(cases.values()), outputs, ids, parameters={ids[0]: dict(parameters or {})},
            **({"task": "text"} | judge | settings),
        )  # fmt: skip


def values_of(run: Run, evaluator: str, model: str = "m") -> dict[str, float]:
    """The value of each metric of an evaluator in the run, by its name; NaN for none."""
    rows = run.aggregates.query("evaluator == @evaluator and model == @model")
    return dict(zip(rows["metric"], rows["value"], strict=True))
