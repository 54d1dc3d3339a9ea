"""average_recall: recall averaged over IoU thresholds, as Valor and as COCO define it."""

from pydantic import Field

from metrics.core.evaluator import Columns, Example, Findings, Metric
from metrics.core.evaluator_decorator import evaluator
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._half_samples import Spread, number
from metrics.evaluators.detection._examples import CROWDED_STREET, TWO_CATS
from metrics.evaluators.detection._label_rows import label_rows
from metrics.evaluators.detection._matched import Count, IouThresholds, MatchParameters, matched, matches_at
from metrics.stats.ratios import mean_over
from metrics.vision.matching import AREAS, IOU_THRESHOLDS
from metrics.vision.precision_recall import MAX_DETS


class AverageRecallParameters(MatchParameters):
    """What average recall is taken over."""

    iou_thresholds: IouThresholds = IOU_THRESHOLDS
    recall_score_threshold: float = Field(
        0.0, description="Least score of a true positive in ar and mar; COCO's recalls do not use it."
    )
    max_dets: tuple[Count, ...] = Field(
        MAX_DETS,
        min_length=1,
        description="Predictions per image and label that count, best scores first: a coco_ar for each; ar and mar "
        "take the largest.",
    )
    area_ranges: dict[str, tuple[float, float]] = Field(
        AREAS, description="Names and bounds of object areas in square pixels, both included: a coco_ar for each."
    )


@evaluator(
    id="average_recall",
    title="Average recall",
    tasks=("detection",),
    inputs=("annotations", "predictions"),
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
    has_thresholds=False,
    sources=(
        "Valor metrics: Average Recall (AR), Mean Average Recall (mAR)",
        "Hosang et al., What makes for effective detection proposals?, 2015",
        "Lin et al., Microsoft COCO: Common Objects in Context, 2014; pycocotools 2.0",
    ),
    standards=("NIST AI RMF: valid and reliable", "SR 11-7: outcomes analysis"),
    examples=(
        Example(
            "the second cat is found at 4 of 10 IoU thresholds",
            TWO_CATS,
            rows=(
                {"metric": "ar", "label": "cat", "value": 0.7},
                {"metric": "mar", "label": None, "value": 0.7},
                {"metric": "coco_ar", "label": None, "area": "all", "max_dets": 1, "value": 0.5},
                {"metric": "coco_ar", "label": None, "area": "all", "max_dets": 100, "value": 0.7},
                {"metric": "coco_ar", "label": None, "area": "small", "max_dets": 100, "value": None},
            ),
        ),
        Example(
            "a true positive under the score threshold does not count",
            TWO_CATS,
            rows=(
                {"metric": "mar", "label": None, "value": 0.5},
                {"metric": "coco_ar", "label": None, "area": "all", "max_dets": 100, "value": 0.7},
            ),
            parameters={"recall_score_threshold": 0.75},
        ),
        Example(
            "a crowd need not be found",
            CROWDED_STREET,
            rows=({"metric": "ar", "label": "person", "value": 1.0}, {"metric": "ar", "label": "dog", "value": None}),
        ),
    ),
    version=2,
    differs_from=(
        "ar and mar are Valor's: per label, with a score threshold. coco_ar is COCO's: over labels, limited to the "
        "best maxDets predictions per image and label. classification's recall has no IoU."
    ),
    differs_from_source=(
        "ar and mar limit predictions to the largest of `max_dets` per image and label, 100 by default; Valor does "
        "not mention a limit. `recall_score_threshold` counts scores at or above it. coco_ar has maxDets 1, 10 and "
        "100, as pycocotools; Valor's text says 1, 5 and 100. Recall counts ground truths of all images, where "
        "Valor's text speaks of images that have the label: the same, since others have none."
    ),
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
    found = matched(suite, outputs, thresholds, tuple(ranges.values()), parameters.geometry)
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
    table = matches_at(suite, outputs, found, parameters.match_iou_threshold, whole, limits[-1])
    return Findings(result, matches=table)
