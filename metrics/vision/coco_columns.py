"""The columns of COCO's ground truth and results, and the rules that make them valid, for every reader."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrics.core.array_types import Bools, Floats, Int32s, Ints
from metrics.vision.masks import LARGEST_IMAGE, Masks

IouType = Literal["bbox", "segm"]
DENSE = 4  # ids so close together are looked up in a table
BOX = "[x, y, width, height] in pixels"
FARTHEST = 1e15  # pixels: nothing lies farther, and the areas of boxes are finite up to there


@dataclass(frozen=True, eq=False, slots=True)
class GroundTruth:
    """The images by ascending id with their sizes [I, 2] (height, width; 0 where not read), the categories by ascending
    id with their names, and the annotations in file order: codes into both, boxes [G, 4], areas, crowds, masks.
    """

    image_ids: Ints
    sizes: Ints
    category_ids: Ints
    labels: tuple[str, ...]
    image: Int32s
    category: Int32s
    box: Floats
    area: Floats
    crowd: Bools
    masks: Masks | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Results:
    """The results in file order: codes into the ground truth's images and categories, boxes [N, 4], scores, masks.

    `boxed`: the first one brings a box, so the area of each is its box's; else it is its mask's.
    """

    image: Int32s
    category: Int32s
    box: Floats
    score: Floats
    boxed: bool = True
    masks: Masks | None = None


class Fault(NamedTuple):
    """The records [N] whose value under a key breaks a rule; `first` [N]: the record that has the same value first."""

    key: str
    wrong: Bools
    expected: str
    first: Ints | None = None


def id_faults(ids: Ints) -> Iterator[Fault]:
    """Yield what is wrong with the ids of images, categories or annotations."""
    yield Fault("id", ids < 0, "a whole number of at least 0")
    yield _repeated("id", ids, ids >= 0, "every id once")


def size_faults(sizes: Ints) -> Iterator[Fault]:
    """Yield what is wrong with the heights and widths [I, 2] of images."""
    for place, side in enumerate(("height", "width")):
        yield Fault(side, sizes[:, place] < 1, f"the image's {side} in pixels, at least 1")


def pixel_faults(sizes: Ints) -> Iterator[Fault]:
    """Yield the images too large for masks."""
    yield Fault(
        "width", sizes.astype(np.float64).prod(axis=1) > LARGEST_IMAGE, f"an image of at most {LARGEST_IMAGE:,} pixels"
    )


def category_faults(ids: Ints, names: NDArray[np.str_]) -> Iterator[Fault]:
    """Yield what is wrong with categories; "" is no name."""
    yield from id_faults(ids)
    yield Fault("name", names == "", "the name of the category")
    yield _repeated("name", names, names != "", "every category under its own name")


def crowd_faults(flags: Ints) -> Iterator[Fault]:
    """Yield what is wrong with the flags of crowds."""
    yield Fault("iscrowd", (flags != 0) & (flags != 1), "0 or 1")


def score_faults(score: Floats) -> Iterator[Fault]:
    """Yield what is wrong with scores."""
    yield Fault("score", ~np.isfinite(score), "a finite score")


def box_faults(box: Floats, absent: Bools) -> Iterator[Fault]:
    """Yield what is wrong with the boxes [N, 4] that are not absent."""
    finite = np.isfinite(box).all(axis=1)
    yield Fault("bbox", ~finite & ~absent, BOX + ", four finite numbers")
    yield Fault("bbox", (box[:, 2] < 0) | (box[:, 3] < 0), BOX + ", width and height not negative")
    far: Bools = finite & np.any(np.abs(box) > FARTHEST, axis=1)
    yield Fault("bbox", far, BOX + f", at most {FARTHEST:.0e} pixels")


def area_faults(area: Floats) -> Iterator[Fault]:
    """Yield what is wrong with areas; NaN is none."""
    wrong: Bools = (area < 0) | np.isinf(area)
    yield Fault("area", wrong, "an area in square pixels, not negative")


def member_faults(key: str, codes: Int32s, expected: str) -> Iterator[Fault]:
    """Yield the records whose id, as `codes_of` has it, is of nothing known."""
    yield Fault(key, codes < 0, expected)


def codes_of(values: Ints, known: Ints) -> Int32s:
    """Return the place of each value in `known`, which ascends; −1 where it is not there."""
    if not len(known):
        return np.full(len(values), -1, np.int32)
    low, high = int(known[0]), int(known[-1])
    if high - low < DENSE * (len(values) + len(known)):
        inside = (values >= low) & (values <= high)
        table = np.full(high - low + 1, -1, np.int32)
        table[known - low] = np.arange(len(known), dtype=np.int32)
        if inside.all():
            return table[values - low]
        return np.where(inside, table[np.where(inside, values, low) - low], np.int32(-1))
    places = np.searchsorted(known, values).clip(max=len(known) - 1)
    return np.where(known[places] == values, places, -1).astype(np.int32)


def _repeated(key: str, values: NDArray[np.generic], counted: Bools, expected: str) -> Fault:
    ordered = np.sort(values)
    rows = np.arange(len(values))
    if (ordered[1:] != ordered[:-1]).all():  # the usual case
        return Fault(key, np.zeros(len(values), np.bool_), expected, rows)
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    return Fault(key, (first[inverse] != rows) & counted, expected, first[inverse])
