"""The image viewer: a picture with what was found, invented and missed drawn on it, the models beside each other.

Drawn by viewer.js and not by plotly, whose charts Streamlit mounts anew, losing the zoom, whenever a slider moves.
Every kind of object is one path, so that 500 objects stay smooth; kinds differ in colour and in dash. What is drawn
is what was compared: boxes, polygons, or masks as translucent surfaces.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from metrics.presentation.format import shorten
from metrics.presentation.palette import mark, text_colour

FOLDER = Path(__file__).parent
LONGEST_SIDE = 1600  # pixels sent to the browser; boxes stay in the picture's own pixels
MOST_PIXELS = 120_000_000
MOST_HEIGHT = {1: 400, 2: 380, 3: 340, 4: 300}  # pixels of a picture on the screen, by the number of panels
CROWDED = 80  # with more objects than that, lines are thin and stand without their dark edge
ORDER = ("annotation", "ignored", "tp", "fp", "fp_misclassification", "fn")  # drawn from the ground up
WIDTHS = {"annotation": 1.2, "ignored": 1.5, "fn": 3.0}
QUIET = ("annotation", "ignored")  # drawn without a label
DETAILS = {
    "fp_hallucination": "nothing is there",
    "fp_misclassification": "another class is there",
    "fp_duplicate": "a better prediction took the object",
    "fp_localisation": "it fits the object too poorly",
    "fn_misclassification": "found as another class",
    "fn_no_prediction": "nothing predicted here",
}


@dataclass(frozen=True, slots=True)
class ImageObject:
    """One object to draw: its rings (x1 y1 x2 y2 …, pixels), what it is and what the hover says."""

    kind: str
    rings: tuple[tuple[float, ...], ...]
    label: str
    score: float | None = None
    detail: str = ""

    @property
    def caption(self) -> str:
        """Label and score, as drawn beside the object."""
        name = shorten(self.label, 24)
        return name if self.score is None else f"{name} {self.score:.2f}"

    @property
    def hover(self) -> str:
        """What the pointer is told: label, score, and what became of the object."""
        score = "" if self.score is None else f", score {self.score:.3f}"
        return f"{shorten(self.label, 60)}{score}: {mark(self.kind).title}" + (
            f", {self.detail}" if self.detail else ""
        )


def drawn_kind(kind: str) -> str:
    """Return the kind that a match kind is drawn as: `fp_hallucination` as `fp`, what is unknown as `ignored`."""
    if kind in ORDER:
        return kind
    head = kind.partition("_")[0]
    return head if head in ORDER else "ignored"


def rings(row: Mapping[str, Any], geometry: str = "box") -> tuple[tuple[float, ...], ...]:
    """Return the outlines of one object of `data.example`: its box, or, compared as mask or polygon, its `rings`."""
    shape = tuple(tuple(ring) for ring in row["rings"])
    if geometry != "box" or not shape:
        return shape
    x, y, width, height = (row[name] for name in ("x", "y", "width", "height"))
    left, top, right, bottom = extent(shape) if pd.isna([x, y, width, height]).any() else (x, y, x + width, y + height)
    return ((left, top, right, top, right, bottom, left, bottom),)


def extent(shape: Sequence[Sequence[float]]) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of the box around rings."""
    xs, ys = [x for ring in shape for x in ring[0::2]], [y for ring in shape for y in ring[1::2]]
    return min(xs), min(ys), max(xs), max(ys)


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
        drawn.append(ImageObject(shown, rings(row, geometry), str(row["label"]), detail=DETAILS.get(kind, "")))
    for row, kind in zip(predictions.to_dict("records"), prediction_kinds, strict=True):
        value = None if pd.isna(row["score"]) else float(row["score"])
        if kind == "below_score":
            continue
        shape, detail = rings(row, geometry), DETAILS.get(kind, "")
        drawn.append(ImageObject(drawn_kind(kind), shape, str(row["label"]), value, detail))
    return drawn


def counts(drawn: Sequence[ImageObject]) -> dict[str, int]:
    """Return how many true positives, false positives and missed objects are drawn: keys tp, fp, fn."""
    found = Counter(entry.kind.partition("_")[0] for entry in drawn)
    return {kind: found[kind] for kind in ("tp", "fp", "fn")}


