"""Detection data sets drawn from a population, without boxes: what each prediction found is drawn, not matched.

Images differ in how crowded and how hard they are, and show some labels more than others, so objects of one image are
alike. A data set of a few milliseconds lets thousands of intervals be compared with the truth.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from metrics.core.array_types import Bools, Floats, Int32s
from metrics.evaluators.detection.voc_ap import POINTS
from metrics.stats.float_tolerance import mean_over
from metrics.vision.compiled.match_states import RIGHT, WRONG
from metrics.vision.image_resampling import resample_selection
from metrics.vision.precision_recall import Selection

Quality = Literal["poor", "fair", "good"]
IOUS = np.array([0.5, 0.6, 0.75, 0.85, 0.95])
BELOW = 4  # labels below one label of Open Images
SHOWN = 0.5  # score from which predictions count in recall and precision
DETECTORS = {  # share found, shape of their IoU, false positives per object, how far scores lie apart
    "poor": (0.6, 4.0, 5.0, 3.0, 1.0), "fair": (0.75, 8.0, 2.5, 1.5, 2.0), "good": (0.95, 20.0, 2.0, 0.3, 4.0),
}  # fmt: skip


@dataclass(frozen=True, eq=False, slots=True)
class Draw:
    """Ground truths and predictions by image and label; `iou` is 0 for a prediction of nothing."""

    labels: int
    images: int
    truth_image: Int32s
    truth_label: Int32s
    image: Int32s
    label: Int32s
    score: Floats
    iou: Floats


def draw(labels: int, truths: float, images: int, quality: Quality, seed: int, skew: float = 0.0) -> Draw:
    """Draw a data set of `images` images with `truths` ground truths a label; label k is as frequent as k^-skew."""
    found, a, b, false, sharp = DETECTORS[quality]
    rng = np.random.default_rng(seed)
    hard = np.random.default_rng(7).normal(0, 0.8 * (labels > 1), labels)
    often = np.arange(1, labels + 1) ** -skew
    often /= often.sum()
    crowd = labels * truths / images
    favourites, ease = rng.choice(labels, (images, 3), p=often), rng.normal(0, 0.7, images)

    def objects(count: NDArray[np.int64]) -> tuple[Int32s, Int32s]:
        image = np.repeat(np.arange(images, dtype=np.int32), count)
        own = favourites[image, rng.integers(0, 3, len(image))]
        return image, np.where(rng.random(len(image)) < 0.6, own, rng.choice(labels, len(image), p=often)).astype(
            np.int32
        )

    truth_image, truth_label = objects(rng.poisson(crowd * rng.gamma(1.5, 1 / 1.5, images)))
    odds = np.log(found / (1 - found)) + hard[truth_label] + ease[truth_image]
    hit = rng.random(len(odds)) < 1 / (1 + np.exp(-odds))
    wrong_image, wrong_label = objects(rng.poisson(false * max(crowd, 0.05) * np.exp(-0.5 * ease)))
    logits = np.concatenate([0.5 * (sharp + ease[truth_image[hit]]), np.full(len(wrong_image), -0.5 * sharp)])
    return Draw(
        labels, images, truth_image, truth_label,
        np.concatenate([truth_image[hit], wrong_image]), np.concatenate([truth_label[hit], wrong_label]),
        1 / (1 + np.exp(-logits - rng.normal(size=len(logits)))),
        np.concatenate([rng.beta(a, b, int(hit.sum())), np.zeros(len(wrong_image))]),
    )  # fmt: skip


def draw_expanded(labels: int, truths: float, images: int, quality: Quality, seed: int) -> Draw:
    """Draw a data set as open_images_ap has it: objects and predictions count for a label above theirs, too.

    Of the labels that an image does not show, half were checked; predictions of others are left out.
    """
    one = draw(labels, truths, images, quality, seed)
    above = -(-labels // BELOW)

    def both(label: Int32s) -> Int32s:
        return np.concatenate([label, labels + label // BELOW]).astype(np.int32)

    image, label = np.tile(one.image, 2), both(one.label)
    truth_image, truth_label = np.tile(one.truth_image, 2), both(one.truth_label)
    pairs, known = (where.astype(np.int64) * (labels + above) + kind for where, kind in (
        (image, label), (truth_image, truth_label)))  # fmt: skip
    kept: Bools = np.isin(pairs, known) | (pairs * 2_654_435_761 >> 16) % 2 > 0
    return replace(
        one, labels=labels + above, truth_image=truth_image, truth_label=truth_label, image=image[kept],
        label=label[kept], score=np.tile(one.score, 2)[kept], iou=np.tile(one.iou, 2)[kept],
    )  # fmt: skip


def interpolated_estimates(data: Draw, weights: NDArray[np.uint8]) -> dict[str, Floats]:
    """Return what `estimates` does for AP as voc_ap and oriented_ap average it."""
    eleven = _average(data, weights, "eleven_points", IOUS)
    by_label = {"AP50 of 11 points": eleven[:, :, 0], "AP of 11 points": mean_over(eleven, 2)}
    return all_points_estimates(data, weights) | _named(by_label)


def all_points_estimates(data: Draw, weights: NDArray[np.uint8]) -> dict[str, Floats]:
    """Return what `estimates` does for AP at IoU .5 as voc_ap and open_images_ap average it."""
    return _named({"AP50 of all points": _average(data, weights, "all_points", IOUS[:1])[:, :, 0]})


def _average(data: Draw, weights: NDArray[np.uint8], points: str, ious: Floats) -> Floats:
    truths = data.truth_image, data.truth_label
    return resample_selection(_selection(data, ious), *truths, data.labels, weights, recalls=POINTS[points])[0]


def _named(by_label: dict[str, Floats]) -> dict[str, Floats]:
    return {
        **{f"{name} of a label": values for name, values in by_label.items()},
        **{f"mean {name}": mean_over(values, 1) for name, values in by_label.items()},
    }


def _selection(data: Draw, ious: Floats = IOUS) -> Selection:
    order = np.lexsort((-data.score, data.label))
    return Selection(
        miss_image=np.zeros(0, np.int32),
        miss_starts=np.zeros(data.labels + 1, np.int64),
        image=data.image[order],
        score=data.score[order],
        before=np.zeros(len(order), np.int32),
        states=np.where(data.iou[order] >= ious[:, None], RIGHT, WRONG).astype(np.uint8),
        event_starts=np.searchsorted(data.label[order], np.arange(data.labels + 1)),
    )


def estimates(data: Draw, weights: NDArray[np.uint8]) -> dict[str, Floats]:
    """Return metrics of the data sets in which image i occurs weights[b, i] times: of each label [B, K], of all [B]."""
    average, recall = resample_selection(_selection(data), data.truth_image, data.truth_label, data.labels, weights)
    shown = data.score >= SHOWN
    right = shown & (data.iou >= IOUS[0])
    truths = _totals(data, data.truth_label, data.truth_image, weights)
    tp, predicted = (_totals(data, data.label[kept], data.image[kept], weights) for kept in (right, shown))
    by_label = {
        "AP50": average[:, :, 0], "AP75": average[:, :, 2], "AP": mean_over(average, 2), "AR": mean_over(recall, 2),
        "F1": _ratio(2 * tp, np.where(truths > 0, truths + predicted, 0)),
    }  # fmt: skip
    shares = {"recall": (tp, truths), "precision": (tp, predicted)}
    return {
        **{f"{name} of a label": values for name, values in by_label.items()},
        **{f"{name} of a label": _ratio(part, whole) for name, (part, whole) in shares.items()},
        **{f"mean {name}": mean_over(values, 1) for name, values in by_label.items()},
        **{name: _ratio(part.sum(axis=1), whole.sum(axis=1)) for name, (part, whole) in shares.items()},
    }


def counts(data: Draw, name: str) -> NDArray[np.int64]:
    """Return how many objects of each label a metric rests on: [K]."""
    label = data.label[data.score >= SHOWN] if name.startswith("precision") else data.truth_label
    return np.bincount(label, minlength=data.labels)


def _totals(data: Draw, label: Int32s, image: Int32s, weights: NDArray[np.uint8]) -> Floats:
    flat = np.bincount(label.astype(np.int64) * data.images + image, minlength=data.labels * data.images)
    totals = weights.astype(np.float32) @ flat.reshape(data.labels, data.images).T.astype(np.float32)
    return totals.astype(np.float64)


def _ratio(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.full(whole.shape, np.nan), where=whole > 0)
