"""Writes data/samples/detection: drawn harbour scenes, their ground truth as COCO JSON, the results of three detectors.

The detectors are simulated from the ground truth, each with its own fault: skua-nano misses what is small, tern-base
takes ships for boats and is sure of everything, petrel-large boxes loosely and twice. Run as
`python make_detection.py [FOLDER]`.
"""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from backdrop import Layout, backdrop
from harbour import FINE, HEIGHT, MOODS, WIDTH, Colour, Picture, Thing, paint

IMAGES = 56
CLASSES = ("boat", "ship", "buoy", "gull", "crate", "lighthouse")
MOOD_OF = ("day", "morning", "fog", "day", "dusk", "overcast", "night")  # in turn
PAINTS: tuple[Colour, ...] = ((196, 62, 54), (38, 94, 148), (44, 122, 104), (226, 164, 60), (92, 72, 120), (70, 78, 92))
MARKS: tuple[Colour, ...] = ((206, 52, 48), (40, 140, 84), (238, 186, 44))
WOODS: tuple[Colour, ...] = ((186, 140, 88), (166, 118, 72), (202, 160, 108))
PLASTICS: tuple[Colour, ...] = ((46, 110, 170), (226, 116, 52), (60, 140, 110))
SHARE_SEEN = 0.25  # a thing that others hide more than this is left out
SMALL = 32**2


def scene(index: int, random: Random) -> tuple[Layout, list[Thing]]:
    """The layout of image `index` and its things, the farthest first."""
    horizon = random.uniform(118, 168)
    quay = random.uniform(278, 304) if index % 3 == 0 or random.random() < 0.35 else None
    lower = (quay - 18) if quay else HEIGHT - 14
    things: list[Thing] = []
    rock = None
    if index % 2 == 0 or random.random() < 0.2:
        width = random.uniform(16, 40)
        rock = (
            random.choice((random.uniform(40, 130), random.uniform(350, 440))),
            horizon + random.uniform(2, 14),
            width * 2.6,
        )
        colour = random.choice(((196, 62, 54), (44, 92, 140), (48, 54, 64)))
        things.append(Thing("lighthouse", "lighthouse", rock[0], rock[1], width, 0.3, colour=colour, afloat=False))
    if index == 17:  # nothing at all to find: detectors owe an answer to that, too
        return Layout(horizon, None, None), []
    things += _afloat(index, horizon, lower, random)
    if quay:
        things += _on_quay(quay, random)
    things += _gulls(index, horizon, random)
    for thing in things:
        thing.seed = random.randrange(10**6)
    return Layout(horizon, quay, rock), things


def _afloat(index: int, horizon: float, lower: float, random: Random) -> list[Thing]:
    """Ships far out, boats and buoys nearer; a regatta in every ninth scene."""
    things = []
    closer = 1.75 if index % 5 == 2 else 1.0
    spots: list[tuple[str, float]] = []
    spots += [("ship", random.uniform(0.02, 0.3)) for _ in range(random.choice((0, 1, 1, 2)))]
    spots += [("boat", random.uniform(0.06, 0.95)) for _ in range(14 if index % 9 == 4 else random.randint(1, 5))]
    spots += [("buoy", random.uniform(0.08, 0.9)) for _ in range(random.choice((0, 1, 2, 3, 4)))]
    for label, near in sorted(spots, key=lambda spot: spot[1]):
        y = horizon + 4 + near * (lower - horizon - 4)
        colour = random.choice(MARKS if label == "buoy" else PAINTS)
        if label == "ship":
            look, width = (
                random.choice(("container_ship", "ferry")),
                (56 + 300 * near) * random.uniform(0.8, 1.25) * closer,
            )
        elif label == "boat":
            looks = (
                ("sailing_boat",) if index % 9 == 4 else ("sailing_boat", "fishing_boat", "rowing_boat", "motor_boat")
            )
            look, width = random.choice(looks), (15 + 112 * near) * random.uniform(0.75, 1.2) * closer
            width *= {"sailing_boat": 0.8, "rowing_boat": 0.7}.get(look, 1.0)
        else:
            look, width = "buoy", (5 + 17 * near) * random.uniform(0.8, 1.2)
        x = random.uniform(-0.02 * WIDTH, 1.02 * WIDTH)
        things.append(Thing(label, look, x, y, width, 1 - near, random.random() < 0.5, colour))
    return things


