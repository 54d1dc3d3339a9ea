"""`gate`: hold a finished run to gates, as `evaluate` does with the one that it makes, and what comes of them."""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from metrics.analysis import headline, leaderboard, local_agreement
from metrics.analysis.boards.board import Board
from metrics.cli import terminal
from metrics.cli.execution import finished
from metrics.cli.options import add_flags, add_parser, names_of, run_of, write_output
from metrics.cli.report_command import check_ending, write_report
from metrics.cli.terminal import say
from metrics.core.errors import InputProblem, refuse
from metrics.engine.evaluation import GATES, LogFields
from metrics.presentation.format import ARROWS
from metrics.presentation.guarantee_words import footnotes
from metrics.presentation.phrases import board_notes, skipped_line, unscored_words, with_interval
from metrics.presentation.question import short_answers
from metrics.presentation.questions.do_small_changes_matter import flip_lines
from metrics.reports import baseline
from metrics.reports.gates import Gate, check, require_known
from metrics.store import Run, Workspace

if TYPE_CHECKING:
    from metrics.core.suite import Suite
    from metrics.reports.weighting import Weighting

FAILED = 1  # the exit code where a gate failed
MAX_FLIPS = 10  # lines
STDOUT = "-"


@dataclass(frozen=True, slots=True)
class Gates:
    """What a run is held to.

    worse: the metrics of --fail-if-worse; None: without that option, empty: primary ones; margins: of --non-inferior by
    metric; anytime: every look is gated; weighting: by what weights the models are ranked; only: the
    model of the baseline that all are compared with; allow_unscored: values are
    those of the scored cases, however many are unscored.
    """

    limits: Sequence[Gate]
    baseline: Run | None
    worse: Sequence[str] | None
    margins: Mapping[str, float]
    anytime: bool
    weighting: "Weighting | None" = None
    only: str | None = None
    allow_unscored: bool = False

    @classmethod
    def of(cls, options: argparse.Namespace) -> "Gates":
        """Return the gates that the options ask for; InputError or RunError where they cannot be.

        Call it before the run is created: `--baseline latest` is the newest finished run until then.
        """
        from metrics.reports.weighting import Weighting

        if options.pdf:
            check_ending(options.pdf)
        worse = options.fail_if_worse
        asked = {"--fail-if-worse": worse is not None, "--non-inferior": bool(options.non_inferior)}
        asked["--anytime-valid"] = options.anytime_valid
        alone = [name for name, is_asked in asked.items() if is_asked and not options.baseline]
        refuse(InputProblem(name, "no --baseline", "--baseline RUN to compare with") for name in alone)
        margins = baseline.parse_margins(options.non_inferior)
        before, only = None, None
        if options.baseline:
            before, only = baseline.open_baseline(options.baseline, Workspace(options.workspace))
        return cls(
            [Gate.parse(text) for text in options.fail_under],
            before,
            None if worse is None else [name for text in worse for name in names_of(text)],
            margins,
            options.anytime_valid,
            Weighting.parse(options.weight, options.scale),
            only,
            options.allow_unscored,
        )

    def require_fitting(
        self, ids: Sequence[str], parameters: Mapping[str, Mapping[str, Any]], suite: "Suite", models: Sequence[str]
    ) -> None:
        """Raise InputError where a run of these evaluators, suite and models cannot be held to them."""
        require_known(self.limits, ids, parameters)
        if self.worse:
            baseline.require_metrics(self.worse, ids, parameters)
        baseline.require_metrics(list(self.margins), ids, parameters, baseline.NON_INFERIOR)
        if self.weighting is not None:
            self.weighting.require_metrics(ids, parameters)
        if self.baseline is not None:
            baseline.require_comparable(self.baseline, suite, models, self.only)

    def conclude(self, run: Run, options: argparse.Namespace) -> int:
        """Check a finished run, write and print what comes of it, and return the exit code."""
        from metrics.reports.renderers.junit import junit
        from metrics.reports.renderers.markdown import markdown

        as_scored = self.allow_unscored or (self.worse is None and not self.margins)
        against: list[baseline.Differences] = []
        if self.baseline is not None:
            asked = self.worse or (), self.margins, self.anytime, as_scored, self.only
            against = baseline.differences(run, self.baseline, *asked)
        weighed = () if self.weighting is None else tuple(self.weighting.lines(run))
        outcomes = check(run, self.limits, allow_unscored=self.allow_unscored)
        if self.worse is not None:
            outcomes += baseline.worse(against, self.worse)
        outcomes += baseline.non_inferior(against, self.margins)
        for outcome in outcomes:
            terminal.event(options, "gate", **asdict(outcome))
        if options.pdf:
            write_report(run, options.pdf, against=against, notes=weighed)
        if options.junit:
            write_output(junit(run, outcomes), options.junit)
        if options.markdown:
            text = markdown(run, outcomes, against)
            if options.markdown == STDOUT:
                sys.stdout.write(text)
            else:
                write_output(text.encode(), options.markdown)
        if options.markdown != STDOUT:
            if not options.quiet:
                print_leaderboard(run)
                say(*weighed)
                for each in against:
                    say(*difference_lines(each))
                say(*(outcome.message for outcome in outcomes))
            if skipped := skipped_line(run.spec.suite.left_out, run.spec.outputs.left_out):
                say(skipped)
            say(run.id)
        if options.quiet:
            for outcome in outcomes:
                if not outcome.passed:
                    terminal.warn(options, outcome.message)
        return finished(run, options, 0 if all(outcome.passed for outcome in outcomes) else FAILED)


