"""The seal of stored inputs: `files` in `suite.json` and `outputs.json`, the sha256 of each table beside them.

`sha256` there is that of everything else in the file, but for the name, which people may change. What was stored by
earlier versions has none; its content can still be compared with the fingerprint, by which it is stored.
"""

import hashlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from metrics.core.arrow import stored_rows
from metrics.core.classes import classes_of
from metrics.core.errors import RunCorrupt
from metrics.core.suite import OUTPUTS, Outputs, Suite, conform
from metrics.store.manifest import FILE, cache_by_file, checked, digest_of, file_facts, listing_facts, own_digest
from metrics.store.run_spec import LaterSchema, spec_of
from metrics.store.stored_facts import OWN, OutputsFile, SuiteFile, facts_of, plain_of

FACTS = {"suites": "suite.json", "outputs": "outputs.json"}  # by the folder of the workspace
MEDIA = {"suites": "media", "outputs": "artifacts"}
OPEN = ("name", "names", OWN)  # what its checksum leaves out


def sealed(folder: Path, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of `suite.json` or `outputs.json` with `files` and `media` beside it, and their checksum."""
    whole = {**facts, "files": {path.name: file_facts(path) for path in sorted(folder.glob("*.parquet"))}}
    media = folder / MEDIA[folder.parent.name]
    if media.is_dir():
        whole["media"] = listing_facts(media)
    return whole | {OWN: _checksum(whole)}


def checked_facts(text: str, name: str) -> dict[str, Any]:
    """Return the facts in the text of `suite.json` or `outputs.json`. Raises ValueError saying what is wrong."""
    return facts_of(text, SuiteFile if name == FACTS["suites"] else OutputsFile, _checksum)


def _checksum(facts: Mapping[str, Any]) -> str:
    return own_digest(facts, OPEN)


def input_facts(folder: Path) -> dict[str, Any]:
    """Return the facts of a stored suite or outputs, shared and read-only. Raises RunCorrupt."""
    path = folder / FACTS[folder.parent.name]
    try:
        return _facts(path)
    except (OSError, ValueError, RecursionError) as failure:
        raise damaged(folder, f"{path.name} cannot be read ({getattr(failure, 'strerror', None) or failure})") from None


def checked_input(folder: Path, name: str, seals: Collection[str] = ()) -> Path | None:
    """Return a file of stored inputs, compared with its seal; None where there never was one of that name.

    `seals`: other sha256 that it may have, such as that in the manifest of a run from another machine, where another
    version may have written the same content in other bytes. Raises RunCorrupt where it is lost or has none of these:
    content with the right fingerprint would not do, as readers skip rows by the statistics in the file.
    """
    own = _sealed(folder).get(name)
    expected = {*seals} | ({str(own["sha256"])} if own else set())
    path = folder / name
    if not path.exists():
        if expected:
            raise damaged(folder, f"{name} is lost", lost=True)
        return None
    if expected and digest_of(path) not in expected:
        raise damaged(folder, f"{name} differs from its seal")
    return path


def is_sealed(folder: Path) -> bool:
    """Return whether stored inputs have a seal of their own; those of earlier versions have none."""
    try:
        return bool(_sealed(folder))
    except RunCorrupt:
        return False


def has_fingerprint(folder: Path) -> bool:
    """Return whether the content of stored inputs has the fingerprint that names their folder.

    Of outputs it may have another although they are whole: they are stored in the order of their suite.
    """
    tables = sorted(folder.glob("*.parquet"))
    return _has_fingerprint(folder, tuple(map(digest_of, tables)))


def damaged(folder: Path, what: str, lost: bool = False) -> RunCorrupt:
    """Return the error that stored inputs are lost or differ from their seal."""
    whose = "stored suite" if folder.parent.name == "suites" else "stored outputs"
    return RunCorrupt(f"of the {whose} {folder.name[:12]}… {what}; restore it from a backup", lost=lost)


def read_suite(folder: Path, cases: pa.Table, annotations: pa.Table | None) -> Suite:
    """Return the stored suite in a folder with these tables of it."""
    facts, media = input_facts(folder), folder / MEDIA["suites"]
    labels, ids, keys = map(tuple, (facts["labels"], facts["category_ids"], facts.get("label_keys", ())))
    images, classes = media if media.exists() else None, classes_of(facts.get("classes", {}))
    name, task, left_out = facts["name"], facts["task"], facts["left_out"]
    return Suite(name, task, cases, annotations, labels, images, left_out, ids, keys, classes)


def _sealed(folder: Path) -> Mapping[str, Mapping[str, Any]]:
    facts = folder / FACTS[folder.parent.name]
    return input_facts(folder).get("files", {}) if facts.exists() else {}


@cache_by_file
def _facts(path: Path) -> dict[str, Any]:
    return checked_facts(path.read_text(encoding="utf-8"), path.name)


@lru_cache(maxsize=64)
def _has_fingerprint(folder: Path, digests: tuple[str, ...]) -> bool:  # noqa: ARG001 - a part of the cache's key
    def table(name: str) -> pa.Table | None:
        return stored_rows(folder / name) if (folder / name).exists() else None

    try:
        if folder.parent.name == "suites":
            whole = read_suite(folder, table("cases.parquet"), table("annotations.parquet"))
            return whole.fingerprint == folder.name
        outputs = Outputs(conform(table("outputs.parquet"), OUTPUTS), table("predictions.parquet"))
        return outputs.fingerprint == folder.name
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RunCorrupt, pa.ArrowException):
        return False


def contradictions(texts: Mapping[str, str], digests: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield file and fault where what came from elsewhere is not what was sealed; its tables are compared by who reads.

    texts: the JSON files of a run by name; digests: the sha256 of the others. ValueError where one is none.
    """
    seal = checked(texts[f"run/{FILE}"])
    with suppress(LaterSchema):  # who reads it says so
        spec_of(plain_of(texts["run/spec.json"]))
    if seal.get("spec") not in (None, hashlib.sha256(texts["run/spec.json"].encode()).hexdigest()):
        yield "run/spec.json", "is not the specification that was sealed"
    for kind in ("suite", "outputs"):
        for file, own in checked_facts(texts[f"{kind}/{kind}.json"], f"{kind}.json").get("files", {}).items():
            name = f"{kind}/{file}"
            others = seal.get("inputs", {}).get(name, {})  # of a run from another machine: see input_seals
            if digests.get(name) not in (own["sha256"], others.get("sha256")):
                yield name, "is not the table that was stored"