def _on_quay(quay: float, random: Random) -> list[Thing]:
    """A stack of crates, a few more beside it, and gulls that hope for fish."""
    things = []
    middle = random.uniform(70, 410)
    size = random.uniform(30, 44)
    base = quay + random.uniform(20, 34)
    for row, count in enumerate(random.choice(((3, 2, 1), (2, 1), (3, 2), (4, 3, 1)))):
        for column in range(count):
            x = middle + (column - (count - 1) / 2) * size * 1.04 + random.uniform(-3, 3)
            things.append(_crate("wooden_crate", x, base - row * size * 0.88, size, random))
    for _ in range(random.randint(1, 4)):
        x, y = random.uniform(16, 464), random.uniform(quay + 26, HEIGHT - 6)
        things.append(
            _crate(random.choice(("wooden_crate", "fish_crate", "fish_crate")), x, y, random.uniform(26, 48), random)
        )
    for _ in range(random.choice((0, 1, 2))):
        x, y = random.uniform(20, 460), quay + random.uniform(6, 50)
        things.append(
            Thing("gull", "gull_standing", x, y, random.uniform(16, 26), 0, random.random() < 0.5, afloat=False)
        )
    return sorted(things, key=lambda thing: thing.y if thing.look != "wooden_crate" else max(thing.y, base))


def _crate(look: str, x: float, y: float, width: float, random: Random) -> Thing:
    colour = random.choice(WOODS if look == "wooden_crate" else PLASTICS)
    return Thing("crate", look, x, y, width, 0, colour=colour, afloat=False)


def _gulls(index: int, horizon: float, random: Random) -> list[Thing]:
    """Gulls in the air; in every seventh scene a flock that nobody would annotate one by one."""
    things = []
    for _ in range(random.choice((0, 1, 2, 3, 5))):
        x, y, width = random.uniform(12, 468), random.uniform(22, horizon + 60), random.uniform(9, 40)
        things.append(Thing("gull", "gull_flying", x, y, width, 0.1, random.random() < 0.5, afloat=False))
    if index % 7 == 3:
        number = random.randint(14, 22)
        x, y = random.uniform(90, 390), random.uniform(34, horizon - 24)
        for _ in range(number):
            across, up = x + random.gauss(0, 26), max(8.0, y + random.gauss(0, 11))
            flying = Thing(
                "gull",
                "gull_flying",
                across,
                up,
                random.uniform(6, 11),
                0.35,
                random.random() < 0.5,
                crowd=number,
                afloat=False,
            )
            things.append(flying)
    return things


def truth(picture: Picture, things: list[Thing]) -> list[dict[str, Any]]:
    """The annotations of a picture: the box and the pixels of what is seen of each thing; a flock is one crowd."""
    parts = [(thing.label, [number], 0) for number, thing in enumerate(things, 1) if not thing.crowd]
    flock = [number for number, thing in enumerate(things, 1) if thing.crowd]
    if flock:
        parts.append(("gull", flock, 1))
    annotations = []
    for label, numbers, crowd in parts:
        rows, columns = np.nonzero(np.isin(picture.owner, numbers))
        left, top = int(columns.min()) / FINE, int(rows.min()) / FINE
        right, bottom = (int(columns.max()) + 1) / FINE, (int(rows.max()) + 1) / FINE
        box = [round(value, 2) for value in (left, top, right - left, bottom - top)]
        area = box[2] * box[3] if crowd else rows.size / FINE**2
        annotations.append(
            {"category_id": CLASSES.index(label) + 1, "bbox": box, "area": round(area, 2), "iscrowd": crowd}
        )
    return annotations


