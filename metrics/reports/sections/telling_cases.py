"""Which labels are suspect and how few cases keep the ranking: sentences on the report's leaderboard."""

from collections.abc import Iterator

from metrics import analysis
from metrics.presentation.case_words import shortest, suspects
from metrics.presentation.phrases import metric_title
from metrics.store import Run

MOST = 20_000  # answers: a report must not take minutes


def case_sentences(run: Run, board: analysis.Leaderboard) -> Iterator[str]:
    """Yield the sentences for the first primary metric whose cases have a difficulty; none with too few models."""
    if run.spec.suite.cases * len(board.models) > MOST:
        return
    by_case = analysis.metrics_by_case(run)
    for column in sorted(board.columns, key=lambda column: not column.primary):
        if not analysis.has_items(column) or (column.evaluator, column.metric) not in by_case:
            continue
        found = analysis.case_items(run, column.evaluator, column.metric)
        short = analysis.short_suites(run, column.evaluator, column.metric)
        if found is not None and short is not None:
            told = " ".join(text for text in (suspects(found), shortest(short)) if text)
            yield f"Cases by {metric_title(column, arrow=False)} (two-parameter logistic model): {told}"
            return
