"""segmentation_iou: IoU per label over all pixels of a data set, its mean, pixel accuracy and boundary IoU."""

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from pydantic import Field

from metrics.core.array_types import Bools, Floats, Int32s, Ints
from metrics.core.evaluator import Aggregate, CaseScore, Example, Findings, Metric, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence
from metrics.core.sampling_design import SamplingDesign
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._classification import aggregate
from metrics.evaluators._half_samples import Resamples, Seed, image_spread, number, resample_sums
from metrics.evaluators.segmentation._label_maps import Batch, LabelMapParameters, Labels, batches
from metrics.stats.float_tolerance import mean_over, ratio, weighted_mean
from metrics.stats.intervals import mean_intervals
from metrics.vision.masks import band_distance
from metrics.vision.segmentation import contour_distances, dice, iou, tally

ABSENT = "neither the ground truth nor the predictions have a pixel of this label"
NOTHING = "every pixel of the ground truth is ignored"
Cells = tuple[Ints, Ints, Ints]
DISTANCES = (
    Metric.amount("hausdorff", "Largest distance from one contour of a label to the other, a mean over images.",
                  unit="pixels", title="Hausdorff distance"),
    Metric.amount("hausdorff_95", "The same of all but the farthest 5 % of the pixels of each contour.", unit="pixels",
                  title="Hausdorff distance, 95 %"),
)  # fmt: skip
NOT_IN_BOTH = "no image has such a region in both maps: without one there is no distance"
CURVES = pa.schema([("label", pa.string()), ("predicted", pa.string()), ("count", pa.int64())])


class SegmentationIouParameters(LabelMapParameters):
    """What counts, how wide a contour is, and the resampling."""

    dilation_ratio: float = Field(
        0.02, ge=0, le=0.5, description="Width of the band along contours, as a share of the image's diagonal."
    )
    distances: bool = Field(
        False, description="Also the Hausdorff distance of contours; takes longer: their pixels are compared in pairs."
    )
    resamples: Resamples = 500
    seed: Seed = 0

    def measured(self, declared: tuple[Metric, ...]) -> tuple[Metric, ...]:
        """Return the declared metrics, and the distances where they are asked for."""
        return (*declared, *DISTANCES) if self.distances else declared


def _scene(truths: dict[str, tuple[int, int]], predictions: dict[str, tuple[int, int]]) -> Mapping[str, Any]:
    """Return one image of 10 × 10 pixels; a region goes from one column to before another, over the whole height."""

    def regions(columns: dict[str, tuple[int, int]]) -> list[dict[str, Any]]:
        sides = {"case_id": "a", "y": 0.0, "height": 10.0}
        return [
            sides | {"label": label, "x": float(left), "width": float(right - left)}
            for label, (left, right) in columns.items()
        ]

    return {
        "task": "segmentation",
        "cases": [{"case_id": "a", "image_width": 10, "image_height": 10}],
        "annotations": [row | {"annotation_id": place} for place, row in enumerate(regions(truths))],
        "predictions": regions(predictions),
    }


