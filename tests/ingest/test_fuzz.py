"""Mutated uploads: each gives a good table or a list of problems, quickly, and never any other exception."""
# ruff: noqa: E501, PT017 - tables read better with one line a case; both outcomes are good
# ruff: noqa: PT017 - tables read better with one line a case; both outcomes are good

import copy
import io
import json
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from metrics.core.errors import InputError
from metrics.core.suite import OUTPUTS, PREDICTIONS, Suite
from metrics.ingest import inspect, load_combined, load_outputs, load_suite

BATCHES, PER_BATCH = 40, 14  # 560 mutations, each read strictly and with its good rows kept

CASES = [
    {"case_id": f"c{number}", "question": f"Wie groß ist {number}?", "expected_answer": [f"a{number}", "b;c"], "tags": ["x", "y"],
     "weight": 0.5, "model": "m", "answer": f"it is {number}", "contexts": ["one", "two"], "latency": 1.25, "run": 1}
    for number in range(12)
]  # fmt: skip
TRUTH = {
    "images": [{"id": number, "file_name": f"{number}.png", "width": 40, "height": 30} for number in range(1, 6)],
    "annotations": [
        {"id": number, "image_id": number, "category_id": 1 + number % 2, "bbox": [1, 2, 3.5, 4], "area": 14, "iscrowd": 0,
         "segmentation": [[1, 2, 4, 2, 4, 6]] if number % 2 else {"size": [30, 40], "counts": [100, 50, 1050]}}
        for number in range(1, 6)
    ],
    "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
}  # fmt: skip
RESULTS = [
    {"image_id": 1 + n % 5, "category_id": 1 + n % 2, "bbox": [1, 2, 3.5, 4], "score": n / 20} for n in range(20)
]
ODD = [
    None, "", " ", "NaN", "Infinity", "-1", "1e999", "0", True, [], {}, [[]], {"a": {"b": []}}, -1, 0, 2**70, 1.5, float("nan"),
    float("inf"), "x" * 100_000, "\0", "\ud800", "javascript:1", "[", "['", "[" * 2_000, ["a", None], [1, [2]], "\u202e", "c1", "=1+1",
]  # fmt: skip
BYTES = [
    b"\0", b"\xff", b'"', b"\n", b",", b"\r", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xf0\x9f\x98", b"'", b"[", b"{", b"}", b";", b"\t",
    b'""', b"\x1a", b"\xe2\x80\xa8", b"\\u0000", b"\\ud800", b"NaN", b"1e999", b"null", b"-", b"9" * 400, b"file://etc/passwd", b"A" * 70_000,
]  # fmt: skip


def csv_text(delimiter: str = ",") -> bytes:
    import csv

    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter)
    writer.writerow(CASES[0])
    for row in CASES:
        writer.writerow([json.dumps(value) if isinstance(value, list) else value for value in row.values()])
    return buffer.getvalue().encode()


def boxes_text() -> bytes:
    rows = [f"{1 + n % 5}.png,{'cat' if n % 2 else 'dog'},{n / 20},1,2,3.5,4" for n in range(20)]
    return "\n".join(["image,label,score,x,y,width,height", *rows]).encode()


def parquet_bytes() -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(CASES), buffer)
    return buffer.getvalue()


def json_bytes(document: Any) -> bytes:
    return json.dumps(document).encode()


SEEDS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "csv": ("u.csv", csv_text),
    "tsv": ("u.tsv", lambda: csv_text("\t")),
    "boxes": ("u.csv", boxes_text),
    "jsonl": ("u.jsonl", lambda: b"\n".join(json_bytes(row) for row in CASES)),
    "json": ("u.json", lambda: json_bytes(CASES)),
    "parquet": ("u.parquet", parquet_bytes),
    "truth": ("u.json", lambda: json_bytes(TRUTH)),
    "results": ("u.json", lambda: json_bytes(RESULTS)),
}
STRUCTURED = {"jsonl": CASES, "json": CASES, "truth": TRUTH, "results": RESULTS}


def mutate_bytes(data: bytes, rng: random.Random) -> bytes:
    """One to three cuts, insertions, overwritten bytes, copied spans, or another encoding."""
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(data) + 1)
        kind = rng.randrange(8)
        if kind == 0:
            data = data[:place]
        elif kind in (1, 2):
            data = data[:place] + rng.choice(BYTES) + data[place:]
        elif kind == 3:
            data = data[:place] + bytes([rng.randrange(256)]) + data[place + 1 :]
        elif kind == 4:
            end = min(len(data), place + rng.randrange(60))
            data = data[:end] + data[place:end] * rng.randint(1, 3) + data[end:]
        elif kind == 5:
            data = data[:place] + data[place + rng.randrange(1, 60) :]
        elif kind == 6:
            data = data.replace(
                *rng.choice(
                    [(b"\n", b"\r\n"), (b"\n", b"\r"), (b'"', b"'"), (b",", b";"), (b"case_id", b"id"), (b"c1", b"c2")]
                )
            )
        else:
            codec = rng.choice(["utf-16", "utf-16-le", "utf-32", "latin-1", "utf-8-sig", "cp1252"])
            data = data.decode("utf-8", "ignore").encode(codec, "replace")
    return data


