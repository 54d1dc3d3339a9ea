"""The sentences and table rows of a report that the PDF and the HTML share."""

from collections.abc import Iterator, Sequence

from metrics.presentation.format import DIRECTIONS, MISSING, STATUSES, interval, moment, number, plural, range_text
from metrics.presentation.phrases import directed, limit, metric_title, named
from metrics.reports.report import CaseMetric, Method, MethodMetric, Problem, Report, Standing, WorstCase

KICKER = "Evaluation report"
HEADINGS = {  # of the parts that every report has: title and question
    "data": ("Data and run", "What was evaluated, and how can it be repeated?"),
    "problems": ("Problems", "Which models are on the wrong side of a threshold?"),
    "worst": ("Worst cases", "Why did it fail here?"),
    "methods": ("Methods", "How is each number computed?"),
}
PROBLEM_HEADS = ("Model", "Metric", "Value and 95 % interval", "Threshold", "n", "Certainty")
METHOD_HEADS = ("Metric", "Meaning", "Range", "Better", "Threshold")
NO_PROBLEM = "No model is on the wrong side of a threshold."
INSIGHTS = "What stands out"
BEST, UNSCORED = "best or tied for best", "no value"
SMALL_PRINT = "small: 95 % interval, n"
SEVERITIES = {
    "high": "certain: the whole interval misses the threshold",
    "low": "uncertain: the interval includes the threshold",
    "unknown": "unknown: there is no interval",
}


def question(report: Report) -> str:
    """Return the question that the report answers first."""
    return "Is this model good enough?" if len(report.models) == 1 else "Which model should I pick?"


def standing_heads(report: Report) -> tuple[str, ...]:
    """Return the column heads of the table of standings."""
    if len(report.models) == 1:
        return "Metric", "Model", "Value and 95 % interval", "n", "Threshold"
    return "Metric", "Leader", "Value and 95 % interval", "n", "Tied for best"


def subtitle(report: Report) -> str:
    """Return the date, the number of models and the id of the run."""
    return f"{moment(report.created)} UTC · {plural(len(report.models), 'model')} · run {report.run}"


def level_text(standing: Standing, models: Sequence[str]) -> str:
    """Return the models tied for best with the leader; for a single model, whether it meets the threshold."""
    if len(models) > 1 and not standing.tested:
        return "not tested"
    if len(models) > 1:
        everyone = len(standing.level) == len(models) - 1 > 1
        return "every other model" if everyone else named(standing.level) or "no other model"
    if standing.column.threshold is None:
        return MISSING
    sign = "at most" if standing.column.direction == "lower" else "at least"
    return f"{'missed' if standing.cell.problem else 'met'}: {sign} {standing.column.threshold:g}"


def model_text(case: WorstCase) -> str:
    """Return the model of a case, and which repeat of its output it is where there are several."""
    return case.model if case.repeat == 1 else f"{case.model}, repeat {case.repeat}"


def metric_row(metric: CaseMetric) -> dict[str, str]:
    """Return title with arrow, value, and the reason where there is one."""
    reason = metric.reason or ""
    if metric.unit and metric.value is not None:
        return {"title": f"{metric.title}:", "value": plural(int(metric.value), metric.unit), "reason": reason}
    value = number(metric.value) if metric.status == "ok" else STATUSES.get(metric.status, metric.status)
    return {"title": directed(metric.title, metric.direction), "value": value, "reason": reason}


def problem_row(problem: Problem) -> dict[str, str]:
    """Return a problem as the texts of a table row."""
    return {
        "model": problem.model,
        "metric": metric_title(problem),
        "value": number(problem.value), "interval": interval(problem.low, problem.high),
        "threshold": limit(problem.threshold, problem.direction) or MISSING,
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
    """Yield parameters, similar evaluators, sources, differences from them and standards of a method, a line each."""
    if method.parameters:
        yield "Parameters: " + " · ".join(f"{fact.name} = {fact.value}" for fact in method.parameters)
    if method.differs_from:
        yield "Similar evaluators: " + method.differs_from
    if method.sources:
        yield "Sources: " + " · ".join(method.sources)
    if method.differs_from_source:
        yield "Differs from the source: " + method.differs_from_source
    if method.standards:
        yield "Evidence for: " + " · ".join(method.standards)