@evaluator(
    title="Segmentation IoU",
    stand="first",
    tasks=("segmentation",),
    inputs=("annotations", "predictions"),
    metrics=(
        Metric(
            "miou",
            "Mean over labels of the IoU over all pixels; background is a label as any other, unless it is ignored.",
            primary=True,
        ),
        Metric("iou", "Pixels of one label in both maps, as a share of those in either.", minor=True),
        Metric("pixel_accuracy", "Share of the pixels that are given their true label."),
        Metric("mdice", "Mean over labels of Dice's coefficient over all pixels.", minor=True, title="Mean Dice"),
        Metric(
            "dice",
            "Twice the pixels of one label in both maps, as a share of those in each: F1 of pixels.",
            minor=True,
            title="Dice",
        ),
        Metric(
            "boundary_iou",
            "IoU of the bands along the contours: of one label, or the mean over labels.",
            threshold=None,
        ),
        Metric.detail("image_miou", "Mean over the labels of one image of the IoU over its pixels."),
    ),
    has_thresholds=False,
    sources=(
        "Valor metrics: Intersection Over Union (IOU), Mean IOU, semantic segmentation",
        "Everingham et al., The Pascal Visual Object Classes Challenge: a retrospective, 2015 (segmentation accuracy)",
        "Cheng et al., Boundary IoU: improving object-centric image segmentation evaluation, 2021",
        "Huttenlocher et al. 1993, Hausdorff distance",
    ),
    standards=("valid and reliable", "outcomes analysis"),
    examples=(
        Example(
            "the border between two labels is one column off",
            _scene({"road": (0, 6), "sky": (6, 10)}, {"road": (0, 5), "sky": (5, 10)}),
            expect={"miou": (50 / 60 + 40 / 50) / 2, "pixel_accuracy": 0.9, "mdice": (100 / 110 + 80 / 90) / 2},
            rows=(
                {"metric": "iou", "label": "road", "value": 50 / 60},
                {"metric": "iou", "label": "sky", "value": 40 / 50},
                {"metric": "dice", "label": "road", "value": 100 / 110},
                {"metric": "dice", "label": "sky", "value": 80 / 90},
                {"metric": "boundary_iou", "label": "road", "value": 18 / 36},
                {"metric": "boundary_iou", "label": "sky", "value": 16 / 34},
            ),
        ),
        Example(
            "contours one column apart on one side; the farthest pixels are those of that side",
            _scene({"road": (0, 6), "sky": (6, 10)}, {"road": (0, 5), "sky": (5, 10)}),
            expect={"hausdorff_95": 1.0},
            rows=({"metric": "hausdorff", "label": "road", "value": 1.0, "n": 1},),
            parameters={"distances": True},
        ),
        Example(
            "pixels of the ignored label count nowhere, for any prediction",
            _scene({"road": (0, 6), "255": (6, 10)}, {"road": (0, 3), "sky": (3, 10)}),
            expect={"miou": 0.25, "pixel_accuracy": 0.5},
            rows=(
                {"metric": "iou", "label": "road", "value": 30 / 60},
                {"metric": "iou", "label": "sky", "value": 0.0},
            ),
        ),
        Example(
            "what no region covers is background, a label like any other",
            _scene({"cat": (0, 5)}, {"cat": (0, 4)}),
            rows=(
                {"metric": "iou", "label": "cat", "value": 40 / 50},
                {"metric": "iou", "label": "background", "value": 50 / 60},
            ),
        ),
    ),
    version=2,
    differs_from="detection's evaluators match objects with scores, each with its mask; here every pixel has one "
    "label, and two objects of one label are one region.",
    differs_from_source="The IoU is a share from 0 to 1, where Valor's text speaks of a percentage. Pixels of class "
    "255 are ignored by default, as in VOC and Cityscapes, and uncovered pixels are a label, background; Valor "
    "mentions neither. A label in neither map has no value. Pixel accuracy, Dice, boundary IoU and IoU per image are "
    "added.",
)
def segmentation_iou(suite: Suite, outputs: Outputs, parameters: SegmentationIouParameters) -> Findings:
    """Intersection over union of the pixels of each label, over the whole data set, and its mean over labels.

    Every pixel has one true and one predicted label. Counted over all pixels of all images, with TP the pixels of a
    label in both maps, FP those in the prediction alone and FN those in the ground truth alone:

        iou = TP / (TP + FP + FN)           miou = mean of iou over labels
        pixel_accuracy = Σ TP / pixels      boundary_iou = the iou of the bands along the contours
        dice = 2·TP / (2·TP + FP + FN)      mdice = mean of dice over labels

    0 … 1, higher is better. The mean is over the labels present in the ground truth or in the prediction; a label in
    neither is not applicable, one in only one of them has 0. A case has `image_miou`, the mean IoU of its image alone;
    miou is of the pixels of all images and no mean of these.

    The band of a region (Cheng et al.) are its pixels less than or exactly d pixels away, along each axis, from a pixel
    outside it or from the edge of the image: what d erosions by 3 × 3 pixels take away. d is `dilation_ratio` of the
    image's diagonal, rounded, at least 1. Bands are made per label and image and their pixels counted over the data
    set; boundary_iou without a label is the mean over labels.

    `distances` adds the Hausdorff distance of the contours, in pixels, from 0 up, lower is better: of a label in an
    image the largest distance of a pixel of one contour to the nearest of the other, from both sides; `hausdorff_95`
    takes the larger of the two 95 % points instead, so that a few stray pixels do not decide. A contour are the
    pixels beside another label or the edge of the image. The score of an image is the mean over the labels in both of
    its maps, the number of the data set the mean over images, with a bootstrap interval; a label in one of the maps
    alone has no distance there, and is counted as unscored.

    Regions come as indexed PNG masks, run lengths, polygons or boxes; the latter are drawn as pycocotools draws them.
    Where regions of one image overlap, the later row wins. Pixels that no region covers are `background`; it is a label
    like every other, so leave it out by naming it in `ignore_labels`. Class 0 of an indexed mask is likewise a class.
    Where the ground truth covers everything and has no background, uncovered predicted pixels are of no label: wrong,
    but no label of their own. So is all of an image that the model has no output for. Pixels whose true class is
    `ignore_index` (255 in VOC and Cityscapes) or in `ignore_labels` count nowhere, and are left out of both maps before
    bands are taken; predicting an ignored label elsewhere is wrong. A crowd is a region like every other.

    IoU, Dice and accuracy equal scikit-learn's jaccard_score, f1_score and accuracy_score on the pixels. The 95 %
    interval is from half-samples of the images (of `cases.group` where given); it takes ten of them. n is the number
    of images with a pixel that counts; of a label, of those that have it in either map. The curve has the columns
    label, predicted (null: no label) and count, the pixel confusion matrix; the evidence of a case has that of its
    image.
    """
    labels = Labels.of(suite, outputs, parameters)
    counts = _count(suite, outputs, labels, parameters)
    sums, drawn = resample_sums(suite, counts.pixels, parameters.resamples, parameters.seed)
    return Findings(
        [*_aggregates(counts, sums, drawn), *_distances(counts, suite)],
        cases=dict(zip(suite.cases["case_id"].to_pylist(), _cases(counts), strict=True)),
        curves=_curves(counts),
    )


