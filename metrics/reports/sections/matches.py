"""Who is strongest head to head: a sentence on the report's leaderboard."""

from collections.abc import Iterator

from metrics import analysis
from metrics.presentation.phrases import metric_title
from metrics.presentation.ranking_words import matches_sentence
from metrics.store import Run

FEWEST = 3  # models: of two the comparison says it all
MEANING = "1 is to win every match with a model of average strength, 0.5 to be as strong (Bradley–Terry, ties half)."


def match_sentences(run: Run, board: analysis.Leaderboard) -> Iterator[str]:
    """Yield the ranking by matches in the first primary metric that has one; none with two models."""
    if len(board.models) < FEWEST:
        return
    by_case = analysis.metrics_by_case(run)
    for column in board.columns:
        if column.primary and column.direction != "none" and (column.evaluator, column.metric) in by_case:
            found = analysis.head_to_head(run, column.evaluator, column.metric)
            if found is not None:
                yield f"{matches_sentence(found, metric_title(column, arrow=False))} {MEANING}"
                return
