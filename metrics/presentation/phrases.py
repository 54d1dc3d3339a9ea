"""The sentences and table rows that the PDF and the HTML share."""

from collections.abc import Iterator, Sequence

from metrics.presentation.style import (
    ARROWS,
    DIRECTIONS,
    MISSING,
    STATUSES,
    interval,
    moment,
    number,
    plural,
    range_text,
)
from metrics.reports.report import CaseMetric, Column, Method, MethodMetric, Problem, Report, Standing

KICKER = "Evaluation report"
SEVERITIES = {
    "high": "clearly: the whole interval is on the wrong side",
    "low": "may be chance: the interval reaches the good side",
    "unknown": "unknown: there is no interval",
}
MOST_NAMED = 6  # models named in a row before "and 12 more"


def question(report: Report) -> str:
    """Return the question that the report answers first."""
    return "Is this model good enough?" if len(report.models) == 1 else "Which model should I pick?"


def standing_heads(report: Report) -> tuple[str, ...]:
    """Return the column heads of the table of standings."""
    if len(report.models) == 1:
        return "Metric", "Model", "Value and 95 % interval", "n", "Threshold"
    return "Metric", "Leader", "Value and 95 % interval", "n", "Tied for best"


def subtitle(report: Report) -> str:
    """When, which run, how many models."""
    return f"{moment(report.created)} UTC · {plural(len(report.models), 'model')} · run {report.run}"


def metric_title(column: Column, arrow: bool = True) -> str:
    """Evaluator, metric and the arrow of its direction: `ROUGE: rougeL ↑`."""
    same = column.title.casefold().replace("_", " ") == column.evaluator_title.casefold()
    title = column.evaluator_title if same else f"{column.evaluator_title}: {column.title}"
    return directed(title, column.direction) if arrow else title


def directed(title: str, direction: str) -> str:
    """Return a metric's name and the arrow of its better end, never parted by a line break."""
    return f"{title}\u00a0{ARROWS[direction]}" if ARROWS[direction] else title


def named(names: Sequence[str], word: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`; beyond MOST_NAMED `… and 12 more`."""
    if len(names) <= 1:
        return "".join(names)
    if len(names) > MOST_NAMED:
        return f"{', '.join(names[:MOST_NAMED])} {word} {len(names) - MOST_NAMED} more"
    return f"{', '.join(names[:-1])} {word} {names[-1]}"


def level_text(standing: Standing, models: Sequence[str]) -> str:
    """Return the models tied for best with the leader; of a single model, how it compares with the threshold."""
    if len(models) > 1 and not standing.tested:
        return "not tested"
    if len(models) > 1:
        everyone = len(standing.level) == len(models) - 1 > 1
        return "every other model" if everyone else named(standing.level) or "no other model"
    if standing.column.threshold is None:
        return MISSING
    sign = "at most" if standing.column.direction == "lower" else "at least"
    return f"{'missed' if standing.cell.problem else 'met'}: {sign} {standing.column.threshold:g}"


def metric_row(metric: CaseMetric) -> dict[str, str]:
    """Title with arrow, value, and the reason where there is one."""
    value = number(metric.value) if metric.status == "ok" else STATUSES.get(metric.status, metric.status)
    if metric.unit and metric.value is not None:
        return {
            "title": f"{metric.title}:",
            "value": plural(int(metric.value), metric.unit),
            "reason": metric.reason or "",
        }
    return {"title": directed(metric.title, metric.direction), "value": value, "reason": metric.reason or ""}


def problem_row(problem: Problem) -> dict[str, str]:
    """Return a problem as the texts of a table row."""
    sign = "" if problem.threshold is None else "≤ " if problem.direction == "lower" else "≥ "
    return {
        "model": problem.model,
        "metric": directed(f"{problem.evaluator_title}: {problem.metric}", problem.direction),
        "value": number(problem.value), "interval": interval(problem.low, problem.high),
        "threshold": sign + (MISSING if problem.threshold is None else f"{problem.threshold:g}"),
        "n": f"{problem.n:,}",
        "sure": SEVERITIES.get(problem.severity, problem.severity)
        + ("" if problem.affected is None else f"; {plural(problem.affected, 'case')} on the wrong side"),
    }  # fmt: skip


def method_metric_row(metric: MethodMetric) -> dict[str, str]:
    """Return what a metric means, as the texts of a table row."""
    return {
        "name": directed(metric.name, metric.direction), "description": metric.description,
        "range": range_text(metric.low, metric.high), "better": DIRECTIONS[metric.direction].removesuffix(" is better"),
        "threshold": MISSING if metric.threshold is None else f"{metric.threshold:g}",
    }  # fmt: skip


def method_lines(method: Method) -> Iterator[str]:
    """Parameters, namesakes, sources and standards of a method, a line each."""
    if method.parameters:
        yield "Parameters: " + " · ".join(f"{fact.name} = {fact.value}" for fact in method.parameters)
    if method.differs_from:
        yield "Differs: " + method.differs_from
    if method.sources:
        yield "Sources: " + " · ".join(method.sources)
    if method.standards:
        yield "Evidence for: " + " · ".join(method.standards)