@dataclass(frozen=True, eq=False, slots=True)
class _Counts:
    """What was counted in I images of K labels.

    pixels [I, 2, 3, K]: of areas and of bands, those in both maps, in the truth, in the prediction. cells: of each
    image the true labels, the predicted ones and the pixels of every pair there is; code K is no label. apart: [I, 2,
    K] distances of contours, NaN for none; None where they are not asked for.
    """

    labels: tuple[str, ...]
    pixels: Int32s
    cells: list[Cells]
    apart: Floats | None = None


def _count(suite: Suite, outputs: Outputs, labels: Labels, parameters: SegmentationIouParameters) -> _Counts:
    """Count image by image; threads share them."""
    pixels = np.zeros((len(suite), 2, 3, len(labels)), np.int32)
    cells: list[Cells] = []
    apart = np.full((len(suite), 2, len(labels)), np.nan) if parameters.distances else None

    def count(batch: Batch, index: int) -> Cells:
        maps = batch.maps(index)
        distance = band_distance(maps.height, maps.width, parameters.dilation_ratio)
        found = tally(maps.truth, maps.prediction, maps.height, len(labels), distance)
        pixels[maps.place] = found.areas, found.bands
        if apart is not None:
            apart[maps.place] = contour_distances(maps.truth, maps.prediction, maps.height, len(labels))
        truth, predicted = found.confusion.nonzero()
        return truth, predicted, found.confusion[truth, predicted]

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        for batch in batches(suite, outputs, labels):
            cells += threads.map(count, [batch] * len(batch.places), range(len(batch.places)))
    if not labels.implied or pixels[:, 0, 1, -1].any():
        return _Counts(labels.names, pixels, cells, apart)
    # nothing is background: what the prediction leaves open is of no label
    last = len(labels) - 1
    joined = [_join_codes(cell, last) for cell in cells]
    return _Counts(labels.names[:-1], pixels[..., :-1], joined, None if apart is None else apart[..., :-1])


def _join_codes(cells: Cells, last: int) -> Cells:
    """Return the cells with the codes of predictions from `last` on as one."""
    truth, predicted, count = cells
    keys, of_key = np.unique(truth * (last + 1) + np.minimum(predicted, last), return_inverse=True)
    return keys // (last + 1), keys % (last + 1), np.bincount(of_key, count, len(keys)).astype(np.int64)


