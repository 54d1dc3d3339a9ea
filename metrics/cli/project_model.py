"""What `assay.toml` may say: every argument of `evaluate` is a key of it, made from the command's own parser.

So a file, the flags and their help cannot differ, and a new flag is a key without a change here. A table stands for a
flag that is given several times: `fail_under = {"rouge.rougeL" = 0.4}` is `--fail-under rouge.rougeL=0.4`.
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, ValidationError, create_model

from metrics.cli import evaluate_command
from metrics.cli.rag_config import with_config
from metrics.core.errors import InputError, InputProblem
from metrics.core.project_file import read_project

COMMAND = "evaluate"
LISTED = ",…"  # how the metavar of an argument ends that takes several names in one text
JSON_VALUES = "param"  # its values are JSON on the command line too
Scalar = str | StrictBool | int | float


class Project(BaseModel):
    """A whole project file; `evaluate` holds the arguments of each evaluation by its name."""

    model_config = ConfigDict(extra="forbid")

    plugins: list[str] = Field([], description="Evaluators from outside: MODULE:OBJECT or FILE.py:OBJECT.")
    defaults: dict[str, Any] = Field({}, description="Arguments of every evaluation that does not set them itself.")
    evaluate: dict[str, Any] = Field(description="The evaluations by name, each with the arguments of `evaluate`.")


@cache
def project_model() -> type[Project]:
    """Return the model of a project file with the present arguments of `evaluate`."""
    fields: dict[str, Any] = {
        action.dest: (_type(action), Field(None, description=_help(action), json_schema_extra=_drop_default))
        for action in _actions()
    }
    section: type[BaseModel] = create_model("Evaluation", __config__=ConfigDict(extra="forbid"), **fields)
    return create_model(
        "Project", __base__=Project,
        defaults=(section, Field(section(), description=Project.model_fields["defaults"].description)),
        evaluate=(dict[str, section], Field(min_length=1, description=Project.model_fields["evaluate"].description)),  # type: ignore[valid-type]
    )  # fmt: skip


def schema() -> dict[str, Any]:
    """Return the JSON schema of a project file, for editors."""
    found = project_model().model_json_schema()
    found["description"] = "assay.toml: evaluations of Assay; see docs/assay-toml.md."
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found}


def read_evaluations(file: Path) -> dict[str, list[str]]:
    """Return the arguments of `evaluate` of each evaluation in a project file, by its name.

    Raises InputError listing every problem with its key: unknown keys with the one that may be meant, values of
    another kind, an evaluation without a suite, or a file that is no TOML.
    """
    document = read_project(file)
    try:
        project_model().model_validate(document)
        problems = []
    except ValidationError as failure:
        problems = list(_problems(file, failure))
    defaults, sections = document.get("defaults", {}), document.get("evaluate", {})
    merged = {name: _merged(defaults, own) for name, own in sections.items()} if not problems else {}
    problems += [
        InputProblem(str(file), "no suite", "suite = FILE, the test cases", column=f"{COMMAND}.{name}.suite")
        for name, values in merged.items()
        if not values.get("suite") and not values.get("config")
    ]
    if problems:
        raise InputError(problems)
    plugins = {"plugin": document.get("plugins", [])}
    return {name: _arguments({"name": name, **plugins, **values}) for name, values in merged.items()}


def _drop_default(schema: dict[str, Any]) -> None:
    del schema["default"]  # null, which TOML does not have


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options of `evaluate` that its arguments, and a configuration among them, make."""
    return _parser().parse_args(with_config(arguments))


