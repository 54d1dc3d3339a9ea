"""detection_pr_curve_detailed: outcomes of predictions and ground truths by score threshold, with examples."""

import json
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pydantic import Field

from metrics.core.array_types import Floats, Ints
from metrics.core.evaluator import Aggregate, Columns, Example, Findings, Metric
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._objects import object_tables
from metrics.evaluators._score_curve import DETAILED_CURVES, ScoreThresholds
from metrics.evaluators.detection._examples import CROWDED_STREET, TWO_CATS, ZOO, Shares, detection_evaluator
from metrics.evaluators.detection._matched import (
    NOTHING_PREDICTED,
    MatchingIou,
    OperatingParameters,
    Scene,
    grid_with,
    match_objects,
)
from metrics.stats.classification.roc import THRESHOLDS
from metrics.vision.geometry import BOX, image_sizes, with_boxes
from metrics.vision.outcomes import LOCALISED
from metrics.vision.outlines import geojson
from metrics.vision.score_spans import Spans, score_spans

_json = json.JSONEncoder(ensure_ascii=False).encode
ERRORS = {  # kind: title, description
    "fn_misclassification": (
        "Missed, wrong class", "Share of the ground truths missed where a prediction of another label is.",
    ),
    "fn_no_prediction": ("Missed", "Share of the ground truths missed where no prediction of another label is."),
    "fp_misclassification": (
        "Wrong class", "Share of the predictions that are wrong and overlap a ground truth of another label.",
    ),
    "fp_hallucination": (
        "Other false", "Share of the predictions that are wrong and overlap no ground truth of another label.",
    ),
}  # fmt: skip


class DetectionDetailedParameters(OperatingParameters):
    """What the curve is taken at, how many examples are kept, and where the shares are taken."""

    pr_curve_iou_threshold: MatchingIou = 0.5
    score_thresholds: ScoreThresholds = THRESHOLDS
    pr_curve_max_examples: int = Field(
        1, ge=0, le=100, description="Most examples kept of each label, threshold and kind."
    )


@detection_evaluator(
    title="Detailed detection precision–recall curve",
    stand="aside",
    metrics=(
        Metric("tp", "Share of the ground truths found at the score threshold.", primary=True),
        *(Metric.lower(kind, description, title=title) for kind, (title, description) in ERRORS.items()),
    ),
    sources=("Valor metrics: Detailed Precision-Recall Curves, object detection tasks",),
    examples=(
        Example(
            "at score .5 both cats are found, and one of three predictions is false",
            TWO_CATS,
            expect={"fp_misclassification": 0.0},
            rows=(
                {"metric": "tp", "label": None, "value": 1.0, "n": 2},
                {"metric": "fp_hallucination", "label": "cat", "value": 1 / 3, "n": 3},
            ),
        ),
        Example(
            "the dog is found, yet a cat was predicted there too; the fox scores too low",
            ZOO,
            rows=(
                {"metric": "tp", "label": None, "value": 2 / 3, "n": 3},
                {"metric": "fp_misclassification", "label": "cat", "value": 0.5, "n": 2},
                {"metric": "fp_misclassification", "label": None, "value": 1 / 3, "n": 3},
                {"metric": "fn_no_prediction", "label": "fox", "value": 1.0, "n": 1},
            ),
        ),
        Example(
            "from score .85 on only the cat is predicted where the dog is: the dog is missed for it",
            ZOO,
            expect={"fn_misclassification": 1 / 3},
            rows=(
                {"metric": "fn_misclassification", "label": "dog", "value": 1.0},
                {"metric": "fn_no_prediction", "label": "cat", "value": 1.0},
            ),
            parameters={"score_threshold": 0.85},
        ),
        Example(
            "predictions inside a crowd do not count",
            CROWDED_STREET,
            rows=(
                {"metric": "fp_hallucination", "label": None, "value": 0.5, "n": 2},
                {"metric": "fp_hallucination", "label": "person", "value": 0.0, "n": 1},
                {"metric": "tp", "label": "dog", "value": None},
            ),
        ),
    ),
    version=3,
    differs_from="detection_pr_curve has the rates, this one the kinds of error behind them and examples. Every false "
    "positive that is no wrong class is of one kind, fp_hallucination; the stored matches split these further into "
    "duplicates, poor boxes and background. In classification_pr_curve_detailed a false positive always has a true "
    "label that was mistaken. detection_confusion puts every object in one cell.",
    differs_from_source="The kinds and the rules are Valor's; missed_detections and no_predictions, both in its text, "
    "are one kind, fn_no_prediction. Examples are those of the highest score, of missed objects the largest, where "
    "Valor takes any. Shares at one score threshold are Assay's addition.",
)
def detection_pr_curve_detailed(suite: Suite, outputs: Outputs, parameters: DetectionDetailedParameters) -> Findings:
    """Right, mistaken, false and missed objects of each label by score threshold, with examples.

    The score thresholds are .05, .10, …, .95, or others. At score threshold s the predictions with score ≥ s are
    qualified and matched as for detection_pr_curve: within image and label, at IoU ≥ t = `pr_curve_iou_threshold`. Each
    of them is one of

        tp                    it took a ground truth
        fp_misclassification  it took none, and overlaps a ground truth of another label at IoU ≥ t
        fp_hallucination      it took none, and overlaps none of another label that much

    and each ground truth that none took is one of

        fn_misclassification  a qualified prediction of another label overlaps it at IoU ≥ t
        fn_no_prediction      none does

    The curve has the columns label, threshold, kind, count, examples. tp equals that of detection_pr_curve, the two fp
    add up to its fp and the two fn to its fn. `examples` is a JSON list of up to `pr_curve_max_examples` objects with
    suite, case_id and geometry, a GeoJSON text in pixels: the mask's outline, else the polygon, else the box, of the
    prediction, for fn of the ground truth. The highest scores come first, for fn_misclassification those of the wrong
    label; of fn_no_prediction the largest objects.

    The metrics are the kinds at `score_threshold`: tp and the two fn as shares of the ground truths, which add up to 1;
    the two fp as shares of the qualified predictions, which are 1 − precision; over all labels of all objects together.
    A label without ground truth has no tp and fn, one without qualified predictions no fp, and without any ground truth
    nothing is applicable. Crowds and predictions matched to one count nowhere. The 95 % interval is from half-samples
    of the images (of `cases.group` where given).
    """
    iou = parameters.pr_curve_iou_threshold
    found = match_objects(suite, outputs, grid_with(iou), geometry=parameters.geometry)
    objects, pairs = found.scene.objects, found.scene.overlaps(min(iou, LOCALISED))
    result, matches = found.outcomes_at(iou)
    spans = score_spans(objects, result, iou, pairs)
    curves = _curves(suite, outputs, found.scene, spans, parameters)
    return Findings(_aggregates(found.scene, spans, parameters), curves=curves, matches=matches)


