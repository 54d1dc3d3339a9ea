"""The first page of a report beside its sentences: the values of all models, skipped rows and empty answers."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pyarrow.compute as pc

from metrics import analysis
from metrics.analysis import Leaderboard
from metrics.presentation.blocks import Table, table
from metrics.presentation.format import plural
from metrics.presentation.phrases import limit, metric_title, named, skipped_line, with_interval
from metrics.reports.report import Summary
from metrics.store import Run

MAX_MODELS = 5
MAX_METRICS = 8


def first_page(run: Run, board: Leaderboard, found: Summary) -> Summary:
    """Return the summary with a table of all models in place of the difference of two, and with what was left out."""
    shown = values(board) if len(board.models) > 2 else found.table
    return replace(found, table=shown, sure=(*_left_out(run), *found.sure))


def values(board: Leaderboard) -> Table:
    """Return the leading models' values with 95 % intervals in the primary metrics."""
    models = board.models[:MAX_MODELS]
    lines = []
    for column in analysis.primary_columns(board)[:MAX_METRICS]:
        cells = [board.cells.get((model, column.key)) for model in models]
        texts = ("not evaluated" if cell is None else with_interval(cell.value, cell.low, cell.high) for cell in cells)
        wanted = limit(column.threshold, column.direction)
        lines.append((metric_title(column) + (f" ({wanted})" if wanted else ""), *texts))
    left = len(board.models) - len(models)
    title = "Values with 95 % intervals" + (
        f", the first {len(models)} of {len(board.models):,} models" if left else ""
    )
    return table(title, ("Metric", *models), lines, range(1, len(models) + 1))


def _left_out(run: Run) -> Iterator[str]:
    """Yield which rows were not read, and which models left answers empty, a sentence each."""
    if line := skipped_line(run.spec.suite.left_out, run.spec.outputs.left_out):
        yield line
    if run.spec.suite.task != "text":
        return
    answers = run.outputs.outputs
    empty = pc.equal(pc.utf8_length(pc.utf8_trim_whitespace(pc.fill_null(answers["answer"], ""))), 0)
    counts = Counter(answers["model"].filter(empty).to_pylist())
    if counts and counts.total() < len(answers):
        each = named([f"{model} {counts[model]:,}" for model in run.models if counts[model]])
        yield f"{plural(counts.total(), 'answer is', 'answers are')} empty: {each}."
