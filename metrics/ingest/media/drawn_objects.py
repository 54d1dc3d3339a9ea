"""Objects in images as annotation tools draw them: gathered file by file, every wrong one a problem of its own."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from metrics.core.array_types import Bools, Ints
from metrics.ingest.media.bundle import Rows
from metrics.ingest.media.images import MAX_PIXELS, SUFFIXES
from metrics.ingest.source import Problems
from metrics.ingest.tables.decimals import NUMBER
from metrics.ingest.tables.object_tables import POLYGONS, SIDES, outline
from metrics.vision import rle
from metrics.vision.coco_columns import FARTHEST
from metrics.vision.masks import LARGEST_IMAGE

MAX_SIDE = 1_000_000
MAX_IMAGES = 2_000_000
SPELLED = re.compile(NUMBER)
SIZE = "the image's size in whole pixels"
T = TypeVar("T")


class Faulty(Exception):
    """What is wrong with a record: what was found, what was expected, and under which key."""

    def __init__(self, found: str, expected: str, column: str | None = None):
        super().__init__(found, expected, column)
        self.found, self.expected, self.column = found, expected, column


@dataclass(frozen=True, slots=True)
class Shape:
    """The geometry of an object in pixels: its box x, y, width, height, its area, and what refines the box."""

    box: tuple[float, float, float, float]
    area: float
    rings: list[list[float]] | None = None
    rle: str | None = None


class Thing(NamedTuple):
    """An object as a file has it; a crowd's label None stands for every class."""

    label: str | None
    shape: Shape
    score: float | None = None
    model: str | None = None
    crowd: bool = False
    difficult: bool = False


class Picture(NamedTuple):
    """An image as a file has it; `case`: its case id where the file is named by it, `beside`: what else it has."""

    name: str
    width: int | None = None
    height: int | None = None
    case: str | None = None
    beside: Mapping[str, Any] = MappingProxyType({})


@dataclass
class DrawnObjects:
    """The images and objects of an upload in file order; `file` names the upload, `notes` say what was not read."""

    file: str
    problems: Problems
    pictures: list[Picture] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    labels: tuple[str, ...] = ()
    path: str = ""  # of what images have beside their objects
    lost: int = 0  # images of which nothing could be read
    answered_by: tuple[str, ...] = ()  # the models whose predictions are beside the ground truth
    both: bool = False  # whether these predictions are read as well
    _files: list[str] = field(default_factory=list)
    _which: list[int] = field(default_factory=list)
    _rows: list[int] = field(default_factory=list)
    _image: list[int] = field(default_factory=list)
    _things: list[Thing | None] = field(default_factory=list)

    def add_file(self, name: str) -> None:
        """Say from which file the objects that follow are."""
        self._files.append(name)

    def add_picture(self, picture: Picture) -> int:
        """Return the number of a new image."""
        if len(self.pictures) >= MAX_IMAGES:
            raise self.problems.fail(self.file, f"more than {MAX_IMAGES:,} images", f"at most {MAX_IMAGES:,}")
        self.pictures.append(picture)
        return len(self.pictures) - 1

    @contextmanager
    def reading(self, file: str, row: int | None = None) -> Iterator[None]:
        """Record what is Faulty within as a problem of the file: nothing of an image can be read."""
        try:
            yield
        except Faulty as fault:
            self.problems.add(file, fault.found, fault.expected, row, fault.column)
            self.lost += 1

    def add(self, image: int, row: int, read: Callable[[T], Thing | None], record: T) -> None:
        """Take an object of an image as `read` understands its record; what it calls Faulty is a problem of the row.

        None is no object.
        """
        thing = None
        try:
            thing = read(record)
            if thing is None:
                return
        except Faulty as fault:
            self.problems.add(self._files[-1], fault.found, fault.expected, row, fault.column)
        self._which.append(len(self._files) - 1)
        self._rows.append(row)
        self._image.append(image)
        self._things.append(thing)

    def rescale(self, image: int, across: float, down: float) -> None:
        """Stretch the objects of an image by these factors; masks lose their pixels and keep their box."""
        for place in np.flatnonzero(self.images == image).tolist():
            thing = self._things[place]
            if thing is not None:
                self._things[place] = thing._replace(shape=_stretched(thing.shape, across, down))

    def __len__(self) -> int:
        return len(self._things)

    @cached_property
    def images(self) -> Ints:
        """The number of each object's image."""
        return np.array(self._image, np.int64)

    @property
    def things(self) -> list[Thing | None]:
        """The objects; None for wrong ones."""
        return self._things

    def case_ids(self) -> list[str]:
        """Return an id for each image: given, else the shortest that is unique of its stem, its path and its name."""
        names = [picture.name for picture in self.pictures]
        paths = [bare(name) for name in names]
        stems = [path.rsplit("/", 1)[-1] for path in paths]
        own = next((some for some in (stems, paths) if len(set(some)) == len(some)), names)
        return [picture.case or name for picture, name in zip(self.pictures, own, strict=True)]

    def sheet(self) -> Rows:
        """Return the objects as a sheet of texts, wrong ones bad."""
        columns: dict[str, list[str | None]] = {name: [] for name in ("image", "label", *SIDES, "shape", "score")}
        for place, thing in zip(self._image, self._things, strict=True):
            columns["image"].append(self.pictures[place].name)
            columns["label"].append(None if thing is None else thing.label)
            for side, value in zip(SIDES, (None,) * 4 if thing is None else thing.shape.box, strict=True):
                columns[side].append(None if value is None else f"{value:g}")
            columns["shape"].append(None if thing is None else _kind(thing.shape))
            columns["score"].append(None if thing is None or thing.score is None else f"{thing.score:g}")
        table = pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})
        sheet = Rows(self.file, table, self._rows, self._which, self._files, self.problems)
        sheet.bad = np.array([thing is None for thing in self._things], bool)
        return sheet

    def columns(self) -> dict[str, pa.Array]:
        """Return label, box, area, polygons and run lengths of every object; null where it is wrong."""
        boxes = [(None,) * 4 if thing is None else thing.shape.box for thing in self._things]
        return {
            "label": pa.array([None if thing is None else thing.label for thing in self._things], pa.string()),
            **{side: pa.array([box[place] for box in boxes], pa.float64()) for place, side in enumerate(SIDES)},
            "area": pa.array([None if thing is None else thing.shape.area for thing in self._things], pa.float64()),
            "polygons": pa.array([None if thing is None else thing.shape.rings for thing in self._things], POLYGONS),
            "rle": pa.array([None if thing is None else thing.shape.rle for thing in self._things], pa.string()),
        }

    def scores(self) -> list[float | None]:
        """Return the score of every object."""
        return [None if thing is None else thing.score for thing in self._things]


