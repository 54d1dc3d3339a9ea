"""The report's section on differences: is the leading model really better, by which test and which correction?"""

from collections.abc import Iterator, Sequence

from metrics.analysis.comparison.compare import Difference, difference, values, with_significance
from metrics.analysis.comparison.paired_bootstrap import Resampled, resampled_differences
from metrics.analysis.leaderboard.headline import headline, primary_columns, title
from metrics.analysis.leaderboard.leaderboard import Column, leaderboard
from metrics.core.sampling_design import SamplingDesign
from metrics.presentation.style import ARROWS, interval, number, plural
from metrics.reports.report import Section, Table
from metrics.store import Run

MOST_MODELS = 3  # that the leader is held against
MOST_METRICS = 6
TESTS = {
    "mcnemar": "McNemar's test, for metrics that are right or wrong on a case",
    "sign_flips": "a permutation test that flips the signs of the differences, for few cases with values in between",
    "t": "a paired t test, for many",
    "resamples": "the same resamples of the cases for both models, for metrics of the whole data set",
}


def comparison_section(run: Run) -> Section | None:
    """Return the leader against the next models, metric by metric; None where no two models can be compared."""
    board = leaderboard(run)
    every = primary_columns(board)
    ranked = headline(board, [column.key for column in every]).models
    if len(ranked) < 2:
        return None
    leader, others, design = ranked[0], ranked[1 : 1 + MOST_MODELS], run.sampling_design()
    measured = {model: values(run, model, design) for model in (leader, *others)}
    columns = [column for column in every if column.key in board.ranks]
    whole = [column for column in columns if (column.evaluator, column.metric) not in measured[leader]]
    resampled = {model: resampled_differences(run, model, run, leader, whole) for model in others}
    pairs: list[tuple[str, Difference | Resampled]] = []
    for column in columns[:MOST_METRICS]:
        key = column.evaluator, column.metric
        for model in others:
            if column.key in resampled[model]:
                pairs.append((model, resampled[model][column.key]))
            elif key in measured[leader] and key in measured[model]:
                pairs.append((model, difference(column, measured[model][key], measured[leader][key], design)))
    rows = [with_significance(row, board.ranks[row.column.key].p_of(leader, model)) for model, row in pairs]
    if not rows:
        return None
    table = Table(
        f"{leader} against {'the next ' + plural(len(others), 'model') if len(ranked) > 2 else others[0]}",
        ("Metric", "Against", "Difference", "95 % interval", "Adjusted p", "n", "Result"),
        tuple(_row(leader, model, row) for (model, _), row in zip(pairs, rows, strict=True)), (2, 3, 4, 5),
    )  # fmt: skip
    left_out = [*_left_out(every, columns, ranked, others)]
    return Section("Is it really better?", "Or is it chance?", (table,), (method(rows, design), *left_out))


def method(rows: Sequence[Difference | Resampled], design: SamplingDesign) -> str:
    """Return which tests and which correction were used, in words for everybody."""
    tested = {_test(row) for row in rows if row.p is not None}
    used = [text for name, text in TESTS.items() if name in tested]
    grouped = " Cases of one group (a document, a conversation, a scene) count together."
    units = grouped if design.clusters is not None else ""
    if not used:
        return "Both models of each pair have the same value on every case, so there was nothing to test."
    return (
        "Both models of a pair are compared on the same cases. The test asks how often chance alone would make a"
        f" difference as large: {'; '.join(used)}. A model is called better only where, over all pairs of models of the"
        " metric, the chance of even one false finding is at most 5 % (Holm's correction), as for the ranks of the"
        f" leaderboard. No significant difference does not mean that two models are equal.{units}"
    )


def _test(row: Difference | Resampled) -> str:
    return row.test if isinstance(row, Difference) else "resamples"


def _row(leader: str, other: str, row: Difference | Resampled) -> tuple[str, ...]:
    column = row.column
    results = {"better": f"{leader} is better", "worse": f"{other} is better", "open": "no significant difference"}
    results |= {"leaning": "not significant after the correction", "equal": row.words}
    sign = "+" if row.difference is not None and row.difference > 0 else ""
    return (
        f"{title(column)} {ARROWS[column.direction]}", other, sign + number(row.difference), interval(row.low, row.high),
        chance(row.adjusted), f"{row.n:,}", results.get(row.significance, "no case has values of both"),
    )  # fmt: skip


def chance(p: float | None) -> str:
    """Return a p with three decimals: `0.012`, `<0.001`; nothing for none."""
    return "" if p is None else "<0.001" if p < 0.0005 else f"{p:.3f}"


def _left_out(
    every: Sequence[Column], columns: Sequence[Column], ranked: Sequence[str], others: Sequence[str]
) -> Iterator[str]:
    untested = [title(column) for column in every if column not in columns]
    if untested:
        yield f"Not tested, as there are neither values per case nor resamples to pair: {', '.join(untested)}."
    more = max(0, len(columns) - MOST_METRICS), len(ranked) - 1 - len(others)
    if any(more):
        yield (
            f"Left out here: {plural(more[0], 'metric')} and {plural(more[1], 'model')}; the studio's page Compare has "
            "every pair."
        )
