"""Which model leads? The headline, the leaderboard as a heatmap, the leaders by metric, and what ranks rest on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from metrics import analysis
from metrics.analysis import Cell, Column, Leaderboard
from metrics.analysis.leaderboard.leaderboard import NOT_EVALUATED
from metrics.presentation.blocks import Block, Heatmap, Link, Note, Sentence, table
from metrics.presentation.case_words import shortest, suspects
from metrics.presentation.format import MISSING, count, plural
from metrics.presentation.guarantee_words import footnotes
from metrics.presentation.phrases import board_notes, metric_title, named, unscored_words, with_interval
from metrics.presentation.question import question
from metrics.presentation.ranking_words import matches_sentence
from metrics.presentation.viewers.board_drawing import select_columns
from metrics.stats.intervals import METHODS
from metrics.store import Run

MAX_COLUMNS = 60
MAX_GROUPED = 3  # metrics whose rank groups are written out
MAX_RANKED = 6  # models whose ranks are written out
MAX_TIED = 4  # names of models tied for best
MIN_MATCHED = 3  # models: of two the comparison says it all
MAX_ITEMS = 20_000  # answers whose difficulty is found: a report must not take minutes
HOW = (
    "A model is better in a metric only where a paired test on the same cases, or the same resamples of the data, is "
    "significant at 5 % after Holm's correction for all metrics and pairs of models of the run together, in which the "
    "evaluators' main metrics have at least four fifths of the weight: in at most 5 % of such evaluations is even one "
    "difference false. A rank is one more than the number of significantly better models. Intervals contain the truth "
    f"in 95 of 100 such evaluations: {METHODS}."
)
MATCHES = "1 is to win every match with a model of average strength, 0.5 to be as strong (Bradley–Terry, ties half)."


@dataclass(frozen=True, slots=True)
class Standing:
    """The leader in one metric, its number, and the models tied with it (`level`); `tested`: by paired tests."""

    column: Column
    leader: str
    cell: Cell
    level: tuple[str, ...]
    tested: bool = True


@question("leaderboard", "Leaderboard", "Who is how good at what?", "leaderboard")
def which_leads(run: Run) -> list[Block]:
    """Return the headline, the heatmap, the leaders by metric, and notes on ranks, judge and cases."""
    board = analysis.leaderboard(run)
    drawn, first = heatmap(board), standings(board)
    sentence = Sentence(analysis.headline(board).sentence, link=Link("leaderboard", "See the leaderboard"))
    if not drawn.columns:
        return [sentence]
    rows = [
        (
            metric_title(one.column),
            one.leader,
            with_interval(one.cell.value, one.cell.low, one.cell.high)
            + (f"; {unscored_words(one.cell)}" if one.cell.is_partial else ""),
            count(one.cell.n),
            level_text(one, board.models),
        )
        for one in first
    ]
    alone = len(board.models) == 1
    heads = (
        "Metric",
        "Model" if alone else "Best value of",
        "Value (95 % interval)",
        "n",
        "Threshold" if alone else "Tied for best",
    )
    leaders = [table("Best values by metric", heads, rows, (2, 3))] if rows else []
    return [sentence, drawn, *leaders, *map(Note, _notes(run, board, first))]


def heatmap(board: Leaderboard) -> Heatmap:
    """Return the leaderboard without minor metrics, of very many only the primary ones; its models as in the studio."""
    columns = select_columns(board.columns, [], minor=False)
    if len(columns) > MAX_COLUMNS:
        columns = [column for column in columns if column.primary][:MAX_COLUMNS]
    models = analysis.headline(board).models
    cells = (tuple(board.cells.get((model, one.key), NOT_EVALUATED) for one in columns) for model in models)
    return Heatmap(models, tuple(columns), tuple(cells))


def order_rows(drawn: Heatmap, models: Sequence[str]) -> Heatmap:
    """Return a heatmap with its rows in the order of `models`."""
    cells = dict(zip(drawn.models, drawn.cells, strict=True))
    return Heatmap(tuple(models), drawn.columns, tuple(cells[model] for model in models))


def standings(board: Leaderboard) -> list[Standing]:
    """Return the leader in each evaluator's primary metric, if it has a better end and a model has a value."""
    found = []
    for column in analysis.primary_columns(board):
        own = {model: board.cells.get((model, column.key), NOT_EVALUATED) for model in board.models}
        values = {model: cell for model, cell in own.items() if cell.value is not None}
        if not values:
            continue
        sign = -1.0 if column.direction == "lower" else 1.0
        leader = max(values, key=lambda model: sign * (values[model].value or 0.0))
        level = tuple(model for model in values if model != leader and values[model].best)
        found.append(Standing(column, leader, values[leader], level, values[leader].untested is None))
    return found


