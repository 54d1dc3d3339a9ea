"""Targets from what a user gives: a text, a file, a function, flags; grids of prompts × models."""

import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, product
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from metrics.core.errors import InputError, InputProblem, for_each, refuse
from metrics.core.files import bytes_of
from metrics.targets.description import CommandTarget, FunctionTarget, HttpTarget, ModelTarget, Target

Spec = str | Path | Target | Mapping[str, Any] | Callable[..., Any]
FILES = (".json", ".yaml", ".yml")
NAMED = re.compile(r"([^=:/]+)=(.+)", re.DOTALL)
FUNCTION = re.compile(r"(?!local:)(?:[A-Za-z_][\w.]*|.+\.py):[A-Za-z_][\w.]*")
COMMAND = "command:"
LARGEST = 1 << 20  # bytes of a file
HELP = (
    "a model's name, local:FILE.gguf, an http address, module:function, file.py:function, command:PROGRAM …, or a "
    ".json or .yaml file"
)
_TARGET: TypeAdapter[Target] = TypeAdapter(Target)


def targets_of(given: Spec | Sequence[Spec], changes: Mapping[str, Any] | None = None) -> tuple[Target, ...]:
    """Return the targets that are given: HELP says how a text names one; functions are called as they are.

    A description with `models` (a list) or `prompts` (name → text) is a grid: every model with every prompt. `changes`
    are values of the descriptions that come on top (flags), each used by the targets that have it. InputError lists
    everything that is wrong: a name or a target twice as well.
    """
    found = described(given, changes)
    problems: list[InputProblem] = []
    for what, names in (
        ("the name", Counter(target.title for target in found)),
        ("the same target as", Counter(target.fingerprint() for target in found)),
    ):
        for target in found:
            key = target.title if what == "the name" else target.fingerprint()
            if names[key] > 1:
                names[key] = 0  # once
                expected = "a name of its own for each target, as in NAME=TARGET" if what == "the name" else "it once"
                problems.append(InputProblem("targets", f"{what} {target.title!r} twice", expected))
    refuse(problems)
    return tuple(found)


def described(given: Spec | Sequence[Spec], changes: Mapping[str, Any] | None = None) -> list[Target]:
    """Return the targets that are given, as targets_of does, without looking at the code behind them."""
    listed = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    if not listed:
        raise InputError([InputProblem("targets", "none", HELP)])
    return [*chain.from_iterable(for_each(listed, lambda spec: _targets(spec, dict(changes or {}))))]


def _targets(spec: Spec, changes: dict[str, Any]) -> list[Target]:
    if isinstance(spec, ModelTarget | HttpTarget | CommandTarget | FunctionTarget):
        return [spec]
    if isinstance(spec, Mapping):
        return _described(spec, "target", changes)
    if isinstance(spec, Path):
        return _from_file(spec, changes)
    if isinstance(spec, str):
        return _from_text(spec.strip(), changes)
    own = {name: value for name, value in changes.items() if name in FunctionTarget.model_fields}
    try:
        return [FunctionTarget.around(spec, **own)]
    except ValidationError as failure:
        raise InputError(_problems(failure, repr(spec))) from None


def _from_text(text: str, changes: dict[str, Any]) -> list[Target]:
    """Return the targets of `NAME=TARGET` or `TARGET`; see HELP."""
    if named := NAMED.fullmatch(text):
        changes = changes | {"name": named[1].strip()}
        text = named[2].strip()
    own: dict[str, Any]
    if text.lower().endswith(FILES):
        return _from_file(Path(text), changes)
    if text.startswith(("http://", "https://")):
        own = {"kind": "http", "url": text}
    elif text.startswith(COMMAND):
        try:
            own = {"kind": "command", "argv": shlex.split(text.removeprefix(COMMAND))}
        except ValueError as failure:
            raise InputError([InputProblem("target", text, f"a command line ({failure})")]) from None
    elif FUNCTION.fullmatch(text):
        own = {"kind": "function", "function": text}
    elif " " in text and not text.startswith("local:"):
        expected = f"a model's name, which has no blanks; a program is {COMMAND}{text}"
        raise InputError([InputProblem("target", text, expected)])
    else:
        own = {"kind": "model", "model": text}
    return _described(own, "target", changes)


