"""A run as OpenTelemetry events: a `gen_ai.evaluation.result` for each score, as OTLP JSON lines.

A line is one request of logs (resourceLogs), as a collector's file receiver or `/v1/logs` takes it. Nothing is sent.
The attributes are those of the semantic conventions for generative AI; what they have no name for begins with `assay.`.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Any

import orjson

from metrics import __version__, analysis
from metrics.core.rounding import round_tree
from metrics.presentation.board_words import from_run
from metrics.presentation.safe_text import shown
from metrics.reports.build import changes_of
from metrics.reports.exchange.contents import Answered, answers, verdict_of
from metrics.store import Run

EVENT = "gen_ai.evaluation.result"
LINE = 500  # events
LABELS = {True: "pass", False: "fail", None: None}
INFO = {"severityNumber": 9, "severityText": "INFO"}


def export(run: Run) -> bytes:
    """Return the events of every score; a score without value has its reason."""
    judges = analysis.judged_by(run)
    made = {
        id: {"assay.judge": judges.get(id), "assay.parameters": changes_of(run, id) or None} for id in run.evaluators
    }
    events = (
        event for model in run.models for answered in answers(run, model) for event in _events(run, answered, made)
    )
    lines = []
    while batch := list(islice(events, LINE)):
        resource = {"service.name": "assay", "service.version": __version__, "assay.run": run.id,
                    "assay.suite": shown(run.spec.suite.name)}  # fmt: skip
        logs = {"scope": {"name": "assay", "version": __version__}, "logRecords": batch}
        lines.append(
            orjson.dumps({"resourceLogs": [{"resource": {"attributes": _attributes(resource)}, "scopeLogs": [logs]}]})
        )
    return b"".join(line + b"\n" for line in lines)


def _events(run: Run, answered: Answered, made: Mapping[str, Mapping[str, str | None]]) -> Iterator[dict[str, Any]]:
    at = str(int(datetime.fromisoformat(run.created).timestamp()) * 1_000_000_000)
    for row in answered.scores:
        passed, threshold = verdict_of(run, row)
        named = {
            "gen_ai.evaluation.name": f"{row['evaluator']}.{row['metric']}",
            "gen_ai.evaluation.score.value": row["value"],
            "gen_ai.evaluation.score.label": LABELS[passed],
            "gen_ai.evaluation.explanation": row["reason"],
            "gen_ai.response.model": answered.model,
            "error.type": None if row["status"] in ("ok", "not_applicable") else row["status"],
            "assay.case_id": answered.case["case_id"], "assay.repeat": answered.repeat, "assay.status": row["status"],
            "assay.threshold": threshold or None, **made[row["evaluator"]],
            **{f"assay.{key}": id for key, id in from_run(run, answered.model, row["evaluator"]).items()},
        }  # fmt: skip
        yield {"timeUnixNano": at, "observedTimeUnixNano": at, "eventName": EVENT, **INFO,
               "attributes": _attributes(named)}  # fmt: skip


def _attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in values.items() if value is not None]


def _value(value: str | int | float) -> dict[str, Any]:
    if isinstance(value, str):
        return {"stringValue": value}
    return {"intValue": str(value)} if isinstance(value, int) else {"doubleValue": round_tree(value)}
