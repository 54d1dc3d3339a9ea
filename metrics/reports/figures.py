"""Figures as SVG shapes with their texts kept apart: the PDF sets those in its own fonts, the browser in its."""

import base64
import io
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from unicodedata import east_asian_width

from metrics.reports.report import Box, Curve, WorstCase
from metrics.reports.style import SERIES, mark, text_colour

LONGEST_SIDE = 800  # pixels of an embedded image
MOST_PIXELS = 120_000_000
ORDER = ("annotation", "ignored", "tp", "fp", "fp_hallucination", "fp_misclassification", "fn")  # from the ground up
CHART = (320.0, 240.0)
LEFT, RIGHT, TOP, BOTTOM = 34.0, 96.0, 8.0, 30.0  # margins of a chart; the right one holds the names of the lines
LABEL_GAP = 11.0
GREY_ABOVE = len(SERIES[False])  # with more lines than colours, only the first keep theirs
LABEL_LENGTH = 24


@dataclass(frozen=True, slots=True)
class Label:
    """A text in a figure: where it stands (figure units), how it is aligned (start, middle, end), on what colour."""

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


def chart(curve: Curve, line: str, muted: str, colours: tuple[str, ...]) -> Figure:
    """A curve over the unit square: grid, axes and one directly labelled line a model. Colours are CSS colours."""
    width, height = CHART
    right, bottom = width - RIGHT, height - BOTTOM

    def x_of(value: float) -> float:
        return LEFT + value * (right - LEFT)

    def y_of(value: float) -> float:
        return bottom - value * (bottom - TOP)

    shapes, labels = [], []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        stroke = f"stroke:{muted if tick == 0 else line};stroke-width:{0.8 if tick == 0 else 0.5}"
        shapes.append(f'<path d="M{x_of(tick):.1f} {TOP}V{bottom}M{LEFT} {y_of(tick):.1f}H{right}" style="{stroke}"/>')
        labels.append(Label(x_of(tick), bottom + 12, f"{tick:g}", align="middle", size=7))
        labels.append(Label(LEFT - 4, y_of(tick) + 2.5, f"{tick:g}", align="end", size=7))
    labels.append(Label((LEFT + right) / 2, height - 4, curve.x_title, align="middle"))
    labels.append(Label(9, (TOP + bottom) / 2, curve.y_title, align="middle", turned=True))
    ends = []
    for index, series in enumerate(curve.series):
        colour = colours[index] if index < GREY_ABOVE else line
        points = [(x_of(x), y_of(y)) for x, y in series.points]
        if not points:
            continue
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        style = f"fill:none;stroke:{colour};stroke-width:{1.6 if index < GREY_ABOVE else 0.8};stroke-linejoin:round"
        shapes.append(f'<path d="{path}" style="{style}"/>')
        if len(points) == 1:
            shapes.append(f'<circle cx="{points[0][0]:.1f}" cy="{points[0][1]:.1f}" r="2.5" style="fill:{colour}"/>')
        if index < GREY_ABOVE:
            ends.append((max(points), series.model, colour))
    labels += _end_labels(ends, right, bottom)
    if len(curve.series) > GREY_ABOVE:
        labels.append(Label(right + 6, TOP + 4, f"grey: {len(curve.series) - GREY_ABOVE} more", size=6.5))
    models = ", ".join(series.model for series in curve.series[:GREY_ABOVE])
    return Figure(width, height, "".join(shapes), tuple(labels), f"{curve.y_title} over {curve.x_title} of {models}")


def _end_labels(ends: list[tuple[tuple[float, float], str, str]], right: float, bottom: float) -> list[Label]:
    """The names of the lines, at the height where each ends, pushed apart so that none covers another."""
    placed: list[Label] = []
    height = TOP + 6
    for (_, y), model, colour in sorted(ends, key=lambda end: end[0][1]):
        height = max(y + 3, height)
        placed.append(Label(right + 6, height, _short(model, 18), colour))
        height += LABEL_GAP
    overflow = height - LABEL_GAP - bottom
    if overflow > 0:
        placed = [Label(one.x, one.y - overflow, one.text, one.colour) for one in placed]
    return placed


