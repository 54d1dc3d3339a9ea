"""What stands out in a run, each sentence once: findings that repeat for several metrics or models share a line."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from metrics import analysis
from metrics.core.registry import title_of
from metrics.presentation.blocks import Block, Link, Note, Sentence
from metrics.presentation.format import metric_name, number, plural
from metrics.presentation.phrases import named
from metrics.presentation.question import question
from metrics.store import Run

MAX_INSIGHTS = 24
EXTREMES = {"best_model": "is best at", "worst_model": "is worst at"}
CAUSES = {
    "retrieval_cause": "Failing answers whose contexts fail too",
    "generation_cause": "Failing answers whose contexts pass",
}
Row = Mapping[Hashable, Any]


@dataclass(frozen=True, slots=True)
class Insight:
    """A finding about the run, in words, and the evidence for it."""

    kind: str
    message: str
    severity: str = "info"
    evidence: str = ""


@question("problems", "What stands out", "What should be looked at first?", "problems", place=1)
def what_stands_out(run: Run) -> list[Block]:
    """Return the most severe insights, a sentence each."""
    found = grouped_insights(analysis.insights(run))
    link = Link("problems", "See the insights", {"view": "insights"})
    sentences = [Sentence(one.message, one.evidence, link) for one in found[:MAX_INSIGHTS]]
    left = len(found) - len(sentences)
    return [
        *sentences,
        *([Note(f"{plural(left, 'less severe insight')} not shown here; the exports have all.")] if left > 0 else []),
    ]


def grouped_insights(found: pd.DataFrame) -> tuple[Insight, ...]:
    """Return the insights of a run, most severe first; those alike but for metric, model or case in one sentence."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for place, row in enumerate(found.to_dict("records")):
        groups.setdefault((row["kind"], _shared(row, place)), []).append(row)
    return tuple(_insight(rows) for rows in groups.values() if rows[0]["kind"] != "leading_model")  # it is the headline


def _shared(row: Row, place: int) -> str:
    """Return what the rows of a kind must have in common to share a sentence; of other kinds nothing does."""
    kind = row["kind"]
    if kind in EXTREMES:
        return str(row["model"])
    if kind == "hardest_case":
        return str(row["case_id"])
    if kind in CAUSES:
        return _text(row["evaluator"])
    return "" if kind == "no_difference" else str(place)


def _insight(rows: Sequence[Row]) -> Insight:
    first = rows[0]
    kind, severity = first["kind"], first["severity"]
    if len(rows) == 1:
        return Insight(kind, first["message"], severity, _text(first["evidence"]))
    alike = {_text(row["evidence"]) for row in rows}
    return Insight(kind, _sentence(kind, rows), severity, alike.pop() if len(alike) == 1 else "")


def _sentence(kind: str, rows: Sequence[Row]) -> str:
    metrics = [_metric(row) for row in rows]
    if kind == "no_difference":
        return f"No significant difference between the models in {len(rows)} metrics: {', '.join(metrics)}"
    if kind in EXTREMES:
        values = (f"{metric} ({number(row['value'])})" for metric, row in zip(metrics, rows, strict=True))
        return f"{rows[0]['model']} {EXTREMES[kind]} {', '.join(values)}"
    if kind == "hardest_case":
        return f"Case {rows[0]['case_id']} is the hardest in {plural(len(rows), 'metric')}: {named(metrics)}"
    listed = [f"{row['model']} {int(row['affected']):,} of {round(row['affected'] / row['value']):,}" for row in rows]
    where = f"{title_of(name)}: " if (name := _text(rows[0]["evaluator"])) else ""
    return f"{where}{CAUSES[kind]}: {named(listed)}"


def _metric(row: Row) -> str:
    """Return evaluator and metric, the metric alone where that names both; "" for a finding about none."""
    if not isinstance(row["metric"], str):
        return ""
    title, name = title_of(row["evaluator"]), metric_name(row["metric"], row["evaluator"])
    return name if name.startswith(title) else f"{title}: {name}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
