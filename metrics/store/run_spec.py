"""The specification of a run, `spec.json`: what was asked of it, written once when the run is created."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from metrics.core.registry import note_missing
from metrics.core.schema import SCHEMA_VERSION
from metrics.store.digests import kept_by_file

FILE = "spec.json"
MADE = ("schema", "id", "created")  # of a specification: by whoever stores it
FINGERPRINT = re.compile(r"[0-9a-f]{64}")
SHAPE: Mapping[str, Any] = {  # what every version has written, and its kinds
    "schema": int,
    "name": str,
    "created": str,
    "seed": int,
    "suite": {"fingerprint": str, "name": str, "task": str, "cases": int},
    "outputs": {"fingerprint": str, "models": list},
    "evaluators": list,
}
EVALUATOR = {"id": str, "version": int, "parameters": dict}


class LaterSchema(ValueError):
    """A later version of Assay wrote the specification."""


def read_spec(folder: Path) -> dict[str, Any]:
    """Return the specification in a folder, shared and read-only.

    Raises ValueError saying what is wrong with it (LaterSchema where only a later version can read it), OSError where
    it cannot be read.
    """
    return _read(folder / FILE)


@kept_by_file
def _read(path: Path) -> dict[str, Any]:
    spec = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(spec, dict):
        raise ValueError(f"it holds a {type(spec).__name__}")
    if isinstance(spec.get("schema"), int) and spec["schema"] > SCHEMA_VERSION:
        raise LaterSchema(f"schema {spec['schema']}; this Assay reads up to {SCHEMA_VERSION}: update it")
    wrong = [*_misfits(spec, SHAPE, "")]
    if not wrong:
        wrong = [text for number, one in enumerate(spec["evaluators"]) for text in _misfits(one, EVALUATOR, number)]
        wrong += [f"{one!r:.80} as a model" for one in spec["outputs"]["models"] if not isinstance(one, str)]
        fingerprints = [spec[kind]["fingerprint"] for kind in ("suite", "outputs")]
        wrong += [f"{one!r:.80} as a fingerprint" for one in fingerprints if not FINGERPRINT.fullmatch(one)]
    if wrong:
        raise ValueError("it has " + " and ".join(wrong))
    for entry in spec["evaluators"]:
        if "plugin" in entry:  # it may be missing here: what the run says of it is known from now on
            note_missing(entry["id"], entry["version"], entry["plugin"].get("declared", {}))
    return spec


def _misfits(found: Any, shape: Mapping[str, Any], where: object) -> list[str]:
    """Return what a part of a specification lacks or has of another kind, in words."""
    if not isinstance(found, dict):
        return [f"{found!r:.80} as {where}"]
    wrong = []
    for name, kind in shape.items():
        if name not in found:
            wrong.append(f"no {name}")
        elif isinstance(kind, dict):
            wrong += _misfits(found[name], kind, name)
        elif not isinstance(found[name], kind):
            wrong.append(f"{found[name]!r:.80} as {name}")
    return wrong
