"""A run as Inspect logs: a JSON log (version 2) for each model, as `inspect view` and read_eval_log open it."""

import json
import math
from pathlib import Path
from typing import Any

from metrics import __version__
from metrics.core.rounding import round_tree
from metrics.presentation.board_words import evaluators_of
from metrics.presentation.safe_text import shown, shown_tree
from metrics.reports.exchange.contents import Answered, Number, answers, numbers, parameters, unique_names
from metrics.store import Run

UNSCORED = math.nan  # Inspect's value of a score that has none


def export(run: Run, folder: Path) -> None:
    """Write a log for each model; a sample is a case, an epoch a repeat, a scorer an evaluator.

    Every metric of the leaderboard is one of the scorer's metrics, its interval and counts in the metadata; a case
    without value has Inspect's NaN with the status and the reason.
    """
    names = unique_names(run.models)
    found = numbers(run)
    for model in run.models:
        log = _log(run, model, [one for one in found if one.model == model])
        path = folder / f"{names[model]}.json"
        path.write_text(json.dumps(round_tree(log), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _log(run: Run, model: str, found: list[Number]) -> dict[str, Any]:
    samples = [_sample(one) for one in answers(run, model)]
    suite = run.spec.suite
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": f"{run.id}-{model}", "run_id": run.id, "created": run.created, "task": shown(suite.name),
            "task_id": suite.fingerprint, "task_version": 0, "model": shown(model),
            "dataset": {"name": shown(suite.name), "samples": suite.cases,
                        "sample_ids": run.suite.cases["case_id"].to_pylist(), "shuffled": False},
            "config": {"epochs": max((one["epoch"] for one in samples), default=1)},
            "packages": {"assay": __version__}, "metadata": shown_tree(parameters(run, model)),
        },
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {
            "total_samples": len(samples), "completed_samples": len(samples),
            "scores": [_scorer(run, id, [one for one in found if one.column.evaluator == id])
                       for id in evaluators_of(run, model)],
        },
        "stats": {"started_at": run.behind(model).created, "completed_at": run.behind(model).sealed, "model_usage": {}},
        "samples": samples,
    }  # fmt: skip


def _scorer(run: Run, id: str, found: list[Number]) -> dict[str, Any]:
    metrics = {
        one.name.removeprefix(f"{id}."): {
            "name": one.name.removeprefix(f"{id}."),
            "value": UNSCORED if one.cell.value is None else one.cell.value,
            "params": {},
            "metadata": {
                "low": one.cell.low, "high": one.cell.high, "interval": one.cell.interval, "n": one.cell.n,
                "unscored": one.cell.unscored, "direction": one.column.direction, "reason": one.cell.reason,
            },
        }
        for one in found
    }  # fmt: skip
    main = next((one.cell for one in found if one.column.primary), None)
    counts = {} if main is None else {"scored_samples": main.n, "unscored_samples": main.unscored}
    parameters = {name: value for name, value in run.evaluators[id].items() if value not in (None, {}, [])}
    return {"name": id, "scorer": id, "params": parameters, "metrics": metrics, **counts}


def _sample(one: Answered) -> dict[str, Any]:
    case, output = one.case, one.output
    question, answer = case["question"] or case["image"] or "", output.get("answer") or ""
    messages = [
        {"role": "user", "content": question, "source": "input"},
        {"role": "assistant", "content": answer, "source": "generate", "model": one.model},
    ]
    known = {
        "tags": case["tags"], "source_text": case["source_text"], "conditions": case["conditions"],
        "retrieved_contexts": output.get("retrieved_contexts"), "cost_usd": output.get("cost_usd"),
    }  # fmt: skip
    usage = {} if output.get("tokens") is None else {
        "usage": {"input_tokens": 0, "output_tokens": 0, "total_tokens": output["tokens"]}
    }  # fmt: skip
    time = {} if output.get("duration_s") is None else {"total_time": output["duration_s"]}
    return {
        "id": case["case_id"], "epoch": one.repeat, "input": question,
        "target": case["expected_answers"] or case["label"] or "", "messages": messages if output else messages[:1],
        "output": {
            "model": one.model, **usage, "error": output.get("error"),
            "choices": [{"message": messages[1], "stop_reason": "stop"}] if output else [],
        },
        "scores": _scores(one, answer), "metadata": {name: value for name, value in known.items() if value},
        "store": {}, "events": [], "model_usage": {}, "attachments": {}, **time,
    }  # fmt: skip


def _scores(one: Answered, answer: str) -> dict[str, Any]:
    """Return a score for each evaluator: its value, or those of its metrics by name."""
    found: dict[str, Any] = {}
    for id in dict.fromkeys(row["evaluator"] for row in one.scores):
        rows = [row for row in one.scores if row["evaluator"] == id]
        values = {row["metric"]: UNSCORED if row["value"] is None else row["value"] for row in rows}
        whole = next(iter(values.values())) if len(values) == 1 else values
        none = all(row["value"] is None for row in rows)
        reasons = dict.fromkeys(row["reason"] for row in rows if row["reason"])
        unscored = {row["metric"]: row["status"] for row in rows if row["value"] is None}
        found[id] = {
            "value": UNSCORED if none else whole, "answer": answer, "explanation": "; ".join(reasons) or None,
            "reason": rows[0]["status"] if none else None, "metadata": {"unscored": unscored} if unscored else None,
        }  # fmt: skip
    return found
