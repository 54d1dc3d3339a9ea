"""The catalogue: everything that evaluators declare, as plain data, and the README's table of them.

python -m metrics.reports.catalogue     rewrites the table in README.md
"""

import math
import re
from pathlib import Path
from typing import Any

from metrics.core.evaluator import Evaluator
from metrics.core.registry import evaluators
from metrics.presentation.format import ARROWS

TABLE = re.compile(r"(<!-- evaluators: .*? -->\n)(.*)(<!-- end of evaluators -->)", re.DOTALL)


def catalogue() -> list[dict[str, Any]]:
    """Return a record per evaluator; infinite bounds and thresholds are null, so that it is strict JSON."""
    return [_record(entry) for entry in evaluators().values()]


def markdown_table() -> str:
    """Return the README's table of evaluators."""
    lines = ["| evaluator | what it measures | inputs | metrics (primary first) |", "|---|---|---|---|"]
    for entry in evaluators().values():
        metrics = sorted(entry.metrics, key=lambda metric: not metric.primary)
        names = ", ".join(f"`{metric.name}` {ARROWS[metric.direction.value]}".strip() for metric in metrics)
        inputs = ", ".join(name.replace("_", " ") for name in entry.inputs)
        lines.append(f"| `{entry.id}` | {entry.summary.rstrip('.')} | {inputs} | {names} |")
    return "\n".join(lines) + "\n"


def write_readme(path: Path) -> None:
    """Write the table between the two markers of the README."""
    text = path.read_text(encoding="utf-8")
    path.write_text(TABLE.sub(lambda found: found[1] + markdown_table() + found[3], text), encoding="utf-8")


def _record(entry: Evaluator) -> dict[str, Any]:
    return {
        "id": entry.id,
        "title": entry.title,
        "family": entry.family,
        "summary": entry.summary,
        "doc": entry.doc,
        "tasks": list(entry.tasks),
        "inputs": list(entry.inputs),
        "resources": list(entry.needs),
        "metrics": [
            {
                "name": metric.name,
                "description": metric.description,
                "range": [_finite(metric.low), _finite(metric.high)],
                "direction": metric.direction.value,
                "threshold": _finite(metric.threshold),
                "unit": metric.unit,
                "primary": metric.primary,
            }
            for metric in entry.metrics
        ],
        "parameters": entry.parameters.model_json_schema(),
        "prompts": [{"id": prompt.id, "text": prompt.text} for prompt in entry.prompts],
        "sources": list(entry.sources),
        "standards": list(entry.standards),
        "differs_from": entry.differs_from,
        "default_needs": list(entry.default_needs),
        "version": entry.version,
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


if __name__ == "__main__":
    write_readme(Path(__file__).parents[2] / "README.md")
