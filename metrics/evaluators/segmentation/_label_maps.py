"""The true and the predicted label of every pixel, image by image, for semantic segmentation."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from metrics.core.array_types import Int32s, Ints
from metrics.core.evaluator import Parameters
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._objects import FILES, codes_of, object_labels, object_tables, reference_problems, refuse
from metrics.vision.geometry import image_sizes, read_sides, size_problems, whole
from metrics.vision.masks import MaskOverlap, Masks
from metrics.vision.segmentation import label_map

IMAGES = 64  # whose runs are held at a time


class LabelMapParameters(Parameters):
    """How regions become label maps."""

    ignore_index: int | None = Field(
        255,
        ge=0,
        description="Class id whose true pixels count nowhere; empty: none. Without ids, the label so called.",
    )
    ignore_labels: tuple[str, ...] = Field((), description="More labels whose true pixels count nowhere.")
    background: str = Field(
        "background", description="Label of the pixels that no region covers; to leave them out, ignore it too."
    )


@dataclass(frozen=True, eq=False, slots=True)
class ImageMaps:
    """The two label maps of one image (see vision.segmentation); `place` is its row in the suite's cases."""

    place: int
    height: int
    width: int
    truth: Int32s
    prediction: Int32s


@dataclass(frozen=True, eq=False)
class Labels:
    """K labels by code. `implied`: the last one is the background, though nothing names it.

    `truth` and `prediction` are the codes of a region by its label, `background` included: −1 of true pixels that count
    nowhere, K of predicted ones that are given no label that counts.
    """

    names: tuple[str, ...]
    implied: bool
    truth: dict[str, int]
    prediction: dict[str, int]
    background: str

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def of(cls, suite: Suite, outputs: Outputs, parameters: LabelMapParameters) -> "Labels":
        """Return the labels that are not ignored: those of the suite in its order, then the other predicted ones."""
        ignored = set(parameters.ignore_labels)
        if parameters.ignore_index is not None:
            numbers = dict(zip(suite.category_ids, suite.labels, strict=False))
            ignored.add(numbers.get(parameters.ignore_index, str(parameters.ignore_index)))
        known = object_labels(suite, outputs)
        background = parameters.background
        implied = background not in {*known, *ignored}
        names = tuple(name for name in known if name not in ignored) + (background,) * implied
        codes = {name: code for code, name in enumerate(names)}
        truth, prediction = (dict.fromkeys(ignored, nowhere) | codes for nowhere in (-1, len(names)))
        return cls(names, implied, truth, prediction, background)


@dataclass(frozen=True, eq=False, slots=True)
class Batch:
    """Some images in a row, as runs: `sides` are truth and prediction, `places` their rows in the suite's cases."""

    places: range
    sizes: Ints
    sides: tuple["_Runs", "_Runs"]

    def maps(self, index: int) -> ImageMaps:
        """Return the label maps of one of the images, painted."""
        high, wide = self.sizes[index].tolist()
        truth, prediction = (
            label_map(side.masks, side.start[index], side.start[index + 1], side.code, high * wide, side.ground[index])
            for side in self.sides
        )
        return ImageMaps(self.places[index], high, wide, truth, prediction)


class _Runs(NamedTuple):
    """One side of a batch: masks with a code each, where those of each image begin, the ground of each image."""

    masks: Masks
    code: Int32s
    start: list[int]
    ground: list[int]


def batches(suite: Suite, outputs: Outputs, labels: Labels) -> Iterator[Batch]:
    """Yield the images in the order of the suite.

    Of overlapping regions the one in the later row wins. An image that the model has no output for is predicted to be
    of no label; one with an output is background where no region covers it. InputError, in the end, listing every
    record that cannot be used.
    """
    case_ids = whole(suite.cases["case_id"])
    answered = pc.is_in(case_ids, value_set=whole(outputs.outputs["case_id"])).to_numpy(zero_copy_only=False)
    grounds = (
        np.full(len(suite), labels.truth[labels.background]),
        np.where(answered, labels.prediction[labels.background], len(labels)),
    )
    sizes = image_sizes(suite.cases)
    problems = size_problems(suite.cases, sizes, [np.arange(len(suite), dtype=np.int32)])
    sides = []
    for file, table in zip(FILES[1:], object_tables(suite, outputs), strict=True):
        image = codes_of(table["case_id"], case_ids)
        problems += reference_problems(file, table, image)
        sides.append((table, image, np.argsort(image, kind="stable")))
    for first in range(0, len(suite), IMAGES):
        places = range(first, min(first + IMAGES, len(suite)))
        ends = (places.start, places.stop)
        rows = [order[slice(*np.searchsorted(image, ends, sorter=order))] for _, image, order in sides]
        tables = [table.take(pa.array(own)) for (table, _, _), own in zip(sides, rows, strict=True)]
        images = [image[own] - first for (_, image, _), own in zip(sides, rows, strict=True)]
        read, wrong = read_sides("mask", suite.cases.slice(first, IMAGES), *tables, *images)
        numbers = dict(zip(FILES[1:], rows, strict=True))
        problems += [
            replace(problem, row=int(numbers[problem.file][(problem.row or 1) - 1]) + 1)
            for problem in wrong
            if problem.file in numbers  # those of the cases are listed already
        ]
        if problems:
            continue
        assert isinstance(read.overlap, MaskOverlap)  # masks were asked for
        runs = [
            _Runs(
                masks,
                np.array([codes[name] for name in table["label"].to_pylist()], np.int32),
                np.searchsorted(image, np.arange(len(places) + 1)).tolist(),
                ground[places.start : places.stop].tolist(),
            )
            for masks, codes, table, image, ground in zip(
                (read.overlap.truths, read.overlap.predictions), (labels.truth, labels.prediction), tables, images,
                grounds, strict=True,
            )
        ]  # fmt: skip
        yield Batch(places, sizes[places.start : places.stop], (runs[0], runs[1]))
    refuse(problems)