def level_text(standing: Standing, models: Sequence[str]) -> str:
    """Return the models tied for best with the leader; for a single model, whether it meets the threshold."""
    if len(models) > 1 and not standing.tested:
        return "not tested"
    if len(models) > 1:
        everyone = len(standing.level) == len(models) - 1 > 1
        many = len(standing.level) > MAX_TIED
        level = plural(len(standing.level), "other model") if many else named(standing.level) or "no other model"
        return "every other model" if everyone else level
    if standing.column.threshold is None:
        return MISSING
    return f"{'missed' if standing.cell.problem else 'met'}: {standing.column.limit}"


def _notes(run: Run, board: Leaderboard, first: Sequence[Standing]) -> Iterator[str]:
    yield from board.cautions
    yield from footnotes(column for column in board.columns if not column.minor)
    yield from board_notes(board)
    yield from _ranked(board, first)
    yield from _matches(run, board)
    yield from _telling_cases(run, board)
    yield from _unjudged(run, board)


def _ranked(board: Leaderboard, first: Sequence[Standing]) -> Iterator[str]:
    """Yield how ranks are made, and the ranks in the first metrics, in sentences."""
    paired = {key for (_, key), cell in board.cells.items() if cell.paired}
    if len(board.models) < 2 or not paired:
        return
    yield HOW
    if len(board.models) > MAX_RANKED:
        return
    for standing in [one for one in first if one.column.key in paired][:MAX_GROUPED]:
        groups: dict[int, list[str]] = {}
        for model in board.models:
            cell = board.cells.get((model, standing.column.key))
            if cell is not None and cell.rank is not None:
                groups.setdefault(cell.rank, []).append(model)
        ranks = "; ".join(f"{rank}: {named(groups[rank])}" for rank in sorted(groups))
        yield f"Ranks in {metric_title(standing.column, arrow=False)}: {ranks}."


def _matches(run: Run, board: Leaderboard) -> Iterator[str]:
    """Yield the ranking by matches in the first primary metric that has one; none with two models."""
    by_case = analysis.metrics_by_case(run) if len(board.models) >= MIN_MATCHED else ()
    for column in board.columns:
        if column.primary and column.direction != "none" and (column.evaluator, column.metric) in by_case:
            found = analysis.head_to_head(run, column.evaluator, column.metric)
            if found is not None:
                yield f"{matches_sentence(found, metric_title(column, arrow=False))} {MATCHES}"
                return


def _telling_cases(run: Run, board: Leaderboard) -> Iterator[str]:
    """Yield which labels are suspect and how few cases keep the ranking, for the first metric that can say."""
    if run.spec.suite.cases * len(board.models) > MAX_ITEMS:
        return
    by_case = analysis.metrics_by_case(run)
    for column in sorted(board.columns, key=lambda column: not column.primary):
        if not analysis.has_items(column) or (column.evaluator, column.metric) not in by_case:
            continue
        found = analysis.case_items(run, column.evaluator, column.metric)
        short = analysis.short_suites(run, column.evaluator, column.metric)
        if found is not None and short is not None:
            sentences = " ".join(text for text in (suspects(found), shortest(short)) if text)
            yield f"Cases by {metric_title(column, arrow=False)} (two-parameter logistic model): {sentences}"
            return


def _unjudged(run: Run, board: Leaderboard) -> Iterator[str]:
    """Yield how many scores have no value because of the judge, a sentence for each reason."""
    judged = analysis.judged_evaluators(run)
    columns = [column for column in board.columns if column.primary and column.evaluator in judged]
    cells = [board.cells.get((model, column.key)) for column in columns for model in board.models]
    for status, why in (
        ("parse_failure", "the judge's reply could not be read"),
        ("skipped", "the judge was not called or the model gave nothing to judge"),
    ):
        if missing := sum(cell.counts.get(status, 0) for cell in cells if cell is not None):
            yield f"{plural(missing, 'judged score')} without a value because {why}."
