"""What image_viewer.js draws: an image with true positives, false positives and missed objects, a panel per model."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from metrics.core.rounding import none_if_nan
from metrics.presentation.format import shorten
from metrics.presentation.palette import mark, text_colour

MOST_HEIGHT = {1: 400, 2: 380, 3: 340, 4: 300}  # pixels of a picture on the screen, by the number of panels

CROWDED = 80  # with more objects, lines are thin and without their dark edge

ORDER = ("annotation", "ignored", "tp", "fp", "fp_misclassification", "fn")  # drawn from the ground up

WIDTHS = {"annotation": 1.2, "ignored": 1.5, "fn": 3.0}

QUIET = ("annotation", "ignored")  # drawn without a label

DETAILS = {
    "fp_hallucination": "background: nothing is there",
    "fp_misclassification": "wrong class",
    "fp_duplicate": "duplicate: a better prediction has the object",
    "fp_localisation": "poor box: it overlaps the object too little",
    "fn_misclassification": "found as another class",
    "fn_no_prediction": "nothing predicted here",
}

UPRIGHT = ("box", "keypoints")  # what is compared when upright boxes are drawn

CONTEXT = 2.6  # the view of an object is that much wider or higher than the object

SMALLEST = 64  # pixels of the narrowest view


@dataclass(frozen=True, slots=True)
class Focus:
    """The object that the image opens on: its box (left, top, right, bottom), its name, and the view around it.

    view: left, top and width in pixels; its height follows from the image's shape.
    """

    box: tuple[float, float, float, float]
    name: str
    view: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class ImageObject:
    """One object to draw: rings (x1 y1 x2 y2 …, pixels), what it is, a detail on hover, lines of its key points."""

    kind: str
    rings: tuple[tuple[float, ...], ...]
    label: str
    score: float | None = None
    detail: str = ""
    bones: tuple[tuple[float, ...], ...] = ()

    @property
    def caption(self) -> str:
        """Label and score, as drawn beside the object."""
        name = shorten(self.label, 24)
        return name if self.score is None else f"{name} {self.score:.2f}"

    @property
    def hover(self) -> str:
        """The hover text: label, score and outcome of the object."""
        score = "" if self.score is None else f", score {self.score:.3f}"
        return f"{shorten(self.label, 60)}{score}: {mark(self.kind).title}" + (
            f", {self.detail}" if self.detail else ""
        )


def drawn_kind(kind: str) -> str:
    """Return the kind that a match kind is drawn as: `fp_hallucination` as `fp`, unknown ones as `ignored`."""
    if kind in ORDER:
        return kind
    head = kind.partition("_")[0]
    return head if head in ORDER else "ignored"


def rings(row: Mapping[Hashable, Any], geometry: str = "box") -> tuple[tuple[float, ...], ...]:
    """Return the outlines of one object of `data.example`: its box, or, compared as mask or polygon, its `rings`."""
    shape = tuple(tuple(ring) for ring in row["rings"])
    if geometry not in UPRIGHT or not shape:
        return shape
    x, y, width, height = (row[name] for name in ("x", "y", "width", "height"))
    left, top, right, bottom = extent(shape) if pd.isna([x, y, width, height]).any() else (x, y, x + width, y + height)
    return ((left, top, right, top, right, bottom, left, bottom),)


def extent(shape: Sequence[Sequence[float]]) -> tuple[float, float, float, float]:
    """Return left, top, right and bottom of the box around rings."""
    xs, ys = [x for ring in shape for x in ring[0::2]], [y for ring in shape for y in ring[1::2]]
    return min(xs), min(ys), max(xs), max(ys)


def focus(box: tuple[float, float, float, float], name: str, width: float, height: float) -> Focus:
    """Return the view around a box in an image of that width and height: with a margin, inside the image."""
    left, top, right, bottom = box
    wide = min(width, max((right - left) * CONTEXT, (bottom - top) * CONTEXT * width / height, SMALLEST))
    high = wide * height / width
    x = min(max(0.0, (left + right - wide) / 2), width - wide)
    y = min(max(0.0, (top + bottom - high) / 2), height - high)
    return Focus(box, name, (x, y, wide))


def image_objects(
    annotations: pd.DataFrame,
    predictions: pd.DataFrame,
    annotation_kinds: Sequence[str],
    prediction_kinds: Sequence[str],
    geometry: str = "box",
) -> list[ImageObject]:
    """Return what to draw of one image and one model; predictions below the score threshold are left out."""
    drawn = []
    for row, kind in zip(annotations.to_dict("records"), annotation_kinds, strict=True):
        shown = "annotation" if drawn_kind(kind) == "tp" else drawn_kind(kind)
        detail, lines = DETAILS.get(kind, ""), tuple(row.get("bones") or ())
        drawn.append(ImageObject(shown, rings(row, geometry), str(row["label"]), None, detail, lines))
    for row, kind in zip(predictions.to_dict("records"), prediction_kinds, strict=True):
        value = none_if_nan(row["score"])
        if kind == "below_score":
            continue
        shape, detail = rings(row, geometry), DETAILS.get(kind, "")
        lines = tuple(row.get("bones") or ())
        drawn.append(ImageObject(drawn_kind(kind), shape, str(row["label"]), value, detail, lines))
    return drawn


def counts(drawn: Sequence[ImageObject]) -> dict[str, int]:
    """Return how many true positives, false positives and missed objects are drawn: keys tp, fp, fn."""
    found = Counter(entry.kind.partition("_")[0] for entry in drawn)
    return {kind: found[kind] for kind in ("tp", "fp", "fn")}


def panel(title: str, drawn: Sequence[ImageObject], labelled: int = 25, geometry: str = "box") -> dict[str, Any]:
    """Return the panel of one model; with more than `labelled` objects their labels show on hover only.

    Masks are filled, except those of QUIET kinds, which lie below others.
    """
    shown = [entry for entry in drawn if entry.rings]
    objects: dict[str, list[dict[str, Any]]] = {}
    for kind in ORDER:
        if chosen := [entry for entry in shown if entry.kind == kind]:
            objects[kind] = [
                {
                    "rings": [[_short(number) for number in ring] for ring in entry.rings],
                    "caption": "" if kind in QUIET else entry.caption,
                    "lines": entry.hover,
                    **({"bones": [[_short(number) for number in bone] for bone in entry.bones]} if entry.bones else {}),
                }
                for entry in chosen
            ]
    prominent = sum(entry.kind not in QUIET for entry in shown)
    return {
        "title": title, "counts": legend(drawn), "objects": objects, "labelled": prominent <= labelled,
        "crowded": len(shown) > CROWDED, "shaped": geometry not in UPRIGHT,
        "posed": geometry == "keypoints",
        "filled": [kind for kind in objects if kind not in QUIET] if geometry == "mask" else [],
    }  # fmt: skip


def _short(number: float) -> float:
    """Round to a hundredth of a pixel, whole numbers without a point: outlines of masks have thousands."""
    return int(number) if number == int(number) else round(number, 2)


def payload(
    key: str,
    width: float,
    height: float,
    source: str | None,
    panels: Sequence[Mapping[str, Any]],
    styles: Mapping[str, Mapping[str, Any]] | None = None,
    focus: Focus | None = None,
) -> dict[str, Any]:
    """Return the data of the viewer: one image (a data URI, or None), a panel per model; a new `key` resets the zoom.

    `styles` are those of the kinds in the panels, by default those of objects. With a `focus` the image opens on that
    object, which is marked in every panel.
    """
    styles = styles or {
        kind: {
            "colour": mark(kind).colour, "ink": text_colour(mark(kind).colour), "dash": mark(kind).dash,
            "width": WIDTHS.get(kind, 2.5),
        }
        for kind in ORDER
    }  # fmt: skip
    return {
        "key": key, "width": width, "height": height, "image": source, "styles": styles, "panels": list(panels),
        "high": MOST_HEIGHT[len(panels)],
        "focus": focus and {"box": focus.box, "name": focus.name, "view": focus.view},
    }  # fmt: skip


def legend(drawn: Sequence[ImageObject]) -> str:
    """Return the number of each kind in a line: `✓ 3 found · ✗ 1 false · – 2 missed`."""
    words = {"tp": "found", "fp": "false", "fn": "missed"}
    return " · ".join(f"{mark(kind).glyph} {number} {words[kind]}" for kind, number in counts(drawn).items())


def object_table(drawn: Sequence[ImageObject]) -> pd.DataFrame:
    """Return the objects as a table: kind, label, score and the box around it in pixels, best score first."""
    rows = []
    for entry in sorted(drawn, key=lambda entry: (entry.score is None, -(entry.score or 0))):
        edges = ""
        if entry.rings:
            left, top, right, bottom = extent(entry.rings)
            edges = f"{left:.0f}, {top:.0f}, {right - left:.0f} × {bottom - top:.0f}"
        rows.append({"kind": mark(entry.kind).title, "label": entry.label, "score": entry.score, "x, y, size": edges})
    return pd.DataFrame(rows, columns=["kind", "label", "score", "x, y, size"])
