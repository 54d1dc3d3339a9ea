"""The list of objects that the gallery shows and the example walks: read from the gallery's query parameters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from components.data import reviews, run_reads
from components.viewers import tile_gallery
from components.views.objects.point_controls import State, point_of
from components.widgets import filters
from metrics.analysis import ObjectPage, OperatingPoint

LINKED = 5  # classes that a drawer links to


@dataclass(frozen=True, slots=True)
class ObjectList:
    """Which objects of a run, in which order.

    `point` is the operating point, `choice` the fields of metrics.analysis.ObjectFilter; `counted` how many objects
    each kind has, `asked` the kinds that the address names, and `known` all that there are to choose from.
    """

    run: str
    point: OperatingPoint
    evaluator: str
    sort: str
    by_image: bool
    choice: Mapping[str, Any]
    counted: Mapping[str, int]
    asked: Sequence[str]
    known: Sequence[str]

    def page(self, limit: int, offset: int) -> ObjectPage:
        """Return the tiles offset … offset + limit of the list."""
        return run_reads.objects(self.run, self.evaluator, self.sort, self.by_image, limit, offset, **self.choice)

    def place(self, case_id: str, key: str) -> int | None:
        """Return the offset of an object, or of its image, in the list; None where it is not in the list."""
        return run_reads.object_place(self.run, self.evaluator, self.sort, self.by_image, case_id, key, **self.choice)


def state_here() -> State:
    """Return the query parameters of this page."""
    return {name: st.query_params.get_all(name) for name in st.query_params}


def object_list(run: str, state: State) -> ObjectList | None:
    """Return the list that the gallery shows in a state; None where the run has no matched objects."""
    evaluators, models = run_reads.match_evaluators(run), run_reads.headline(run).models
    if not evaluators or not models:
        return None

    def first(name: str) -> str:
        return next((value for value in state.get(name, ()) if value), "")

    def every(name: str) -> tuple[str, ...]:
        return tuple(value for value in state.get(name, ()) if value)

    model = first("model") if first("model") in models else models[0]
    evaluator = first("evaluator") if first("evaluator") in evaluators else next(iter(evaluators))
    repeats = run_reads.repeats(run, model)
    by_image = first("view") == "images"
    sorts = sorts_of(by_image)
    point = point_of(run, state, model)
    (score_low, score_high), (iou_low, iou_high) = (filters.bounds_in(first, name) for name in ("score", "iou"))
    choice: dict[str, Any] = {
        "model": model, "repeat": next((n for n in repeats if str(n) == first("repeat")), repeats[0]),
        "iou": point.iou, "labels": every("label"), "truths": every("truth"), "sizes": every("size"),
        "score_low": max(point.score, score_low or 0.0) or None,
        "score_high": score_high, "iou_low": iou_low, "iou_high": iou_high, "tag": first("tag") or None,
        "search": first("search"),
        "right_in": first("right") if first("right") in models and first("right") != model else None,
    }  # fmt: skip
    choice["once"] = not every("kind")
    if tag := first("mark"):
        choice["places"] = tuple(
            (place.case_id, place.object)
            for place, mark in reviews.marks(run).items()
            if tag in mark.tags and (not place.object or (place.model, place.repeat) == (model, choice["repeat"]))
        )
    counted = run_reads.object_counts(run, evaluator, **choice)["kind"]
    known = tile_gallery.known_kinds(counted, every("kind"))
    asked = tile_gallery.asked_kinds(every("kind"), known)
    choice["kinds"] = tuple(asked or tile_gallery.mistakes(known))
    sort = first("sort") if first("sort") in sorts else next(iter(sorts))
    return ObjectList(run, point, evaluator, sort, by_image, choice, counted, asked, known)


def worst_classes(run: str, state: State) -> dict[str, int]:
    """Return the classes with the most objects in the list of a gallery in a state, and how many they have."""
    listed = object_list(run, state)
    if listed is None:
        return {}
    counts = run_reads.object_counts(run, listed.evaluator, **listed.choice)["label"]
    return {label: counts[label] for label in sorted(counts, key=lambda label: -counts[label])[:LINKED]}


def sorts_of(by_image: bool) -> dict[str, str]:
    """Return the sorts of a gallery of images or of objects: name → title."""
    return tile_gallery.OF_IMAGES | tile_gallery.SORTS if by_image else tile_gallery.SORTS


def object_rows(listed: ObjectList, most: int) -> pd.DataFrame:
    """Return the first objects of a list: case_id, label, kind, score, iou and object, the key of each."""
    rows = [
        (tile.case_id, entry.label, entry.kind, entry.score, entry.iou, entry.key)
        for tile in listed.page(most, 0).tiles
        for entry in tile.objects[:1]
    ]
    return pd.DataFrame(rows, columns=["case_id", "label", "kind", "score", "iou", "object"])
