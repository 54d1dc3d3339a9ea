"""A run against an earlier one, the baseline: paired differences of its models, and the gates on them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any

from metrics.analysis import (
    Column,
    Comparison,
    Decision,
    Difference,
    Resampled,
    Unpaired,
    compare,
    comparison_of_columns,
    decisions,
    leaderboard,
    shares_within,
)
from metrics.analysis.boards.board import open_run
from metrics.analysis.comparison.decisions import answer
from metrics.analysis.comparison.shared_cases import SharedCases
from metrics.analysis.leaderboard.headline import primary_columns
from metrics.core.errors import InputError, InputProblem, RunNotFound, one_of
from metrics.core.suite import Suite
from metrics.presentation.blocks import Answer, Block, Note, Sentence, Table, table
from metrics.presentation.format import MISSING, exact, interval, number, p_value, p_words, plural
from metrics.presentation.phrases import metric_title, signed, with_interval
from metrics.presentation.questions.is_it_better import share_text
from metrics.reports.gates import Outcome, directions
from metrics.store import Run, Workspace
from metrics.store.board import BOARD, is_board

FAIL_IF_WORSE, NON_INFERIOR = "fail-if-worse", "non-inferior"
MARGIN = "METRIC=MARGIN or EVALUATOR.METRIC=MARGIN: how much worse it may be, above 0"
UNBOUNDED = "cannot be tested: too many cases unscored, and nothing bounds what they would change"
UNPAIRED = "neither values per case nor resamples are stored to pair the runs on"
REPLACEMENT = (
    "A metric allows the replacement where the 95 % interval of the paired difference lies above the allowed loss: a "
    "one-sided test of non-inferiority at 2.5 %, equivalence where it lies on both sides within it (TOST). All metrics "
    "must pass, so their number needs no correction; “better” and “worse” do ({tests}, Holm). Missing cases are for an "
    "answer in 80 % of evaluations if the true difference is the one found. P(within): the share of cases on which it "
    "is at most the allowed loss worse, with its 95 % interval; it decides nothing."
)


@dataclass(frozen=True, slots=True)
class Differences:
    """One model against its counterpart in the baseline.

    tested: the gated metrics, or without a gate all primary ones, and those with a margin, p adjusted by Holm over
    them; other: the other primary metrics, whose differences are shown but not tested; gated: keys of the metrics at
    which it must not be significantly worse; decisions: on the metrics with a margin; unbounded: keys of metrics
    that are not tested, as too many cases are unscored and nothing bounds them.
    """

    model: str
    tested: Comparison
    other: Comparison | None
    gated: frozenset[str]
    decisions: tuple[Decision, ...] = ()
    unbounded: frozenset[str] = frozenset()

    @property
    def before(self) -> str:
        """What the counterpart is called in a sentence: a model of the same run by its name."""
        return self.tested.model_a if self.tested.run_a == self.tested.run_b else "the baseline"

    @property
    def baseline(self) -> str:
        """What the baseline is called: a model of the same run or of a board by its name, else the run's id."""
        if self.tested.run_a == self.tested.run_b:
            return self.tested.model_a
        return f"{self.tested.model_a} of the board" if is_board(self.tested.run_a) else self.tested.run_a

    @property
    def answer(self) -> str:
        """Whether the model may replace its counterpart, over all metrics with a margin."""
        return answer(self.decisions, self.before, self.model)

    @property
    def told(self) -> Iterator[str]:
        """The answer, where a metric has a margin, on how many cases it is within, and the footnotes, in sentences."""
        if self.decisions:
            yield f"{self.answer}."
        for made in self.decisions:
            if (near := made.within) is not None:
                share = with_interval(near.value, near.low, near.high)
                yield f"{column_id(made.row.column)}: at most {made.margin:g} worse on a share of {share} of the cases."
        yield from self.footnotes

    @property
    def footnotes(self) -> Iterator[str]:
        """What else must be known to read them, in sentences."""
        if self.tested.anytime:
            yield "Intervals and p hold at every look while cases arrive, however many looks there are."

    @property
    def rows(self) -> Iterator[tuple[Difference | Resampled | Unpaired, bool]]:
        """Every metric, and whether it was tested."""
        for comparison, is_tested in ((self.tested, True), (self.other, False)):
            if comparison is not None:
                paired: tuple[Difference | Resampled, ...] = (*comparison.rows, *comparison.resampled)
                yield from ((row, is_tested) for row in paired)
                yield from ((row, False) for row in comparison.unpaired)


