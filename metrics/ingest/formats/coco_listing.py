"""An array of records of a COCO document as columns; problems of records are recorded by their index.

What LVIS's images and categories have beyond COCO's is read here as well.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.classes import ClassFacts
from metrics.core.receipt import FileQuestion
from metrics.core.suite import NUMBERS, STRINGS
from metrics.ingest.formats.coco_keys import LISTS
from metrics.ingest.formats.coco_segmentations import Sizes, read_masks, read_segmentation
from metrics.ingest.leaf_notes import UNKNOWN, note_unused
from metrics.ingest.media.suite_images import metadata_of
from metrics.ingest.sheet import FALSE, TRUE, Sheet
from metrics.ingest.source import Problems, Source
from metrics.ingest.tables.decimals import NUMBER
from metrics.ingest.tables.object_tables import POLYGONS, box_areas, box_columns
from metrics.ingest.tables.values import finite, whole_number, without
from metrics.vision.coco_columns import BOX, Fault, area_faults, box_faults

CLASS_NAMES = ("label", "category_name", "category", "class_name", "class", "name")  # keys of a class beside its id
MAX_ID = 2**63 - 1
FIRST_TEXT_ID = 2**62  # the number of the first id that is a text and no number
KEYPOINTS = "a list of x, y, v for each key point, in finite numbers"
SEGMENTATION = "polygons [[x1, y1, x2, y2, x3, y3, …], …] or run lengths {size: [height, width], counts}"
WRONG_SEGMENTATION = "these are no outlines (polygons of three points and more, run lengths of the image's size), so " \
    "that only boxes can be compared"  # fmt: skip
SHORT_RINGS = "rings of fewer than three points beside whole ones enclose nothing"
CATEGORY_IDS = "a list of ids of categories"


class Ids(dict[str, int]):
    """The ids of one kind of record that are texts, such as UUIDs, and the numbers that stand for them.

    A text that is a whole number as it is written, "12", is that number: files mix both.
    """

    def number_of(self, value: Any, new: bool) -> int:
        """Return the number of an id; −1 where it is none, or a text that is not known and may not be `new`."""
        number = whole_number(value)
        if number is not None:
            return number if abs(number) < FIRST_TEXT_ID else -1
        if not isinstance(value, str) or not value.strip():
            return -1
        return self.setdefault(value, FIRST_TEXT_ID + len(self)) if new else self.get(value, -1)

    def texts(self, numbers: Ints) -> pa.Array:
        """Return ids as texts."""
        if not self:
            return pa.array(numbers).cast(pa.string())
        own = {number: text for text, number in self.items()}
        return pa.array([own.get(number, str(number)) for number in numbers.tolist()], pa.string())


class Listing(Sheet):
    """An array of a COCO document under validation; `column` names are prefixed with the array's name.

    A value of another type than the column's becomes one that its rule rejects: −1, NaN or "".
    """

    def __init__(self, source: Source, name: str, records: Any, problems: Problems):
        self.prefix = name + "." if name else ""
        if not isinstance(records, list):
            found = "nothing" if records is None else type(records).__name__
            problems.add(source.name, found, f"an array {name}", column=name, fatal=True)
            records = []
        self.records: list[dict[str, Any]] = [record if isinstance(record, dict) else {} for record in records]
        self._keys = Counter(chain.from_iterable(self.records))
        self._values: dict[str, list[Any]] = {}
        self._unused: Counter[str] = Counter()
        self._kept: set[str] = set()
        count = len(self.records)
        super().__init__(source.name, pa.table({"index": np.arange(1, count + 1)}), np.arange(1, count + 1), problems)
        wrong = np.fromiter((not isinstance(record, dict) for record in records), bool, count)
        self.report(wrong, name or None, lambda row: repr(records[row])[:80], "an object")

    @property
    def path(self) -> str:
        """What a key of a record is called in the receipt, before its name."""
        return self.prefix.replace(".", "[].") or "[]."

    def keep_others(self, *known: Mapping[str, str]) -> dict[str, pa.Array]:
        """Return what the records have under other than the known keys as columns of metadata, and note it."""
        names = {key for keys in known for key in keys}
        self._kept = self._keys.keys() - names
        others = [without(record, *names) for record in self.records] if self._kept else [{}] * len(self)
        return metadata_of(self.problems, self.file, self.path, others)

    def note_keys(self, used: Mapping[str, str], unused: Mapping[str, str]) -> None:
        """Note what becomes of every key that a record has: the field it is, or why nothing is done with it.

        Keys of unknown meaning that are not kept are noted leaf by leaf.
        """
        for key, count in self._keys.items():
            if key in used:
                if count > self._unused[key]:
                    self.problems.note(self.file, self.path + key, "used", used[key], count - self._unused[key])
            elif key not in self._kept:
                given = (record[key] for record in self.records if key in record)
                note_unused(self.problems, self.file, self.path + key, given, unused.get(key, UNKNOWN))

    def note_unused(self, key: str, reason: str, count: int, example: object = "") -> None:
        """Note that the values of some records under a key that is used are not, and why."""
        self._unused[key] += count
        self.problems.note(self.file, self.path + key, "unused", reason, count, example)

    def values(self, key: str) -> list[Any]:
        """Return what every record has under `key`, None where nothing."""
        if key not in self._values:
            known = key in self._keys
            self._values[key] = [record.get(key) for record in self.records] if known else [None] * len(self)
        return self._values[key]

    def keep(self, kept: Bools) -> None:
        """Forget the records that are not `kept`."""
        self.take(np.flatnonzero(kept))
        self.records = [record for record, stays in zip(self.records, kept, strict=True) if stays]
        self._keys = Counter(chain.from_iterable(self.records))
        self._values.clear()

    def apply(self, faults: Iterable[Fault]) -> None:
        """Record a problem for each record with a fault that has none yet."""
        for fault in faults:
            if not fault.wrong.any():
                continue
            values, first = self.values(fault.key), fault.first
            if first is None:
                self.wrong(fault.wrong, fault.key, values, fault.expected)
            else:
                again = [f"{value!r} again, first in record {at + 1}" for value, at in zip(values, first, strict=True)]
                self.wrong(fault.wrong, fault.key, again.__getitem__, fault.expected)

    def wrong(self, mask: Bools, key: str, found: Sequence[Any] | Callable[[int], str], expected: str) -> None:
        """Record a problem for each record of `mask` that has none yet."""
        self.report(mask & ~self.bad, self.prefix + key, found, expected)

    def integers(self, key: str, default: int | None = None) -> Ints:
        """Return a whole number per record, also one in quotes, `default` where absent, −1 where it is none."""
        values = self.values(key)
        if set(map(type, values)) != {int}:
            values = [default if value is None else value for value in values]
            values = [-1 if (number := whole_number(value)) is None else number for value in values]
        try:
            return np.array(values, np.int64)
        except OverflowError:
            return np.array([value if abs(value) <= MAX_ID else -1 for value in values], np.int64)

    def ids(self, key: str, known: Ids, new: bool = False) -> Ints:
        """Return the number of each record's id, which may be a text; −1 where it has none.

        Texts that are not known are −1 or, if they may be `new`, become known.
        """
        values = self.values(key)
        if set(map(type, values)) <= {int}:
            return self.integers(key)
        return np.array([known.number_of(value, new) for value in values], np.int64)

    def zero_or_one(self, key: str) -> Ints:
        """Return 0 or 1 per record, 0 where absent, −1 where it is neither a number nor true or false."""
        values = self.values(key)
        if set(map(type, values)) <= {int}:
            return self.integers(key)
        texts = [str(0 if value is None else value).strip().lower() for value in values]
        return np.array([1 if text in TRUE else 0 if text in FALSE else -1 for text in texts])

    def floats(self, key: str, wrong: float = np.nan) -> Floats:
        """Return a finite number per record, also one in quotes, NaN where absent, `wrong` where it is none."""
        values = self.values(key)
        if not set(map(type, values)) <= {int, float}:
            values = [np.nan if value is None else _number(value, wrong) for value in values]
            return np.array(values, np.float64)
        numbers = _floats(values)
        return np.where(np.isfinite(numbers), numbers, wrong)

    def boxes(self) -> tuple[Floats, Bools]:
        """Return the boxes [N, 4], NaN where there is none or it is no four finite numbers, and which are absent [N].

        Boxes that break a rule are problems.
        """
        values = self.values("bbox")
        parts = list(chain.from_iterable(values)) if set(map(type, values)) <= {list} else [None]
        if set(map(type, parts)) <= {int, float} and set(map(len, values)) <= {4}:
            boxes, absent = _floats(parts).reshape(-1, 4), np.zeros(len(values), bool)
        else:
            absent = np.fromiter((value is None or value == [] for value in values), bool, len(values))
            lists = map(_as_list, values)
            numbers = [[_number(side, np.nan) for side in own] if len(own) == 4 else [np.nan] * 4 for own in lists]
            boxes = np.array(numbers, np.float64).reshape(-1, 4)
        self.apply(box_faults(boxes, absent))
        return boxes, absent

    def keypoints(self) -> list[list[float] | None]:
        """Return the key points of each record, x1 y1 v1 x2 …, None where it has none; what is wrong is a problem."""
        values = self.values("keypoints")
        if not any(values):
            return [None] * len(values)
        wrong = np.fromiter((bool(value) and not _is_pose(value) for value in values), bool, len(values))
        self.wrong(wrong, "keypoints", [f"{value!r}"[:80] for value in values], KEYPOINTS)
        rows = zip(values, wrong.tolist(), strict=True)
        return [[float(number) for number in value] if value and not bad else None for value, bad in rows]

    def shapes(
        self, image_ids: Ints, sizes: Sizes, guessed: bool = False, need_masks: bool = False
    ) -> dict[str, pa.Array]:
        """Return the columns of the records' boxes, areas, polygons, run lengths and key points; faults are problems.

        An absent box is that of the segmentation, else around the key points (those of v > 0, or, `guessed` by a model,
        all of them); an absent area that of the box or, with it, of the segmentation. A wrong segmentation beside a box
        is a problem where masks are needed; else the receipt names it, and a line in its place, which is no outline,
        lets what compares masks refuse it.
        """
        boxes, without = self.boxes()
        areas = self.floats("area", wrong=-1.0)
        self.apply(area_faults(areas))
        count = len(self)
        polygons: pa.Array = pa.nulls(count, POLYGONS)
        runs: pa.Array = pa.nulls(count, pa.string())
        segmentations = self.values("segmentation")
        without &= ~self.bad
        if any(segmentations):
            rings: list[list[list[float]] | None] = [None] * count
            codes: list[str | None] = [None] * count
            right = read_masks(segmentations, image_ids, sizes)
            left_out = 0
            for place, value in enumerate(segmentations):
                if not value or value == [[]] or self.bad[place]:
                    continue
                try:
                    size = sizes.get(int(image_ids[place]))
                    found = right.get(place) or read_segmentation(value, size, boxes[place])
                    codes[place], rings[place], box, area = found.code, found.rings, found.box, found.area
                    left_out += found.short
                except ValueError as error:
                    if need_masks or without[place]:
                        self.wrong(np.arange(count) == place, "segmentation", str(error), SEGMENTATION)
                    else:
                        x, y, width, height = boxes[place].tolist()
                        rings[place] = [[x, y, x + width, y + height]]
                        self.note_unused("segmentation", WRONG_SEGMENTATION, 1, error)
                    continue
                if without[place]:
                    boxes[place], without[place] = box, False
                    if np.isnan(areas[place]):
                        areas[place] = area
            if left_out:
                self.problems.note(self.file, self.path + "segmentation[]", "unused", SHORT_RINGS, left_out)
            polygons, runs = pa.array(rings, POLYGONS), pa.array(codes, pa.string())
        poses = self.keypoints()
        for place, pose in enumerate(poses):
            if pose is not None and without[place]:
                xy = [pose[at : at + 2] for at in range(0, len(pose), 3) if guessed or pose[at + 2] > 0]
                if xy:
                    low, high = np.min(xy, axis=0), np.max(xy, axis=0)
                    boxes[place], without[place] = [*low, *(high - low)], False
        self.apply([Fault("bbox", without & ~self.bad, BOX)])
        areas = np.where(np.isnan(areas), box_areas(boxes), areas)
        columns = {**box_columns(boxes), "area": pa.array(areas), "polygons": polygons, "rle": runs}
        return columns | ({"keypoints": pa.array(poses, NUMBERS)} if any(poses) else {})


def checked_labels(images: Listing, labels: dict[int, str]) -> dict[str, pa.Array]:
    """Return the columns of the classes that LVIS's images were checked for, as far as any image lists them.

    `labels` go by category id.
    """
    columns = {}
    for key, column in LISTS.items():
        values = images.values(key)
        if all(value is None for value in values):
            continue
        images.wrong(np.array([not _are_classes(value, labels) for value in values], bool), key, values, CATEGORY_IDS)
        pairs = zip(values, images.bad, strict=True)
        names = [
            None if own is None or bad else [labels[number] for number in dict.fromkeys(own)] for own, bad in pairs
        ]
        columns[column] = pa.array(names, STRINGS)
    return columns


def image_name(record: dict[str, Any]) -> Any:
    """Return the file name of an image: LVIS's newer files give it at the end of a URL."""
    name, url = record.get("file_name"), record.get("coco_url")
    return url.rsplit("/", 1)[-1] if name is None and isinstance(url, str) else name


