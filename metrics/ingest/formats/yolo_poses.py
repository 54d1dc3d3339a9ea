"""Key points in YOLO labels: `class xc yc w h x1 y1 [v1] x2 y2 [v2] … [conf]`, of the shape that data.yaml states.

Their names are in its `kpt_names`. Its `flip_idx` is for training alone and not read; YOLO knows no skeleton.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from metrics.core.array_types import Floats
from metrics.core.classes import ClassFacts
from metrics.core.suite import NUMBERS, Suite
from metrics.ingest.media.bundle import Rows

MOST = 1_000  # key points of an object
SIDES = 5  # class and box, before the key points


class PoseShape(NamedTuple):
    """How many key points an object has, and how many numbers each: 2 for x y, 3 for x y v."""

    points: int
    numbers: int

    @property
    def line(self) -> str:
        """The form of a line."""
        each = "x y v" if self.numbers == 3 else "x y"
        return f"class xc yc w h and {self.points} key points {each}"

    def split(self, fields: Sequence[str]) -> tuple[str, str | None] | None:
        """Return the key points of a line and its confidence; None where it has other numbers of fields."""
        end = SIDES + self.points * self.numbers
        if len(fields) not in (end, end + 1):
            return None
        return " ".join(fields[SIDES:end]), fields[end] if len(fields) > end else None


def shape_of(value: Any) -> PoseShape | None:
    """Return the `kpt_shape` of a data.yaml, None where it is none: [17, 3]."""
    texts = value if isinstance(value, list) else ()
    numbers = [int(text) for text in texts if isinstance(text, str) and text.isascii() and text.isdecimal()]
    if len(texts) != 2 or len(numbers) != 2 or not 0 < numbers[0] <= MOST or numbers[1] not in (2, 3):
        return None
    return PoseShape(*numbers)


def named_points(value: Any, labels: Sequence[str], count: int) -> dict[str, ClassFacts]:
    """Return the names of the `count` key points of each class in the `kpt_names` of a data.yaml.

    They are by class, its number or its name ({0: [nose, tail]}), or one list for all. They are only shown: what is no
    list of as many names is left out.
    """
    found = {}
    for place, label in enumerate(labels):
        names = value.get(str(place), value.get(label)) if isinstance(value, dict) else value
        texts = [name.strip() for name in names if isinstance(name, str)] if isinstance(names, list) else []
        if len(texts) == len(names or ()) == count and all(texts):
            found[label] = ClassFacts(keypoints=tuple(texts))
    return found


def shape_of_suite(suite: Suite, lines: Iterable[str]) -> PoseShape | None:
    """Return the shape of predictions for a suite whose objects have key points; of the first one's number.

    Models of points x y write no v: where no line of those given has the numbers of x y v and a confidence.
    """
    poses = None if suite.annotations is None else suite.annotations["keypoints"].drop_null()
    if poses is None or not len(poses):
        return None
    count = len(poses[0]) // 3
    fields = {len(line.split()) for line in lines} - {0}
    return PoseShape(count, 2 if fields and fields <= {SIDES + 2 * count + 1} else 3)


def poses_of(sheet: Rows, shape: PoseShape, sizes: Floats) -> pa.Array:
    """Return the key points of each line in pixels, x y v …; what is no finite number is a problem.

    sizes [N, 2]: width and height of each line's image. Without v a key point is labelled, unless it is at 0, 0 or has
    a number below 0.
    """
    poses: list[list[float] | None] = [None] * len(sheet)
    wrong = np.zeros(len(sheet), bool)
    for place, text in enumerate(sheet.table["pose"].to_pylist()):
        if text is None or sheet.bad[place]:
            continue
        try:
            values = np.array([float(part) for part in text.split()]).reshape(shape)
        except ValueError:
            values = np.full(shape, np.nan)
        xy = values[:, :2]
        with np.errstate(invalid="ignore", over="ignore"):
            seen = values[:, 2] if shape.numbers == 3 else 2.0 * ((xy >= 0).all(axis=1) & (xy > 0).any(axis=1))
            pose = np.column_stack([xy * sizes[place], seen]).ravel()
        wrong[place] = not np.isfinite(pose).all()
        if not wrong[place]:
            poses[place] = pose.tolist()
    sheet.report(wrong, "key points", sheet.table["line"], "finite numbers")
    return pa.array(poses, NUMBERS)