def picture(path: str | Path, longest: int = LONGEST_SIDE) -> tuple[str, int, int]:
    """(data URI, width, height) of an image: re-encoded, so that neither EXIF rotation nor anything else travels along.

    Width and height are those of the stored image in pixels. ValueError on a file that is no image or far too large.
    """
    import base64
    import io

    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as source:
            width, height = source.size
            if width * height > MOST_PIXELS:
                raise ValueError(f"the image has {width:,} × {height:,} pixels; at most {MOST_PIXELS:,} are shown")
            source.draft("RGB", (longest, longest))
            shown = source.convert("RGB")
            shown.thumbnail((longest, longest))
    except (UnidentifiedImageError, OSError, Image.DecompressionBombError) as failure:
        raise ValueError(f"the image cannot be read: {type(failure).__name__}") from None
    buffer = io.BytesIO()
    shown.save(buffer, "JPEG", quality=88)
    return "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode(), width, height


def panel(title: str, drawn: Sequence[ImageObject], labelled: int = 25, geometry: str = "box") -> dict[str, Any]:
    """Return what the viewer draws of one model; with more than `labelled` objects their labels show on hover only.

    Masks are filled, but not those of QUIET kinds, over which others lie.
    """
    shown = [entry for entry in drawn if entry.rings]
    objects: dict[str, list[dict[str, Any]]] = {}
    for kind in ORDER:
        chosen = [entry for entry in shown if entry.kind == kind]
        if chosen:
            objects[kind] = [
                {
                    "rings": [[_short(number) for number in ring] for ring in entry.rings],
                    "caption": "" if kind in QUIET else entry.caption,
                    "lines": entry.hover,
                }
                for entry in chosen
            ]
    prominent = sum(entry.kind not in QUIET for entry in shown)
    return {
        "title": title, "counts": legend(drawn), "objects": objects, "labelled": prominent <= labelled,
        "crowded": len(shown) > CROWDED, "shaped": geometry != "box",
        "filled": [kind for kind in objects if kind not in QUIET] if geometry == "mask" else [],
    }  # fmt: skip


def _short(number: float) -> float:
    """To a hundredth of a pixel, whole ones without a point: outlines of masks have thousands."""
    return int(number) if number == int(number) else round(number, 2)


def payload(
    key: str,
    width: float,
    height: float,
    source: str | None,
    panels: Sequence[Mapping[str, Any]],
    styles: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """Return what the viewer draws: one picture (a data URI, or None), a panel a model; the zoom lasts as long as
    `key`.

    `styles` are those of the kinds in the panels, by default those of objects.
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
    }  # fmt: skip


def viewer(data: Mapping[str, Any]) -> None:
    """Draw the payload: zoom by buttons, by the wheel after a click, or by Ctrl and the wheel; drag to move."""
    packed = json.dumps(data, separators=(",", ":")).encode()  # as bytes: Streamlit looks into dicts for data frames
    _component()(key="viewer", data=packed)


@cache
def _component() -> Any:
    import streamlit as st

    parts = {part: (FOLDER / f"image_viewer.{part}").read_text(encoding="utf-8") for part in ("html", "css", "js")}
    return st.components.v2.component("assay_viewer", **parts)


def legend(drawn: Sequence[ImageObject]) -> str:
    """One line that says how many there are of each kind: `✓ 3 found · ✗ 1 false · – 2 missed`."""
    words = {"tp": "found", "fp": "false", "fn": "missed"}
    return " · ".join(f"{mark(kind).glyph} {number} {words[kind]}" for kind, number in counts(drawn).items())


def legend_html() -> str:
    """Return what the lines on the image mean: a sample of each, in its colour and its dash, with its glyph."""
    samples = []
    for kind in ("tp", "fp", "fp_misclassification", "fn", "annotation"):
        style = mark(kind)
        box = f"display:inline-block;width:1.5em;height:.8em;border:2px {style.line} {style.colour};margin-right:.35em"
        samples.append(
            f'<span style="white-space:nowrap"><span style="{box}"></span>{style.title} {style.glyph}</span>'
        )
    return f'<div style="display:flex;flex-wrap:wrap;gap:.1em 1em;font-size:.85em">{"".join(samples)}</div>'


def object_table(drawn: Sequence[ImageObject]) -> pd.DataFrame:
    """Return the objects as a table: what it is, label, score and the box around it in pixels, best score first."""
    rows = []
    for entry in sorted(drawn, key=lambda entry: (entry.score is None, -(entry.score or 0))):
        edges = ""
        if entry.rings:
            left, top, right, bottom = extent(entry.rings)
            edges = f"{left:.0f}, {top:.0f}, {right - left:.0f} × {bottom - top:.0f}"
        rows.append({"kind": mark(entry.kind).title, "label": entry.label, "score": entry.score, "x, y, size": edges})
    return pd.DataFrame(rows, columns=["kind", "label", "score", "x, y, size"])