def _from_file(path: Path, changes: dict[str, Any]) -> list[Target]:
    """Return the targets that a JSON or YAML file describes: one, or a list."""
    try:
        content = bytes_of(path)[: LARGEST + 1]
    except OSError as failure:
        raise InputError([InputProblem(str(path), str(failure.strerror), "a file that describes targets")]) from None
    if len(content) > LARGEST:
        raise InputError([InputProblem(str(path), "a large file", f"at most {LARGEST:,} bytes")])
    try:
        if path.suffix.lower() == ".json":
            document = json.loads(content)
        else:
            import yaml

            document = yaml.safe_load(content)
    except (ValueError, RecursionError) as failure:
        raise InputError([InputProblem(str(path), f"no JSON: {failure}", "the description of a target")]) from None
    except yaml.YAMLError as failure:
        raise InputError([InputProblem(str(path), f"no YAML: {failure}", "the description of a target")]) from None
    entries = document if isinstance(document, list) else [document]
    places = [f"{path}, target {number}" for number in range(1, 1 + len(entries))] if len(entries) > 1 else [str(path)]
    named = zip(entries, places, strict=False)
    return [*chain.from_iterable(for_each(named, lambda one: _described(*one, changes)))]


def _described(document: Any, place: str, changes: dict[str, Any]) -> list[Target]:
    """Return the targets of one description; several where it is a grid."""
    if not isinstance(document, Mapping):
        found = type(document).__name__
        raise InputError([InputProblem(place, found, "an object such as {kind: model, model: gpt-4o-mini}")])
    own = dict(document)
    if "kind" not in own:
        own["kind"] = next((kind for field, kind in _KINDS.items() if field in own), "model")
    fields = _FIELDS.get(own["kind"], {}) if isinstance(own["kind"], str) else {}
    own |= {name: new for name, new in changes.items() if name in fields or (name == "prompts" and "prompt" in fields)}
    models, prompts = own.pop("models", None), own.pop("prompts", None)
    if not isinstance(models, list | None) or not isinstance(prompts, Mapping | None) or [] in (models, prompts):
        expected = "models as a list, and prompts as an object name → text, none of them empty"
        raise InputError([InputProblem(place, "a grid of another form", expected)])
    targets, problems = [], []
    for model, prompt in product(models or [None], (prompts or {"": None}).items()):
        values = dict(own)
        if model is not None:
            values["model"] = model
        if prompt[1] is not None:
            values["prompt"] = prompt[1]
            base = own.get("name") if models is None and own.get("name") else values.get("model")
            values["name"] = f"{base} · {prompt[0]}"
        elif models is not None:
            values.pop("name", None)
        try:
            targets.append(_TARGET.validate_python(values))
        except ValidationError as failure:
            problems += _problems(failure, place)
    if problems:
        raise InputError(dict.fromkeys(problems))
    return targets


def _problems(failure: ValidationError, place: str) -> list[InputProblem]:
    problems = []
    for error in failure.errors():
        column = ".".join(str(part) for part in error["loc"][1:]) or None
        missing = error["type"] in ("missing", "union_tag_invalid", "union_tag_not_found")
        found = "nothing" if error["type"] == "missing" else repr(error["input"])
        if missing and error["type"] != "missing":
            column, found = "kind", repr(error["input"].get("kind"))
        if "key" in error["msg"] and not error["loc"][1:]:
            found = "what looks like a key"  # never shown
        problems.append(InputProblem(place, found, error["msg"].removeprefix("Value error, "), column=column))
    return problems


_FIELDS: dict[Any, Mapping[str, Any]] = {
    "model": ModelTarget.model_fields,
    "http": HttpTarget.model_fields,
    "command": CommandTarget.model_fields,
    "function": FunctionTarget.model_fields,
}
_KINDS = {"url": "http", "argv": "command", "function": "function"}  # a field that tells the kind
