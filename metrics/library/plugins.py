"""Evaluators of your own in place of ids: functions that a script, a notebook or a package has made by @evaluator."""

from collections.abc import Sequence

from metrics.core.errors import InputError, InputProblem
from metrics.core.evaluator import Evaluator
from metrics.core.plugins import plugin_of
from metrics.core.registry import add_plugin


def ids_of(evaluators: Sequence[str | Evaluator]) -> list[str]:
    """Return the id of each, after registering those that are no ids.

    Raises InputError for anything else, and for an id that one of Assay's own evaluators has.
    """
    wrong = [
        InputProblem("evaluators", repr(one), "an id, or a function made by @evaluator (metrics.evaluator)")
        for one in evaluators
        if not isinstance(one, str | Evaluator)
    ]
    if wrong:
        raise InputError(wrong)
    return [one if isinstance(one, str) else add_plugin(plugin_of(one)) for one in evaluators]
