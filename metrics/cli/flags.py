"""The flags of commands, made from the fields of an evaluation, and the flags that say what an evaluation asks."""

import argparse
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pydantic.fields import FieldInfo

from metrics.engine.evaluation import Evaluation
from metrics.engine.evaluation_fields import Fields, Shape, choices_of, flag_of, option_of, shape_of, texts_of

KINDS = {Shape.WHOLE: int, Shape.NUMBER: float}
REPEATED = (Shape.TEXTS, Shape.PAIRS, Shape.PARAMETERS)


def add_flags(command: argparse.ArgumentParser, *groups: type[Fields], without: Collection[str] = ()) -> None:
    """Add a flag, or an argument, for each field of some groups of fields."""
    for group in groups:
        for name, field in group.model_fields.items():
            if name not in without:
                command.add_argument(*[name if option_of(field).positional else flag_of(name)], **_facts(field))


def evaluation_of(options: argparse.Namespace) -> Evaluation:
    """Return the evaluation that parsed arguments ask for."""
    found: Evaluation = Evaluation.of(options)
    return found


def arguments_of(values: Mapping[str, Any]) -> list[str]:
    """Return values of fields, as a project file has them, as arguments of the command `evaluate`."""
    flags: list[str] = []
    places: list[str] = []
    for name, field in Evaluation.model_fields.items():
        value = values.get(name)
        if value is None or value is False:
            continue
        if option_of(field).positional:
            places += texts_of(value)
        elif value is True:
            flags.append(flag_of(name))
        else:
            flags += [flag_of(name) + (f"={text}" if text else "") for text in _flag_texts(field, value)]
    return ["evaluate", *flags, "--", *places]


def _flag_texts(field: FieldInfo, value: Any) -> Iterator[str]:
    """Yield the text of each flag that together say a field's value."""
    shape = shape_of(field)
    if shape in REPEATED:
        yield from texts_of(value, as_json=shape is Shape.PARAMETERS)
    elif shape in (Shape.NAMES, Shape.SOME):
        yield ",".join(texts_of(value))
    else:
        yield str(value)


def _facts(field: FieldInfo) -> dict[str, Any]:
    """Return what argparse is told about a field."""
    shape, option = shape_of(field), option_of(field)
    facts: dict[str, Any] = {"help": (field.description or "").replace("%", "%%")}
    if shape is Shape.SWITCH:
        return facts | {"action": "store_true"}
    if shape is Shape.CHOICE:
        return facts | {"choices": choices_of(field), "default": field.default}
    if option.metavar:
        facts["metavar"] = option.metavar
    if option.positional:
        return facts | ({"nargs": "*", "default": ()} if shape is Shape.TEXTS else {})
    if shape in REPEATED:
        return facts | {"action": "append", "default": []}
    if shape is Shape.SOME:
        return facts | {"nargs": "*"}
    return facts | {"default": field.default} | ({"type": KINDS[shape]} if shape in KINDS else {})