def picture(case: WorstCase) -> Figure | None:
    """The image of a case with its objects: true positives solid, false ones dashed, missed ones dotted; masks filled.

    None where the image is absent. ValueError on a file that is no image or far too large.
    """
    if case.image is None:
        return None
    uri, width, height = _embedded(case)
    scale = max(width, height) / 400  # the stroke widths and dashes below are meant for a 400 unit canvas
    shapes = [f'<image href="{uri}" x="0" y="0" width="{width}" height="{height}" preserveAspectRatio="none"/>']
    boxes = sorted(case.boxes, key=lambda box: ORDER.index(box.kind) if box.kind in ORDER else len(ORDER))
    for box in boxes:
        style = mark(box.kind)
        thickness = (1.0 if box.kind in ("annotation", "ignored") else 2.2) * scale
        dash = " ".join(f"{float(part) * scale * 0.6:.2f}" for part in style.dash.split())
        path = "".join(map(_path, box.rings))
        halo = f"fill:none;stroke:#000;stroke-opacity:{0.25 if dash else 0.45}"
        halo += f";stroke-width:{thickness + 1.2 * scale:.2f}"
        filled = box.filled and box.kind not in ("annotation", "ignored")
        line = f"fill:{style.colour};fill-opacity:0.3" if filled else "fill:none"
        line += f";stroke:{style.colour};stroke-width:{thickness:.2f}"
        line += f";stroke-dasharray:{dash}" if dash else ""
        shapes.append(f'<path d="{path}" style="{halo}"/><path d="{path}" style="{line}"/>')
    counts = ", ".join(f"{sum(box.kind.startswith(kind) for box in boxes)} {kind}" for kind in ("tp", "fp", "fn"))
    labels = tuple(_box_labels(boxes, scale, width))
    return Figure(width, height, "".join(shapes), labels, f"image of case {case.case_id}: {counts}")


def _path(ring: tuple[float, ...]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in zip(ring[::2], ring[1::2], strict=True)) + "Z"


def _box_labels(boxes: list[Box], scale: float, width: float) -> Iterator[Label]:
    """Label and score of each box, the largest boxes first; one that would cover another label is left out."""
    size = 9 * scale
    taken: list[tuple[float, float, float, float]] = []
    prominent = [box for box in boxes if box.rings and box.kind not in ("annotation", "ignored")]
    for box in sorted(prominent, key=lambda box: -_extent(box.rings[0])):
        text, colour, ring = _caption(box.label, box.score), mark(box.kind).colour, max(box.rings, key=_extent)
        long = sum(1.0 if east_asian_width(letter) in "WF" else 0.6 for letter in text) * size
        x = max(0.0, min(min(ring[::2]), width - long)) + 1.5 * scale
        top = min(ring[1::2])
        y = top + size if box.kind.startswith("fn") or top < size * 1.4 else top - 2.5 * scale
        place = (x, y - size, x + long, y + 0.3 * size)
        if not any(place[0] < r and left < place[2] and place[1] < b and t < place[3] for left, t, r, b in taken):
            taken.append(place)
            yield Label(x, y, text, text_colour(colour), size=size, background=colour)


def _extent(ring: tuple[float, ...]) -> float:
    return (max(ring[::2]) - min(ring[::2])) * (max(ring[1::2]) - min(ring[1::2]))


def _caption(label: str, score: float | None) -> str:
    return _short(label, LABEL_LENGTH) + ("" if score is None else f" {score:.2f}")


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _embedded(case: WorstCase) -> tuple[str, int, int]:
    """(data URI of a JPEG re-encoded from the pixels alone, width, height of the stored image)."""
    from PIL import Image, UnidentifiedImageError

    assert case.image is not None
    try:
        with Image.open(case.image) as source:
            width, height = source.size
            if width * height > MOST_PIXELS:
                raise ValueError(f"the image has {width:,} × {height:,} pixels; at most {MOST_PIXELS:,} are shown")
            source.draft("RGB", (LONGEST_SIDE, LONGEST_SIDE))
            small = source.convert("RGB")
            small.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    except (UnidentifiedImageError, OSError, SyntaxError, Image.DecompressionBombError) as failure:
        raise ValueError(f"the image cannot be read: {type(failure).__name__}") from None
    buffer = io.BytesIO()
    small.save(buffer, "JPEG", quality=78, optimize=True)
    return "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode(), width, height


def legend(case: WorstCase) -> tuple[Figure, ...]:
    """A sample line and a count for each kind of box there is."""
    kinds = [kind for kind in reversed(ORDER) if any(box.kind == kind for box in case.boxes)]
    return tuple(_legend_entry(kind, sum(box.kind == kind for box in case.boxes)) for kind in kinds)


def _legend_entry(kind: str, count: int) -> Figure:
    style = mark(kind)
    line = f"stroke:{style.colour};stroke-width:2.2" + (f";stroke-dasharray:{style.dash}" if style.dash else "")
    return Figure(26, 8, f'<path d="M1 4H25" style="{line}"/>', (), f"{count:,} {style.title}")


def svg(figure: Figure, text: bool = False, ink: str = "", maximum: str = "") -> str:
    """The figure as one SVG element; `text` draws the labels too, in `ink` where they have no colour of their own."""
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