def difficult_note(count: int) -> str:
    """Return what becomes of so many objects that are marked difficult."""
    return f"Objects marked difficult: {count:,}. voc_ap ignores them; other evaluators count them as all others."


def bare(name: str) -> str:
    """Return the name of an image without its extension, if it has one."""
    plain = PurePosixPath(name.replace("\\", "/"))
    return str(plain.with_suffix("")) if plain.suffix.lower() in SUFFIXES else str(plain)


def number(value: Any, column: str | None = None) -> float:
    """Return a number or its text as a float; Faulty where it is none, or not finite."""
    if isinstance(value, str) and SPELLED.fullmatch(value):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Faulty(_shown(value), "a number", column)
    if abs(value) > FARTHEST or not math.isfinite(value):
        raise Faulty(_shown(value), "a finite number of pixels", column)
    return float(value)


def score_of(value: Any, column: str = "score") -> float | None:
    """Return a score; None for none, Faulty where it is no number."""
    return None if value is None or value == "" else number(value, column)


def label_of(value: Any, column: str = "label") -> str:
    """Return the class of an object; Faulty without one."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise Faulty(_shown(value), "the class of the object", column)
    return value.strip()


def side_of(value: Any, column: str) -> int | None:
    """Return a side of an image in pixels, None for 0 or nothing (unknown); Faulty where it is no whole number."""
    if value is None or value == "":
        return None
    pixels = number(value, column)
    if not 0 <= pixels <= MAX_SIDE or pixels != int(pixels):
        raise Faulty(_shown(value), f"{SIZE}, at most {MAX_SIDE:,}", column)
    return int(pixels) or None


def corner_box(left: float, top: float, right: float, bottom: float) -> Shape:
    """Return the box between two corners; Faulty where they are swapped."""
    if right < left or bottom < top:
        raise Faulty(f"{left:g}, {top:g}, {right:g}, {bottom:g}", "left, top, right, bottom, in this order")
    return Shape((left, top, right - left, bottom - top), (right - left) * (bottom - top))


def sized_box(left: float, top: float, width: float, height: float) -> Shape:
    """Return the box of a corner and a size; Faulty where this is negative."""
    if width < 0 or height < 0:
        raise Faulty(f"{width:g} × {height:g}", "a width and a height of at least 0")
    return Shape((left, top, width, height), width * height)


def rotated_box(pivot: tuple[float, float], box: Sequence[float], degrees: float) -> Shape:
    """Return a box x, y, width, height turned clockwise on the screen about a point, as a ring of four corners."""
    x, y, width, height = box
    straight = sized_box(x, y, width, height)
    if degrees % 360 == 0:
        return straight
    angle = math.radians(degrees)
    cosine, sine = math.cos(angle), math.sin(angle)
    corners = ((x, y), (x + width, y), (x + width, y + height), (x, y + height))
    moved = [(px - pivot[0], py - pivot[1]) for px, py in corners]
    ring = [(pivot[0] + dx * cosine - dy * sine, pivot[1] + dx * sine + dy * cosine) for dx, dy in moved]
    return polygon([[value for point in ring for value in point]])


def ellipse(x: float, y: float, wide: float, high: float, degrees: float = 0.0) -> Shape:
    """Return an ellipse of these radii about a centre, as a ring of 72 points whose box is the ellipse's."""
    if wide < 0 or high < 0:
        raise Faulty(f"radii {wide:g}, {high:g}", "radii of at least 0")
    turn = math.radians(degrees)
    angles = np.arange(72) * (2 * math.pi / 72)
    along, across = wide * np.cos(angles), high * np.sin(angles)
    points = np.stack((x + along * math.cos(turn) - across * math.sin(turn),
                       y + along * math.sin(turn) + across * math.cos(turn)), axis=1)  # fmt: skip
    return polygon([points.ravel().tolist()])


