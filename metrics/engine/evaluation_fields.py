"""The kinds of values that fields of an evaluation have, and what each of its doors calls a field.

A door is where an evaluation is asked for: the command, a project file, Python or the page. Each derives its own view
from the fields: flags, keys of assay.toml and their JSON schema, arguments, a form.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, Self, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.fields import FieldInfo

from metrics.core.errors import InputError, InputProblem, refuse
from metrics.engine.deadlines import checked_timeout
from metrics.engine.schedulers import checked_scheduler

Door = Literal["command", "python", "page"]
Tell = Callable[..., None]  # is told `note` or `warning`, and lines
Scalar = str | bool | int | float
Table = dict[str, Scalar | dict[str, Scalar]]


class Shape(Enum):
    """The values that a field takes; SWITCH, CHOICE, WHOLE, NUMBER and TEXT are told by its type."""

    SWITCH = "switch"
    CHOICE = "choice"
    WHOLE = "whole number"
    NUMBER = "number"
    TEXT = "text"
    TEXTS = "texts"  # a flag that is repeated, or a positional argument
    NAMES = "names"  # one flag with names between commas
    SOME = "some"  # a flag with any number of values, none included
    PAIRS = "pairs"  # a repeated flag NAME=VALUE
    PARAMETERS = "parameters"  # the same with values in JSON


WORDS = {  # of one value
    Shape.SWITCH: "true or false", Shape.WHOLE: "a whole number", Shape.NUMBER: "a number", Shape.TEXT: "a text",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Option:
    """How a field is shown: `metavar` stands for its value in help texts; `positional`: it is an argument, not a flag.

    `python`: it is an argument of `evaluate()` in Python too; what is only about files and texts that a command writes
    is not. `title`: what the page Evaluate calls it, which asks for it among its further settings if it has one.
    `values`: what the page calls its values, and "" shows where none is given.
    """

    metavar: str | None = None
    positional: bool = False
    python: bool = True
    title: str = ""
    values: Mapping[str, str] | None = None

    def __call__(self, schema: dict[str, Any]) -> None:
        """Leave null out of the JSON schema of the field: TOML does not have it."""
        schema.pop("default", None)
        kinds = [kind for kind in schema.get("anyOf", ()) if kind != {"type": "null"}]
        if len(kinds) == 1:
            del schema["anyOf"]
            schema.update(kinds[0])
        elif kinds:
            schema["anyOf"] = kinds


def option(
    description: str,
    metavar: str | None = None,
    default: Any = None,
    *,
    positional: bool = False,
    python: bool = True,
    title: str = "",
    values: Mapping[str, str] | None = None,
) -> Any:
    """Return the field of an evaluation that is described so; see Option."""
    shown = Option(metavar, positional, python, title, values)
    return Field(default, description=description, json_schema_extra=shown)


def switch(description: str, *, python: bool = True, title: str = "") -> Any:
    """Return the field of an evaluation that is off where nobody says."""
    return option(description, default=False, python=python, title=title)


class Fields(BaseModel):
    """Some fields of an evaluation, in one frozen value."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", validate_default=True)

    @classmethod
    def of(cls, given: Any) -> Self:
        """Return these fields as the parsed arguments of a command, or another evaluation, have them."""
        return cls.model_validate({name: getattr(given, name) for name in cls.model_fields if hasattr(given, name)})


def option_of(field: FieldInfo) -> Option:
    """Return how a field is shown."""
    found = field.json_schema_extra
    return found if isinstance(found, Option) else Option()


def shape_of(field: FieldInfo) -> Shape:
    """Return what values a field takes."""
    for entry in field.metadata:
        if isinstance(entry, Shape):
            return entry
    kinds = [kind for kind in get_args(field.annotation) or (field.annotation,) if kind is not NoneType]
    if get_origin(field.annotation) is Literal or any(get_origin(kind) is Literal for kind in kinds):
        return Shape.CHOICE
    return {bool: Shape.SWITCH, int: Shape.WHOLE, float: Shape.NUMBER}.get(kinds[0], Shape.TEXT)


def choices_of(field: FieldInfo) -> tuple[str, ...]:
    """Return the values of a field of choices."""
    kinds = [field.annotation, *get_args(field.annotation)]
    return next((get_args(kind) for kind in kinds if get_origin(kind) is Literal), ())


def expected_value(field: FieldInfo) -> str:
    """Return in words what values a field takes, with the form of its texts."""
    shape, form = shape_of(field), option_of(field).metavar
    if shape is Shape.CHOICE:
        return f"one of {', '.join(choices_of(field))}"
    table = "a table, " if shape in (Shape.PAIRS, Shape.PARAMETERS) else ""
    words = WORDS.get(shape, f"{table}a text or a list of texts")
    return words if shape in (Shape.SWITCH, Shape.WHOLE, Shape.NUMBER) or not form else f"{words}, {form}"


def flag_of(name: str) -> str:
    """Return the flag of a field."""
    return "--" + name.replace("_", "-")


def texts_of(value: Any, as_json: bool = False) -> Iterator[str]:
    """Yield the texts of a value: NAME=VALUE of a table, `outer.inner=value` of one in it; `as_json`: values in JSON.

    Raises ValueError for what is neither text nor table.
    """
    if isinstance(value, Mapping):
        for name, held in value.items():
            own = {f"{name}.{key}": each for key, each in held.items()} if isinstance(held, Mapping) else {name: held}
            for key, each in own.items():
                if not as_json and not isinstance(each, Scalar):
                    raise ValueError("no text, number or truth value")
                yield f"{key}={each if isinstance(each, str) and not as_json else json.dumps(each)}"
    elif isinstance(value, str | Path):
        yield str(value)
    elif isinstance(value, Sequence) and all(isinstance(each, str | Path) for each in value):
        yield from map(str, value)
    else:
        raise ValueError("no texts")


