"""The report's section on people's labels: how far the scores agree with them, and what the means are by them."""

from collections.abc import Iterator

from metrics.analysis import judged_evaluators
from metrics.analysis.labels.human_labels import Criterion, criteria
from metrics.analysis.labels.judge_agreement import (
    Agreement,
    Corrected,
    Stat,
    agreements,
    corrected_means,
    metric_columns,
)
from metrics.analysis.leaderboard.leaderboard import Column
from metrics.presentation.phrases import named
from metrics.presentation.style import interval, number, plural
from metrics.reports.report import Section, Table
from metrics.stats.prediction_powered import Estimate
from metrics.store import Run

MOST_PAIRS = 16  # of a metric and a criterion
ARROWS = {"higher": " ↑", "lower": " ↓"}
METHOD = (
    "How to read it: κ and Spearman's ρ are 1 where judge and people agree and 0 where the agreement is no better than "
    "chance. Their 95 % intervals come from drawing whole cases again 1,000 times. A corrected mean is what people can "
    "be expected to say of all outputs: the judge's mean, moved by how far the judge was off on a random sample that "
    "people labelled (prediction-powered inference, PPI++; Angelopoulos, Duchi & Zrnic 2023)."
)


def trust_section(run: Run) -> Section | None:
    """Agreement and corrected means of the judged metrics (without a judge: the primary ones); None without labels."""
    asked = criteria(run)
    pairs = list(_pairs(run, asked))
    if not pairs:
        return None
    shown = pairs[:MOST_PAIRS]
    raters = max(one.raters for one in asked)
    labels = plural(sum(one.labels for one in asked), "label")
    notes = [f"{labels} by {plural(raters, 'rater')} for {named([one.name for one in asked])}."]
    if len(pairs) > len(shown):
        notes.append(f"{plural(len(pairs) - len(shown), 'pair')} of a metric and a criterion left out: see the studio.")
    found = [
        (column, one, agreements(run, one.name, only=(column.evaluator, column.metric))[0]) for column, one in shown
    ]
    tables = [
        Table(
            "Agreement with people",
            ("Metric", "People judged", "κ", "Spearman's ρ", "Passes rightly", "Fails rightly", "n"),
            tuple(_agreement_row(column, one, row) for column, one, row in found), (2, 3, 4, 5, 6),
        )
    ]  # fmt: skip
    means = [
        _means_row(column, one, row)
        for column, one in shown
        for row in corrected_means(run, one.name, (column.evaluator, column.metric))
        if row.corrected is not None and row.unit == "metric"
    ]
    if means:
        heads = ("Model", "Metric", "People judged", "As judged", "Corrected", "Labelled")
        tables.append(Table("Means as judged, and corrected by people", heads, tuple(means), (3, 4, 5)))
    return Section(
        "Judge trust", "How far can these scores be trusted?", tuple(tables), (" ".join(notes), METHOD)
    )  # fmt: skip


def _pairs(run: Run, asked: tuple[Criterion, ...]) -> Iterator[tuple[Column, Criterion]]:
    """Yield the metrics to hold against labels; where a criterion is called as a metric, those two alone."""
    judged = judged_evaluators(run)
    columns = [column for column in metric_columns(run).values() if column.primary]
    columns = [column for column in columns if column.evaluator in judged] or columns
    names = {column.metric for column in columns}
    for column in columns:
        own = [one for one in asked if one.name == column.metric]
        yield from ((column, one) for one in own or [one for one in asked if one.name not in names])


def _agreement_row(column: Column, one: Criterion, row: Agreement) -> tuple[str, ...]:
    return (
        _title(column), one.name, _stat(row.kappa), _stat(row.spearman), _stat(row.sensitivity), _stat(row.specificity),
        f"{row.n:,}",
    )  # fmt: skip


def _means_row(column: Column, one: Criterion, row: Corrected) -> tuple[str, ...]:
    return (
        row.model, _title(column), one.name, _stat(row.raw), _stat(row.corrected), f"{row.n:,} of {row.total:,}"
    )  # fmt: skip


def _title(column: Column) -> str:
    return f"{column.evaluator_title}: {column.title}{ARROWS.get(column.direction, '')}"


def _stat(found: Stat | Estimate | None) -> str:
    if found is None or found.value is None:
        return "–"
    bounds = interval(found.low, found.high)
    return number(found.value) + (f" ({bounds})" if bounds else "")