def _aggregates(counts: _Counts, sums: Floats, drawn: int) -> list[Aggregate]:
    by_label, by_dice = iou(sums), dice(sums[:, 0])  # [1 + B, 2, K], [1 + B, K]
    held = counts.pixels[:, 0, 1].any(axis=1)
    n, unscored = int(held.sum()), int((~held).sum())
    means = image_spread(mean_over(by_label, 2), np.array(min(n, drawn)))
    accuracy = ratio(sums[:, 0, 0].sum(axis=1), sums[:, 0, 1].sum(axis=1))
    rows = [
        number("miou", means, (0,), n=n, why=NOTHING),
        number("pixel_accuracy", image_spread(accuracy, np.array(min(n, drawn))), n=n, why=NOTHING),
        number("boundary_iou", means, (1,), n=n, why=NOTHING),
        number("mdice", image_spread(mean_over(by_dice, 1), np.array(min(n, drawn))), n=n, why=NOTHING),
    ]
    rows = [replace(row, unscored=unscored) for row in rows]
    images = counts.pixels[:, 0, 1:].any(axis=1).sum(axis=0)
    spread = image_spread(by_label, np.minimum(images, drawn))
    for kind, metric in enumerate(("iou", "boundary_iou")):
        rows += [
            number(metric, spread, (kind, k), n=int(images[k]), label=label, why=ABSENT)
            for k, label in enumerate(counts.labels)
        ]
    overlap = image_spread(by_dice, np.minimum(images, drawn))
    rows += [
        number("dice", overlap, (k,), n=int(images[k]), label=label, why=ABSENT)
        for k, label in enumerate(counts.labels)
    ]
    return rows


def _distances(counts: _Counts, suite: Suite) -> Iterator[Aggregate]:
    """Yield the mean distances of images, then those of each label; none where they are not asked for."""
    if counts.apart is None:
        return
    design = SamplingDesign.of(suite.cases)
    held: Bools = np.asarray(counts.pixels[:, 0, 1:].any(axis=1))
    columns: list[tuple[str | None, Bools, Floats]] = [(None, np.asarray(held.any(axis=1)), mean_over(counts.apart, 2))]
    columns += [(label, np.asarray(held[:, k]), counts.apart[:, :, k]) for k, label in enumerate(counts.labels)]
    for label, there, values in columns:
        low, high, method = mean_intervals(values, design.weights, design.clusters, low=0.0)
        for kind, metric in enumerate(DISTANCES):
            own = values[:, kind]
            n = int(np.count_nonzero(~np.isnan(own)))
            yield aggregate(
                metric.name, weighted_mean(own, design.weights), (low[kind], high[kind]), method, n=n,
                unscored=int(there.sum()) - n, label=label,
                reason=None if n else NOT_IN_BOTH if there.any() else ABSENT,
            )  # fmt: skip


def _cases(counts: _Counts) -> Iterator[CaseScore]:
    """Yield the mean IoU of each image, with the IoU of its labels and its confusion."""
    by_label = iou(counts.pixels[:, 0])
    means = mean_over(by_label, 1)
    names = [*counts.labels, None]
    for place, cells in enumerate(counts.cells):
        if np.isnan(means[place]):
            yield not_applicable(NOTHING)
            continue
        confusion = [
            {"truth": names[truth], "predicted": names[predicted], "pixels": count}
            for truth, predicted, count in zip(*(column.tolist() for column in cells), strict=True)
        ]
        confusion.sort(key=lambda cell: (cell["truth"] == cell["predicted"], -cell["pixels"]))
        shares = {
            label: round(share, 6)
            for label, share in zip(counts.labels, by_label[place].tolist(), strict=True)
            if share == share
        }
        evidence = Evidence(facts={"iou": shares, "confusion": confusion})
        values: dict[str, float | None] = {"image_miou": float(means[place])}
        if counts.apart is not None:
            own = mean_over(counts.apart[place], 1).tolist()
            values |= {metric.name: None if one != one else one for metric, one in zip(DISTANCES, own, strict=True)}
        yield CaseScore(values, reason=NOT_IN_BOTH, evidence=evidence)


def _curves(counts: _Counts) -> pa.Table:
    """Return the pixel confusion matrix, without its empty cells."""
    matrix = np.zeros((len(counts.labels), len(counts.labels) + 1), np.int64)
    for truth, predicted, count in counts.cells:
        np.add.at(matrix, (truth, predicted), count)
    truth, predicted = matrix.nonzero()
    names = pa.array([*counts.labels, None], pa.string())
    return pa.table([names.take(pa.array(truth)), names.take(pa.array(predicted)), matrix[truth, predicted]], CURVES)
