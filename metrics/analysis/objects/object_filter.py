"""Which objects of a detection run a gallery shows: the filter, and the masks that it makes over an index."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from metrics.analysis.objects.object_index import SIZES, ObjectIndex, object_index
from metrics.core.array_types import Bools, Int32s, Ints
from metrics.store import Run

LOW_SCORE = "fn_low_score"  # found, but by a prediction scored below what the filter asks for


@dataclass(frozen=True, slots=True)
class ObjectFilter:
    """Which objects of one model and repeat; an empty tuple, "" or None is no restriction.

    `iou` is the threshold at which they are matched; None: that of the evaluator.
    `kinds` are those of core.evaluator.MATCHES and LOW_SCORE; `labels` are the object's own (of the prediction, or
    of the ground truth that was missed), `truths` those of the ground truth it took, overlaps or is; `sizes` are keys
    of SIZES. A prediction scored below `score_low` is not made: what it found is missed, of kind LOW_SCORE.
    `score_high`, `iou_low` and `iou_high` keep only what has a score, an IoU, in that range. `search` is looked for in
    case id and image name, without regard to case. `places` are pairs of a case_id and the key of an object in it, or
    "" for all of them; None is no restriction. `right_in` names another model: what is left is about ground truths that
    it finds and this model does not. `once`: a wrong class is one mistake: the ground truth that was missed for it is
    left out, and one that a right prediction of another class covers is missed.
    """

    model: str
    repeat: int = 1
    iou: float | None = None
    kinds: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    truths: tuple[str, ...] = ()
    sizes: tuple[str, ...] = ()
    score_low: float | None = None
    score_high: float | None = None
    iou_low: float | None = None
    iou_high: float | None = None
    tag: str | None = None
    search: str = ""
    places: tuple[tuple[str, str], ...] | None = None
    right_in: str | None = None
    once: bool = False


def masks_of(
    run: Run, evaluator: str, index: ObjectIndex, chosen: ObjectFilter
) -> tuple[tuple[NDArray[np.int8], Int32s], dict[str, Bools]]:
    """Return kind and label of every object under the score filter, and which objects each of the filters keeps."""
    kind, label, masks = index.kind, index.label, _masks_of_bounds(index, chosen)
    if chosen.score_low is not None:
        lost = (index.score < chosen.score_low) & (index.took > 0)
        kind = np.where(lost, np.int8(len(index.kinds)), kind)
        label = np.where(lost, index.truth, label)
    if chosen.once:
        kind, masks["once"] = _once(index, kind, chosen.score_low)
    for name, codes, names, wanted in (
        ("kind", kind, (*index.kinds, LOW_SCORE), chosen.kinds),
        ("label", label, index.labels, chosen.labels),
        ("truth", index.truth, index.labels, chosen.truths),
        ("size", index.size, tuple(SIZES), chosen.sizes),
    ):
        if wanted:
            keep = np.array([*(name in wanted for name in names), False])  # the last is for −1
            masks[name] = keep[codes]
    if chosen.tag is not None:
        masks["tag"] = np.isin(index.position, run.sampling_design(chosen.tag).inside)
    if chosen.search:
        masks["search"] = _cases_with(run, chosen.search.lower())[index.position]
    if chosen.places is not None:
        masks["places"] = _at_places(run, index, chosen.places)
    if chosen.right_in is not None:
        right = index.kinds.index("tp") if "tp" in index.kinds else -1
        masks["right_in"] = (kind != right) & _found_by(run, evaluator, index, chosen)
    return (kind, label), masks or {"all": np.ones(len(kind), np.bool_)}


def _once(index: ObjectIndex, kind: NDArray[np.int8], score_low: float | None) -> tuple[NDArray[np.int8], Bools]:
    """Return the kinds, and which objects are no second side of a wrong class that counts; see ObjectFilter."""
    wrong, missed, other = (
        index.kinds.index(name) if name in index.kinds else -1
        for name in ("fp_misclassification", "fn_no_prediction", "fn_misclassification")
    )
    mistaken = kind == wrong
    if score_low is not None:
        mistaken &= ~(index.score < score_low)
    same = (kind == other) & np.isin(index.annotation, index.annotation[mistaken])
    return np.where((kind == other) & ~same & (missed >= 0), np.int8(missed), kind), ~same


def _masks_of_bounds(index: ObjectIndex, chosen: ObjectFilter) -> dict[str, Bools]:
    """Return which objects the bounds of score and IoU keep.

    A match below the lowest score is kept as a missed ground truth, unless there is a highest score, too.
    """
    masks: dict[str, Bools] = {}
    if chosen.score_low is not None:
        masks["score_low"] = ~(index.score < chosen.score_low)
        if chosen.score_high is None:
            masks["score_low"] |= index.took > 0
    if chosen.score_high is not None:
        masks["score_high"] = index.score <= chosen.score_high
    if chosen.iou_low is not None:
        masks["iou_low"] = index.iou >= chosen.iou_low
    if chosen.iou_high is not None:
        masks["iou_high"] = index.iou <= chosen.iou_high
    return masks


def _cases_with(run: Run, text: str) -> Bools:
    """Return which cases have the lower-case text in their id or in the name of their image."""
    cases = run.suite.cases
    image = cases["metadata.image_name" if "metadata.image_name" in cases.column_names else "image"]
    texts = (pc.utf8_lower(column.fill_null("")) for column in (cases["case_id"], image))
    hits = [pc.match_substring(each, text).to_numpy() for each in texts]
    return np.asarray(hits[0] | hits[1])


def all_of(masks: Mapping[str, Bools]) -> Any:
    """Return where every mask is true; everything where there is no mask."""
    return np.logical_and.reduce(list(masks.values())) if masks else slice(None)


def _found_by(run: Run, evaluator: str, index: ObjectIndex, chosen: ObjectFilter) -> Bools:
    """Return which objects are about a ground truth that the model `right_in` finds."""
    other = object_index(run, evaluator, str(chosen.right_in), chosen.repeat, chosen.iou)
    found = other.kind == (other.kinds.index("tp") if "tp" in other.kinds else -1)
    if chosen.score_low is not None:
        found &= ~(other.score < chosen.score_low)  # segments have no scores
    return (index.annotation >= 0) & np.isin(index.annotation, other.annotation[found])


def _at_places(run: Run, index: ObjectIndex, places: Sequence[tuple[str, str]]) -> Bools:
    """Return which objects are at one of the places."""
    case_ids = run.suite.cases["case_id"].combine_chunks()
    cases = pc.index_in(pa.array([case for case, _ in places], pa.string()), case_ids).fill_null(-1).to_pylist()
    whole = [case for case, (_, key) in zip(cases, places, strict=True) if not key]
    kept: Bools = np.isin(index.position, whole)
    predicted = [int(key[1:]) for _, key in places if key[:1] == "p"]
    kept |= np.isin(index.prediction_id, predicted) & (index.prediction_id >= 0)
    missed = {(case, int(key[1:])) for case, (_, key) in zip(cases, places, strict=True) if key[:1] == "a"}
    if missed:
        rows = np.flatnonzero((index.prediction_id < 0) & np.isin(index.position, [case for case, _ in missed]))
        ids = annotation_ids(run)[index.annotation[rows]]
        pairs = zip(index.position[rows].tolist(), ids.tolist(), strict=True)
        kept[rows] |= np.array([pair in missed for pair in pairs], np.bool_)
    return kept


def annotation_ids(run: Run) -> Ints:
    """Return the annotation_id of every row of the suite's annotations and, at the end, for −1, −1."""
    annotations: Any = run.suite.annotations
    return np.append(annotations["annotation_id"].to_numpy(), -1)