def mutate_values(document: Any, rng: random.Random) -> Any:
    """A copy in which some values, keys or records are replaced by odd ones."""
    document = json.loads(json.dumps(document))
    for _ in range(rng.randint(1, 4)):
        place = document
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = rng.choice(keys)
            if isinstance(place[key], dict | list) and place[key] and rng.random() < 0.8:
                place = place[key]
                continue
            if isinstance(place, dict) and rng.random() < 0.2:
                del place[key]
            else:
                place[key] = copy.deepcopy(rng.choice(ODD))
            break
    return document


def mutated(kind: str, rng: random.Random) -> tuple[str, bytes]:
    name, make = SEEDS[kind]
    if kind in STRUCTURED and rng.random() < 0.5:
        document = mutate_values(STRUCTURED[kind], rng)
        if kind == "jsonl" and isinstance(document, list):
            data = b"\n".join(json_bytes(row) for row in document)
        else:
            data = json_bytes(document)
    else:
        data = mutate_bytes(make(), rng)
    if rng.random() < 0.15:
        name = "u" + rng.choice(["", ".csv", ".json", ".jsonl", ".parquet", ".tsv", ".xlsx", ".zip"])
    return name, data


@pytest.fixture(scope="module")
def suites(tmp_path_factory: pytest.TempPathFactory) -> list[Suite]:
    folder = tmp_path_factory.mktemp("good")
    (folder / "truth.json").write_bytes(json_bytes(TRUTH))
    classes = [{"case_id": f"c{number}", "label": "ab"[number % 2]} for number in range(12)]
    return [
        load_suite(folder / "truth.json").value,
        Suite.from_rows("s", "text", [{"case_id": row["case_id"]} for row in CASES]),
        Suite.from_rows("s", "classification", classes),
    ]


def readings(path: Path, suites: list[Suite]) -> dict[str, Callable[[bool], Any]]:
    return {
        "inspect": lambda _: inspect(path),
        "suite": lambda keep: load_suite(path, keep_good_rows=keep),
        "outputs": lambda keep: load_outputs(path, suite=suites[0], keep_good_rows=keep),
        "answers": lambda keep: load_outputs(path, suite=suites[1], keep_good_rows=keep),
        "classes": lambda keep: load_outputs(path, suite=suites[2], keep_good_rows=keep),
        "combined": lambda keep: load_combined(path, keep_good_rows=keep),
    }


def check_good(value: Any) -> None:
    for part in value if isinstance(value, tuple) else (value,):
        if isinstance(part, Suite):
            part.cases.validate(full=True)
            ids = part.cases["case_id"]
            assert len(ids) > 0
            assert ids.null_count == 0
            assert len(ids.unique()) == len(ids)
        else:
            part.outputs.validate(full=True)
            assert part.outputs.column_names[: len(OUTPUTS)] == OUTPUTS.names
            if part.predictions is not None:
                part.predictions.validate(full=True)
                assert part.predictions.schema.names[: len(PREDICTIONS)] == PREDICTIONS.names
        assert len(part.fingerprint) == 64


def check_readings(path, suites, told, also=lambda what, value: None):
    """Read a file as everything: a listed problem or a good value each time; `also` looks at what was read."""
    for what, read in readings(path, suites).items():
        for keep in (False, True) if what != "inspect" else (False,):
            try:
                loaded = read(keep)
            except InputError as error:
                assert error.problems, f"{told} read as {what}: no problem is listed"
                assert str(error)
            else:
                if what != "inspect":
                    check_good(loaded.value)
                    assert keep or not loaded.problems
                    also(what, loaded.value)


@pytest.mark.attack(
    "suite author", "a mutated upload crashes or hangs its reader",
    "every reader gives a table or a list of problems",
)  # fmt: skip
@pytest.mark.parametrize("batch", range(BATCHES))
def test_mutated_files(tmp_path, suites, batch):
    rng = random.Random(batch)
    kinds = list(SEEDS)
    for number in range(PER_BATCH):
        kind = kinds[(batch + number) % len(kinds)]
        name, data = mutated(kind, rng)
        path = tmp_path / f"{number}" / name
        path.parent.mkdir()
        path.write_bytes(data)
        check_readings(path, suites, f"{kind} {number}")


@pytest.mark.parametrize("batch", range(10))
def test_mutated_image_archives(tmp_path, batch):
    rng = random.Random(1000 + batch)
    (tmp_path / "truth.json").write_bytes(json_bytes(TRUTH))
    for number in range(6):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for image in TRUTH["images"]:
                pixels = io.BytesIO()
                Image.new("RGB", (40, 30), (number, 9, 9)).save(
                    pixels, rng.choice(["PNG", "JPEG", "GIF", "TIFF", "BMP", "WEBP"])
                )
                archive.writestr(
                    image["file_name"],
                    mutate_bytes(pixels.getvalue(), rng) if rng.random() < 0.3 else pixels.getvalue(),
                )
        path = tmp_path / f"{number}.zip"
        path.write_bytes(mutate_bytes(buffer.getvalue(), rng) if rng.random() < 0.6 else buffer.getvalue())
        try:
            loaded = load_suite(
                tmp_path / "truth.json", images=path, workspace_media=tmp_path / f"m{number}", keep_good_rows=True
            )
        except InputError as error:
            assert error.problems
        else:
            stored = {name for name in loaded.value.cases["image"].to_pylist() if name}
            assert stored <= {file.name for file in (tmp_path / f"m{number}").iterdir()} if stored else True
            listed = loaded.problems or loaded.notes  # a broken zip is a problem, a broken image in it a note
            assert listed or len(loaded.value.cases["image"].drop_null()) == 5