def polygon(rings: Iterable[Sequence[float]]) -> Shape:
    """Return the polygons x1 y1 x2 y2 … of one object; Faulty where one has fewer than three points."""
    kept = [list(ring) for ring in rings]
    if not kept or any(len(ring) < 6 or len(ring) % 2 for ring in kept):
        least = min((len(ring) // 2 for ring in kept), default=0)
        raise Faulty(f"a polygon of {least} points", "at least three points")
    *box, area = outline([(ring[0::2], ring[1::2]) for ring in kept])
    return Shape((box[0], box[1], box[2], box[3]), area, rings=kept)


def mask(runs: Sequence[int], width: int | None, height: int | None) -> Shape:
    """Return the pixels of COCO's runs, column by column; Faulty where they are not those of the image."""
    if width is None or height is None:
        raise Faulty("a mask in an image of unknown size", SIZE)
    if any(run < 0 for run in runs) or sum(runs) != width * height or width * height > LARGEST_IMAGE:
        raise Faulty(f"a mask of {sum(runs):,} pixels", f"{width:,} × {height:,} pixels, as the image has")
    box = rle.box(runs, height)
    return Shape((box[0], box[1], box[2], box[3]), float(rle.area(runs)), rle=rle.encode(runs))


def bitmap_mask(pixels: Bools, left: int, top: int, width: int | None, height: int | None) -> Shape:
    """Return a bitmap [rows, columns] that lies at a place of the image as its mask; Faulty where it leaves it."""
    if width is None or height is None:
        raise Faulty("a mask in an image of unknown size", SIZE)
    high, wide = pixels.shape
    if left < 0 or top < 0 or left + wide > width or top + high > height or width * height > MAX_PIXELS:
        found = f"a mask of {wide:,} × {high:,} at {left:,}, {top:,}"
        raise Faulty(found, f"one inside an image of {width:,} × {height:,}")
    flat = np.zeros((wide, height), np.int8)  # its columns of the image, one after the other
    flat[:, top : top + high] = pixels.T
    changes = np.flatnonzero(np.diff(np.concatenate([[0], flat.ravel(), [0]]))) + left * height
    runs = np.diff(np.concatenate([[0], changes, [width * height]])).tolist()
    return mask(runs[:-1] if len(runs) % 2 and runs[-1] == 0 and len(runs) > 1 else runs, width, height)


def _stretched(shape: Shape, across: float, down: float) -> Shape:
    x, y, width, height = shape.box
    rings = shape.rings
    if rings is not None:
        rings = [[value * (down if place % 2 else across) for place, value in enumerate(ring)] for ring in rings]
    return Shape((x * across, y * down, width * across, height * down), shape.area * across * down, rings)


def _kind(shape: Shape) -> str:
    if shape.rle is not None:
        return "mask"
    if shape.rings is None:
        return "box"
    return f"polygon of {sum(map(len, shape.rings)) // 2} points"


def _shown(value: Any) -> str:
    return "nothing" if value is None else repr(value)[:80]
