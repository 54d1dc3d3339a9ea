"""panoptic_quality: how well segments are found (RQ) and outlined (SQ), and both (PQ), for things and stuff."""

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from metrics.core.array_types import Floats, Int32s, Ints
from metrics.core.evaluator import MATCHES, Aggregate, CaseScore, Example, Findings, Metric, Parameters, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._half_samples import Resamples, Seed, image_spread, number, resample_sums
from metrics.evaluators._objects import codes_of, confusion_table, object_labels, object_tables
from metrics.evaluators.segmentation._label_maps import Batch, Labels, batches
from metrics.stats.float_tolerance import mean_over
from metrics.vision import panoptic
from metrics.vision.geometry import whole
from metrics.vision.outcomes import FN_MISCLASSIFIED, FN_MISSED, KINDS, among

NAMES = ("PQ", "SQ", "RQ")
PARTS = {"": "all classes", "_things": "things", "_stuff": "stuff"}
NO_SEGMENTS = "neither the ground truth nor the predictions have a segment that counts"
UNSAID = "the suite does not say which classes are things and which stuff"
VOID = ""  # the label of pixels without a segment


class PanopticQualityParameters(Parameters):
    """The resampling."""

    resamples: Resamples = 500
    seed: Seed = 0


def _scene(truths: list[dict[str, Any]], predictions: list[dict[str, Any]]) -> Mapping[str, Any]:
    """Return one image of 10 × 10 pixels; a segment goes from one column to before another, over the whole height."""

    def segments(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [
            {"case_id": "a", "label": row["label"], "x": float(row["columns"][0]), "y": 0.0, "height": 10.0,
             "width": float(row["columns"][1] - row["columns"][0]), **row.get("more", {})}
            for row in rows
        ]  # fmt: skip

    return {
        "task": "segmentation",
        "cases": [{"case_id": "a", "image_width": 10, "image_height": 10}],
        "classes": {"cat": {"is_thing": True}, "sky": {"is_thing": False}},
        "annotations": [row | {"annotation_id": place} for place, row in enumerate(segments(truths))],
        "predictions": segments(predictions),
    }


def _segment(label: str, first: int, last: int, **more: Any) -> dict[str, Any]:
    return {"label": label, "columns": (first, last), "more": more}


@evaluator(
    stand="first",
    tasks=("segmentation",),
    inputs=("annotations", "predictions"),
    default_needs=("segments",),
    metrics=(
        Metric("PQ", "Panoptic quality, SQ · RQ, mean over classes.", primary=True),
        Metric("SQ", "Segmentation quality: mean IoU of the matched segments, mean over classes."),
        Metric("RQ", "Recognition quality: F1 of the segments, mean over classes."),
        *(
            Metric(f"{name}{part}", f"{name}, mean over the classes that are {title}.", minor=name != "PQ")
            for part, title in list(PARTS.items())[1:]
            for name in NAMES
        ),
        Metric("image_PQ", "PQ of one image, its segments of all classes taken together.", minor=True),
    ),
    has_thresholds=False,
    sources=("Kirillov et al., Panoptic Segmentation, 2019; panopticapi, evaluation.py",),
    standards=("valid and reliable", "outcomes analysis"),
    examples=(
        Example(
            "a cat one column too wide, at IoU 4/5; the sky loses that column, 6 of 7 are left",
            _scene([_segment("cat", 0, 4), _segment("sky", 4, 10)], [_segment("cat", 0, 5), _segment("sky", 5, 10)]),
            expect={"PQ": (4 / 5 + 5 / 6) / 2, "RQ": 1.0, "PQ_things": 4 / 5, "PQ_stuff": 5 / 6},
            rows=({"metric": "SQ", "label": "sky", "value": 5 / 6},),
        ),
        Example(
            "two cats found as one: one of 6 columns at IoU .6, the other missed",
            _scene([_segment("cat", 0, 6), _segment("cat", 6, 10)], [_segment("cat", 0, 10)]),
            expect={"PQ": 0.6 / 1.5, "PQ_stuff": None},
            rows=({"metric": "SQ", "label": "cat", "value": 0.6}, {"metric": "RQ", "label": "cat", "value": 1 / 1.5}),
        ),
        Example(
            "a cat mostly on void and one in a crowd of cats are not counted, one elsewhere is false",
            _scene(
                [_segment("cat", 0, 3, is_crowd=True), _segment("cat", 3, 6), _segment("sky", 6, 8)],
                [_segment("cat", 0, 2), _segment("cat", 3, 6), _segment("cat", 6, 8), _segment("cat", 8, 10)],
            ),
            rows=(
                {"metric": "PQ", "label": "cat", "value": 1 / 1.5},
                {"metric": "PQ", "label": "sky", "value": 0.0},
                {"metric": "SQ", "label": "sky", "value": 0.0},
            ),
        ),
    ),
    differs_from="segmentation_iou compares the pixels of classes, whatever the segment; coco_summary with masks needs "
    "scores and lets masks overlap. Here every pixel has one segment, and a segment is found or not.",
    differs_from_source="Equal to panopticapi's definition. Areas are counted from the pixels, where panopticapi "
    "trusts the file's. Several crowds of a class in an image all excuse predictions, where it looks at the last. A "
    "class without segments has no value, a mean over no class none, where it stops. Segments that overlap are read as "
    "the later one over the earlier. PQ per image and intervals are added.",
)
def panoptic_quality(suite: Suite, outputs: Outputs, parameters: PanopticQualityParameters) -> Findings:
    """Panoptic quality (PQ): F1 of the segments of a class times the mean IoU of those that were found.

    Every pixel belongs to at most one true and one predicted segment: an instance of a thing, or all of one kind of
    stuff. Segments of one class match where their IoU is above .5, which makes the match unique. With TP the matched
    pairs of a class over all images, FP predictions and FN ground truths without a match:

        SQ = Σ IoU of TP / TP        RQ = TP / (TP + FP/2 + FN/2)        PQ = SQ · RQ

    PQ, SQ and RQ are the means over classes with a segment, `…_things` and `…_stuff` over classes of that kind, and
    with `label` those of a class. 0 … 1, higher is better. SQ of a class of which nothing is found is 0.

    Pixels without a true segment are void: they are left out of the IoU, and a prediction of which more than half is
    void is no false positive. So it is with predictions more than half in crowds of their class (and void); a crowd
    itself is neither found nor missed. Scores of predictions are not used.

    Segments come from COCO's panoptic files, or as run lengths, polygons or boxes; where two overlap the later row
    wins. An image that the model has no output for has all its segments missed. `image_PQ` takes the segments of all
    classes of one image together; PQ is no mean of these. The matches name what became of every segment: right, of
    another class (IoU above .5 with one), badly outlined (IoU of .1 or more with its class), or invented. The curve has
    the columns label (the truth), predicted and count, the confusion matrix of segments: two with an IoU above .5 share
    a cell whatever their classes, a prediction without such a segment is "background", a true one "missed". The
    row of a class sums to its TP + FN, its column to its TP + FP.

    Equal to panopticapi. The 95 % interval is from half-samples of the images (of `cases.group` where given); it takes
    ten of them. n is the number of true segments.
    """
    labels = object_labels(suite, outputs)
    found = _match(suite, outputs, labels)
    sums, drawn = resample_sums(suite, found.counts, parameters.resamples, parameters.seed)
    return Findings(
        _aggregates(suite, labels, found, panoptic.qualities(sums), drawn),
        cases=dict(zip(suite.cases["case_id"].to_pylist(), _cases(labels, found.counts), strict=True)),
        curves=confusion_table(found.cells, labels),
        matches=found.matches,
    )


@dataclass(frozen=True, eq=False, slots=True)
class _Matched:
    """The sums of vision.panoptic.tallies of each image [I, 4, K], the true segments of each class [K], the confusion
    [K + 1, K + 1] of all images, the matches.
    """

    counts: Floats
    truths: Ints
    cells: Ints
    matches: pa.Table


@dataclass(frozen=True, eq=False, slots=True)
class _Side:
    """The segments of one side by image: their rows in the table, their classes, and where each image's begin."""

    rows: Ints
    code: Int32s
    start: Ints

    @classmethod
    def of(cls, table: pa.Table, case_ids: pa.Array, labels: tuple[str, ...]) -> "_Side":
        image = codes_of(table["case_id"], case_ids)
        rows = np.argsort(image, kind="stable")
        start = np.searchsorted(image[rows], np.arange(len(case_ids) + 1))
        return cls(rows, codes_of(table["label"], pa.array(labels, pa.string()))[rows], start)

    def of_image(self, place: int) -> slice:
        return slice(int(self.start[place]), int(self.start[place + 1]))


def _match(suite: Suite, outputs: Outputs, labels: tuple[str, ...]) -> _Matched:
    """Match image by image; threads share them."""
    tables, case_ids = object_tables(suite, outputs), whole(suite.cases["case_id"])
    truths, guesses = (_Side.of(table, case_ids, labels) for table in tables)
    crowd = whole(tables[0]["is_crowd"].fill_null(False)).to_numpy(zero_copy_only=False)[truths.rows]
    codes = {name: code for code, name in enumerate(labels)} | {VOID: -1}
    counts = np.zeros((len(suite), 4, len(labels)))
    found: list[panoptic.SegmentMatches] = []

    def match(batch: Batch, index: int) -> panoptic.SegmentMatches:
        place = batch.places[index]
        true, predicted = truths.of_image(place), guesses.of_image(place)
        runs = [_segment_runs(batch, side, index) for side in (0, 1)]
        kinds = (truths.code[true], guesses.code[predicted])
        result = panoptic.match_segments(runs[0], runs[1], *kinds, crowd[true])
        counts[place] = panoptic.tallies(result, *kinds, len(labels))
        return result

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        for batch in batches(suite, outputs, Labels(labels, False, codes, codes, VOID)):
            found += threads.map(match, [batch] * len(batch.places), range(len(batch.places)))
    of_class = np.bincount(truths.code[~crowd], minlength=len(labels))
    every = panoptic.joined(found, truths.start)
    cells = panoptic.confusion(every, truths.code, guesses.code, len(labels))
    return _Matched(counts, of_class, cells, _matches(tables, truths, guesses, every))


def _segment_runs(batch: Batch, side: int, index: int) -> panoptic.SegmentRuns:
    runs, pixels = batch.sides[side], int(batch.sizes[index].prod())
    return panoptic.SegmentRuns.of(runs.masks, runs.start[index], runs.start[index + 1], pixels)


def _matches(
    tables: tuple[pa.Table, pa.Table], truths: _Side, guesses: _Side, found: panoptic.SegmentMatches
) -> pa.Table:
    """Return every prediction, then every missed ground truth: schema MATCHES."""
    kinds = pa.array(KINDS, pa.string())
    lost = among(found.ground_truth, (FN_MISCLASSIFIED, FN_MISSED))
    missed, truth = truths.rows[lost], found.truth
    taken = pa.array(truths.rows[truth.clip(0)] if len(truths.rows) else truth, mask=truth < 0)
    guessed, rows = tables[1].take(pa.array(guesses.rows)), tables[0].take(pa.array(missed))
    none = pa.nulls(len(rows), pa.float64())
    columns = [
        (guessed["case_id"], rows["case_id"]),
        (guessed["label"], rows["label"]),
        (kinds.take(pa.array(found.prediction)), kinds.take(pa.array(found.ground_truth[lost]))),
        (guessed["prediction_id"], pa.nulls(len(rows), pa.int64())),
        (whole(tables[0]["annotation_id"]).take(taken), rows["annotation_id"]),
        (guessed["score"], none),
        (pa.array(found.iou, pa.float64(), from_pandas=True), none),
        (pa.array(np.full(len(guessed), panoptic.ENOUGH)), pa.array(np.full(len(rows), panoptic.ENOUGH))),
    ]
    return pa.table([pa.chunked_array([whole(part) if isinstance(part, pa.ChunkedArray) else part for part in parts])
                     for parts in columns], schema=MATCHES)  # fmt: skip


def _aggregates(suite: Suite, labels: tuple[str, ...], found: _Matched, values: Floats, drawn: int) -> list[Aggregate]:
    """Return PQ, SQ and RQ from values [1 + B, 3, K]: over all classes, things and stuff, then of each class."""
    facts = [suite.classes[label].is_thing if label in suite.classes else None for label in labels]
    members = {"": np.ones(len(labels), np.bool_)}
    members |= {
        "_things": np.array([fact is True for fact in facts], np.bool_),
        "_stuff": np.array([fact is False for fact in facts], np.bool_),
    }
    rows = []
    for part, member in members.items():
        held = found.counts[..., member].any(axis=(1, 2)).sum()
        spread = image_spread(mean_over(values[..., member], 2), np.array(min(held, drawn)))
        why = NO_SEGMENTS if member.any() or any(fact is not None for fact in facts) else UNSAID
        n = int(found.truths[member].sum())
        rows += [number(f"{name}{part}", spread, (place,), n=n, why=why) for place, name in enumerate(NAMES)]
    images = found.counts.any(axis=1).sum(axis=0)
    spread = image_spread(values, np.minimum(images, drawn))
    for place, name in enumerate(NAMES):
        rows += [
            number(name, spread, (place, k), n=int(found.truths[k]), label=label, why=NO_SEGMENTS)
            for k, label in enumerate(labels)
        ]
    return rows


def _cases(labels: tuple[str, ...], counts: Floats) -> Iterator[CaseScore]:
    """Yield the PQ of each image, with what was found, invented and missed of each class."""
    names = ("iou", "tp", "fp", "fn")
    for image in counts:
        quality = float(panoptic.qualities(image.sum(axis=1, keepdims=True))[0, 0])
        if np.isnan(quality):
            yield not_applicable(NO_SEGMENTS)
            continue
        held = np.flatnonzero(image.any(axis=0))
        facts = [
            {"label": labels[k], **dict(zip(names, image[:, k].round(6).tolist(), strict=True))} for k in held.tolist()
        ]
        yield CaseScore({"image_PQ": quality}, evidence=Evidence(facts={"segments": facts}))
