"""Figures as SVG shapes with their labels kept separate: PDF and browser each set those in their own fonts."""

import base64
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from unicodedata import east_asian_width

from metrics.core.rounding import exact_sum
from metrics.ingest.media.images import shown_image
from metrics.presentation.blocks import Box, WorstCase
from metrics.presentation.format import shorten
from metrics.presentation.palette import mark, text_colour

LONGEST_SIDE = 800  # pixels of an embedded image
ORDER = ("annotation", "ignored", "tp", "fp", "fp_hallucination", "fp_misclassification", "fn")  # from bottom to top
LABEL_LENGTH = 24


@dataclass(frozen=True, slots=True)
class Label:
    """A text in a figure: position (figure units), alignment (start, middle, end), colours."""

    x: float
    y: float
    text: str
    colour: str = ""  # empty: the muted ink of the page
    align: str = "start"
    size: float = 8.0
    background: str = ""
    turned: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """Shapes (SVG elements without text) on a canvas of width × height units, labels on them, a text alternative."""

    width: float
    height: float
    shapes: str
    labels: tuple[Label, ...]
    alternative: str


def picture(case: WorstCase) -> tuple[Figure | None, str]:
    """Return the image of a case with its objects, and the note on it; no image where it is absent or unreadable.

    True positives are solid, false ones dashed, missed ones dotted; masks are filled, poses are skeletons.
    """
    if case.image is None:
        return None, case.image_note
    try:
        uri, width, height = _embedded(case.image, case.image_size)
    except ValueError as failure:
        return None, str(failure)
    scale = max(width, height) / 400  # the stroke widths and dashes below are meant for a 400 unit canvas
    shapes = [f'<image href="{uri}" x="0" y="0" width="{width}" height="{height}" preserveAspectRatio="none"/>']
    boxes = sorted(case.boxes, key=lambda box: ORDER.index(box.kind) if box.kind in ORDER else len(ORDER))
    for box in boxes:
        style = mark(box.kind)
        thickness = (1.0 if box.kind in ("annotation", "ignored") else 2.2) * scale
        dash = " ".join(f"{float(part) * scale * 0.6:.2f}" for part in style.dash.split())
        path = "".join(map(_bone, box.bones)) + ("".join(map(_path, box.rings)) if box.outlined else "")
        halo = f"fill:none;stroke:#000;stroke-opacity:{0.25 if dash else 0.45}"
        halo += f";stroke-width:{thickness + 1.2 * scale:.2f}"
        filled = box.filled and box.kind not in ("annotation", "ignored")
        line = f"fill:{box.colour or style.colour};fill-opacity:{0.5 if box.colour else 0.3}" if filled else "fill:none"
        line += f";stroke:{style.colour};stroke-width:{thickness:.2f}"
        line += f";stroke-dasharray:{dash}" if dash else ""
        shapes.append(f'<path d="{path}" style="{halo}"/><path d="{path}" style="{line}"/>')
        shapes += [_joint(bone, 1.6 * thickness, style.colour) for bone in box.bones if bone[:2] == bone[2:]]
    counts = ", ".join(f"{sum(box.kind.startswith(kind) for box in boxes)} {kind}" for kind in ("tp", "fp", "fn"))
    labels = tuple(_box_labels(boxes, scale, width))
    return Figure(width, height, "".join(shapes), labels, f"image of case {case.case_id}: {counts}"), case.image_note


def _path(ring: tuple[float, ...]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in zip(ring[::2], ring[1::2], strict=True)) + "Z"


def _bone(bone: tuple[float, ...]) -> str:
    return "" if bone[:2] == bone[2:] else f"M{bone[0]:.1f} {bone[1]:.1f}L{bone[2]:.1f} {bone[3]:.1f}"


def _joint(bone: tuple[float, ...], radius: float, colour: str) -> str:
    style = f"fill:{colour};stroke:#000;stroke-opacity:0.45;stroke-width:{radius / 4:.2f}"
    return f'<circle cx="{bone[0]:.1f}" cy="{bone[1]:.1f}" r="{radius:.2f}" style="{style}"/>'


def _box_labels(boxes: list[Box], scale: float, width: float) -> Iterator[Label]:
    """Yield label and score of each box, the largest boxes first; a label that would cover another is left out."""
    size = 9 * scale
    taken: list[tuple[float, float, float, float]] = []
    prominent = [box for box in boxes if box.rings and box.kind not in ("annotation", "ignored")]
    for box in sorted(prominent, key=lambda box: -_extent(box.rings[0])):
        text = shorten(box.label, LABEL_LENGTH) + ("" if box.score is None else f" {box.score:.2f}")
        colour, ring = mark(box.kind).colour, max(box.rings, key=_extent)
        long = exact_sum(1.0 if east_asian_width(letter) in "WF" else 0.6 for letter in text) * size
        x = max(0.0, min(min(ring[::2]), width - long)) + 1.5 * scale
        top = min(ring[1::2])
        y = top + size if box.kind.startswith("fn") or top < size * 1.4 else top - 2.5 * scale
        place = (x, y - size, x + long, y + 0.3 * size)
        if not any(place[0] < r and left < place[2] and place[1] < b and t < place[3] for left, t, r, b in taken):
            taken.append(place)
            yield Label(x, y, text, text_colour(colour), size=size, background=colour)


def _extent(ring: tuple[float, ...]) -> float:
    return (max(ring[::2]) - min(ring[::2])) * (max(ring[1::2]) - min(ring[1::2]))


def _embedded(path: Path, size: tuple[int, int] | None) -> tuple[str, int, int]:
    """Return the data URI of a JPEG re-encoded from the pixels alone, and width and height of the image.

    It is upright for objects in an image of `size`. ValueError on a file that is no image or far too large.
    """
    small, (width, height) = shown_image(path, size, LONGEST_SIDE)
    buffer = io.BytesIO()
    small.save(buffer, "JPEG", quality=78, optimize=True)
    return "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode(), width, height


def legend(case: WorstCase) -> tuple[Figure, ...]:
    """Return a sample line and a count for each kind of box in the case."""
    counts, entries = Counter(box.kind for box in case.boxes), []
    for kind in reversed(ORDER):
        if kind in counts:
            style = mark(kind)
            line = f"stroke:{style.colour};stroke-width:2.2" + (f";stroke-dasharray:{style.dash}" if style.dash else "")
            entries.append(Figure(26, 8, f'<path d="M1 4H25" style="{line}"/>', (), f"{counts[kind]:,} {style.title}"))
    return tuple(entries)


def svg(figure: Figure, text: bool = False, ink: str = "", maximum: str = "") -> str:
    """Return the figure as one SVG element; `text` draws the labels too, in `ink` where they have no colour."""
    inner = figure.shapes
    if text:
        inner += "".join(_svg_label(label, ink) for label in figure.labels)
    size = f' style="max-width:{maximum}"' if maximum else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {figure.width:g} {figure.height:g}" '
        f'role="img" aria-label="{escape(figure.alternative)}"{size}>{inner}</svg>'
    )


def _svg_label(label: Label, ink: str) -> str:
    turn = f' transform="rotate(-90 {label.x:.1f} {label.y:.1f})"' if label.turned else ""
    back = (
        f";paint-order:stroke;stroke:{label.background};stroke-width:{label.size * 0.4:.2f}" if label.background else ""
    )
    style = f"fill:{label.colour or ink};font-size:{label.size:.2f}px{back}"
    return (
        f'<text x="{label.x:.1f}" y="{label.y:.1f}" text-anchor="{label.align}" style="{style}"{turn}>'
        f"{escape(label.text)}</text>"
    )