def open_baseline(text: str, workspace: Workspace) -> tuple[Run, str | None]:
    """Return the finished run that `text` names, an id, `latest`, a board's address, or a run archive, which is
    imported; and the model of it that every model is compared with, of RUN:MODEL.

    Raises RunError or InputError where there is none.
    """
    file = Path(text)
    if file.suffix.lower() == ".zip" or file.is_file():
        from metrics.reports.archives.read import read_archive

        if not file.is_file():
            raise InputError([InputProblem("--baseline", f"no file {text!r}", "an archive that `archive` wrote")])
        return read_archive(file, workspace).run, None
    try:
        return open_run(workspace, text, finished=True), None
    except RunNotFound:
        address, _, model = text.rpartition(":") if text.startswith(BOARD) else text.partition(":")
        if not model:
            raise
        run = open_run(workspace, address, finished=True)
        if model not in run.models:
            raise InputError([InputProblem("--baseline", repr(model), one_of(model, run.models))]) from None
        return run, model


def counterparts(baseline: Run, models: Sequence[str], only: str | None = None) -> dict[str, str]:
    """Return the baseline's model for each model: the `only` one that is meant, else that of the same name, or the only
    one where both runs have one.
    """
    if only is not None:
        return dict.fromkeys(models, only)
    if len(models) == len(baseline.models) == 1:
        return {models[0]: baseline.models[0]}
    return {model: model for model in models if model in baseline.models}


def require_comparable(baseline: Run, suite: Suite, models: Sequence[str], only: str | None = None) -> None:
    """Raise InputError where a run of this suite and these models shares no case or no model with the baseline."""
    problems = []
    if baseline.spec.suite.fingerprint != suite.fingerprint and not len(SharedCases.of(baseline.suite, suite)):
        expected = "a run with cases of the same case_id and content: evaluate the baseline's outputs on this suite"
        problems.append(InputProblem("--baseline", f"{baseline.id}, a run of a suite that shares no case", expected))
    if not counterparts(baseline, models, only):
        expected = f"a model that the baseline has, too: {', '.join(baseline.models)}"
        problems.append(InputProblem("--baseline", f"only the models {', '.join(models)}", expected))
    if problems:
        raise InputError(problems)


def parse_margins(texts: Sequence[str]) -> dict[str, float]:
    """Return the margins of METRIC=MARGIN by METRIC or EVALUATOR.METRIC; InputError with every text that is none."""
    found, problems = {}, []
    for text in texts:
        name, _, number_text = text.partition("=")
        try:
            margin = float(number_text)
        except ValueError:
            margin = 0.0
        if not name.strip() or not 0 < margin < inf:
            problems.append(InputProblem(f"--{NON_INFERIOR}", repr(text), MARGIN))
        found[name.strip()] = margin
    if problems:
        raise InputError(problems)
    return found


def require_metrics(
    names: Sequence[str],
    chosen: Sequence[str],
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    option: str = FAIL_IF_WORSE,
) -> None:
    """Raise InputError with each METRIC or EVALUATOR.METRIC that no chosen evaluator has with a better end."""
    there = directions(chosen, parameters)
    problems = []
    for name in names:
        ends = [end for key, end in there.items() if name in (key[1], ".".join(key))]
        if not ends:
            problems.append(InputProblem(f"--{option}", repr(name), one_of(name, [".".join(key) for key in there])))
        elif "none" in ends:
            problems.append(InputProblem(f"--{option}", repr(name), "a metric with a better end"))
    if problems:
        raise InputError(problems)


