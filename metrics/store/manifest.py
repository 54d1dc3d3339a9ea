"""The seal of a run, `manifest.json`: its tables with rows and sha256, its specification's and its inputs' sha256.

`sha256` in it is that of everything else in it. Manifests of earlier versions have none, and are read without.
"""

import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from metrics.core.files import json_of, write_json
from metrics.store.digests import cache_by_file, content_digest

FILE = "manifest.json"
OWN = "sha256"


def write_manifest(folder: Path, facts: Mapping[str, Any]) -> None:
    """Seal a run: write its manifest, with a checksum of its own."""
    plain = json.loads(json.dumps(facts))
    write_json(folder / FILE, plain | {OWN: content_digest(plain)})


def read_manifest(folder: Path) -> Mapping[str, Any] | None:
    """Return the manifest in a folder, shared and read-only; None without one.

    Raises ValueError saying what is wrong with it, OSError where it cannot be read.
    """
    try:
        return _read_manifest(folder / FILE)
    except FileNotFoundError:
        return None


def has_manifest(folder: Path) -> bool:
    """Return whether there is a manifest in a folder that can be read."""
    try:
        return read_manifest(folder) is not None
    except (OSError, ValueError, RecursionError):
        return False


@cache_by_file
def _read_manifest(path: Path) -> Mapping[str, Any]:
    return checked(path.read_text(encoding="utf-8"))


def checked(text: str) -> Mapping[str, Any]:
    """Return the manifest with that text. Raises ValueError saying what is wrong with it."""
    found = json_of(text)
    if not isinstance(found, dict):
        raise ValueError(f"it holds a {type(found).__name__}")
    if OWN in found and content_digest({name: found[name] for name in found if name != OWN}) != found[OWN]:
        raise ValueError("it was changed: its own sha256 differs")
    tables = found.get("tables")
    if not isinstance(tables, dict) or not all(map(_is_table, tables.values())):
        raise ValueError("its list of tables is none")
    return found


def _is_table(facts: Any) -> bool:
    if not isinstance(facts, dict) or not all(isinstance(facts.get(name), str) for name in ("file", "sha256")):
        return False
    file = PurePosixPath(facts["file"])
    return not file.is_absolute() and ".." not in file.parts
