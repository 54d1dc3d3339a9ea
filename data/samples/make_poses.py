"""Writes data/samples/poses: drawn people on a quay, their key points as COCO JSON, the results of two pose models.

The models are simulated from the ground truth: heron-pose finds people but is off at wrists and ankles and swaps left
and right at times, egret-pose is exact and misses who is small. Run as `python make_poses.py [FOLDER]`.
"""

import sys
from math import cos, sin
from pathlib import Path
from random import Random
from typing import Any

from make_detection import write_json
from PIL import Image, ImageDraw

IMAGES = 24
WIDTH, HEIGHT, FINE = 320, 240, 3
NAMES = (
    "head", "left_shoulder", "right_shoulder", "left_elbow", "right_elbow", "left_wrist", "right_wrist", "left_hip",
    "right_hip", "left_knee", "right_knee", "left_ankle", "right_ankle",
)  # fmt: skip
SKELETON = (
    (1, 2), (1, 3), (2, 3), (2, 4), (4, 6), (3, 5), (5, 7), (2, 8), (3, 9), (8, 9), (8, 10), (10, 12), (9, 11),
    (11, 13),
)  # fmt: skip
COATS = ((196, 62, 54), (38, 94, 148), (44, 122, 104), (226, 164, 60), (92, 72, 120), (70, 78, 92))
SKIN = ((236, 196, 164), (176, 124, 92), (120, 82, 60))
TAGS = ("day", "dusk", "day", "fog")
SKIES = {"day": ((150, 200, 228), (176, 166, 150)), "dusk": ((206, 130, 120), (112, 98, 110)),
         "fog": ((206, 212, 214), (186, 186, 182))}  # fmt: skip
LOOSE = (5, 6, 11, 12)  # wrists and ankles
Point = tuple[float, float]


def person(x: float, ground: float, tall: float, random: Random) -> list[Point]:
    """The key points of a person who stands or walks, seen from the front: their left is at our right."""
    hip, wide = ground - 0.47 * tall, 0.1 * tall
    shoulder = ground - 0.8 * tall
    points: dict[str, Point] = {"head": (x, ground - 0.92 * tall)}
    for side, way in (("left", 1), ("right", -1)):
        arm, fore = random.uniform(-0.1, 0.9) * way, random.uniform(-0.4, 1.6) * way
        leg, shin = random.uniform(-0.05, 0.45) * way, random.uniform(-0.2, 0.3) * way
        points[f"{side}_shoulder"] = (x + way * wide, shoulder)
        points[f"{side}_elbow"] = _from(points[f"{side}_shoulder"], arm, 0.18 * tall)
        points[f"{side}_wrist"] = _from(points[f"{side}_elbow"], fore, 0.16 * tall)
        points[f"{side}_hip"] = (x + way * wide * 0.7, hip)
        points[f"{side}_knee"] = _from(points[f"{side}_hip"], leg, 0.23 * tall)
        points[f"{side}_ankle"] = _from(points[f"{side}_knee"], shin, 0.23 * tall)
    return [points[name] for name in NAMES]


def _from(start: Point, angle: float, length: float) -> Point:
    return start[0] + sin(angle) * length, start[1] + cos(angle) * length


