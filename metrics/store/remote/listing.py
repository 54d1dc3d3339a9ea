"""The object that lists a run in a remote workspace, `runs/ID.json`: its small files, and the objects of the others.

`content` has run, suite and outputs (fingerprints), `texts` (the JSON files themselves, by name) and `files` (sha256
and bytes of each other file, by name); `sha256` is that of `content`, so that a flipped bit is seen.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from metrics.core.errors import RemoteError
from metrics.core.schema import SCHEMA_VERSION
from metrics.store.input_seals import contradictions
from metrics.store.manifest import canonical
from metrics.store.own_files import NAMES

MAX_SMALL_OBJECT = 1 << 28  # bytes


def too_long(place: str, name: str) -> RemoteError:
    """Return that what should be a small object has more than MAX_SMALL_OBJECT bytes."""
    return RemoteError(f"{place}/{name} has more than {MAX_SMALL_OBJECT:,} bytes: it is no list of a run; remove it")


FOLDER = "runs"
VERSION = 1
TEXT = ".json"  # the ending of the files that stand in the listing itself
SPEC, SEAL = "run/spec.json", "run/manifest.json"
NEEDED = (
    SPEC, SEAL, "suite/suite.json", "outputs/outputs.json", "run/tables/scores.parquet",
    "run/tables/aggregates.parquet", "suite/cases.parquet", "outputs/outputs.parquet",
)  # fmt: skip
REPAIR = "restore it, or remove it and push the run again"
ID = r"[0-9]{8}-[0-9]{6}-[0-9a-f]{6}"
HASH = r"[0-9a-f]{64}"


class File(BaseModel):
    """One file of a run: its object is named by `sha256`."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    sha256: str
    bytes: int = Field(ge=0)

    @property
    def object(self) -> str:
        """The name of the object."""
        return f"objects/{self.sha256[:2]}/{self.sha256}"


class Listing(BaseModel):
    """What a remote workspace says of one run."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    format: Literal["assay remote run"] = "assay remote run"
    version: int = VERSION
    run: str
    suite: str
    outputs: str
    texts: dict[str, str]
    files: dict[str, File]

    @property
    def seal(self) -> tuple[str, str]:
        """Return what two pushes of a run have in common: specification and manifest, with each table's sha256."""
        return self.texts[SPEC], self.texts[SEAL]

    def path(self, workspace: Path, name: str) -> Path:
        """Return where a file belongs in a workspace."""
        kind, _, rest = name.partition("/")
        home = {"run": f"runs/{self.run}", "suite": f"suites/{self.suite}", "outputs": f"outputs/{self.outputs}"}[kind]
        return workspace / home / rest

    def to_bytes(self) -> bytes:
        """Return the listing as it is stored; equal ones give equal bytes."""
        content = canonical(self.model_dump())
        return b'{"content":' + content + b',"sha256":"' + hashlib.sha256(content).hexdigest().encode() + b'"}\n'


def listing_from(stored: bytes, place: str, run_id: str) -> Listing:
    """Return a listing as it was stored at `place`. RemoteError saying what is wrong with it."""
    where = f"{place}/{FOLDER}/{run_id}.json"
    try:
        raw = json.loads(stored)
        content = raw["content"]
        if hashlib.sha256(canonical(content)).hexdigest() != raw["sha256"]:
            raise RemoteError(f"{where} was changed: its sha256 differs; {REPAIR}")
        if content["version"] > VERSION:
            raise RemoteError(f"{where} has version {content['version']}; this Assay reads up to {VERSION}: update it")
        listing = Listing.model_validate(content)
        wrong = next(_wrong(listing, run_id), None)
    except (ValueError, KeyError, TypeError, AttributeError, ValidationError, RecursionError):
        raise RemoteError(f"{where} is no listing of a run; {REPAIR}") from None
    if wrong:
        raise RemoteError(f"{where}: {wrong}")
    return listing


def _wrong(listing: Listing, run_id: str) -> Iterator[str]:
    """Yield what cannot be true of a listing that `push` made."""
    spec, seal = (json.loads(listing.texts[name]) for name in (SPEC, SEAL))
    names = (*listing.texts, *listing.files)
    yield from (f"it has no {name}" for name in NEEDED if name not in names)
    if len({name.lower() for name in names}) < len(names):
        yield "it names a file twice, on disks that take upper and lower case alike"
    yield from (f"the name {name!r} is none of a run's file" for name in names if not re.fullmatch(NAMES, name))
    yield from (f"{name} has no sha256" for name, file in listing.files.items() if not re.fullmatch(HASH, file.sha256))
    if spec["schema"] > SCHEMA_VERSION:
        yield f"the run has schema {spec['schema']}; this Assay reads up to {SCHEMA_VERSION}: update it"
    inputs = [spec[kind]["fingerprint"] for kind in ("suite", "outputs")]
    if [listing.run, listing.suite, listing.outputs] != [run_id, *inputs] or spec["id"] != run_id:
        yield "it is of another run, suite or outputs than its specification"
    if not (re.fullmatch(ID, run_id) and all(re.fullmatch(HASH, one) for one in inputs)):
        yield "its run, suite or outputs have names that Assay never gives"
    digests = {name: file.sha256 for name, file in listing.files.items()}
    yield from (f"{name} {fault}" for name, fault in contradictions(listing.texts, digests))
    for table in seal["tables"].values():
        file = listing.files.get(f"run/{table['file']}")
        if file is None or file.sha256 != table["sha256"]:
            yield f"{table['file']} is not the table that was sealed"
