"""What several commands understand alike: NAME=VALUE, and the parameters of evaluators."""

import json
from collections.abc import Sequence
from typing import Any

from metrics.core.errors import InputError, InputProblem


def pairs(texts: Sequence[str], option: str) -> list[tuple[str, str]]:
    """Return each NAME=VALUE as name and value; InputError listing every text that is none."""
    wrong = [InputProblem(option, repr(text), "NAME=VALUE") for text in texts if not all(text.partition("="))]
    if wrong:
        raise InputError(wrong)
    return [(name.strip(), value) for name, _, value in (text.partition("=") for text in texts)]


def parameters_of(texts: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return each EVALUATOR.NAME=VALUE of --param, by evaluator and name; a value is JSON, else text. InputError."""
    found: dict[str, dict[str, Any]] = {}
    for name, text in pairs(texts, "--param"):
        evaluator, dot, parameter = name.partition(".")
        if not dot:
            raise InputError([InputProblem("--param", repr(name), "EVALUATOR.NAME=VALUE")])
        try:
            value = json.loads(text)
        except json.JSONDecodeError:
            value = text
        found.setdefault(evaluator, {})[parameter] = value
    return found
