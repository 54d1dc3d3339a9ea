"""Mutated zips and folders of masks: each gives a good suite or outputs, or a list of problems, and nothing else."""

import io
import random
import zipfile
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from metrics.core.suite import Suite
from metrics.evaluators.segmentation.segmentation_iou import segmentation_iou
from metrics.ingest import load_suite
from tests.ingest.files import packed, picture
from tests.ingest.test_fuzz import check_readings, mutate_bytes
from tests.ingest.test_mask_images import mask

BATCHES, PER_BATCH = 8, 12
BLOCKS = np.kron(np.arange(6).reshape(2, 3), np.ones((4, 5)))
SETS = {
    "masks": {f"masks/{name}.png": mask((BLOCKS + shift) % 6) for shift, name in enumerate("abcd")}
    | {"labels.txt": "road\nsky\ntree\nsea\nsand\nsnow\n"},
    "masks beside images": {f"gt/{name}.png": mask(BLOCKS) for name in "ab"}
    | {f"images/{name}.jpg": picture(15, 8, "JPEG") for name in "ab"},
    "models": {f"{model}/{name}.png": mask(BLOCKS[::-1], "L") for model in ("m", "n") for name in "abcd"}
    | {"classes.json": '{"0": "road", "1": "sky", "2": "tree", "3": "sea", "4": "sand", "5": "snow"}'},
    "deep": {f"{name}.png": mask(BLOCKS * 300, "I;16") for name in "abcd"},
}
NAMES = [
    "é.png", "a.png", "x/a.png", "masks/b.PNG", "../a.png", "/a.png", "labels.json", "classes.txt", "a.csv", "a.txt",
    "a.xml", "readme.md", "a.png/", ".a.png", "a.zip", "a" * 200 + ".png",
]  # fmt: skip


def mutated(kind: str, rng: random.Random, path: Path) -> None:
    """A zip (or a folder) some of whose files are mutated, renamed, missing, or that is itself mutated."""
    entries = {name: data.encode() if isinstance(data, str) else data for name, data in SETS[kind].items()}
    for _ in range(rng.randint(0, 3)):
        name = rng.choice(list(entries))
        entries[name] = mutate_bytes(entries[name], rng)
    if rng.random() < 0.3:
        entries[rng.choice(NAMES)] = entries.pop(rng.choice(list(entries)))
    if rng.random() < 0.2:
        entries.pop(rng.choice(list(entries)))
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    if rng.random() < 0.3 and not any(name.startswith(("..", "/")) for name in entries):
        path.mkdir()
        with zipfile.ZipFile(whole) as archive, suppress(OSError):  # a file and a folder of one name
            archive.extractall(path)
    else:
        path.write_bytes(mutate_bytes(whole.getvalue(), rng) if rng.random() < 0.2 else whole.getvalue())


@pytest.fixture(scope="module")
def suites(tmp_path_factory: pytest.TempPathFactory) -> list[Suite]:
    folder = tmp_path_factory.mktemp("good")
    masks = load_suite(packed(folder / "s.zip", SETS["masks"])).value
    text = Suite.from_rows("s", "text", [{"case_id": name} for name in "abcd"])
    classes = Suite.from_rows("s", "classification", [{"case_id": name, "label": name} for name in "abcd"])
    return [masks, text, classes]


@pytest.mark.attack(
    "suite author", "a mutated upload crashes or hangs its reader",
    "every reader gives a table or a list of problems",
)  # fmt: skip
@pytest.mark.parametrize("batch", range(BATCHES))
def test_mutated_masks(tmp_path, suites, batch):
    rng = random.Random(9000 + batch)
    for number in range(PER_BATCH):
        kind = list(SETS)[(batch + number) % len(SETS)]
        path = tmp_path / str(number) / "u.zip"
        path.parent.mkdir()
        mutated(kind, rng, path)
        check_readings(path, suites, f"{kind} {number}", partial(check_judged, suites[0]))


def check_judged(suite: Suite, what: str, value: object) -> None:
    """What is read as outputs can be judged."""
    if what == "outputs":
        assert segmentation_iou(suite, value, segmentation_iou.parameters()).aggregates