def same_class(listing: Listing, labels: pa.Array, known: Collection[str]) -> pa.Array:
    """Return the labels that category_id says; where the record names another class of those `known`, it is asked."""
    key = next((key for key in CLASS_NAMES if any(listing.values(key))), None)
    if key is None:
        return labels
    own, named = labels.to_pylist(), listing.values(key)
    other = [isinstance(name, str) and name in known and label not in (None, name)
             for label, name in zip(own, named, strict=True)]  # fmt: skip
    if not any(other):
        return labels
    at = other.index(True)
    found = f"{sum(other):,} records whose {key}, such as {named[at]!r}, is another class than category_id {own[at]!r}"
    question = FileQuestion("class", "Which of the two says the class?", ("category_id", "name"))
    if listing.problems.ask(listing.file, question, found, place=listing.prefix + key, row=at + 1) != "name":
        return labels
    return pa.array([new if apart else old for new, old, apart in zip(named, own, other, strict=True)], pa.string())


def class_facts(records: Iterable[Any], named: bool = False) -> dict[str, ClassFacts]:
    """Return the facts about the categories that have some, by name; their ids, too, where these are `named` by texts.

    `keypoints` are names, `skeleton` pairs of their places from 1. They are only shown: what is no name or no such pair
    is left out.
    """
    found = {}
    for record in records:
        if not isinstance(record, dict):
            continue
        names, thing, images = _names(record.get("keypoints")), record.get("isthing"), record.get("image_count")
        facts = ClassFacts(
            is_thing=bool(thing) if thing in (0, 1) else None,
            images=images if type(images) is int and images >= 0 else None,
            keypoints=names,
            skeleton=_pairs(record.get("skeleton"), len(names)),
            id=str(record.get("id")) if named else None,
        )
        if facts != ClassFacts():
            found[str(record.get("name"))] = facts
    return found


