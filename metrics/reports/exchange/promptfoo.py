"""A run as promptfoo's results: what `promptfoo eval -o results.json` writes (version 3)."""

from typing import Any

import orjson

from metrics.core.rounding import exact_sum, round_tree
from metrics.ingest.sheet import CODE
from metrics.presentation.board_words import from_run
from metrics.presentation.safe_text import shown
from metrics.reports.exchange.contents import Answered, answers, is_primary, verdict_of
from metrics.store import Run

ASSERTION, ERROR = 1, 2  # failureReason; 0: none


def export(run: Run) -> bytes:
    """Return the results; a test is a case (each repeat one of its own), a provider a model.

    namedScores has every score with a value, gradingResult an assertion for each evaluator's main one, with the reason
    where there is none, and the threshold where it is neither Assay's nor calibrated. A result succeeds unless a main
    score is on the wrong side of its threshold or failed. Values that promptfoo would open or run (file://, javascript:
    …) begin with an apostrophe.
    """
    models = list(run.models)
    results = [_result(run, one, place) for place, model in enumerate(models) for one in answers(run, model)]
    stats = {
        "successes": sum(one["success"] for one in results),
        "failures": sum(one["failureReason"] == ASSERTION for one in results),
        "errors": sum(one["failureReason"] == ERROR for one in results),
        "tokenUsage": {"total": sum(one["response"].get("tokenUsage", {}).get("total", 0) for one in results)},
    }
    document = {
        "evalId": f"assay-{run.id}",
        "results": {
            "version": 3, "timestamp": run.created, "results": results, "stats": stats,
            "prompts": [_prompt(model, [one for one in results if one["provider"]["id"] == _plain(model)])
                        for model in models],
        },
        "config": {"description": shown(run.name)},
        "shareableUrl": None,
    }  # fmt: skip
    return orjson.dumps(round_tree(document), option=orjson.OPT_INDENT_2) + b"\n"


def _result(run: Run, one: Answered, prompt: int) -> dict[str, Any]:
    case, output = one.case, one.output
    graded = [(row, *verdict_of(run, row)) for row in one.scores if is_primary(run, row)]
    components = [
        {
            "pass": passed is not False and row["status"] in ("ok", "not_applicable"),
            "score": 0 if row["value"] is None else row["value"],
            "reason": ", ".join(filter(None, (row["reason"] or row["status"], whose))),
            "assertion": {"type": "python", "metric": f"{row['evaluator']}.{row['metric']}"},
        }
        for row, passed, whose in graded
    ]
    error = output.get("error") or ("no output" if not output else None)
    success = error is None and all(part["pass"] for part in components)
    reason = next((part["reason"] for part in components if not part["pass"]), "All assertions passed")
    named = {f"{row['evaluator']}.{row['metric']}": row["value"] for row in one.scores if row["value"] is not None}
    score = next((row["value"] for row, *_ in graded if row["value"] is not None), 0)
    texts = {**case, "context": output.get("retrieved_contexts")}
    variables = {name: _plain(texts[name]) for name in ("question", "expected_answers", "context") if texts[name]}
    test = {"description": case["case_id"], "vars": variables, "assert": [part["assertion"] for part in components]}
    return {
        "id": f"{run.id}-{prompt}-{one.repeat}-{one.position}",
        "testIdx": (one.repeat - 1) * len(run.suite) + one.position, "promptIdx": 0, "promptId": f"prompt-{prompt}",
        "provider": {"id": _plain(one.model), "label": _plain(one.model)},
        "prompt": {"raw": _plain(case["question"] or ""), "label": "{{question}}"}, "vars": variables, "testCase": test,
        "response": _response(output), "success": success, "score": score, "namedScores": named,
        "gradingResult": {"pass": success, "score": score, "reason": error or reason, "namedScores": named,
                          "componentResults": components},
        "failureReason": 0 if success else ERROR if error else ASSERTION,
        "metadata": {"case_id": case["case_id"], "repeat": one.repeat, **from_run(run, one.model)}, **_spent(output),
        **({"error": error} if error else {}),
    }  # fmt: skip


def _response(output: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"output": output.get("answer") or ""}
    return found | ({} if output.get("tokens") is None else {"tokenUsage": {"total": output["tokens"]}})


def _prompt(model: str, results: list[dict[str, Any]]) -> dict[str, Any]:
    passed = sum(one["success"] for one in results)
    failed = sum(one["failureReason"] == ASSERTION for one in results)
    counts = {
        "testPassCount": passed, "testFailCount": failed, "testErrorCount": len(results) - passed - failed,
        "score": exact_sum(one["score"] for one in results), "cost": exact_sum(one.get("cost", 0) for one in results),
        "totalLatencyMs": sum(one.get("latencyMs", 0) for one in results),
    }  # fmt: skip
    return {"raw": "{{question}}", "label": "{{question}}", "provider": _plain(model), "metrics": counts}


def _spent(output: dict[str, Any]) -> dict[str, float]:
    seconds, cost = output.get("duration_s"), output.get("cost_usd")
    time = {} if seconds is None else {"latencyMs": round(1000 * seconds, 6)}
    return time if cost is None else {**time, "cost": cost}


def _plain(value: Any) -> Any:
    """Return a value of which promptfoo runs or opens nothing."""
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    return f"'{value}" if isinstance(value, str) and value.strip().startswith(CODE) else value