def paint(image: Image.Image, points: list[Point], tall: float, coat: tuple[int, ...], skin: tuple[int, ...]) -> None:
    """Draw a person: trousers, arms, coat, head."""
    draw = ImageDraw.Draw(image)
    at = {name: (round(x * FINE), round(y * FINE)) for name, (x, y) in zip(NAMES, points, strict=True)}
    thick = max(2, round(0.075 * tall * FINE))

    def limb(names: list[str], colour: tuple[int, ...], wide: int) -> None:
        draw.line([at[name] for name in names], colour, wide, joint="curve")
        for name in names:
            x, y = at[name]
            draw.ellipse([x - wide // 2, y - wide // 2, x + wide // 2, y + wide // 2], colour)

    dark = tuple(part // 3 + 20 for part in coat)
    for side in ("left", "right"):
        limb([f"{side}_hip", f"{side}_knee", f"{side}_ankle"], dark, thick)
    body = [at[name] for name in ("left_shoulder", "right_shoulder", "right_hip", "left_hip")]
    draw.polygon(body, coat)
    draw.line([*body, body[0]], coat, thick, joint="curve")
    for side in ("left", "right"):
        limb([f"{side}_shoulder", f"{side}_elbow"], tuple(round(part * 0.85) for part in coat), thick)
        limb([f"{side}_elbow", f"{side}_wrist"], skin, max(2, thick * 2 // 3))
    x, y = at["head"]
    size = round(0.075 * tall * FINE)
    draw.ellipse([x - size, y - size, x + size, y + size], skin)
    draw.chord([x - size, y - size, x + size, y + size], 180, 360, dark)


def scene(index: int) -> tuple[Image.Image, list[dict[str, Any]], str]:
    """Image `index`, its annotations, its tag; in every sixth image nobody is there."""
    random = Random(300 + index)  # noqa: S311
    tag = TAGS[index % len(TAGS)]
    sky, quay = SKIES[tag]
    horizon = random.uniform(0.3, 0.5) * HEIGHT
    image = Image.new("RGB", (WIDTH * FINE, HEIGHT * FINE), sky)
    ImageDraw.Draw(image).rectangle([0, round(horizon * FINE), WIDTH * FINE, HEIGHT * FINE], quay)
    annotations = []
    near = sorted(random.uniform(0.05, 1) for _ in range(0 if index % 6 == 5 else random.randint(1, 4)))
    for place in near:
        tall = 34 + 130 * place
        ground = min(HEIGHT - 5, horizon + 12 + place * (HEIGHT - horizon - 16))
        x = random.uniform(0.3 * tall, WIDTH - 0.3 * tall)
        points = person(x, ground, tall, random)
        paint(image, points, tall, random.choice(COATS), random.choice(SKIN))
        annotations.append(_annotation(points, tall, random))
    return image.resize((WIDTH, HEIGHT), Image.Resampling.BOX).quantize(96), annotations, tag


def _annotation(points: list[Point], tall: float, random: Random) -> dict[str, Any]:
    """A person with a box around it; some key points are hidden, some not labelled, as people leave them."""
    pose: list[float] = []
    for x, y in points:
        seen = random.choices((0, 1, 2), (0.06, 0.1, 0.84))[0]
        inside = seen and 0 <= x < WIDTH and 0 <= y < HEIGHT
        pose += [round(x, 1), round(y, 1), seen] if inside else [0, 0, 0]
    margin = 0.08 * tall
    xs, ys = [x for x, _ in points], [y for _, y in points]
    left, top = max(0.0, min(xs) - margin), max(0.0, min(ys) - margin)
    right, bottom = min(WIDTH, max(xs) + margin), min(HEIGHT, max(ys) + margin / 2)
    box = [round(value, 1) for value in (left, top, right - left, bottom - top)]
    return {
        "category_id": 1, "bbox": box, "area": round(0.5 * box[2] * box[3], 1), "iscrowd": 0, "keypoints": pose,
        "num_keypoints": sum(v > 0 for v in pose[2::3]), "true": points, "tall": tall,
    }  # fmt: skip


def results(model: str, image: int, annotations: list[dict[str, Any]], random: Random) -> list[dict[str, Any]]:
    """What a model reports for one image, the surest first."""
    exact = model == "egret-pose"
    rows = []
    for entry in annotations:
        tall = entry["tall"]
        if random.random() > (min(0.97, (tall / 90) ** 2) if exact else 0.96):
            continue
        points = list(entry["true"])
        if not exact and random.random() < 0.2:  # left and right swapped
            points = [points[0], *(points[place + 1 if place % 2 else place - 1] for place in range(1, len(points)))]
        pose: list[float] = []
        for place, (x, y) in enumerate(points):
            spread = tall * (0.01 if exact else 0.06 if place in LOOSE else 0.015)
            pose += [round(random.gauss(x, spread), 1), round(random.gauss(y, spread), 1), 1]
        score = min(0.99, max(0.05, 0.45 + tall / 320 + random.gauss(0, 0.07)))
        rows.append({"image_id": image, "category_id": 1, "keypoints": pose, "score": round(score, 3)})
    if random.random() < 0.25:  # a bollard that is taken for a person
        made = person(random.uniform(30, WIDTH - 30), random.uniform(150, 230), random.uniform(40, 90), random)
        pose = [value for x, y in made for value in (round(x, 1), round(y, 1), 1)]
        rows.append(
            {"image_id": image, "category_id": 1, "keypoints": pose, "score": round(random.uniform(0.1, 0.6), 3)}
        )
    return sorted(rows, key=lambda row: -row["score"])


def make(folder: Path) -> None:
    """Write images/, person_keypoints.json and results/ into `folder`."""
    for name in ("images", "results"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    images, annotations = [], []
    found: dict[str, list[dict[str, Any]]] = {"heron-pose": [], "egret-pose": []}
    for index in range(IMAGES):
        picture, entries, tag = scene(index)
        name = f"quay_{index + 1:02}.png"
        picture.save(folder / "images" / name, optimize=True)
        images.append({"id": index + 1, "file_name": name, "width": WIDTH, "height": HEIGHT, "tags": [tag]})
        for place, (model, rows) in enumerate(found.items()):
            rows += results(model, index + 1, entries, Random(900 + 2 * index + place))  # noqa: S311
        for entry in entries:
            kept = {key: value for key, value in entry.items() if key not in ("true", "tall")}
            annotations.append({"id": len(annotations) + 1, "image_id": index + 1, **kept})
    category = {"id": 1, "name": "person", "keypoints": NAMES, "skeleton": SKELETON}
    document = {"images": images, "categories": [category], "annotations": annotations}
    write_json(folder / "person_keypoints.json", document)
    for model, rows in found.items():
        write_json(folder / "results" / f"{model}.json", rows)


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "poses")
