"""`evaluate`: run evaluators on a suite and the outputs of models, and check its gates."""

import argparse
import re
from pathlib import Path
from typing import Any

from metrics.cli import rag_config, terminal
from metrics.cli.execution import ask, execute, print_estimate
from metrics.cli.gate_command import Gates
from metrics.cli.options import add_flags, add_parser
from metrics.cli.terminal import say
from metrics.core.errors import InputError, InputProblem
from metrics.engine.evaluation import GROUPS, CommandFields, Evaluation, LimitFields, ReportFields, WeightFields
from metrics.engine.evaluation_fields import flag_of
from metrics.engine.plan import Shard

DEFAULTS = Evaluation.model_fields
NO_ANSWERS = re.compile(r"no column with the (model's answers|predicted)|a format that holds either")


def add_command(commands: Any) -> None:
    text = "evaluate outputs of models on a suite"
    command = add_parser(commands, "evaluate", _evaluate, aliases=("eval",), help=text)
    add_flags(command, *(group for group in GROUPS if group is not CommandFields))


def _evaluate(options: argparse.Namespace) -> int:
    return evaluate(Evaluation.of(options))


def evaluate(evaluation: Evaluation) -> int:
    """Do what an evaluation asks, with progress on standard error, and return the exit code. InputError."""
    from metrics.library.case_choice import chosen_cases
    from metrics.library.input_data import read_suite
    from metrics.library.prepare import prepare
    from metrics.library.target_choice import target_estimate

    options = argparse.Namespace(**dict(evaluation))
    _check_shard(evaluation)
    config = rag_config.read(Path(evaluation.config)) if evaluation.config else None
    if config and config.unused:
        terminal.note(options, f"not used of {evaluation.config}: {', '.join(config.unused)}")
    gates = Gates.of(options)

    def tell(kind: str, *lines: str) -> None:
        first, *more = lines or ("",)
        terminal.note(options, *((f"warning: {first}", *more) if kind == "warning" else lines))

    if evaluation.target and evaluation.dry_run:
        suite = read_suite(evaluation)
        tell("note", *suite.notes)
        cases, _ = chosen_cases(evaluation, suite.value, "command")
        say(*target_estimate(evaluation, cases, evaluation.workspace))
        return 0
    try:
        untrusted = config.arguments if config else ()
        prepared = prepare(
            evaluation, "command", tell, lambda asked, suite: ask(asked, suite, options), untrusted=untrusted
        )
    except InputError as error:
        raise _without_answers(evaluation, error) or error from None
    data = prepared.data
    gates.require_fitting(prepared.evaluators, prepared.parameters, data.suite, data.outputs.models)
    if evaluation.dry_run:
        reusable = prepared.reusable()
        say(*(reusable.in_words() if reusable else ()))
        print_estimate(prepared.estimate(reusable=reusable))
        return 0
    run = prepared.create()
    terminal.note(options, *prepared.hints())
    execute(run, options)
    if evaluation.shard:
        say(run.folder)
        return 0
    if config:
        rag_config.write_results(run, config, lambda text: tell("note", text))
    return gates.conclude(run, options)


def _without_answers(evaluation: Evaluation, error: InputError) -> InputError | None:
    """Return what to do where the error is only that one file has cases and no answers; None for other errors."""
    alone = not evaluation.outputs and not evaluation.target
    lacking = [each for each in error.problems if NO_ANSWERS.match(each.found) and "Perhaps" not in each.expected]
    if not alone or len(lacking) != 1 or len(error.problems) > 1:
        return None
    expected = f"answers beside them, `evaluate {evaluation.suite} OUTPUTS`, or --target MODEL, which is asked"
    return InputError([InputProblem(lacking[0].file, "cases without answers", expected)])


def _check_shard(evaluation: Evaluation) -> None:
    """Raise InputError for a shard that there is not, and for options that need the whole run beside it."""
    if evaluation.shard is None:
        return
    Shard.parse(evaluation.shard)
    whole = [name for group in (LimitFields, WeightFields, ReportFields) for name in group.model_fields]
    given = ", ".join(
        flag_of(name) for name in whole if getattr(evaluation, name) not in (None, (), DEFAULTS[name].default)
    )
    if given:
        raise InputError([InputProblem("--shard", given, "no option that needs the whole run: merge the shards first")])