def names_of(text: str) -> list[str]:
    """Return the names in a comma-separated list."""
    return [name.strip() for name in text.split(",") if name.strip()]


def parameters_of(value: Any) -> dict[str, dict[str, Any]]:
    """Return the values of parameters by evaluator and name, from a table of them or texts EVALUATOR.NAME=VALUE.

    A text's value is JSON, else text. InputError on any other form.
    """
    if value is None:
        return {}
    if isinstance(value, Mapping) and all(isinstance(own, Mapping) for own in value.values()):
        return {str(id): dict(own) for id, own in value.items()}
    found: dict[str, dict[str, Any]] = {}
    for name, text in pairs(list(texts_of(value, as_json=True)), "--param"):
        evaluator, dot, parameter = name.partition(".")
        if not dot:
            raise InputError([InputProblem("--param", repr(name), "EVALUATOR.NAME=VALUE")])
        try:
            content = json.loads(text)
        except json.JSONDecodeError:
            content = text
        found.setdefault(evaluator, {})[parameter] = content
    return found


def pairs(texts: Sequence[str], option: str, expected: str = "NAME=VALUE") -> list[tuple[str, str]]:
    """Return each NAME=VALUE as name and value; InputError listing every text that is not of this form."""
    refuse(InputProblem(option, repr(text), expected) for text in texts if not all(text.partition("=")))
    return [(name.strip(), value) for name, _, value in (text.partition("=") for text in texts)]


def _texts(value: Any) -> tuple[str, ...]:
    return () if value is None else tuple(texts_of(value))


def _names(value: Any) -> tuple[str, ...] | None:
    return None if value is None else tuple(name for text in texts_of(value) for name in names_of(text))


def _some(value: Any) -> tuple[str, ...] | None:
    return None if value is None else _texts(value)


def _judges(value: Any) -> Any:
    """Return the settings of a judge as they are, else texts."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    return dict(value) if isinstance(value, Mapping) else _texts(value)


def _source(value: Any) -> Any:
    """Return a file as text, files as texts, and what is in memory as it is."""
    if isinstance(value, str | Path):
        return str(value)
    if isinstance(value, bool | int | float) or (isinstance(value, Sequence) and value and isinstance(value[0], str)):
        raise ValueError("no file")
    return value


def _sources(value: Any) -> Any:
    """Return files as texts, and what is in memory as it is."""
    if value is None or isinstance(value, str | Path):
        return () if value is None else (str(value),)
    if isinstance(value, Sequence) and all(isinstance(each, str | Path) for each in value):
        return tuple(map(str, value))
    if isinstance(value, bool | int | float):
        raise ValueError("no files")
    return value


def _targets(value: Any) -> Any:
    """Return what is to answer: texts where all are, else what is given."""
    if isinstance(value, bool | int | float):
        raise ValueError("no target")
    if isinstance(value, str | Path | Mapping) or all(isinstance(each, str | Path) for each in value or ()):
        return tuple(texts_of(value or ()))
    return tuple(value)


def _seconds(value: Any) -> float | None:
    return None if value is None else checked_timeout(str(value))


def _scheduler(value: Any) -> Any:
    return checked_scheduler(value) if isinstance(value, str) else value


def _reader(read: Callable[[Any], Any], kinds: Any, shape: Shape) -> tuple[Any, Shape]:
    return BeforeValidator(read, json_schema_input_type=kinds), shape


Place = Annotated[str | None, BeforeValidator(lambda value: str(value) if isinstance(value, Path) else value)]
Texts = Annotated[tuple[str, ...], *_reader(_texts, str | list[str], Shape.TEXTS)]
Some = Annotated[tuple[str, ...] | None, *_reader(_some, str | list[str], Shape.SOME)]
Names = Annotated[tuple[str, ...] | None, *_reader(_names, str | list[str], Shape.NAMES)]
Pairs = Annotated[tuple[str, ...], *_reader(_texts, str | list[str] | Table, Shape.PAIRS)]
ParameterValues = Annotated[
    dict[str, dict[str, Any]], *_reader(parameters_of, str | list[str] | dict[str, Any], Shape.PARAMETERS)
]
Source = Annotated[Any, *_reader(_source, str, Shape.TEXT)]  # a file, or what is in memory
Sources = Annotated[Any, *_reader(_sources, str | list[str], Shape.TEXTS)]
Judges = Annotated[Any, *_reader(_judges, str | list[str], Shape.TEXTS)]  # texts, or the settings of a judge
Targets = Annotated[Any, *_reader(_targets, str | list[str] | Table, Shape.PAIRS)]
Seconds = Annotated[float | None, *_reader(_seconds, float | str, Shape.TEXT)]
SchedulerAddress = Annotated[str | None, BeforeValidator(_scheduler)]


def page_schema(of: type[Fields]) -> dict[str, Any]:
    """Return the JSON schema of the fields that the page asks for, of an evaluation its further settings."""
    known, shown = of.model_json_schema()["properties"], {}
    for name, field in of.model_fields.items():
        if (own := option_of(field)).title:
            kinds = known[name].get("anyOf", [known[name]])
            kind = next((each for each in kinds if each.get("type") == "array"), kinds[0])
            kinds = [kind, *([{"type": "null"}] if field.default is None else [])]
            about = {"title": own.title, "values": own.values, "description": field.description}
            shown[name] = {**about, "anyOf": kinds, "default": field.default}
    return {"properties": shown}
