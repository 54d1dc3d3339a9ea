"""Which stored specifications were made here: what one asks for can run code, so another's is asked about again.

`spec.origin` beside `spec.json` holds an HMAC of its bytes under a key of this user, which no archive, remote workspace
or other writer of the workspace has. Without it a specification came from elsewhere: whatever would carry it out first
asks for leave (`check_origin`), and leave is given by signing it (`sign_file`).
"""

import hmac
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from secrets import token_hex
from typing import Any

from metrics.core.errors import AssayError, InputError, InputProblem
from metrics.core.files import hold_lock, make_folder, text_of, write_text
from metrics.core.installation import cache_folder
from metrics.store.run import Run
from metrics.store.run_spec import FILE as SPEC

ENDING = ".origin"
VARIABLE = "ASSAY_ORIGIN"  # the key where the user's folder cannot be written: it lasts as long as the process
FLAG = "--allow-code"


def sign_file(file: Path, content: bytes | None = None) -> None:
    """Note that a specification was made, or let through, here; `content`: its bytes where it is not written yet."""
    write_text(file.with_suffix(ENDING), _signature(file.read_bytes() if content is None else content))


def is_signed(file: Path) -> bool:
    """Return whether a specification, as it is now, was made or let through here."""
    try:
        return hmac.compare_digest(file.with_suffix(ENDING).read_bytes(), _signature(file.read_bytes()).encode())
    except FileNotFoundError:
        return False


def effects_of(
    evaluators: Mapping[str, Mapping[str, Any]], resources: Mapping[str, Any], plugins: Iterable[str] = ()
) -> tuple[str, ...]:
    """Return what carrying out a specification does beyond computing, in words: code that it runs, judges, models."""
    judge, found = resources.get("judge"), [f"loads the plugin of {id}" for id in plugins]
    found += [f"runs what the models wrote ({id})" for id, own in evaluators.items() if own.get("allow")]
    for one in (judge, *judge.get("panel", ())) if isinstance(judge, Mapping) else ():
        address = f" at {one['base_url']}" if one.get("base_url") else ""
        found.append(f"asks the judge {one.get('model')}{address}")
    found += [f"loads the model {value}" for kind, value in resources.items() if kind != "judge" and value]
    return tuple(found)


def effects_of_run(run: Run) -> tuple[str, ...]:
    """Return what carrying out a run does beyond computing; see `effects_of`."""
    plugins = (entry.id for entry in run.spec.evaluators if entry.plugin is not None)
    return effects_of({entry.id: entry.parameters for entry in run.spec.evaluators}, run.spec.resources, plugins)


def foreign_effects(run: Run) -> tuple[str, ...]:
    """Return what leave has to be given for before a run is carried out; nothing for one that was made here."""
    return () if is_signed(run.home / SPEC) else effects_of_run(run)


def check_origin(run: Run, allow_code: bool = False) -> None:
    """Raise InputError where a run came from elsewhere and would do more than compute, unless that is allowed.

    Every way to carry out a stored specification passes here: resume, repair, repeat, merge, further judging.
    """
    if (effects := foreign_effects(run)) and not allow_code:
        raise from_elsewhere(f"run {run.id}", effects)


def from_elsewhere(what: str, effects: Iterable[str], how: str = "") -> InputError:
    """Return the error that a specification was not made here, what it would do, and how to allow that."""
    expected = how or f"your leave: {FLAG}; in the studio that of an admin"
    return InputError([InputProblem(what, f"that it came from elsewhere and {', '.join(effects)}", expected)])


def sign(text: str) -> str:
    """Return a text that is kept here, after a line that says so."""
    return f"{_signature(text.encode())}\n{text}"


def signed_text(path: Path) -> str:
    """Return the text of a file that `sign` made here. ValueError for any other, OSError where it cannot be read."""
    said, _, text = text_of(path).partition("\n")
    if not hmac.compare_digest(said.encode(), _signature(text.encode()).encode()):
        raise ValueError(f"{path.name} was not written here, or was changed")
    return text


def _signature(content: bytes) -> str:
    return hmac.new(_key(), content, "sha256").hexdigest()


def _key() -> bytes:
    """Return the key of this user, made on first use."""
    if given := os.environ.get(VARIABLE):
        return given.encode()
    path = cache_folder() / "origin.key"
    try:
        if not path.exists():
            with hold_lock(make_folder(path.parent) / "origin.lock", f"{path} is being made by another process"):
                if not path.exists():
                    write_text(path, token_hex(32))
        if path.stat().st_uid == os.getuid():
            return path.read_bytes()
    except (OSError, AssayError):  # a home that cannot be written: what is made here is known until this process ends
        pass
    return os.environ.setdefault(VARIABLE, token_hex(32)).encode()
