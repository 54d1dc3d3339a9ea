"""Writes data/samples/panoptic: the panoptic maps of some harbour scenes, and those of two simulated models.

The pictures are those of data/samples/detection. puffin-seg outlines well, merges what touches and misses what is
small; gannet-seg finds nearly everything, is two pixels off and takes ships for boats. The hills between sky and sea
are void: nobody labelled them. Run as `python make_panoptic.py [FOLDER]`.
"""

import sys
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from harbour import FINE, HEIGHT, WIDTH
from make_detection import CLASSES, draw, scene, write_json
from numpy.typing import NDArray
from PIL import Image

SCENES = (0, 2, 3, 5, 7, 9, 10, 13, 14, 16, 21, 23)
STUFF = ("sky", "sea", "quay")
CATEGORIES = [{"id": number, "name": name, "isthing": int(name in CLASSES)}
              for number, name in enumerate((*CLASSES, *STUFF), 1)]  # fmt: skip
HILLS = 34  # rows above the horizon
WALL = 13  # rows of the quay's wall
BOAT, SHIP = CLASSES.index("boat") + 1, CLASSES.index("ship") + 1
Map = NDArray[np.int32]
Segments = dict[int, tuple[int, int]]  # category and crowd of each id


def ground(horizon: float, quay: float | None, off: int = 0) -> tuple[Map, Segments]:
    """Sky, sea and quay as the segments 1 to 3; `off` moves their borders."""
    ids = np.zeros((HEIGHT, WIDTH), np.int32)
    sea = round(horizon) + off
    ids[: sea - HILLS] = 1
    ids[sea:] = 2
    if quay is not None:
        ids[round(quay) - WALL + off :] = 3
    first = len(CLASSES) + 1
    return ids, {id: (first + id - 1, 0) for id in np.unique(ids).tolist() if id}


def truth(index: int) -> tuple[Map, Segments]:
    """The segments of a scene; a flock is one crowd."""
    layout, _ = scene(index, Random(1000 + index))  # noqa: S311
    picture, things, _ = draw(index)
    ids, segments = ground(layout.horizon, layout.quay)
    owner = picture.owner[FINE // 2 :: FINE, FINE // 2 :: FINE]
    for number, thing in enumerate(things, 1):
        seen = owner == number
        if seen.any():
            id = 100 if thing.crowd else 100 + number
            ids[seen] = id
            segments[id] = (CLASSES.index(thing.label) + 1, int(bool(thing.crowd)))
    return ids, {id: kind for id, kind in segments.items() if (ids == id).any()}


def puffin(ids: Map, segments: Segments, index: int, random: Random) -> tuple[Map, Segments]:
    """Exact outlines; what is small is missed, and what touches a thing of its class is part of it."""
    layout, _ = scene(index, Random(1000 + index))  # noqa: S311
    made, kinds = ground(layout.horizon, layout.quay, 1)
    for id, (kind, _) in segments.items():
        seen = ids == id
        if id < 100 or seen.sum() < 150 or random.random() < 0.04:
            continue
        near = seen | np.roll(seen, 2, 1) | np.roll(seen, -2, 1) | np.roll(seen, 2, 0) | np.roll(seen, -2, 0)
        touched = [other for other in np.unique(made[near]).tolist() if other >= 100 and kinds[other][0] == kind]
        made[seen] = touched[0] if touched else id
        kinds.setdefault(touched[0] if touched else id, (kind, 0))
    return made, kinds


def gannet(ids: Map, segments: Segments, index: int, random: Random) -> tuple[Map, Segments]:
    """Everything, two pixels off; some ships are boats, and some waves are, too."""
    layout, _ = scene(index, Random(1000 + index))  # noqa: S311
    made, kinds = ground(layout.horizon, layout.quay, 5)
    for id, (kind, _) in segments.items():
        if id < 100 or random.random() < 0.05:
            continue
        shift = random.choice(((2, 1), (-1, 2), (0, -2)))
        made[np.roll(ids == id, shift, (0, 1))] = id
        kinds[id] = (BOAT if kind == SHIP and random.random() < 0.4 else kind, 0)
    if random.random() < 0.6:
        top, left = random.randint(round(layout.horizon) + 20, HEIGHT - 60), random.randint(10, WIDTH - 60)
        made[top : top + 14, left : left + 40] = 999
        kinds[999] = (BOAT, 0)
    return made, kinds


def save(path: Path, ids: Map) -> None:
    """A map as COCO's PNG: R + 256 G + 65,536 B."""
    pixels = np.stack([ids % 256, ids // 256 % 256, ids // 65_536], axis=-1).astype(np.uint8)
    Image.fromarray(pixels).save(path, optimize=True)


def record(image: int, ids: Map, segments: Segments) -> dict[str, Any]:
    """The record of a map; ids without a pixel are left out."""
    there = set(np.unique(ids).tolist())
    info = [{"id": id, "category_id": kind, "iscrowd": crowd} for id, (kind, crowd) in segments.items() if id in there]
    return {"image_id": image, "file_name": f"{image}.png", "segments_info": info}


def make(folder: Path) -> None:
    """Write truth/ and a folder for each model into `folder`, each with its JSON and maps."""
    models = {"puffin-seg": puffin, "gannet-seg": gannet}
    records: dict[str, list[dict[str, Any]]] = {name: [] for name in ("truth", *models)}
    for name in records:
        (folder / name).mkdir(parents=True, exist_ok=True)
    images = []
    for index in SCENES:
        image = index + 1
        images.append({"id": image, "file_name": f"harbour_{image:03}.png", "width": WIDTH, "height": HEIGHT})
        ids, segments = truth(index)
        maps = {"truth": (ids, segments)}
        for place, (name, model) in enumerate(models.items()):
            maps[name] = model(ids, segments, index, Random(5000 + 2 * index + place))  # noqa: S311
        for name, (made, kinds) in maps.items():
            save(folder / name / f"{image}.png", made)
            records[name].append(record(image, made, kinds))
    write_json(
        folder / "truth" / "panoptic.json",
        {"images": images, "categories": CATEGORIES, "annotations": records["truth"]},
    )
    for name in models:
        write_json(folder / name / "panoptic.json", {"annotations": records[name]})


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "panoptic")
