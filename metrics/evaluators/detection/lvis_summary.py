"""lvis_summary: the numbers of the LVIS benchmark: AP where images were checked for some classes only."""

from typing import Any

import numpy as np
from pydantic import Field

from metrics.core.array_types import Floats
from metrics.core.evaluator import Aggregate, Columns, Example, Findings, Metric
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._half_samples import Spread, number
from metrics.evaluators.detection._examples import LVIS_ZOO, detection_evaluator, label_rows
from metrics.evaluators.detection._federated import UNVERIFIED, Federated, is_federated
from metrics.evaluators.detection._matched import Matched, MatchParameters, MaxDets, match_objects, matches_at
from metrics.stats.float_tolerance import mean_over
from metrics.stats.resample_intervals import has_enough_truths
from metrics.vision.coco_lines import Line
from metrics.vision.matching import AREAS, IOU_THRESHOLDS

MOST_PREDICTIONS = 300
RARE, COMMON = 10, 100  # training images of a class, at most
GROUPS = {"APr": (0, RARE), "APc": (RARE + 1, COMMON), "APf": (COMMON + 1, 2**62)}
NO_FREQUENCY = "the suite does not say how many training images have each class (image_count of LVIS's categories)"
EMPTY_GROUP = "no ground truth of a class of this frequency counts"
SIZES = {"small": "s", "medium": "m", "large": "l"}


class LvisSummaryParameters(MatchParameters):
    """What the summary's limit is."""

    max_dets: MaxDets = Field(
        MOST_PREDICTIONS, description="Predictions per image that count, of all labels, best scores first."
    )


def _metrics() -> tuple[Metric, ...]:
    bounds = {"s": "up to 32²", "m": "from 32² to 96²", "l": "from 96²"}
    return (
        Metric("AP", "AP averaged over IoU .50:.05:.95, mean over labels; LVIS's primary number.", primary=True),
        Metric("AP50", "AP at IoU .50."),
        Metric("AP75", "AP at IoU .75 (strict)."),
        *(Metric(f"AP{size}", f"AP of objects {text} square pixels.", minor=True) for size, text in bounds.items()),
        Metric("APr", "AP of rare labels: in at most 10 training images."),
        Metric("APc", "AP of common labels: in 11 to 100 training images."),
        Metric("APf", "AP of frequent labels: in more than 100 training images."),
        Metric("AR", "Average recall with `max_dets` predictions per image (AR@300)."),
        *(
            Metric(f"AR{size}", f"Average recall of objects {text} square pixels.", minor=True)
            for size, text in bounds.items()
        ),
    )


