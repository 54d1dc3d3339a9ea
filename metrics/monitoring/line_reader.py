"""Reading JSONL of any length: the id of each line, all of a sampled one; unreadable lines are reported, not fatal."""

import hashlib
import os
import select
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import orjson

from metrics.core.errors import InputError, InputProblem
from metrics.core.files import open_regular
from metrics.ingest.tables.columns import SUITE_ALIASES
from metrics.ingest.tables.values import flatten

BLOCK = 1 << 20
LINE_BYTES = 8 << 20
FIELDS = 1_000  # of one record, objects inside it spread
EDGE = 4_096  # bytes at the start and before the place reached, by which a file is recognised
IDLE_SECONDS = 1.0
IDS = (
    "case_id", *(name for name in SUITE_ALIASES["case_id"] if name != "test_idx"), "request_id", "trace_id",
    "event_id", "interaction_id", "uuid",
)  # fmt: skip
OBJECT = 'an object such as {"id": "1", "question": "…", "answer": "…"}'

Complain = Callable[[int, str, str], None]  # line, found, expected
Blocks = Iterator[bytes | None]


@dataclass(frozen=True, slots=True)
class Record:
    """A sampled line: its number from 1, its id (if not `named`, a digest of the line), its fields."""

    line: int
    id: str
    named: bool
    fields: dict[str, Any]


Take = Callable[[bytes, int], Record | None]  # of a line and its number


@dataclass(slots=True)
class Place:
    """How far a source has been read: the bytes and lines before this place, `read` of them not blank.

    `open`: the last of them had no line break yet; `left`: bytes of an unfinished last line, to be read later.
    """

    offset: int = 0
    line: int = 0
    read: int = 0
    open: bool = False
    left: int = 0


class Sampler:
    """Takes a share `rate` of ids: those whose keyed BLAKE2b digest is below it, so every replay takes the same.

    `seed` is the key: monitors with different seeds take independent samples. InputError unless 0 < `rate` ≤ 1.
    """

    def __init__(self, rate: float, seed: int = 0):
        if not 0 < rate <= 1:
            raise InputError([InputProblem("--rate", f"{rate:g}", "a share above 0, at most 1")])
        self._limit = round(rate * 2**64)
        self._key = hashlib.blake2b(str(seed).encode(), digest_size=16).digest()

    def takes(self, id: str) -> bool:
        """Return whether the line with that id is sampled."""
        digest = hashlib.blake2b(id.encode(), digest_size=8, key=self._key).digest()
        return int.from_bytes(digest, "big") < self._limit


def file_blocks(stream: BinaryIO, offset: int) -> Blocks:
    """Yield the bytes of a file from `offset` to its end."""
    stream.seek(offset)
    while block := stream.read(BLOCK):
        yield block


def pipe_blocks(descriptor: int) -> Blocks:
    """Yield the bytes of a pipe as they arrive; None after each second without any."""
    while True:
        ready, _, _ = select.select([descriptor], [], [], IDLE_SECONDS)
        if not ready:
            yield None
            continue
        block = os.read(descriptor, BLOCK)
        if not block:
            return
        yield block


def mark(path: Path, offset: int) -> str | None:
    """Return what identifies a file that was read up to `offset`, whatever its name; None where it is shorter now."""
    if path.stat().st_size < offset:
        return None
    with path.open("rb") as stream:
        head = stream.read(min(EDGE, offset))
        stream.seek(max(0, offset - EDGE))
        return hashlib.sha256(head + b"\n" + stream.read(min(EDGE, offset))).hexdigest()


def id_names(wanted: str | None) -> tuple[str, ...]:
    """Return the fields that may hold the id, by preference: `wanted`, else the usual names in both spellings."""
    return (wanted,) if wanted is not None else spellings(IDS)


def spellings(names: Iterable[str]) -> tuple[str, ...]:
    """Return names with underscores, then in camel case."""
    names = tuple(names)
    camel = (first + "".join(word.title() for word in rest) for first, *rest in (name.split("_") for name in names))
    return tuple(dict.fromkeys([*names, *camel]))


