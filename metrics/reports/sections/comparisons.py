"""The report's section on differences: is the leading model really better, by which test and which correction?"""

from collections.abc import Iterator, Sequence

from metrics.analysis.comparison.compare import Difference, corrected, difference, values
from metrics.analysis.leaderboard.leaderboard import Column, Leaderboard, leaderboard
from metrics.core.sampling_design import SamplingDesign
from metrics.presentation.style import ARROWS, interval, number, plural
from metrics.reports.report import Section, Table
from metrics.store import Run

MOST_MODELS = 3  # that the leader is held against
MOST_METRICS = 6
TESTS = {
    "mcnemar": "McNemar's test, for metrics that are right or wrong on a case",
    "sign_flips": "a permutation test that flips the signs of the differences, for metrics with values in between",
}


def comparison_section(run: Run) -> Section | None:
    """Return the leader against the next models, metric by metric; None where no two models have values per case."""
    board = leaderboard(run)
    every = [column for column in board.columns if column.primary and not column.minor and column.direction != "none"]
    ranked = sorted(board.models, key=lambda model: -_wins(board, every, model))
    if len(ranked) < 2:
        return None
    leader, others, design = ranked[0], ranked[1 : 1 + MOST_MODELS], run.sampling_design()
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
        ("Metric", "Against", "Difference", "95 % interval", "p corrected", "Cases", "Verdict"),
        tuple(_row(leader, model, row) for (model, _), row in zip(pairs, rows, strict=True)), (2, 3, 4, 5),
    )  # fmt: skip
    left_out = [*_left_out(every, columns, ranked, others)]
    return Section("Is it really better?", "Or is it chance?", (table,), (method(rows, design), *left_out))


def method(rows: Sequence[Difference], design: SamplingDesign) -> str:
    """Return which tests and which correction were used, in words for everybody."""
    used = [text for name, text in TESTS.items() if any(row.test == name and row.p is not None for row in rows)]
    tests = plural(sum(row.p is not None for row in rows), "test")
    grouped = " Cases of one group (a document, a conversation, a scene) count together."
    units = grouped if design.clusters is not None else ""
    if not used:
        return "Both models of each pair have the same value on every case, so there was nothing to test."
    return (
        "Both models of a pair answered the same cases, so they are compared case by case. The test asks how often"
        f" chance alone would make a difference as large: {', and '.join(used)}. A model is called better only where,"
        f" over all {tests} shown together, the chance of even one false finding is at most 5 % (Holm's correction)."
        f" That two models cannot be told apart does not say that they are equal.{units}"
    )


def _wins(board: Leaderboard, columns: Sequence[Column], model: str) -> int:
    cells = (board.cells.get((model, column.key)) for column in columns)
    return sum(cell is not None and cell.best for cell in cells)


def _row(leader: str, other: str, row: Difference) -> tuple[str, ...]:
    column = row.column
    verdicts = {"better": f"{leader} is better", "worse": f"{other} is better", "open": "cannot be told apart"}
    verdicts |= {"leaning": "cannot be told apart after the correction", "equal": "equal on every case"}
    sign = "+" if row.difference is not None and row.difference > 0 else ""
    same = column.metric == column.evaluator
    title = column.evaluator_title if same else f"{column.evaluator_title}: {column.title}"
    return (
        f"{title} {ARROWS[column.direction]}", other, sign + number(row.difference), interval(row.low, row.high),
        chance(row.adjusted), f"{row.n:,}", verdicts.get(row.verdict, "no case has a value of both"),
    )  # fmt: skip


def chance(p: float | None) -> str:
    """Return a p with three decimals: `0.012`, `<0.001`; nothing for none."""
    return "" if p is None else "<0.001" if p < 0.0005 else f"{p:.3f}"


def _left_out(
    every: Sequence[Column], columns: Sequence[Column], ranked: Sequence[str], others: Sequence[str]
) -> Iterator[str]:
    measured = {column.evaluator for column in columns}
    whole = list(dict.fromkeys(column.evaluator_title for column in every if column.evaluator not in measured))
    if whole:
        yield (
            f"Metrics of the whole data set have no values per case: {', '.join(whole)}. The studio's page Compare"
            " pairs them over the same resamples of the cases."
        )
    more = max(0, len(columns) - MOST_METRICS), len(ranked) - 1 - len(others)
    if any(more):
        yield (
            f"Left out here: {plural(more[0], 'metric')} and {plural(more[1], 'model')}; the studio's page Compare has "
            "every pair."
        )