def _aggregates(scene: Scene, spans: Sequence[Spans], parameters: DetectionDetailedParameters) -> list[Aggregate]:
    weights = scene.weights(parameters.resamples, parameters.seed).astype(np.float32)
    score = parameters.score_threshold
    counts: dict[str, Floats] = {}
    for entry in spans:
        counts[entry.kind] = scene.totals(weights, entry.at(score), entry.label, entry.image)
    truths = counts["tp"] + counts["fn_misclassification"] + counts["fn_no_prediction"]
    predictions = counts["tp"] + counts["fp_misclassification"] + counts["fp_hallucination"]
    columns: Columns = {"iou": parameters.pr_curve_iou_threshold, "score_threshold": score, **scene.columns}
    shares = Shares(scene, truths, columns)
    rows = []
    for kind in ("tp", "fn_misclassification", "fn_no_prediction"):
        rows += shares.rows(kind, counts[kind], truths)
    for kind in ("fp_misclassification", "fp_hallucination"):
        rows += shares.rows(kind, counts[kind], predictions, empty=NOTHING_PREDICTED)
    return rows


def _curves(
    suite: Suite, outputs: Outputs, scene: Scene, spans: Sequence[Spans], parameters: DetectionDetailedParameters
) -> pa.Table:
    """Return the rows of DETAILED_CURVES by label, threshold and kind."""
    shape = (len(scene.labels), len(parameters.score_thresholds), len(spans))
    counts, examples = np.zeros(shape, np.int64), np.empty(shape, object)
    truths, predictions = object_tables(suite, outputs)
    of_truths, of_predictions = (truths, scene.objects.truth_box), (predictions, scene.objects.prediction_box)
    for place, entry in enumerate(spans):
        own = of_truths if entry.missed else of_predictions
        counts[..., place], examples[..., place] = _points(entry, suite, shape[0], parameters, *own)
    label, threshold, kind = (codes.ravel() for codes in np.indices(shape))
    columns = [
        pa.array(scene.labels, pa.string()).take(pa.array(label)),
        pa.array(parameters.score_thresholds).take(pa.array(threshold)),
        pa.array([entry.kind for entry in spans], pa.string()).take(pa.array(kind)),
        pa.array(counts.ravel()),
        pa.array(examples.ravel(), pa.string()),
    ]
    return pa.table(columns, schema=DETAILED_CURVES)


def _points(
    entry: Spans, suite: Suite, labels: int, parameters: DetectionDetailedParameters, table: pa.Table, boxes: Floats
) -> tuple[Ints, NDArray[np.object_]]:
    """Return how many objects of `table` have the kind by label and threshold, and the examples."""
    from metrics.vision.compiled import ranked

    thresholds, most = np.array(parameters.score_thresholds), parameters.pr_curve_max_examples
    counts, chosen = ranked.stand(entry.label, entry.low, entry.high, thresholds, labels, most)
    shown = chosen.reshape(counts.size, most)
    differs = np.ones(len(shown), np.bool_)  # neighbouring thresholds mostly show the same
    differs[1:] = (shown[1:] != shown[:-1]).any(axis=1)
    places = np.unique(shown[shown >= 0])
    texts = dict(zip(places.tolist(), _texts(suite, table, boxes, entry.row[places]), strict=True))
    lists = [f"[{', '.join(texts[place] for place in one if place >= 0)}]" for one in shown[differs].tolist()]
    return counts, np.array(lists, object)[differs.cumsum() - 1].reshape(counts.shape)


def _texts(suite: Suite, table: pa.Table, boxes: Floats, rows: NDArray[np.intp]) -> Iterator[str]:
    """Yield each of the rows as the JSON text of an example."""
    chosen = table.select(["case_id", *BOX, "polygons", "rle"]).take(pa.array(rows))
    images = pc.index_in(chosen["case_id"], suite.cases["case_id"].combine_chunks())
    sizes = image_sizes(suite.cases.take(images.combine_chunks())).tolist()
    for row, size in zip(with_boxes(chosen, boxes[rows]).to_pylist(), sizes, strict=True):
        geometry = geojson([row[name] for name in BOX], row["polygons"], row["rle"], size)
        yield _json({"suite": suite.name, "case_id": row["case_id"], "geometry": geometry})