def differences(
    run: Run,
    baseline: Run,
    metrics: Sequence[str] = (),
    margins: Mapping[str, float] | None = None,
    anytime: bool = False,
    allow_unscored: bool = False,
    only: str | None = None,
) -> list[Differences]:
    """Return the differences of each model that the baseline has, too, or of each to the `only` model meant in it.

    metrics: those that are gated (none: all primary ones); margins: how much worse a metric may be, by its name;
    anytime: p and intervals hold at every look while cases arrive. Cases that only one model has a score of count as
    the worst for the new one where they are more than MAX_MISSING, unless `allow_unscored`.
    """
    board = leaderboard(run)
    primary = frozenset(column.key for column in primary_columns(board))
    gated = frozenset(column.key for column in board.columns if _named(column, metrics)) if metrics else primary
    given = (margins or {}).items()
    allowed = {one.key: margin for name, margin in given for one in board.columns if _named(one, [name])}
    keys = gated | set(allowed)
    found = []
    for model, before in counterparts(baseline, board.models, only).items():
        if run == baseline and model == before:
            continue
        whole = compare(baseline, before, model, other=run)
        other = comparison_of_columns(whole, primary - keys, anytime=anytime) if primary - keys else None
        if not allow_unscored:
            whole = replace(whole, rows=tuple(whole.at_worst.get(row.column.key, row) for row in whole.rows), ranked={})
        tested = comparison_of_columns(whole, keys, anytime=anytime)
        unbounded = frozenset() if allow_unscored else whole.unbounded
        within = shares_within(baseline, before, model, allowed, other=run) if allowed else None
        found.append(Differences(model, tested, other, gated, decisions(tested, allowed, within), unbounded))
    return found


def replacement(
    run: Run, model: str, before: Run, model_before: str, margins: Mapping[str, float], tag: str | None = None,
    anytime: bool = False,
) -> Differences:  # fmt: skip
    """Return whether a model may replace another one, of this run or of one `before`; `margins` by column key."""
    whole = compare(before, model_before, model, tag, other=run)
    tested = comparison_of_columns(whole, set(margins), anytime=anytime)
    within = shares_within(before, model_before, model, margins, tag, run)
    return Differences(model, tested, None, frozenset(), decisions(tested, margins, within))


def replacement_section(against: Sequence[Differences]) -> Answer | None:
    """Return whether each model may replace its counterpart, in sentences; None where no metric has a margin."""
    made = [each for each in against if each.decisions]
    if not made:
        return None
    tests = max(each.tested.tested for each in against)
    notes = dict.fromkeys(note for each in against for note in (*each.footnotes, *each.tested.notes))
    blocks: tuple[Block, ...] = (
        *(Sentence(f"{each.answer}.") for each in made),
        *map(_replacement_table, made),
        *map(Note, (REPLACEMENT.format(tests=f"{tests} test{'' if tests == 1 else 's'}"), *notes)),
    )
    return Answer("comparison", "May it replace the other?", "Is it better, or not worse than allowed?", blocks)


def _replacement_table(each: Differences) -> Table:
    rows = tuple(
        (
            metric_title(made.row.column), exact(made.margin), signed(made.row.difference),
            interval(made.row.low, made.row.high) or MISSING, share_text(made.within), f"{made.row.n:,}",
            made.sentence(each.before, each.model),
        )
        for made in each.decisions
    )  # fmt: skip
    heads = ("Metric", "Allowed loss", "Difference", "95 % interval", "P(within)", "n", "Answer")
    return table("Metric by metric", heads, rows, (1, 2, 3, 4, 5))


def worse(against: Sequence[Differences], metrics: Sequence[str] = ()) -> list[Outcome]:
    """Return whether each model is not significantly worse than the baseline, for each gated metric.

    A metric that was asked for but cannot be tested does not pass, nor one of which every value was lost, nor a model
    of which nothing can be tested.
    """
    return [
        Outcome(FAIL_IF_WORSE, metric, each.model, metric, found, f"not significantly worse than {each.baseline}", ok)
        for each in against
        for metric, found, ok in _gated(each, metrics)
    ]


