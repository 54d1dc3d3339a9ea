"""What four numbers of a box can mean: each reading turns boxes that were read as x, y, width, height into pixels."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from metrics.core.array_types import Floats

Convert = Callable[[Floats, Floats], Floats]  # boxes [N, 4] as read, sizes [N, 2] (width, height) → boxes [N, 4]


class Reading(NamedTuple):
    """A reading of boxes: what the file has, in words, and the conversion."""

    words: str
    convert: Convert


def _scaled(boxes: Floats, sizes: Floats) -> Floats:
    scaled: Floats = boxes * np.tile(sizes, 2)
    return scaled


def _corners(boxes: Floats, _: Floats) -> Floats:
    return np.column_stack([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]])


def _centres(boxes: Floats, _: Floats) -> Floats:
    return np.column_stack([boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, 2:]])


def _top_left(boxes: Floats, _: Floats) -> Floats:
    return np.column_stack([boxes[:, :2] + boxes[:, 2:] / 2, boxes[:, 2:]])


def _swapped(boxes: Floats, _: Floats) -> Floats:
    return boxes[:, [1, 0, 3, 2]]


def _swapped_sides(boxes: Floats, _: Floats) -> Floats:
    return boxes[:, [0, 1, 3, 2]]


def _swapped_corners(boxes: Floats, sizes: Floats) -> Floats:
    return _corners(_swapped(boxes, sizes), sizes)


NORMALISED = "normalised"
READINGS: Mapping[str, Reading] = MappingProxyType(
    {
        NORMALISED: Reading("shares of the image", _scaled),
        "xyxy": Reading("x1 y1 x2 y2", _corners),
        "cxcywh": Reading("centre x, centre y, width, height", _centres),
        # a file with x, y of the top left corner where the format has the centre: YOLO
        "top-left": Reading("top left corner, width, height", _top_left),
        "yxhw": Reading("y x height width", _swapped),
        "xyhw": Reading("x y height width", _swapped_sides),
        "yxyx": Reading("y1 x1 y2 x2", _swapped_corners),
    }
)
CONVENTIONS = tuple(name for name in READINGS if name != NORMALISED)
