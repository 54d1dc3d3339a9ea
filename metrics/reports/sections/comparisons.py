"""The report's section on differences: whether the leading model is significantly better than the next ones."""

from collections.abc import Iterator, Sequence

from metrics.analysis.comparison.case_values import case_values
from metrics.analysis.comparison.compare import Difference, case_differences
from metrics.analysis.comparison.paired_bootstrap import Resampled, resampled_differences
from metrics.analysis.leaderboard.headline import headline, primary_columns
from metrics.analysis.leaderboard.leaderboard import Column, leaderboard
from metrics.core.sampling_design import SamplingDesign
from metrics.presentation.format import interval, p_value, plural
from metrics.presentation.phrases import metric_title, paired_on, signed
from metrics.reports.report import Section, Table
from metrics.store import Run, cache_by_run

MOST_MODELS = 3  # compared with the leader
MOST_METRICS = 8
Compared = tuple[str, Difference | Resampled]  # a model, and the leader's difference from it in one metric
TESTS = {
    "mcnemar": "McNemar's test for metrics that are right or wrong on a case",
    "sign_flips": "a sign-flip permutation test for few cases with values in between",
    "t": "a paired t test for many",
    "resamples": "the same resamples of the cases for metrics of the whole data set",
}


def comparison_section(run: Run) -> Section | None:
    """Return the leader against the next models, metric by metric; None unless two models can be compared."""
    board = leaderboard(run)
    every = primary_columns(board)
    columns = [column for column in every if column.key in board.ranks]
    ranked = headline(board).models
    pairs = leader_against_next(run)
    if not pairs:
        return None
    leader, others = ranked[0], ranked[1 : 1 + MOST_MODELS]
    table = Table(
        f"{leader} against {'the next ' + plural(len(others), 'model') if len(ranked) > 2 else others[0]}",
        ("Metric", "Against", "Difference", "95 % interval", "Adjusted p", "n", "Result"),
        tuple(_row(leader, model, row) for model, row in pairs), (2, 3, 4, 5),
    )  # fmt: skip
    left_out = [*_left_out(every, columns, ranked, others)]
    return Section(
        "comparison", "Is it really better?", "Or could the difference be chance?", (table,),
        (*board.cautions, method([row for _, row in pairs], run.sampling_design()), *left_out),
    )  # fmt: skip


@cache_by_run(maxsize=8)
def leader_against_next(run: Run) -> tuple[Compared, ...]:
    """Return the difference of the leading model from each of the next ones, metric by metric; p as in the ranks.

    Empty unless two models can be compared.
    """
    board = leaderboard(run)
    ranked = headline(board).models
    if len(ranked) < 2:
        return ()
    leader, others, design = ranked[0], ranked[1 : 1 + MOST_MODELS], run.sampling_design()
    columns = [column for column in primary_columns(board) if column.key in board.ranks]
    keys = [(column.evaluator, column.metric) for column in columns]
    measured = {model: case_values(run, model, design, keys) for model in (leader, *others)}
    whole = [column for column in columns if (column.evaluator, column.metric) not in measured[leader]]
    resampled = {model: resampled_differences(run, model, run, leader, whole) for model in others}
    pairs: list[Compared] = []
    for column in columns[:MOST_METRICS]:
        key = column.evaluator, column.metric
        for model in others:
            if column.key in resampled[model]:
                pairs.append((model, resampled[model][column.key]))
            elif key in measured[leader] and key in measured[model]:
                [row] = case_differences([(column, measured[model][key], measured[leader][key])], design)
                pairs.append((model, row))
    return tuple((model, row.with_adjusted(board.ranks[row.column.key].p_of(leader, model))) for model, row in pairs)


def method(rows: Sequence[Difference | Resampled], design: SamplingDesign) -> str:
    """Return which tests and which correction were used, in sentences."""
    tested = [row for row in rows if row.p is not None]
    kinds = {row.test if isinstance(row, Difference) else "resamples" for row in tested}
    used = [text for name, text in TESTS.items() if name in kinds]
    if not used:
        return "Both models of each pair have the same value on every case, so there is nothing to test."
    cases = [row.n for row in tested if isinstance(row, Difference)]
    paired = f"{paired_on(cases, design.clusters is not None)}, by" if cases else "Paired on"
    return (
        f"{paired} {' and by '.join(used)}. “Better” = significant after Holm correction over all pairs of models of"
        " the metric (5 %), as in the ranks of the leaderboard. No significant difference does not mean that two models"
        " are equal."
    )


def _row(leader: str, other: str, row: Difference | Resampled) -> tuple[str, ...]:
    results = {
        "better": f"{leader} is better", "worse": f"{other} is better", "open": "no significant difference",
        "leaning": "no significant difference after correction", "equal": row.words,
    }  # fmt: skip
    return (
        metric_title(row.column), other, signed(row.difference), interval(row.low, row.high), p_value(row.adjusted),
        f"{row.n:,}", results.get(row.significance, "no case has values of both"),
    )  # fmt: skip


def _left_out(
    every: Sequence[Column], columns: Sequence[Column], ranked: Sequence[str], others: Sequence[str]
) -> Iterator[str]:
    untested = [metric_title(column, arrow=False) for column in every if column not in columns]
    if untested:
        yield f"Not tested, as there are neither values per case nor resamples to pair: {', '.join(untested)}."
    more = {"metric": max(0, len(columns) - MOST_METRICS), "model": len(ranked) - 1 - len(others)}
    left = " and ".join(plural(count, what) for what, count in more.items() if count)
    if left:
        yield f"Not shown here: {left}; the studio's Compare page has every pair."
