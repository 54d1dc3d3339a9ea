"""Changing inputs without destroying what they are: a zip stays a zip of changed entries, JSON stays JSON."""

import copy
import gzip
import io
import json
import re
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

ODD: Sequence[Any] = (
    None, "", " ", "NaN", "Infinity", "-1", "1e999", "0", True, [], {}, [[]], {"a": {"b": []}}, -1, 0, 2**70, 1.5,
    float("nan"), float("inf"), 1e308, 5e-324, "x" * 100_000, "\0", "\ud800", "javascript:1", "[", "['", "[" * 2_000,
    ["a", None], [1, [2]], "\u202e", "c1", "=1+1", "e\u0301", "٣", "1_000", "²", "../a", 2**31, 2**63, -(2**63), 1e9,
)  # fmt: skip
PIECES = (
    b"\0", b"\xff", b'"', b"\n", b",", b"\r", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xf0\x9f\x98", b"'", b"[", b"{", b"}",
    b";", b"\t", b'""', b"\x1a", b"\xe2\x80\xa8", b"\\u0000", b"\\ud800", b"NaN", b"1e999", b"null", b"-", b"9" * 400,
    b"9" * 5_000, b"file://etc/passwd", b"A" * 70_000, b"[" * 3_000, b"(", b")", b" NOT ", b"\\", b"<", b">", b"&a;",
    b"]", b"*", b":", b"=", b"#", b"true", b"0", b"e\xcc\x81", b"\xc2\xb2", b"\xd9\xa3", b"```", b".", b"/", b"{{",
)  # fmt: skip
SWAPS = (
    (b"\n", b"\r\n"), (b"\n", b"\r"), (b'"', b"'"), (b",", b";"), (b"case_id", b"id"), (b"c1", b"c2"), (b"1", b"-1"),
    (b"0", b""), (b'"', b""), (b".", b","), (b":", b"="), (b"yes", b"no"), (b"{", b"["), (b"2", b"1e308"),
)  # fmt: skip
CODECS = ("utf-16", "utf-16-le", "utf-32", "latin-1", "utf-8-sig", "cp1252")
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
NUMBERS = (b"0", b"-1", b"2147483648", b"9223372036854775807", b"1e308", b"5e-324", b"NaN", b"0.1", b"1e9", b"65536")
NAMES = (
    "a.txt", "labels/a.TXT", "labels/é.txt", "x/labels/a.txt", "a.xml", "data.yml", "classes.txt", "b.csv", "c.json",
    "../a.txt", "/a.txt", "labels", "labels/", "a.zip", "CON", "a" * 200 + ".txt", "\u202etxt.a", ".hidden.txt",
    "é.png", "masks/b.PNG", "a.png/", "labels.json", "__MACOSX/a.png",
)  # fmt: skip
LARGEST = 1 << 20  # bytes: larger inputs only take longer


def mutated(data: bytes, rng: Random, other: bytes = b"") -> bytes:
    """Return `data` changed as what it is (zip, gzip, Parquet, JSON, lines of JSON), or as mere bytes."""
    if rng.random() < 0.75:
        for change in (_of_zip, _of_gzip, _of_parquet, _of_json, _of_lines):
            with suppress(Exception):  # it is something else
                return change(data, rng, other)[:LARGEST]
    return mutate_bytes(data, rng, other)[:LARGEST]