def non_inferior(against: Sequence[Differences], margins: Mapping[str, float]) -> list[Outcome]:
    """Return whether each model may replace the baseline by each metric with a margin.

    A metric that cannot be tested does not pass.
    """
    found = []
    for each in against:
        for made in each.decisions:
            name = column_id(made.row.column)
            bounded = made.row.column.key not in each.unbounded
            said = made.sentence(each.before, each.model).removesuffix(".") if bounded else UNBOUNDED
            said += _completed(made.row)
            found.append(_non_inferior(each, name, made.margin, said, made.allows and bounded))
        columns = [made.row.column for made in each.decisions]
        for name, margin in margins.items():
            if not any(_named(column, [name]) for column in columns):
                found.append(_non_inferior(each, name, margin, f"cannot be tested: {UNPAIRED}", passed=False))
    return found


def _non_inferior(each: Differences, metric: str, margin: float, found: str, passed: bool) -> Outcome:
    wanted = f"at most {margin:g} worse than {each.baseline}"
    return Outcome(NON_INFERIOR, f"{metric}={margin:g}", each.model, metric, found.removesuffix("."), wanted, passed)


def _gated(each: Differences, metrics: Sequence[str]) -> Iterator[tuple[str, str, bool]]:
    """Yield each gated metric, what was found, and whether it passes."""
    tested: tuple[Difference | Resampled, ...] = (*each.tested.rows, *each.tested.resampled)
    rows = [row for row in tested if row.column.key in each.gated]
    unpaired = [entry for entry in each.tested.unpaired if entry.column.key in each.gated]
    for row in rows:
        lost = row.significance == "none" and (bool(metrics) or (isinstance(row, Difference) and row.only_a > 0))
        if row.column.key in each.unbounded:
            yield column_id(row.column), UNBOUNDED, False
        else:
            yield (
                column_id(row.column),
                _describe_difference(row, each.tested.tested) + _completed(row),
                row.significance != "worse" and not lost,
            )
    for entry in unpaired if metrics else ():
        yield column_id(entry.column), f"cannot be tested: {UNPAIRED}", False
    columns = [*(row.column for row in rows), *(entry.column for entry in unpaired)]
    for name in metrics:
        if not any(_named(column, [name]) for column in columns):
            yield name, "cannot be tested: no number of it in both runs", False
    if not (rows or metrics):
        yield "every metric", "cannot be tested: no metric of both runs can be paired", False


def figures(row: Difference | Resampled | Unpaired, tested: bool) -> tuple[str, str, str, str, str, str, str]:
    """Return a row of a table of differences: baseline, new, difference, 95 % interval, adjusted p, n, result."""
    words = result_words(row, tested)
    if isinstance(row, Unpaired):
        return number(row.a.value), number(row.b.value), "", "", "", f"{row.b.n:,}", words
    p = p_value(row.adjusted) if tested else ""
    return number(row.a), number(row.b), signed(row.difference), interval(row.low, row.high), p, f"{row.n:,}", words


def result_words(row: Difference | Resampled | Unpaired, tested: bool) -> str:
    """Return what a difference comes to, in words."""
    if isinstance(row, Unpaired):
        return "cannot be paired"
    if not tested and row.significance != "none":
        return "not gated, not tested"
    return {
        "better": "better", "worse": "worse", "higher": "higher", "lower": "lower", "equal": row.words,
        "open": "no significant difference", "leaning": "no significant difference after correction",
    }.get(row.significance, "no case has values in both runs")  # fmt: skip


def column_id(column: Column) -> str:
    """Return the name of a column as gates write it: `rouge.rougeL`."""
    return f"{column.evaluator}.{column.title}"


def _completed(row: Difference | Resampled) -> str:
    """Return how many cases count as the worst, as they have no score; "" for none."""
    count = row.completed if isinstance(row, Difference) else 0
    return f"; {plural(count, 'unscored case')} at worst" if count else ""


def _named(column: Column, names: Collection[str]) -> bool:
    return column.metric in names or f"{column.evaluator}.{column.metric}" in names


def _describe_difference(row: Difference | Resampled, tests: int) -> str:
    if row.difference is None:
        return result_words(row, True)
    bounds = interval(row.low, row.high)
    p = f", adjusted {p_words(row.adjusted)} over {plural(tests, 'test')}" if row.adjusted is not None else ""
    inside = f"{f'95 % interval {bounds}, ' if bounds else ''}n {row.n:,}{p}"
    return f"{number(row.b)}, {signed(row.difference)} ({inside}): {result_words(row, True)}"