def tags_of(mood: str, annotations: list[dict[str, Any]]) -> list[str]:
    """The tags of an image: light and weather, and what is special about its objects."""
    small = sum(entry["area"] < SMALL for entry in annotations)
    tags = [mood]
    if len(annotations) >= 15:
        tags.append("crowded")
    if annotations and small >= 0.7 * len(annotations):
        tags.append("small objects")
    return tags if annotations else [*tags, "nothing to find"]


@dataclass(frozen=True)
class Detector:
    """How a simulated detector fails."""

    name: str
    finds: Callable[[float], float]  # probability of finding an object of that area
    spread: float  # standard deviation of the box's edges, relative to its size
    swell: float  # how much too large its boxes are
    doubles: float  # probability of a second box
    confuses: dict[str, tuple[str, float]]  # class → the class it is taken for, how often
    sure: Callable[[float, Random], float]  # quality 0…1 → score
    phantoms: float  # expected false boxes an image


DETECTORS = (
    Detector(
        "skua-nano", lambda area: 0.95 / (1 + exp((700 - area) / 220)), 0.022, 0.0, 0.02, {"buoy": ("boat", 0.04)},
        lambda quality, random: 0.18 + 0.74 * quality + random.gauss(0, 0.09), 0.5,
    ),
    Detector(
        "tern-base", lambda area: 0.95 / (1 + exp((160 - area) / 90)), 0.03, 0.0, 0.03,
        {"ship": ("boat", 0.46), "boat": ("ship", 0.13), "buoy": ("gull", 0.06)},
        lambda quality, random: 0.9 + 0.08 * quality + random.gauss(0, 0.025), 1.3,
    ),
    Detector(
        "petrel-large", lambda area: 0.97 / (1 + exp((90 - area) / 60)), 0.085, 0.1, 0.3, {"ship": ("boat", 0.05)},
        lambda quality, random: 0.1 + 0.8 * quality + random.gauss(0, 0.13), 1.1,
    ),
)  # fmt: skip


def detect(
    detector: Detector, image: dict[str, Any], annotations: list[dict[str, Any]], random: Random
) -> list[dict[str, Any]]:
    """What a detector reports for one image, the surest first."""
    dim = {"fog": 0.72, "night": 0.78, "dusk": 0.92}.get(image["tags"][0], 1.0)
    found: list[tuple[str, list[float], float]] = []
    for entry in annotations:
        label, box = CLASSES[entry["category_id"] - 1], entry["bbox"]
        if entry["iscrowd"]:
            found += [_in_flock(box, random) for _ in range(random.randint(2, 5))]
            continue
        chance = detector.finds(entry["area"]) * dim
        if random.random() > chance:
            continue
        other, often = detector.confuses.get(label, (label, 0.0))
        seen = other if random.random() < often else label
        fill = min(1.0, 0.35 + entry["area"] / 2600) * dim
        for again in range(1 + (random.random() < detector.doubles)):
            quality = fill * random.uniform(0.75, 1.05) * (0.75 if again else 1.0) * (0.85 if seen != label else 1.0)
            found.append((seen, _shaken(box, detector, 1 + again, random), detector.sure(quality, random)))
    while random.random() < detector.phantoms / (1 + detector.phantoms):
        label, width, height = random.choice(
            (("gull", 22, 12), ("buoy", 9, 20), ("boat", 40, 26), ("crate", 30, 28), ("ship", 90, 34))
        )
        size = random.uniform(0.6, 1.5)
        box = [
            random.uniform(0, WIDTH - width * size),
            random.uniform(60, HEIGHT - height * size),
            width * size,
            height * size,
        ]
        found.append((label, box, detector.sure(random.uniform(0.05, 0.4), random)))
    rows = []
    for label, box, score in found:
        left, top = max(0.0, box[0]), max(0.0, box[1])
        right, bottom = min(WIDTH, box[0] + box[2]), min(HEIGHT, box[1] + box[3])
        clipped = [round(value, 2) for value in (left, top, right - left, bottom - top)]
        if clipped[2] >= 2 and clipped[3] >= 2:
            score = round(min(0.999, max(0.011, score)), 3)
            rows.append(
                {"image_id": image["id"], "category_id": CLASSES.index(label) + 1, "bbox": clipped, "score": score}
            )
    return sorted(rows, key=lambda row: -row["score"])


