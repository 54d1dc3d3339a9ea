"""Mutated data sets in folders and zips, and mutated results of other tools: as test_fuzz, for the formats there."""
# ruff: noqa: E501 - tables read better with few lines; both outcomes are good

import io
import json
import random
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from metrics.core.suite import Suite
from metrics.ingest import load_suite
from tests.ingest import test_h2o, test_open_images, test_promptfoo, test_voc, test_yolo
from tests.ingest.files import packed
from tests.ingest.test_fuzz import check_readings, mutate_bytes, mutate_values

BATCHES, PER_BATCH = 20, 15  # 300 mutations, each read by every reader, strictly and with its good rows kept

SETS: dict[str, dict[str, Any]] = {
    "yolo": test_yolo.SET,
    "yolo predictions": test_yolo.PREDICTIONS | {"classes.txt": "cat\ndog\n"},
    "voc": test_voc.SET | test_voc.IMAGES,
    "open images": {"t.csv": test_open_images.TRUTH} | test_open_images.IMAGES | test_open_images.NAMES,
    "open images predictions": {"p.csv": test_open_images.PREDICTIONS} | test_open_images.NAMES,
}
DOCUMENTS: dict[str, Any] = {"promptfoo": test_promptfoo.RESULTS, "h2o suite": test_h2o.SUITE, "h2o lab": test_h2o.LAB}
NAMES = ["a.txt", "labels/a.TXT", "labels/é.txt", "x/labels/a.txt", "a.xml", "data.yml", "classes.txt", "b.csv", "c.json",
         "../a.txt", "/a.txt", "labels", "labels/", "a.zip", "CON", "a" * 200 + ".txt", "\u202etxt.a", ".hidden.txt"]  # fmt: skip


def mutated_set(kind: str, rng: random.Random, path: Path) -> None:
    """A zip (or a folder) some of whose files are mutated, renamed, missing or new, or that is itself mutated."""
    entries = {name: data.encode() if isinstance(data, str) else data for name, data in SETS[kind].items()}
    for _ in range(rng.randint(0, 2)):
        name = rng.choice(list(entries))
        entries[name] = mutate_bytes(entries[name], rng)
    if rng.random() < 0.25 and len(entries) > 1:
        entries[rng.choice(NAMES)] = entries.pop(rng.choice(list(entries)))
    if rng.random() < 0.15 and len(entries) > 1:
        entries.pop(rng.choice(list(entries)))
    if rng.random() < 0.2:
        entries |= {name: data for name, data in SETS[rng.choice(list(SETS))].items() if name not in entries}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    data = mutate_bytes(buffer.getvalue(), rng) if rng.random() < 0.3 else buffer.getvalue()
    if data == buffer.getvalue() and rng.random() < 0.3 and not any(".." in name or name[0] == "/" for name in entries):
        path.mkdir()
        with zipfile.ZipFile(buffer) as archive, suppress(OSError):  # a file and a folder of one name
            archive.extractall(path)
    else:
        path.write_bytes(data)


def mutated_document(kind: str, rng: random.Random, path: Path) -> None:
    document = DOCUMENTS[kind]
    if rng.random() < 0.7:
        path.write_text(json.dumps(mutate_values(document, rng)))
    else:
        path.write_bytes(mutate_bytes(json.dumps(document).encode(), rng))


@pytest.fixture(scope="module")
def suites(tmp_path_factory: pytest.TempPathFactory) -> list[Suite]:
    folder = tmp_path_factory.mktemp("good")
    boxes = load_suite(packed(folder / "s.zip", test_yolo.SET), workspace_media=folder / "media").value
    text = Suite.from_rows("s", "text", [{"case_id": name} for name in ("0", "1", "k1", "k2", "k3")])
    classes = Suite.from_rows("s", "classification", [{"case_id": name, "label": name} for name in ("0", "1")])
    return [boxes, text, classes]


@pytest.mark.attack(
    "suite author", "a mutated upload crashes or hangs its reader",
    "every reader gives a table or a list of problems",
)  # fmt: skip
@pytest.mark.parametrize("batch", range(BATCHES))
def test_mutated_sets(tmp_path, suites, batch):
    rng = random.Random(5000 + batch)
    kinds = [*SETS, *DOCUMENTS]
    for number in range(PER_BATCH):
        kind = kinds[(batch + number) % len(kinds)]
        path = tmp_path / f"{number}" / ("u.zip" if kind in SETS else "u.json")
        path.parent.mkdir()
        (mutated_set if kind in SETS else mutated_document)(kind, rng, path)
        check_readings(path, suites, f"{kind} {number}")
