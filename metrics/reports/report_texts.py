"""The sentences and table rows of a report that the PDF and the HTML share."""

from collections.abc import Iterator

from metrics.presentation import format
from metrics.presentation.blocks import CaseMetric, Table, WorstCase
from metrics.presentation.phrases import directed
from metrics.presentation.sources import source_text
from metrics.reports.report import Method, MethodMetric, Report
from metrics.store.board import is_board

KICKER = "Evaluation report"
HEADINGS = {  # of the parts that every report has: title and question
    "data": ("Data and run", "What was evaluated, and how can it be repeated?"),
    "charts": ("Charts", "Where do the models differ?"),
    "worst": ("Worst cases", "Why did it fail here?"),
    "methods": ("Methods", "How is each number computed?"),
}
SUMMARY_HEADINGS = {"sure": "How sure is this?", "fails": "What fails?", "steps": "What to do next"}
LINE = 120  # characters
CONTENTS = "Contents"
METHOD_HEADS = ("Metric", "Meaning", "Range", "Better", "Threshold")
BEST, UNSCORED = "best or tied for best", "no value"
SMALL_PRINT = "small: 95 % interval, n"


def question(report: Report) -> str:
    """Return the question that the report answers first."""
    return "Is this model good enough?" if len(report.models) == 1 else "Which model should I pick?"


def subtitle(report: Report) -> str:
    """Return the number of models, the time and the id of the run or the board."""
    models = format.plural(len(report.models), "model")
    of = report.run if is_board(report.run) else f"run {report.run}"
    return f"{models} · evaluated {format.moment(report.created)} UTC · {of}"


def evaluators_line(report: Report) -> str:
    """Return the evaluators in one line, cut with an ellipsis."""
    return format.shorten(", ".join(report.evaluators), LINE)


def told_columns(table: Table) -> list[int]:
    """Return the places of a table's columns that paper shows: those with a text in some row, if it has rows."""
    return [
        place
        for place, head in enumerate(table.heads)
        if not head.page_only and (not table.rows or any(row[place] not in ("", format.MISSING) for row in table.rows))
    ]


def model_text(case: WorstCase) -> str:
    """Return the model of a case, and which repeat of its output it is where there are several."""
    return case.model if case.repeat == 1 else f"{case.model}, repeat {case.repeat}"


def metric_row(metric: CaseMetric) -> dict[str, str]:
    """Return title with arrow, value, and the reason where there is one."""
    reason = metric.reason or ""
    if metric.unit and metric.value is not None:
        return {"title": f"{metric.title}:", "value": format.plural(int(metric.value), metric.unit), "reason": reason}
    value = format.number(metric.value) if metric.status == "ok" else format.STATUSES.get(metric.status, metric.status)
    return {"title": directed(metric.title, metric.direction), "value": value, "reason": reason}


def method_metric_row(metric: MethodMetric) -> dict[str, str]:
    """Return what a metric means, as the texts of a table row."""
    better = format.DIRECTIONS[metric.direction].removesuffix(" is better")
    return {
        "name": directed(format.metric_name(metric.name), metric.direction), "description": metric.description,
        "range": format.range_text(metric.low, metric.high), "better": better,
        "threshold": format.MISSING if metric.threshold is None else format.exact(metric.threshold),
    }  # fmt: skip


def method_lines(method: Method) -> Iterator[str]:
    """Yield parameters, sources and differences from them of a method, a line each."""
    if method.parameters:
        yield "Parameters: " + " · ".join(f"{fact.name} = {fact.value}" for fact in method.parameters)
    if method.sources:
        yield "Sources: " + " · ".join(source_text(source) for source in method.sources)
    if method.differs_from_source:
        yield "Differs from the source: " + method.differs_from_source