def _in_flock(box: list[float], random: Random) -> tuple[str, list[float], float]:
    width = random.uniform(7, 12)
    x, y = box[0] + random.random() * max(0.0, box[2] - width), box[1] + random.random() * max(0.0, box[3] - width / 2)
    return "gull", [x, y, width, width * 0.45], random.uniform(0.15, 0.5)


def _shaken(box: list[float], detector: Detector, factor: float, random: Random) -> list[float]:
    """The box with its edges off by the detector's spread (at least by a third of a pixel)."""
    edges = [box[0], box[1], box[0] + box[2], box[1] + box[3]]
    for side in range(4):
        size = box[2 + side % 2]
        outward = (-1 if side < 2 else 1) * detector.swell * size / 2
        edges[side] += outward + random.gauss(0, max(0.33, detector.spread * size) * factor)
    return [edges[0], edges[1], edges[2] - edges[0], edges[3] - edges[1]]


def draw(index: int) -> tuple[Picture, list[Thing], str]:
    """Scene `index`, painted; things that are hidden or out of the frame are taken away until all are seen."""
    random = Random(1000 + index)  # noqa: S311
    mood = MOOD_OF[index % len(MOOD_OF)]
    layout, things = scene(index, random)
    empty = backdrop(layout, MOODS[mood], random)
    while True:
        picture = paint(empty, things, MOODS[mood])
        seen = np.bincount(picture.owner.ravel(), minlength=len(things) + 1)
        kept = [
            thing
            for number, thing in enumerate(things, 1)
            if seen[number] >= max(20 * FINE, SHARE_SEEN * picture.full[number])
        ]
        if len(kept) == len(things):
            return picture, things, mood
        things = kept


def make(folder: Path) -> None:
    """Write images/, instances.json and results/ into `folder`."""
    (folder / "images").mkdir(parents=True, exist_ok=True)
    (folder / "results").mkdir(exist_ok=True)
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    results: dict[str, list[dict[str, Any]]] = {detector.name: [] for detector in DETECTORS}
    for index in range(IMAGES):
        picture, things, mood = draw(index)
        found = truth(picture, things)
        name = f"harbour_{index + 1:03}.png"
        picture.image.save(folder / "images" / name, optimize=True)
        image = {"id": index + 1, "file_name": name, "width": WIDTH, "height": HEIGHT, "tags": tags_of(mood, found)}
        images.append(image)
        annotations += [
            {"id": len(annotations) + place, "image_id": index + 1, **entry} for place, entry in enumerate(found, 1)
        ]
        for place, detector in enumerate(DETECTORS):
            random = Random(7000 + index * len(DETECTORS) + place)  # noqa: S311
            results[detector.name] += detect(detector, image, found, random)
    categories = [{"id": number, "name": name} for number, name in enumerate(CLASSES, 1)]
    info = {"description": "Drawn harbour scenes", "version": "1.0", "year": 2026}
    instances = {"info": info, "images": images, "annotations": annotations, "categories": categories}
    write_json(folder / "instances.json", instances)
    for name, rows in results.items():
        write_json(folder / "results" / f"{name}.json", rows)


def write_json(path: Path, content: Mapping[str, Any] | Sequence[Any]) -> None:
    """Write a JSON file of a list, or of an object whose lists have a line for each record."""
    if isinstance(content, Mapping):
        text = "{\n" + ",\n".join(f"{json.dumps(key)}: {_lines(own)}" for key, own in content.items()) + "\n}"
    else:
        text = _lines(content)
    path.write_text(text + "\n")


def _lines(value: Any) -> str:
    return "[\n" + ",\n".join(map(json.dumps, value)) + "\n]" if isinstance(value, list) else json.dumps(value)


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "detection")