def _merged(defaults: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of an evaluation over the defaults; tables are merged by key."""
    both = {key: {**defaults[key], **own[key]} for key in own if _is_table(own[key]) and _is_table(defaults.get(key))}
    return {**defaults, **own, **both}


def _arguments(values: Mapping[str, Any]) -> list[str]:
    flags, places = [COMMAND], []
    for action in _actions():
        value = values.get(action.dest)
        if value is None or value is False:
            continue
        texts = list(_texts(action, value))
        if not action.option_strings:
            places += texts
        elif value is True:
            flags.append(action.option_strings[0])
        else:
            flags += [f"{action.option_strings[0]}={text}" for text in texts]
    return [*flags, "--", *places]


def _texts(action: argparse.Action, value: Any) -> Iterator[str]:
    """Yield the texts of an argument's value; a table within a table is `outer.inner=value`."""
    if _is_table(value):
        for name, inner in value.items():
            pairs = {f"{name}.{key}": one for key, one in inner.items()} if _is_table(inner) else {name: inner}
            plain = action.dest != JSON_VALUES
            yield from (
                f"{key}={one if plain and isinstance(one, str) else json.dumps(one)}" for key, one in pairs.items()
            )
    elif isinstance(value, list):
        yield from [",".join(value)] if _is_listed(action) else value
    else:
        yield str(value)


def _type(action: argparse.Action) -> Any:
    if action.nargs == 0:
        return StrictBool
    if action.choices is not None:
        return Literal[tuple(action.choices)]
    several = isinstance(action, argparse._AppendAction) or action.nargs == "*" or _is_listed(action)
    if not several:
        return {int: int, float: float}.get(action.type, str)  # type: ignore[call-overload]
    if not _is_paired(action):
        return str | list[str]
    if action.dest == JSON_VALUES:
        return str | list[str] | dict[str, Any]
    return str | list[str] | dict[str, Scalar | dict[str, Scalar]]


def _problems(file: Path, failure: ValidationError) -> Iterator[InputProblem]:
    """Yield one problem a key, whatever the number of kinds that its value could have been."""
    told = set()
    for error in failure.errors():
        depth = {"evaluate": 3, "defaults": 2}.get(str(error["loc"][0]), 1)
        place = error["loc"][:depth]
        if place in told:
            continue
        told.add(place)
        key = str(place[-1])
        known = sorted(Project.model_fields) if len(place) == 1 else [action.dest for action in _actions()]
        column = ".".join(map(str, place))
        if error["type"] == "extra_forbidden":
            near = get_close_matches(key, known, 1)
            expected = f"{near[0]!r}; did you mean that?" if near else f"one of {', '.join(known)}"
            yield InputProblem(str(file), f"the unknown key {key!r}", expected, column=column)
        elif error["type"] == "missing":
            yield InputProblem(str(file), f"no {key}", "[evaluate.NAME] with suite, outputs …", column=column)
        else:
            yield InputProblem(str(file), repr(error["input"]), _expected(key, len(place)), column=column)


def _expected(key: str, depth: int) -> str:
    action = next((one for one in _actions() if one.dest == key), None) if depth > 1 else None
    if action is None:
        return {"plugins": "a list of MODULE:OBJECT or FILE.py:OBJECT"}.get(
            key, "a table with the arguments of evaluate"
        )
    if action.nargs == 0:
        return "true or false"
    if action.choices is not None:
        return f"one of {', '.join(map(str, action.choices))}"
    if action.type in (int, float):
        return "a whole number" if action.type is int else "a number"
    form = f", {action.metavar}" if action.metavar else ""
    if _is_paired(action):
        return f"a table, a text or a list of texts{form}"
    several = isinstance(action, argparse._AppendAction) or action.nargs == "*" or _is_listed(action)
    return ("a text or a list of texts" if several else "a text") + form


@cache
def _actions() -> Sequence[argparse.Action]:
    """Return the arguments of `evaluate`."""
    commands = next(one for one in _parser()._actions if isinstance(one, argparse._SubParsersAction))
    return [one for one in commands.choices[COMMAND]._actions if not isinstance(one, argparse._HelpAction)]


@cache
def _parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(prog="python -m metrics")
    evaluate_command.add_command(found.add_subparsers(required=True, metavar="COMMAND"))
    return found


def _help(action: argparse.Action) -> str:
    flag = action.option_strings[0] if action.option_strings else action.metavar
    return f"{flag}: {(action.help or '').replace('%%', '%')}"


def _is_paired(action: argparse.Action) -> bool:
    return isinstance(action, argparse._AppendAction) and "=" in str(action.metavar)


def _is_listed(action: argparse.Action) -> bool:
    return str(action.metavar).endswith(LISTED)


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)
