"""`sample-size`: how many cases a wanted precision needs, before any run."""

import argparse
from typing import Any

from metrics.cli.terminal import say
from metrics.core.errors import InputError, InputProblem
from metrics.presentation.format import aligned
from metrics.presentation.sample_sizes import QUESTIONS, Costs, answer_lines, sizes
from metrics.stats.power import aim, design_effect


def add_command(commands: Any) -> None:
    command = commands.add_parser(
        "sample-size",
        help="say how many cases a wanted precision needs",
        description="Say how many cases a 95 % interval, or a difference to be detected 80 % of the time, needs.",
    )
    command.add_argument(
        "kind",
        choices=list(QUESTIONS),
        help="a share, a mean, two models that are right or wrong (wins), the scores of two models (difference), "
        "agreement of two raters (kappa)",
    )
    command.add_argument(
        "expected", type=float, nargs="?", metavar="EXPECTED",
        help="share; standard deviation of scores or of differences; share of cases in which two models differ; κ",
    )  # fmt: skip
    command.add_argument("--precision", type=float, default=0.05, metavar="X", help="± or difference (default 0.05)")
    command.add_argument("--passing", type=float, default=0.7, metavar="P", help="of kappa: share that passes (0.7)")
    command.add_argument("--repeats", type=int, default=1, metavar="N", help="answers of each case (default 1)")
    command.add_argument(
        "--noise", type=float, default=0.3, metavar="SHARE", help="share of the variance between repeats (default 0.3)"
    )
    command.add_argument("--group-size", type=float, default=1.0, metavar="N", help="cases of a group (default 1)")
    command.add_argument("--icc", type=float, default=0.3, metavar="R", help="likeness in a group (default 0.3)")
    command.add_argument("--cost", type=float, default=0.0, metavar="USD", help="dollars of one answer, judge included")
    command.add_argument("--budget", type=float, metavar="USD", help="dollars that may be spent")
    command.set_defaults(command=_sample_size)


def _sample_size(options: argparse.Namespace) -> None:
    asked = QUESTIONS[options.kind]
    expected = asked.usual if options.expected is None else options.expected
    if options.precision <= 0 or options.repeats < 1 or options.group_size < 1:
        found = f"{options.precision:g}, {options.repeats}, {options.group_size:g}"
        wanted = "a precision above 0, and 1 or more of the others"
        raise InputError([InputProblem("--precision, --repeats, --group-size", found, wanted)])
    effect = design_effect(options.group_size, options.icc, options.repeats, options.noise)
    try:
        own = aim(options.kind, expected, options.passing, effect)
    except ValueError:
        found = f"{options.kind} {expected:g}, {options.passing:g}"
        raise InputError([InputProblem("EXPECTED, --passing", found, "shares and κ between 0 and 1")]) from None
    costs = Costs(options.cost, asked.models, options.repeats, options.budget)
    for line in answer_lines(own, options.precision, costs):
        say(line)
    shown = [n for n in sizes(own, options.precision, costs) if own.detectable(n) < float("inf")]
    widths, differences = (aligned([of(n) for n in shown]) for of in (own.half_width, own.detectable))
    print(f"{'cases':>9}  {'95 % ±':>8}  {'detected':>8}" + ("  dollars" if options.cost else ""))
    for n, width, difference in zip(shown, widths, differences, strict=True):
        price = f"  {costs.of(n):,.2f}" if options.cost else ""
        print(f"{n:>9,}  {width:>8}  {difference:>8}{price}")