def names(values: Sequence[Any]) -> NDArray[np.str_]:
    """Return the texts of a column, "" for what is no text."""
    return np.array([value if isinstance(value, str) else "" for value in values], np.str_)


def _is_pose(value: Any) -> bool:
    return isinstance(value, list) and len(value) % 3 == 0 and all(map(finite, value))


def _as_list(value: Any) -> list[Any]:
    """Return a list, also one in quotes; an empty one of what is none."""
    if isinstance(value, str) and value[:1] == "[":
        with suppress(orjson.JSONDecodeError):
            value = orjson.loads(value)
    return value if isinstance(value, list) else []


def _number(value: Any, wrong: float) -> float:
    """Return a finite number, also one in quotes; `wrong` where it is none."""
    if isinstance(value, str) and re.match(NUMBER, value):
        value = float(value)
    return float(value) if finite(value) else wrong


def _floats(values: list[Any]) -> Floats:
    try:
        return np.array(values, np.float64)
    except OverflowError:  # an integer beyond 1.8e308
        return np.array([float(value) if abs(value) < 1e308 else np.inf for value in values], np.float64)


def _are_classes(value: Any, labels: dict[int, str]) -> bool:
    return value is None or (isinstance(value, list) and all(type(one) is int and one in labels for one in value))


def _names(value: Any) -> tuple[str, ...]:
    named = isinstance(value, list) and all(isinstance(name, str) and name for name in value)
    return tuple(value) if named else ()


def _pairs(value: Any, count: int) -> tuple[tuple[int, int], ...]:
    pairs = value if isinstance(value, list) else ()
    return tuple(
        (pair[0] - 1, pair[1] - 1)
        for pair in pairs
        if isinstance(pair, list) and len(pair) == 2 and all(type(end) is int and 0 < end <= count for end in pair)
    )
