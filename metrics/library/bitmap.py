"""bitmap(): the pixels of one object."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from metrics.core.array_types import Bools
from metrics.core.suite import ANNOTATIONS, rows_table
from metrics.vision.geometry import drawn
from metrics.vision.outlines import bitmap_of


def bitmap(annotation: Mapping[str, Any], height: int, width: int) -> Bools:
    """Return an object as a bitmap [height, width] of an image of that size, in pixels: True where the object is.

    `annotation` has the columns of a suite's annotations or of predictions: `rle` (COCO's compressed run lengths), else
    `polygons` (rings x1 y1 x2 y2 …, a rotated box is a ring of four points), else x, y, width, height. The pixels are
    those of pycocotools; what lies outside the image is cut off. InputError listing everything that cannot be drawn.

    >>> bitmap({"x": 1, "y": 0, "width": 2, "height": 1}, 2, 4).astype(int).tolist()
    [[0, 1, 1, 0], [0, 0, 0, 0]]
    """
    known = {name: value for name, value in annotation.items() if name in ANNOTATIONS.names}
    cases = pa.table({"image_height": pa.array([height], pa.int32()), "image_width": pa.array([width], pa.int32())})
    return bitmap_of(drawn("annotation", rows_table([known], ANNOTATIONS), cases), 0)
