"""What the JSON files of a sealed run may hold: types, bounds and names, the same wherever one is read or imported.

Every count is a number that a table can have, every number finite, every file named once and by its own name. Keys that
another version wrote are passed over; a key twice is refused, since readers differ in which of the two they take.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, Strict, ValidationError, model_validator

from metrics.core.suite import Task

OWN = "sha256"  # of everything else in a stored file
Count = Annotated[int, Field(ge=0, lt=1 << 53)]  # what a float, and so every reader of JSON, can count
Whole = Annotated[int, Field(gt=-(1 << 63), lt=1 << 63)]
Amount = Annotated[float, Field(ge=0, lt=1e15, allow_inf_nan=False)]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
T = TypeVar("T")
Listed = Annotated[tuple[T, ...], Strict(False)]  # a list in JSON; what it holds is as strict as the rest


class Facts(BaseModel):
    """A part of a stored file: what is required has been written by every version, the rest has a default."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


class FileFacts(Facts):
    """A file beside the seal."""

    bytes: Count
    sha256: Digest


class MediaFacts(FileFacts):
    """A folder of files, by their names and sizes."""

    files: Count


class TableFacts(Facts):
    """A sealed table."""

    file: str
    sha256: Digest
    rows: Count | None = None


class SpendFacts(Facts):
    """What the judges of a run have cost, see metrics.judge.budget.Spend."""

    judges: Listed[str] = ()
    calls: Count = 0
    cached: Count = 0
    replies: Count = 0
    prompt_tokens: Count = 0
    completion_tokens: Count = 0
    unpriced: Count = 0
    usd: Amount | None = None
    priced_usd: Amount = 0.0
    left_out: Listed[str] = ()


class SealFacts(Facts):
    """A run's manifest.json."""

    tables: dict[str, TableFacts]
    schema_version: Annotated[int, Field(alias="schema", ge=1)] = 1
    run: str = ""
    sealed: str = ""
    seconds: Amount = 0.0
    units: Count = 0
    suite: Digest | None = None
    outputs: Digest | None = None
    seed: Whole = 0
    evaluators: list[dict[str, Any]] = []
    judge: SpendFacts | None = None
    spec: Digest | None = None
    inputs: dict[str, FileFacts] = {}
    identities: dict[str, Digest] = {}
    reused: dict[str, Count] = {}
    versions: dict[str, str] = {}

    @model_validator(mode="after")
    def check_tables(self) -> "SealFacts":
        """Refuse a file that is named twice, or by another table's name."""
        wrong = [name for name, one in self.tables.items() if one.file != f"tables/{name.replace('/', '.')}.parquet"]
        if wrong:
            raise ValueError(f"the file {self.tables[wrong[0]].file!r} for the table {wrong[0]}")
        return self


class SuiteFile(Facts):
    """A stored suite's suite.json."""

    name: str
    task: Task
    labels: Listed[str]
    category_ids: Listed[Whole]
    cases: Count
    left_out: Count
    label_keys: Listed[str] = ()
    names: Listed[str] = ()
    classes: dict[str, Any] = {}
    files: dict[str, FileFacts] = {}
    media: MediaFacts | None = None


class ModelRows(Facts):
    """The rows of one model in stored outputs."""

    rows: Count
    runs: Listed[Count]


class OutputsFile(Facts):
    """Stored outputs' outputs.json."""

    models: dict[str, ModelRows]
    left_out: Count
    files: dict[str, FileFacts] = {}
    media: MediaFacts | None = None


def facts_of(text: str | bytes, kind: type[BaseModel], checksum_of: Callable[[dict[str, Any]], str]) -> dict[str, Any]:
    """Return the plain facts in the text of a stored file. Raises ValueError saying what is wrong with them.

    checksum_of: what OWN in it has to be; earlier versions wrote none.
    """
    found = plain_of(text)
    if not isinstance(found, dict):
        raise ValueError(f"it holds a {type(found).__name__}")
    if OWN in found and found[OWN] != checksum_of(found):
        raise ValueError(f"it was changed: its own {OWN} differs")
    try:
        kind.model_validate(found)
    except ValidationError as failure:
        raise ValueError("it has " + " and ".join(misfits(failure))) from None
    return found


def plain_of(text: str | bytes) -> Any:
    """Return the plain data of a JSON text. ValueError where it is none, has a key twice or is nested too deeply."""
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"it has a key twice, one of {', '.join(found)[:80]}")
    return found


def misfits(failure: ValidationError) -> Iterator[str]:
    """Yield what a stored file lacks or has of another kind, in words."""
    for error in failure.errors(include_url=False):
        place = ".".join(map(str, error["loc"]))
        if error["type"] == "missing":
            yield f"no {place}"
        elif error["type"] == "value_error":
            inner = error["ctx"]["error"]
            yield from misfits(inner) if isinstance(inner, ValidationError) else [str(inner)]
        else:
            kind = "a fingerprint" if error["type"] == "string_pattern_mismatch" else place
            yield f"{error['input']!r:.80} as {kind}"
