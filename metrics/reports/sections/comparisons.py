"""The report's section on differences: whether the leading model is significantly better than the next ones."""

from collections.abc import Iterator, Sequence

from metrics.analysis.comparison.compare import Difference, corrected, difference, values
from metrics.analysis.leaderboard.leaderboard import Column, Leaderboard, leaderboard
from metrics.analysis.sampling_design import Design
from metrics.presentation.format import interval, plural
from metrics.presentation.phrases import better, metric_title, p_value, paired_on, signed
from metrics.reports.report import Section, Table
from metrics.store import Run

MOST_MODELS = 3  # compared with the leader
MOST_METRICS = 6
TESTS = {
    "mcnemar": "McNemar's test for metrics that are right or wrong on a case",
    "sign_flips": "a sign-flip permutation test for metrics with values in between",
}


def comparison_section(run: Run) -> Section | None:
    """Return the leader against the next models, metric by metric; None unless two models have values per case."""
    board = leaderboard(run)
    every = [column for column in board.columns if column.primary and not column.minor and column.direction != "none"]
    ranked = sorted(board.models, key=lambda model: -_wins(board, every, model))
    if len(ranked) < 2:
        return None
    leader, others, design = ranked[0], ranked[1 : 1 + MOST_MODELS], Design(run, None)
    measured = {model: values(run, model, design) for model in (leader, *others)}
    columns = list({(c.evaluator, c.metric): c for c in every if (c.evaluator, c.metric) in measured[leader]}.values())
    pairs = [
        (model, difference(column, measured[model][key], measured[leader][key], design))
        for column in columns[:MOST_METRICS]
        for model in others
        if (key := (column.evaluator, column.metric)) in measured[model]
    ]
    rows = corrected([row for _, row in pairs], "holm")
    if not rows:
        return None
    table = Table(
        f"{leader} against {'the next ' + plural(len(others), 'model') if len(ranked) > 2 else others[0]}",
        ("Metric", "Against", "Difference", "95 % interval", "Adjusted p", "Cases", "Result"),
        tuple(_row(leader, model, row) for (model, _), row in zip(pairs, rows, strict=True)), (2, 3, 4, 5),
    )  # fmt: skip
    left_out = [*_left_out(every, columns, ranked, others)]
    return Section(
        "Is it really better?", "Or could the difference be chance?", (table,), (method(rows, design), *left_out)
    )


def method(rows: Sequence[Difference], design: Design) -> str:
    """Return which tests and which correction were used, in sentences."""
    tested = [row for row in rows if row.p is not None]
    used = [text for name, text in TESTS.items() if any(row.test == name for row in tested)]
    if not used:
        return "Both models of each pair have the same value on every case, so there is nothing to test."
    return (
        f"{paired_on([row.n for row in tested], design.clusters is not None)}, by {' and by '.join(used)}. "
        f"{better(len(tested), 'holm')} No significant difference does not mean that two models are equal."
    )


def _wins(board: Leaderboard, columns: Sequence[Column], model: str) -> int:
    cells = (board.cells.get((model, column.key)) for column in columns)
    return sum(cell is not None and cell.best for cell in cells)


def _row(leader: str, other: str, row: Difference) -> tuple[str, ...]:
    results = {
        "better": f"{leader} is better", "worse": f"{other} is better", "open": "no significant difference",
        "leaning": "no significant difference after correction", "equal": "equal on every case",
    }  # fmt: skip
    return (
        metric_title(row.column), other, signed(row.difference), interval(row.low, row.high), p_value(row.adjusted),
        f"{row.n:,}", results.get(row.verdict, "no case has a value of both"),
    )  # fmt: skip


def _left_out(
    every: Sequence[Column], columns: Sequence[Column], ranked: Sequence[str], others: Sequence[str]
) -> Iterator[str]:
    measured = {column.evaluator for column in columns}
    whole = list(dict.fromkeys(column.evaluator_title for column in every if column.evaluator not in measured))
    if whole:
        yield (
            f"Metrics of the whole data set have no values per case: {', '.join(whole)}. The studio's Compare page"
            " compares them on the same resamples of the cases."
        )
    more = max(0, len(columns) - MOST_METRICS), len(ranked) - 1 - len(others)
    if any(more):
        yield (
            f"Not shown here: {plural(more[0], 'metric')} and {plural(more[1], 'model')}; the studio's Compare page "
            "has every pair."
        )