def print_leaderboard(run: Run) -> None:
    """Print headline, leaderboard, footnotes, and what other questions answer in a sentence."""
    board = leaderboard(run)
    head = headline(board)
    say(head.sentence)
    wide = max([len("model"), *(len(model) for model in board.models)])
    keys = {key for (_, key), cell in board.cells.items() if cell.value is not None}
    valued = {column.evaluator for column in board.columns if column.key in keys}
    silent: dict[str, dict[str, None]] = {}  # evaluators, or metrics, by the reason why no model has a value
    for column in board.columns:
        if column.minor:
            continue
        cells = [(name, cell) for name in head.models if (cell := board.cells.get((name, column.key))) is not None]
        reasons = {cell.reason if cell.value is None else None for _, cell in cells}
        if len(reasons) == 1 and (reason := reasons.pop()):
            title = f" · {column.title}" if column.evaluator in valued else ""
            silent.setdefault(reason, {})[f"{column.evaluator}{title}"] = None
            continue
        say(f"{column.evaluator} · {column.title} {ARROWS[column.direction]}")
        for model, cell in cells:
            value = cell.reason if cell.value is None else with_interval(cell.value, cell.low, cell.high)
            unscored = unscored_words(cell)
            say(f"  {model:<{wide}}  {value}  n {cell.n}{f', {unscored}' if unscored else ''}")
    say(*(f"{', '.join(evaluators)}: {reason}" for reason, evaluators in silent.items()))
    say(*board.cautions)
    for evaluator, words in local_agreement(run).items():
        say(f"local judge, {evaluator}: {words}")
    say(*footnotes(column for column in board.columns if not column.minor), *board_notes(board))
    say(*(sentence.text for sentence in short_answers(run)), *flip_lines(run, MAX_FLIPS))


def difference_lines(each: baseline.Differences) -> Iterator[str]:
    """Yield the differences of a model to its counterpart in the baseline, a line for each metric."""
    yield f"{each.model} against baseline {each.baseline}"
    for row, tested in each.rows:
        before, after, change, ends, p, n, words = baseline.figures(row, tested)
        yield f"{row.column.evaluator} · {row.column.title} {ARROWS[row.column.direction]}".rstrip()
        change += f" ({ends})" if ends else ""
        told = filter(None, (f"{before} → {after}", change, f"n {n}", f"adjusted p {p}" if p else ""))
        yield f"  {'  '.join(told)}  {words}"
    yield from each.told
    yield from each.tested.notes


def add_command(commands: Any) -> None:
    words = "check a finished run: --fail-under, --baseline, --fail-if-worse, --non-inferior"
    command = add_parser(commands, "gate", _gate, of_board=True, help=words)
    add_flags(command, *GATES)
    add_flags(command, LogFields)


def _gate(options: argparse.Namespace) -> int:
    run = run_of(options, finished=True)
    if isinstance(run, Board) and run.baseline:
        options.baseline = options.baseline or f"{run.id}:{run.baseline}"  # what people pinned
    gates = Gates.of(options)
    gates.require_fitting(list(run.evaluators), run.evaluators, run.suite, run.models)
    return gates.conclude(run, options)
