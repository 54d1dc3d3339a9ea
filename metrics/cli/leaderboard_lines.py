"""The leaderboard of a run as lines: each metric with its models, values, intervals and counts."""

from collections.abc import Iterator

from metrics.analysis import headline, leaderboard, local_agreement
from metrics.cli.terminal import say
from metrics.presentation.calibration_words import footnotes
from metrics.presentation.format import ARROWS
from metrics.presentation.phrases import with_interval
from metrics.presentation.question import short_answers
from metrics.reports.baseline import Differences, figures
from metrics.store import Run


def print_leaderboard(run: Run) -> None:
    """Print headline, leaderboard, footnotes, and what other questions answer in a sentence."""
    board = leaderboard(run)
    say(headline(board).sentence)
    wide = max([len("model"), *(len(model) for model in board.models)])
    for column in board.columns:
        if column.minor:
            continue
        say(f"{column.evaluator} · {column.title} {ARROWS[column.direction]}")
        for model in board.models:
            cell = board.cells.get((model, column.key))
            if cell is None:
                continue
            value = cell.reason if cell.value is None else with_interval(cell.value, cell.low, cell.high)
            unscored = f", {cell.unscored} unscored" if cell.unscored else ""
            say(f"  {model:<{wide}}  {value}  n {cell.n}{unscored}")
    say(*board.cautions)
    for evaluator, words in local_agreement(run).items():
        say(f"local judge, {evaluator}: {words}")
    for note in footnotes(column for column in board.columns if not column.minor):
        say(note)
    say(*(sentence.text for sentence in short_answers(run)))


def difference_lines(each: Differences) -> Iterator[str]:
    """Yield the differences of a model to its counterpart in the baseline, a line for each metric."""
    yield f"{each.model} against baseline {each.tested.run_a}"
    for row, tested in each.rows:
        before, after, change, ends, p, n, words = figures(row, tested)
        yield f"{row.column.evaluator} · {row.column.title} {ARROWS[row.column.direction]}".rstrip()
        told = [
            f"{before} → {after}",
            f"{change}{f' ({ends})' if ends else ''}",
            f"n {n}",
            f"adjusted p {p}" if p else "",
        ]
        yield f"  {'  '.join(part for part in told if part)}  {words}"
    yield from each.told
    yield from each.tested.notes