@detection_evaluator(
    title="LVIS summary",
    stand="first",
    metrics=_metrics(),
    sources=("Gupta et al. 2019, LVIS: A Dataset for Large Vocabulary Instance Segmentation; lvis 0.5.3",),
    examples=(
        Example(
            "a fox where nobody looked for foxes is ignored, a cat where there is none is false",
            LVIS_ZOO,
            expect={"AP": (51 / 101 + 1) / 2, "AR": 0.75},
            rows=(
                {"metric": "AP", "label": "cat", "value": 51 / 101},
                {"metric": "AP", "label": "dog", "value": 1.0},
                {"metric": "AP", "label": "fox", "value": None},
            ),
        ),
    ),
    differs_from="coco_summary counts a prediction on an image without its label as false; here only where the image "
    "was checked for that label. The limit of 300 predictions is one of the image, not of image and label.",
    differs_from_source="No number of lvis differs, to 1e-12. What it prints as −1 has no value here. What LVIS does "
    "not have: crowds, which are ignored as in COCO, and objects without area, which count and which lvis leaves out. "
    "A mask's area is its number of pixels; lvis takes that of the box where results have both. Of a suite with "
    "neither list there is no number. Intervals are added.",
)
def lvis_summary(suite: Suite, outputs: Outputs, parameters: LvisSummaryParameters) -> Findings:
    """LVIS's numbers: average precision and recall where each image was checked for some of the labels only.

    An image of a large vocabulary cannot be searched for every label. It was searched for the labels that it shows and
    for its `negative_labels`, which it lacks; of its `not_exhaustive_labels` it has more objects than are annotated.
    A prediction that matches no ground truth is

        ignored          if its image was not checked for its label, the label is not exhaustive there, or it has no
                         area, as an empty mask
        false positive   otherwise

    All else is as in coco_summary: AP is the mean over labels and IoU .50:.05:.95 of the precision at 101 recalls, AP50
    and AP75 are at one IoU, APs, APm, APl by the annotation's area (up to 32², to 96², from 96² square pixels), AR the
    mean of the greatest recall, ARs, ARm, ARl by area. Only the best `max_dets` predictions of an image count, over all
    its labels. APr, APc and APf are means over the labels of a frequency: in at most 10, in 11 to 100, in more than 100
    training images, as the suite's class facts say. 0 … 1, higher is better. AP is given for each label, too.

    A label without ground truth has no AP and is left out of means. Equal to lvis 0.5.3 to 1e-12, of boxes and of masks
    (see average_precision for `geometry`). The 95 % interval is from half-samples of the images (of `cases.group` where
    given); a mean over many labels with few ground truths each has none, as most of LVIS's rare labels.
    """
    benchmark = Federated()
    found = match_objects(suite, outputs, IOU_THRESHOLDS, geometry=parameters.geometry, benchmark=benchmark)
    why = None if is_federated(suite) else UNVERIFIED
    result: list[Aggregate] = []
    for line in _lines(parameters.max_dets):
        estimates = found.estimates(parameters, AREAS[line.area], line.max_dets)
        values = line.of(estimates, found.matches.thresholds)
        result += _rows(found, line, values if why is None else np.full_like(values, np.nan), why)
        if line.metric == "AP75":
            result += _by_frequency(suite, found, parameters, why)
    result.sort(key=lambda row: row.label is not None)
    iou, most = parameters.match_iou_threshold, parameters.max_dets
    return Findings(result, matches=matches_at(suite, outputs, found, iou, max_dets=most, benchmark=benchmark))


def _lines(most: int) -> list[Line]:
    return [
        Line("AP", True, "all", most),
        Line("AP50", True, "all", most, 0.5),
        Line("AP75", True, "all", most, 0.75),
        Line("AR", False, "all", most),
        *(Line(f"{kind}{short}", kind == "AP", size, most) for size, short in SIZES.items() for kind in ("AP", "AR")),
    ]


def _rows(found: Matched, line: Line, values: Floats, why: str | None) -> list[Aggregate]:
    """Return the aggregate over all labels, for AP also of each."""
    columns: Columns = {"iou": line.iou, "area": line.area, "max_dets": line.max_dets, **found.scene.columns}
    truths, why = found.truths(AREAS[line.area]), why or found.why_none(AREAS[line.area])
    enough = has_enough_truths(truths) or not line.precision
    rows = label_rows(found.scene, line.metric, mean_over(values, 1), values, truths, columns, enough=enough, why=why)
    return rows if line.metric == "AP" else rows[:1]


def _by_frequency(suite: Suite, found: Matched, parameters: Any, why: str | None) -> list[Aggregate]:
    """Return AP over the labels of each frequency."""
    everything, most = AREAS["all"], parameters.max_dets
    values = mean_over(found.estimates(parameters, everything, most)[0], 2)
    facts = [suite.classes.get(label) for label in found.scene.labels]
    images = np.array([-1 if fact is None or fact.images is None else fact.images for fact in facts])
    result = []
    for metric, (least, greatest) in GROUPS.items():
        among = np.flatnonzero((images >= least) & (images <= greatest))
        truths = found.truths(everything)[among]
        without = why or (NO_FREQUENCY if (images < 0).all() else EMPTY_GROUP)
        chosen = values[:, among] if why is None else np.full((len(values), 0), np.nan)
        enough, n = has_enough_truths(truths), int(truths.sum())
        spread = Spread.of(mean_over(chosen, 1), n, found.scene.drawn, enough=enough)
        columns: Columns = {"iou": None, "area": "all", "max_dets": most, **found.scene.columns}
        result.append(number(metric, spread, n=n, columns=columns, why=without))
    return result