def sampled(
    blocks: Blocks, place: Place, sampler: Sampler, names: tuple[str, ...], complain: Complain, *, ends: bool
) -> Iterator[Record | None]:
    """Yield the sampled lines, with `place` moved past each before it is yielded; None whenever the source is idle.

    A last line without a line break is read if it is a complete object. If not, it is left for the next time, or where
    the source `ends` for good, as a pipe does, it is a bad line.
    """
    take = _taker(sampler, names, complain)
    rest, skipped = b"", 0
    for block in blocks:
        if block is None:
            yield None
            continue
        pieces = (rest + block).split(b"\n")
        rest = pieces.pop()
        for piece in pieces:
            if place.open and not piece and not skipped:  # the break after a line that was read without it
                place.open = False
                place.offset += 1
                continue
            place.open = False
            place.offset += skipped + len(piece) + 1
            place.line += 1
            if skipped or len(piece) > LINE_BYTES:
                place.read += 1
                _too_long(complain, place.line, skipped + len(piece))
                skipped = 0
                continue
            if not piece or piece.isspace():
                continue
            place.read += 1
            record = take(piece.removeprefix(b"\xef\xbb\xbf") if place.line == 1 else piece, place.line)
            if record is not None:
                yield record
        if skipped or len(rest) > LINE_BYTES:
            skipped += len(rest)
            rest = b""
    place.left = 0
    if skipped or rest.strip():
        yield from _last(rest, skipped, place, take, complain, ends)


def _last(rest: bytes, skipped: int, place: Place, take: Take, complain: Complain, ends: bool) -> Iterator[Record]:
    whole = not skipped and _is_object(rest)
    if not whole and not ends:
        place.left = skipped + len(rest)
        return
    place.offset += skipped + len(rest)
    place.line += 1
    place.read += 1
    place.open = True
    if skipped:
        _too_long(complain, place.line, skipped + len(rest))
        return
    record = take(rest, place.line)
    if record is not None:
        yield record


def _too_long(complain: Complain, line: int, size: int) -> None:
    complain(line, f"{size:,} bytes", f"lines of at most {LINE_BYTES:,} bytes")


def _is_object(text: bytes) -> bool:
    try:
        return isinstance(msgspec.json.decode(text, type=dict[str, msgspec.Raw]), dict)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


def _taker(sampler: Sampler, names: tuple[str, ...], complain: Complain) -> Take:
    """Return the function that turns a line into its record, where it is sampled."""
    fields = [(f"id_{index}", str | int | None, None) for index in range(len(names))]
    renamed = {f"id_{index}": name for index, name in enumerate(names)}
    decode = msgspec.json.Decoder(msgspec.defstruct("Head", fields, rename=renamed)).decode

    def take(piece: bytes, line: int) -> Record | None:
        try:
            head = msgspec.structs.astuple(decode(piece))
            given = next((value for value in head if value is not None and value != ""), None)
            id = "line:" + hashlib.blake2b(piece.strip(), digest_size=16).hexdigest() if given is None else str(given)
            fields = flatten(orjson.loads(piece)) if sampler.takes(id) else None
        except (msgspec.DecodeError, UnicodeDecodeError, orjson.JSONDecodeError) as failure:
            complain(line, str(failure), OBJECT)
            return None
        except RecursionError:
            complain(line, "values nested too deeply", OBJECT)
            return None
        if fields is None:
            return None
        if len(fields) > FIELDS:
            complain(line, f"{len(fields):,} fields", f"at most {FIELDS:,}")
            return None
        return Record(line, id, given is not None, fields)

    return take


def check_file(path: Path) -> None:
    """Raise InputError where the file cannot be read."""
    expected = "a file of JSON lines, or - for standard input"
    if path.is_dir():
        raise InputError([InputProblem(str(path), "a folder", expected)])
    try:
        open_regular(path).close()
    except OSError as failure:
        raise InputError([InputProblem(str(path), failure.strerror or str(failure), expected)]) from None
