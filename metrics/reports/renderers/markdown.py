"""A run as Markdown, short enough for a comment on a pull request: headline, gates, leaderboard and answers."""

from collections.abc import Iterator, Sequence

from metrics.analysis import Column, Difference, Leaderboard, Resampled, Unpaired, headline, leaderboard
from metrics.presentation.board_words import lacks, origin_lines
from metrics.presentation.format import number, plural
from metrics.presentation.phrases import metric_title, skipped_line, unscored_words, with_interval
from metrics.presentation.question import short_answers
from metrics.presentation.questions.do_small_changes_matter import flip_lines
from metrics.presentation.safe_text import code, prose, table
from metrics.reports.baseline import Differences, figures
from metrics.reports.gates import Outcome, no_value
from metrics.store import Run

MOST_MODELS = 6  # columns of the leaderboard
MOST_ROWS = 60  # of a table: a comment has room for 65,536 characters
MARKS = {True: "✅", False: "❌"}
RESULTS = {"better": "✅ better", "worse": "❌ worse"}


def markdown(run: Run, outcomes: Sequence[Outcome] = (), against: Sequence[Differences] = ()) -> str:
    """Return a finished run as Markdown in GitHub's flavour, which CommonMark readers with tables show as well.

    outcomes: of gates, each in a row with what was found; against: the differences to a baseline. Names and words of
    models, cases and users are escaped, see metrics.presentation.safe_text.
    """
    board = leaderboard(run)
    parts = [f"## {code(run.name)}{_verdict(outcomes)}", f"**{prose(headline(board).sentence)}**"]
    if (why := no_value(run)) is not None:
        parts.append(f"❌ {prose(why)}")
    parts += [*_gates(outcomes), *_leaderboard(board), *_differences(run, against), *_answers(run)]
    if skipped := skipped_line(run.spec.suite.left_out, run.spec.outputs.left_out):
        parts.append(f"⚠️ {skipped}")
    if made_of := list(origin_lines(run)):
        parts += ["### Where the numbers come from", *_cut(("Model", "Run"), [(code(a), prose(b)) for a, b in made_of])]
    if lacking := lacks(run):
        parts += ["### Not compared", *_cut(("Model", "Why"), [(code(one.model), prose(one.why)) for one in lacking])]
    of = " · ".join([plural(run.spec.suite.cases, "case"), *map(prose, board.made_of)])
    parts.append(f"<sub>{'Board' if made_of else 'Run'} {code(run.id)} · {of} · 95 % intervals</sub>")
    return "\n\n".join(parts) + "\n"


def _verdict(outcomes: Sequence[Outcome]) -> str:
    if not outcomes:
        return ""
    failed, gates = sum(not outcome.passed for outcome in outcomes), plural(len(outcomes), "gate")
    return f" · {MARKS[not failed]} " + (f"{failed} of {gates} failed" if failed else f"{gates} passed")


def _answers(run: Run) -> Iterator[str]:
    """Yield what the questions beside the headline answer, as a list."""
    if sentences := list(short_answers(run)):
        yield "### Answers\n\n" + "\n".join(f"- {prose(one.text)}" for one in sentences)
    if flips := list(flip_lines(run, MOST_ROWS)):
        yield "### Flips by test case\n\n" + "\n".join(f"- {prose(one)}" for one in flips)


def _gates(outcomes: Sequence[Outcome]) -> Iterator[str]:
    if outcomes:
        rows = [
            (MARKS[one.passed], code(f"{one.option} {one.gate}"), code(one.model), prose(one.found), prose(one.wanted))
            for one in sorted(outcomes, key=lambda one: one.passed)
        ]
        yield "### Gates"
        yield from _cut(("", "Gate", "Model", "Found", "Wanted"), rows)


def _leaderboard(board: Leaderboard) -> Iterator[str]:
    models = headline(board).models[:MOST_MODELS]
    columns = [column for column in board.columns if not column.minor]
    if not columns:
        return
    rows = [(_title(column), *(_cell(board, model, column) for model in models)) for column in columns]
    yield "### Metrics"
    yield from _cut(("Metric", *map(code, models)), rows)
    left = len(board.models) - len(models)
    more = f"; {plural(left, 'model')} not shown" if left else ""
    many = "**Bold**: best or tied for best. " if len(board.models) > 1 else ""
    yield f"{many}Value (95 % interval), n cases{more}."


def _title(column: Column) -> str:
    wanted = column.limit
    return prose(metric_title(column)) + (f" ({wanted})" if wanted else "")


def _cell(board: Leaderboard, model: str, column: Column) -> str:
    cell = board.cells.get((model, column.key))
    if cell is None:
        return ""
    value = number(cell.value) if cell.value is None else with_interval(cell.value, cell.low, cell.high)
    marked = f"**{value}**" if cell.best and cell.value is not None else value
    unscored = f", {words}" if (words := unscored_words(cell)) else ""
    return f"{marked}{' ⚠️' if cell.problem else ''} · n {cell.n:,}{unscored}"


def _differences(run: Run, against: Sequence[Differences]) -> Iterator[str]:
    for each in against:
        before, name = each.tested.model_a, each.baseline
        renamed = "" if before == each.model or name.startswith(before) else f" ({code(before)})"
        yield f"### {code(each.model)} against baseline {code(name)}{renamed}"
        rows = [_row(row, tested) for row, tested in each.rows]
        yield from _cut(
            ("Metric", "Baseline", "New", "Difference", "95 % interval", "Adjusted p", "n", "Result"), rows, range(1, 7)
        )
        tests = plural(each.tested.tested, "test")
        yield f"Paired on shared cases. “Better”, “worse”: significant after Holm correction ({tests}, 5 %)."
        yield from map(prose, (*each.told, *each.tested.notes))
    there = {each.model for each in against} | {each.tested.model_a for each in against if each.tested.run_a == run.id}
    alone = [model for model in run.models if model not in there]
    if against and alone:
        yield f"Not in the baseline: {', '.join(map(code, alone[:MOST_MODELS]))}."


def _row(row: Difference | Resampled | Unpaired, tested: bool) -> tuple[str, ...]:
    *numbers, words = figures(row, tested)
    return prose(metric_title(row.column)), *numbers, RESULTS.get(words, words)


def _cut(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> Iterator[str]:
    yield table(head, rows[:MOST_ROWS], numbers)
    if len(rows) > MOST_ROWS:
        yield f"{len(rows) - MOST_ROWS:,} more rows are not shown."