def mutate_bytes(data: bytes, rng: Random, other: bytes = b"") -> bytes:
    """Return `data` after one to three cuts, insertions, overwritten bytes, numbers, copied spans or other codecs."""
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(data) + 1)
        kind = rng.randrange(11)
        if kind == 0:
            data = data[:place]
        elif kind in (1, 2):
            data = data[:place] + rng.choice(PIECES) + data[place:]
        elif kind == 3:
            data = data[:place] + bytes([rng.randrange(256)]) + data[place + 1 :]
        elif kind == 4:
            end = min(len(data), place + rng.randrange(60))
            data = data[:end] + data[place:end] * rng.randint(1, 3) + data[end:]
        elif kind == 5:
            data = data[:place] + data[place + rng.randrange(1, 60) :]
        elif kind == 6:
            data = data.replace(*rng.choice(SWAPS))
        elif kind in (7, 8) and (found := list(NUMBER.finditer(data[:LARGEST]))):
            number = rng.choice(found)
            data = data[: number.start()] + rng.choice(NUMBERS) + data[number.end() :]
        elif kind == 9 and other:
            begin = rng.randrange(len(other))
            data = data[:place] + other[begin : begin + rng.randrange(200)] + data[place:]
        elif kind == 10 and rng.random() < 0.3:
            data = data.decode("utf-8", "ignore").encode(rng.choice(CODECS), "replace")
    return data


def mutate_values(document: Any, rng: Random, other: Any = None) -> Any:
    """Return a copy in which some values, keys or records are replaced by odd ones, dropped, doubled or moved."""
    document = copy.deepcopy(document)
    for _ in range(rng.randint(1, 4)):
        place = document
        while isinstance(place, dict | list) and place:
            key = rng.choice(list(place) if isinstance(place, dict) else range(len(place)))
            if isinstance(place[key], dict | list) and place[key] and rng.random() < 0.8:
                place = place[key]
                continue
            kind = rng.random()
            if kind < 0.15:
                del place[key]
            elif kind < 0.25 and isinstance(place, list):
                place.append(copy.deepcopy(place[key]))
            elif kind < 0.3 and isinstance(place, dict):
                place[str(rng.choice(ODD))] = place.pop(key)
            elif kind < 0.4:
                place[key] = [place[key]] if rng.random() < 0.5 else {"a": place[key]}
            else:
                place[key] = copy.deepcopy(rng.choice(ODD) if other is None or kind < 0.9 else other)
            break
    return document


def _of_json(data: bytes, rng: Random, other: bytes) -> bytes:
    try:
        beside = json.loads(other)
    except ValueError:
        beside = None
    return json.dumps(mutate_values(json.loads(data), rng, beside), ensure_ascii=rng.random() < 0.5).encode(
        "utf-8", "surrogatepass"
    )


def _of_lines(data: bytes, rng: Random, _: bytes) -> bytes:
    records = mutate_values([json.loads(line) for line in data.splitlines() if line.strip()], rng)
    return b"\n".join(json.dumps(record).encode() for record in records)


def _of_gzip(data: bytes, rng: Random, other: bytes) -> bytes:
    if not data.startswith(b"\x1f\x8b"):
        raise ValueError
    return gzip.compress(mutated(gzip.decompress(data), rng, other), 1)


def _of_parquet(data: bytes, rng: Random, _: bytes) -> bytes:
    if not data.startswith(b"PAR1"):
        raise ValueError
    table = pa.Table.from_pylist(mutate_values(pq.read_table(io.BytesIO(data)).to_pylist(), rng))
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()


def _of_zip(data: bytes, rng: Random, other: bytes) -> bytes:
    """Return a zip some of whose entries are changed, renamed, missing or another zip's."""
    entries = zip_entries(data)
    for _ in range(rng.randint(0, 3)):
        name = rng.choice(list(entries))
        entries[name] = mutated(entries[name], rng)
    if rng.random() < 0.25:
        entries[rng.choice(NAMES)] = entries.pop(rng.choice(list(entries)))
    if rng.random() < 0.15 and len(entries) > 1:
        entries.pop(rng.choice(list(entries)))
    if rng.random() < 0.2:
        with suppress(zipfile.BadZipFile):
            entries = zip_entries(other) | entries
    return zip_of(entries, rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))


def zip_entries(data: bytes) -> dict[str, bytes]:
    """Return the files in a zip by name. Raises BadZipFile."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zip_of(entries: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in entries.items():
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return buffer.getvalue()
