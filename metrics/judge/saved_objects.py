"""Objects that users write and keep in a workspace (prompts, rubrics): named, versioned, one JSON file each."""

import json
import re
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from metrics.core.errors import InputError, InputProblem, for_each
from metrics.core.files import list_paths, text_of, write_json

LONGEST_FILE = 1_000_000  # bytes
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
NAMES = "up to 64 small letters, digits, - and _, first a letter or a digit"


class Saved(BaseModel):
    """A user's own object as it is saved and shared; `version` counts its changes."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    FOLDER: ClassVar[str]  # of the workspace

    id: str = Field(pattern=NAME.pattern.join("^$"), description="Small letters, digits, - and _; names the file.")
    title: str = Field(min_length=1, max_length=120)
    version: int = Field(default=1, ge=1)


S = TypeVar("S", bound=Saved)


def checked(kind: type[S], values: Any, name: str) -> S:
    """Return the object of these values, read from a file `name`. Raises InputError with everything that is wrong."""
    try:
        return kind.model_validate(values)
    except ValidationError as failure:
        raise InputError(
            InputProblem(
                name,
                repr(error["input"]),
                NAMES if error["loc"] == ("id",) else error["msg"].removeprefix("Value error, "),
                column=".".join(map(str, error["loc"])) or None,
            )
            for error in failure.errors(include_url=False)
        ) from None


def read_object(kind: type[S], text: str, name: str) -> S:
    """Return the object in the JSON text of a file `name`. Raises InputError with everything that is wrong with it."""
    try:
        values = json.loads(text)
    except json.JSONDecodeError as failure:
        found = f"{failure.msg} at line {failure.lineno}, column {failure.colno}"
        raise InputError([InputProblem(name, found, f"JSON with {', '.join(kind.model_fields)}")]) from None
    return checked(kind, values, name)


def file_text(path: Path) -> str:
    """Return the text of a user's file. Raises InputError where it is too large or no UTF-8 text."""
    try:
        if path.stat().st_size > LONGEST_FILE:
            raise InputError([InputProblem(path.name, "a file of over 1 MB", "a file of at most 1 MB")])
        return text_of(path)
    except (OSError, UnicodeDecodeError) as failure:
        raise InputError([InputProblem(path.name, str(failure), "a readable UTF-8 file")]) from None


def load(workspace: Path, kind: type[S], id: str) -> S | None:
    """Return the saved object of that id; None where there is none. Raises InputError for an unreadable file."""
    path = workspace / kind.FOLDER / f"{id}.json"
    return _read_saved(kind, path) if NAME.fullmatch(id) and path.exists() else None


def save(workspace: Path, made: S) -> S:
    """Save the object in the workspace, as the next version if it has changed, and return it as saved."""
    before = load(workspace, type(made), made.id)
    if before is not None:
        same = before.model_copy(update={"version": made.version}) == made
        made = made.model_copy(update={"version": before.version + (not same)})
    write_json(workspace / made.FOLDER / f"{made.id}.json", made.model_dump(mode="json"))
    return made


def every(workspace: Path, kind: type[S]) -> list[S]:
    """Return the saved objects of a kind, by title. Raises InputError naming every unreadable file."""
    found = for_each(list_paths(workspace / kind.FOLDER, "*.json"), partial(_read_saved, kind))
    return sorted(found, key=lambda one: one.title.casefold())


def _read_saved(kind: type[S], path: Path) -> S:
    return read_object(kind, file_text(path), path.name)
