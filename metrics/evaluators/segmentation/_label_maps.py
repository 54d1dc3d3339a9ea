"""What semantic segmentation is judged from: the true and the predicted label of every pixel, image by image."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from metrics.core.errors import InputError, InputProblem
from metrics.core.evaluator import Parameters
from metrics.core.suite import ANNOTATIONS, PREDICTIONS, Outputs, Suite
from metrics.vision.arrays import Ints, Longs
from metrics.vision.geometry import faults, image_sizes, read_sides, size_problems, whole
from metrics.vision.masks import MaskOverlap, Masks, starts
from metrics.vision.segmentation import label_map

FILES = ("cases", "annotations", "predictions")
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
    truth: Ints
    prediction: Ints


@dataclass(frozen=True, eq=False)
class Labels:
    """K labels by code. `implied`: the last one is the background, though nothing names it.

    `truth` and `prediction` are the codes of a region by its label: −1 of true pixels that count nowhere, K of
    predicted ones that are given no label that counts.
    """

    names: tuple[str, ...]
    implied: bool
    truth: dict[str, int]
    prediction: dict[str, int]
    truth_ground: int
    prediction_ground: int

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def of(cls, suite: Suite, outputs: Outputs, parameters: LabelMapParameters) -> "Labels":
        """Return the labels of a suite in its order, then the others that are predicted, without those that are
        ignored.
        """
        truths, predictions = _tables(suite, outputs)
        given = pc.unique(pa.chunked_array([*truths["label"].chunks, *predictions["label"].chunks], pa.string()))
        extra = sorted(set(given.drop_null().to_pylist()) - set(suite.labels))
        ignored = set(parameters.ignore_labels)
        if parameters.ignore_index is not None:
            numbers = dict(zip(suite.category_ids, suite.labels, strict=False))
            ignored.add(numbers.get(parameters.ignore_index, str(parameters.ignore_index)))
        known = (*suite.labels, *extra)
        implied = parameters.background not in {*known, *ignored}
        names = tuple(name for name in known if name not in ignored) + (parameters.background,) * implied
        codes = {name: code for code, name in enumerate(names)}
        return cls(
            names, implied, dict.fromkeys(ignored, -1) | codes, dict.fromkeys(ignored, len(names)) | codes,
            codes.get(parameters.background, -1), codes.get(parameters.background, len(names)),
        )  # fmt: skip


@dataclass(frozen=True, eq=False, slots=True)
class Batch:
    """Some images in a row, as runs: `sides` are truth and prediction, `places` their rows in the suite's cases."""

    places: range
    sizes: Longs
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
    code: Ints
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
    grounds = (np.full(len(suite), labels.truth_ground), np.where(answered, labels.prediction_ground, len(labels)))
    sizes = image_sizes(suite.cases)
    problems = size_problems(suite.cases, sizes, [np.arange(len(suite), dtype=np.int32)])
    sides = [_Side.of(*side, case_ids, problems) for side in zip(FILES[1:], _tables(suite, outputs), strict=True)]
    for first in range(0, len(suite), IMAGES):
        places = range(first, min(first + IMAGES, len(suite)))
        rows = [side.rows_of(places) for side in sides]
        tables = [side.table.take(pa.array(own)) for side, own in zip(sides, rows, strict=True)]
        images = [side.image[own] - first for side, own in zip(sides, rows, strict=True)]
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
    if problems:
        raise InputError(sorted(problems, key=lambda problem: FILES.index(problem.file)))


@dataclass(frozen=True, eq=False, slots=True)
class _Side:
    """The regions of one side: their table, the image of each, and the rows image by image, in file order."""

    table: pa.Table
    image: Ints
    order: Longs
    start: Longs

    @classmethod
    def of(cls, file: str, table: pa.Table, case_ids: pa.Array, problems: list[InputProblem]) -> "_Side":
        places = pc.index_in(whole(table["case_id"]), value_set=case_ids)
        image = places.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
        problems += faults(file, "case_id", table["case_id"], image < 0, "a case of the suite")
        problems += faults(file, "label", table["label"], table["label"].is_null().to_numpy(), "a label")
        counts = np.bincount(image[image >= 0], minlength=len(case_ids))
        order = np.argsort(image, kind="stable")[np.count_nonzero(image < 0) :]
        return cls(table, image, order, starts(counts))

    def rows_of(self, places: range) -> Longs:
        """Return the rows of some images."""
        return self.order[self.start[places.start] : self.start[places.stop]]


def _tables(suite: Suite, outputs: Outputs) -> tuple[pa.Table, pa.Table]:
    """Return the true and the predicted regions."""
    truths = ANNOTATIONS.empty_table() if suite.annotations is None else suite.annotations
    return truths, PREDICTIONS.empty_table() if outputs.predictions is None else outputs.predictions
