"""Average precision and average recall: for each label and IoU threshold, their means, and the curves behind them."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from pydantic import Field

from metrics.core.array_types import Floats
from metrics.core.evaluator import Aggregate, Columns, Example, Findings, Metric
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._half_samples import Spread, number
from metrics.evaluators.detection import _matched
from metrics.evaluators.detection._examples import CROWDED_STREET, TWO_CATS, detection_evaluator, label_rows
from metrics.stats.float_tolerance import mean_over
from metrics.stats.resample_intervals import has_enough_truths
from metrics.vision.matching import AREAS, IOU_THRESHOLDS, threshold_index
from metrics.vision.precision_recall import MAX_DETS, RECALLS, precision_at_recalls

NO_LIMIT = 2**31 - 1  # no limit of predictions per image


def interpolated_curves(
    found: _matched.Matched, area: tuple[float, float] = AREAS["all"], limit: int = NO_LIMIT, only: Sequence[float] = ()
) -> pa.Table:
    """Return interpolated precision at each recall, and the score at which it is reached (null where never).

    only: the IoU thresholds that are wanted, among those matched; () for all of them.
    """
    precision, score = precision_at_recalls(found.ranking, found.area(area), limit)
    known = np.flatnonzero(found.truths(area))
    thresholds = found.matches.thresholds
    wanted = [threshold_index(thresholds, iou) for iou in only or thresholds]
    precision, score = precision[known][:, wanted], score[known][:, wanted]  # [K, T, R]
    ious = np.array([_matched.written_iou(iou) for iou in thresholds[wanted]])
    shape = precision.shape
    return pa.table(
        {
            "label": pa.array(found.scene.labels, pa.string()).take(pa.array(np.repeat(known, shape[1] * shape[2]))),
            "iou": np.tile(np.repeat(ious, shape[2]), shape[0]),
            "recall": np.tile(RECALLS, shape[0] * shape[1]),
            "precision": precision.ravel(),
            "score": pa.array(np.where(precision > 0, score, np.nan).ravel(), from_pandas=True),
        }
    )


class AveragePrecisionParameters(_matched.MatchParameters):
    """What average precision is taken over."""

    iou_thresholds: _matched.IouThresholds = IOU_THRESHOLDS
    max_dets: _matched.MaxDets = 100
    area_range: tuple[float, float] = Field(
        AREAS["all"], description="Least and greatest area of the objects that count, in square pixels, both included."
    )


@detection_evaluator(
    stand="first",
    metrics=(
        Metric(
            "map_averaged",
            "Mean over labels of AP averaged over IoU thresholds (mAP).",
            primary=True,
            twin_of=("coco_summary.AP",),
        ),
        Metric(
            "map",
            "Mean over labels of AP at one IoU threshold.",
            minor=True,
            twin_of=("coco_summary.AP50", "coco_summary.AP75"),
        ),
        Metric("ap_averaged", "AP of one label, averaged over IoU thresholds.", minor=True),
        Metric("ap", "AP of one label at one IoU threshold.", minor=True),
    ),
    sources=(
        "Lin et al., Microsoft COCO: Common Objects in Context, 2014; pycocotools 2.0",
        "Valor metrics: Average Precision (AP), AP Averaged Over IOUs, Mean Average Precision (mAP)",
    ),
    examples=(
        Example(
            "one of two cats found, with one false alarm in between",
            TWO_CATS,
            expect={"map_averaged": 51 / 101 + 50 / 101 * 2 / 3 * 0.4},
            rows=(
                {"metric": "ap", "label": "cat", "iou": 0.5, "value": 51 / 101 + 50 / 101 * 2 / 3},
                {"metric": "ap", "label": "cat", "iou": 0.75, "value": 51 / 101},
            ),
        ),
        Example(
            "a crowd absorbs predictions, a label without ground truth has no AP",
            CROWDED_STREET,
            expect={"map_averaged": 1.0},
            rows=(
                {"metric": "ap_averaged", "label": "person", "value": 1.0},
                {"metric": "ap_averaged", "label": "dog", "value": None},
            ),
        ),
    ),
    version=2,
    differs_from="detection_pr_curve varies the score threshold and counts at each; here precision is read at 101 "
    "recalls. coco_summary is the same AP at COCO's fixed settings.",
    differs_from_source="No number of pycocotools differs; what it prints as −1 has no value here. Valor: a prediction "
    "on an image without its label is a false positive, as in pycocotools, where Valor's text has AP ignore it; a "
    "prediction takes the best free ground truth at or above the threshold, where its pseudo-code uses one up whatever "
    "the overlap. maxDets is 100 by default. Mixed geometries are compared as masks; `geometry` = polygon turns "
    "rasters into polygons, as Valor does.",
)
def average_precision(suite: Suite, outputs: Outputs, parameters: AveragePrecisionParameters) -> Findings:
    """Average precision (AP): the mean precision over 101 recalls, for each label and IoU threshold.

    The predictions of a label are taken best score first over all images; each matches the free ground truth of its
    image and label with the highest IoU, if that is at or above the threshold t. With TP and FP so far and n ground
    truths:

        precision = TP / (TP + FP)      recall = TP / n
        AP_t = 1/101 · Σ over r in {0, .01, …, 1} of max precision at any recall ≥ r

    `ap` (label, iou) is AP_t, `ap_averaged` (label) its mean over `iou_thresholds`, `map` (iou) its mean over labels,
    `map_averaged` the mean over both. 0 … 1, higher is better.

    A label without ground truth has no AP and is left out of means; one without predictions has AP 0. A prediction on
    an image that lacks its label is a false positive. Crowds absorb any number of predictions (IoU = intersection ÷
    area of the prediction) and neither reward nor punish; objects outside `area_range` likewise, by the annotation's
    own area. Score ties keep the order of the images and, within one, of the file; of ground truths with equal IoU the
    last is taken. A ground truth without area is never found but counts in recall.

    With `geometry` mask, IoU counts the pixels in both masks and in either; boxes, rotated boxes and polygons are drawn
    at the resolution of the image as pycocotools draws them, so that they compare with each other and with run lengths,
    and a prediction's area is its number of pixels. The same shapes written in any of these ways have the same AP to
    within the drawing: exactly where corners lie on whole pixels; else the mean AP over IoU .5 … .95 was within .02 of
    that of exact outlines for sides of 32 pixels or more, within .05 for sides of 8, and AP at .5 the same. With
    polygon, areas are exact, as shapely has them; rings that cross themselves are repaired, and a mask is the outline
    of its pixels, holes too. Rows that are not of boxes name their geometry in the column `geometry`.

    Every number equals pycocotools' to 1e-9, of boxes and of masks. The 95 % interval is from half-samples of the
    images (of `cases.group` where given): half of them are drawn many times, and every number is computed from the same
    matches. A mean over more than 5 labels has none with fewer than 6 ground truths per label (harmonic mean).
    """
    area, limit = parameters.area_range, parameters.max_dets
    found = _matched.match_objects(
        suite, outputs, tuple(dict.fromkeys(parameters.iou_thresholds)), (area,), parameters.geometry
    )
    estimates, _ = found.estimates(parameters, area, limit)
    return Findings(
        _aggregates(found, estimates, area, limit),
        curves=interpolated_curves(found, area, limit),
        matches=_matched.matches_at(suite, outputs, found, parameters.match_iou_threshold, area, limit),
    )


def _aggregates(found: _matched.Matched, estimates: Floats, area: tuple[float, float], limit: int) -> list[Aggregate]:
    ious = [_matched.written_iou(iou) for iou in found.matches.thresholds]
    name = next((name for name, bounds in AREAS.items() if bounds == area), f"{area[0]:g}–{area[1]:g}")
    columns: Columns = {"area": name, "max_dets": limit, **found.scene.columns}
    truths, drawn = found.truths(area), found.scene.drawn
    n, total, enough = truths.tolist(), int(truths.sum()), has_enough_truths(truths)
    overall = Spread.of(mean_over(estimates, 1, 2), total, drawn, enough=enough)
    by_iou = Spread.of(mean_over(estimates, 1), total, drawn, enough=enough)
    by_label = Spread.of(mean_over(estimates, 2), truths, drawn)
    by_both = Spread.of(estimates, truths[:, None], drawn)
    why = found.why_none(area)
    result = [number("map_averaged", overall, n=total, columns=columns, why=why)]
    for t, iou in enumerate(ious):
        result.append(number("map", by_iou, (t,), n=total, columns={"iou": iou, **columns}, why=why))
    for k, label in enumerate(found.scene.labels):
        result.append(number("ap_averaged", by_label, (k,), n=n[k], label=label, columns=columns, why=why))
        for t, iou in enumerate(ious):
            result.append(number("ap", by_both, (k, t), n=n[k], label=label, columns={"iou": iou, **columns}, why=why))
    return result


class AverageRecallParameters(_matched.MatchParameters):
    """What average recall is taken over."""

    iou_thresholds: _matched.IouThresholds = IOU_THRESHOLDS
    recall_score_threshold: float = Field(
        0.0, description="Least score of a true positive in ar and mar; COCO's recalls do not use it."
    )
    max_dets: tuple[_matched.Count, ...] = Field(
        MAX_DETS,
        min_length=1,
        description="Predictions per image and label that count, best scores first: a coco_ar for each; ar and mar "
        "take the largest.",
    )
    area_ranges: dict[str, tuple[float, float]] = Field(
        AREAS, description="Names and bounds of object areas in square pixels, both included: a coco_ar for each."
    )


@detection_evaluator(
    metrics=(
        Metric("mar", "Mean over labels of average recall (mAR).", primary=True, twin_of=("coco_summary.AR_100",)),
        Metric("ar", "Recall of one label, averaged over IoU thresholds.", minor=True),
        Metric(
            "coco_ar",
            "COCO's average recall at one maxDets and area range, mean over labels.",
            minor=True,
            twin_of=tuple(f"coco_summary.AR_{kind}" for kind in ("1", "10", "100", "small", "medium", "large")),
        ),
    ),
    sources=(
        "Valor metrics: Average Recall (AR), Mean Average Recall (mAR)",
        "Hosang et al., What makes for effective detection proposals?, 2015",
        "Lin et al., Microsoft COCO: Common Objects in Context, 2014; pycocotools 2.0",
    ),
    examples=(
        Example(
            "the second cat is found at 4 of 10 IoU thresholds",
            TWO_CATS,
            expect={"mar": 0.7},
            rows=(
                {"metric": "ar", "label": "cat", "value": 0.7},
                {"metric": "coco_ar", "label": None, "area": "all", "max_dets": 1, "value": 0.5},
                {"metric": "coco_ar", "label": None, "area": "all", "max_dets": 100, "value": 0.7},
                {"metric": "coco_ar", "label": None, "area": "small", "max_dets": 100, "value": None},
            ),
        ),
        Example(
            "a true positive under the score threshold does not count",
            TWO_CATS,
            expect={"mar": 0.5},
            rows=({"metric": "coco_ar", "label": None, "area": "all", "max_dets": 100, "value": 0.7},),
            parameters={"recall_score_threshold": 0.75},
        ),
        Example(
            "a crowd need not be found",
            CROWDED_STREET,
            rows=({"metric": "ar", "label": "person", "value": 1.0}, {"metric": "ar", "label": "dog", "value": None}),
        ),
    ),
    version=2,
    differs_from="ar and mar are Valor's: per label, with a score threshold. coco_ar is COCO's: over labels, limited "
    "to the best maxDets predictions per image and label. classification's recall has no IoU.",
    differs_from_source="ar and mar limit predictions to the largest of `max_dets` per image and label, 100 by "
    "default; Valor does not mention a limit. `recall_score_threshold` counts scores at or above it. coco_ar has "
    "maxDets 1, 10 and 100, as pycocotools; Valor's text says 1, 5 and 100. Recall counts ground truths of all images, "
    "where Valor's text speaks of images that have the label: the same, since others have none.",
)
def average_recall(suite: Suite, outputs: Outputs, parameters: AverageRecallParameters) -> Findings:
    """Average recall (AR): the share of ground truths found, averaged over IoU thresholds.

    With TP_t the true positives of a label at IoU threshold t (matched as for average precision) whose score is at
    least `recall_score_threshold`, n its ground truths and T thresholds:

        ar = 1/T · Σ over t of TP_t / n          mar = mean of ar over labels

    `coco_ar` is COCO's: the mean over labels and thresholds of the recall with no score threshold, when only the best
    `max_dets` predictions per image and label count: for every entry of `max_dets` over all areas, and for every entry
    of `area_ranges` at the largest. At 100 predictions, all areas and score threshold 0 it equals mar. 0 … 1, higher
    is better.

    A label without ground truth has no recall and is left out of means. Crowds and objects outside the area range count
    neither as found nor as missed. Recalls equal pycocotools' to 1e-9; any list of maxDets works. The 95 % interval is
    from half-samples of the images (of `cases.group` where given).
    """
    ranges = {name: (low, high) for name, (low, high) in parameters.area_ranges.items()}
    whole, limits = AREAS["all"], sorted(set(parameters.max_dets))
    thresholds = tuple(dict.fromkeys(parameters.iou_thresholds))
    found = _matched.match_objects(suite, outputs, thresholds, tuple(ranges.values()), parameters.geometry)
    lowest = parameters.recall_score_threshold
    _, recall = found.estimates(parameters, whole, limits[-1], lowest=lowest, precision=False)
    overall, by_label = mean_over(recall, 1, 2), mean_over(recall, 2)
    columns: Columns = {"max_dets": limits[-1], "score_threshold": lowest, **found.scene.columns}
    result = label_rows(found.scene, "mar", overall, by_label, found.truths(), columns, of_label="ar")
    settings = dict.fromkeys([("all", limit) for limit in limits] + [(name, limits[-1]) for name in ranges])
    for name, limit in settings:
        bounds = ranges.get(name, whole)
        _, recall = found.estimates(parameters, bounds, limit, precision=False)
        n = int(found.truths(bounds).sum())
        columns = {"area": name, "max_dets": limit, **found.scene.columns}
        spread = Spread.of(mean_over(recall, 1, 2), n, found.scene.drawn)
        result.append(number("coco_ar", spread, n=n, columns=columns, why=found.why_none(bounds)))
    table = _matched.matches_at(suite, outputs, found, parameters.match_iou_threshold, whole, limits[-1])
    return Findings(result, matches=table)
