"""What the image viewer draws of panoptic segments: things each in a shade of its own, stuff flat, and the verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from metrics.core.rounding import exact_sum
from metrics.presentation.format import shorten
from metrics.presentation.palette import mark, text_colour
from metrics.presentation.viewers.object_panels import DETAILS, drawn_kind
from metrics.presentation.viewers.segment_panels import class_colours

if TYPE_CHECKING:
    from metrics.analysis import SegmentOutcome

SHADES = (0.0, 0.35, -0.3)  # of the instances of a thing in turn: towards white, towards black
NAMED = 0.01  # of the picture; smaller segments are named on hover only
Drawn = tuple["SegmentOutcome", str, int]  # a segment, the kind of its mark, the place of its shade in SHADES
WORDS = {"tp": "found", "fp": "false", "fn": "missed"}


def styles(labels: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return how each shade of each class is drawn, by verdict: found solid, false dashed, missed dotted."""
    drawn = {}
    for label, colour in class_colours(labels).items():
        for place in range(len(SHADES)):
            own = shaded(colour, place)
            for kind in ("tp", "fp", "fn", "ignored"):
                width = 1.4 if kind == "tp" else 2.4
                drawn[_style(label, place, kind)] = {
                    "colour": own, "ink": text_colour(own), "dash": mark(kind).dash, "width": width,
                }  # fmt: skip
    return drawn


def truth_panel(title: str, segments: Sequence[SegmentOutcome], only: str | None = None) -> dict[str, Any]:
    """Return the true segments; crowds are dotted."""
    shown = [(each, "ignored" if each.kind == "ignored" else "tp") for each in segments if only in (None, each.label)]
    counts = f"{len(shown)} {'segment' if len(shown) == 1 else 'segments'}"
    return _panel(title, counts, _objects(_with_shades(shown), _true_hover))


def model_panel(
    title: str, truths: Sequence[SegmentOutcome], segments: Sequence[SegmentOutcome], only: str | None = None
) -> dict[str, Any]:
    """Return a model's segments with their verdicts, and the outlines of the true ones that it missed."""
    shown = [each for each in model_segments(truths, segments) if only in (None, each[0].label)]
    found = Counter(kind for _, kind, _ in shown)
    counts = " · ".join(f"{mark(kind).glyph} {found[kind]} {word}" for kind, word in WORDS.items())
    return _panel(title, counts, _objects(shown, _hover))


def model_segments(truths: Sequence[SegmentOutcome], segments: Sequence[SegmentOutcome]) -> list[Drawn]:
    """Return a model's segments, then the true ones that it missed, each with its kind and the place of its shade."""
    shown = [(each, drawn_kind(each.kind).partition("_")[0]) for each in segments]
    return _with_shades([*shown, *((each, "fn") for each in truths if each.kind.startswith("fn"))])


def shaded(colour: str, place: int) -> str:
    """Return a hex colour moved towards white or black, as SHADES has it at a place."""
    parts, shade = [int(colour[start : start + 2], 16) for start in (1, 3, 5)], SHADES[place]
    goal = 255 if shade > 0 else 0
    return "#" + "".join(f"{round(part + (goal - part) * abs(shade)):02x}" for part in parts)


def _with_shades(shown: Sequence[tuple[SegmentOutcome, str]]) -> list[Drawn]:
    seen: Counter[str] = Counter()
    found = []
    for each, kind in shown:
        found.append((each, kind, seen[each.label] % len(SHADES) if each.thing is not False else 0))
        seen[each.label] += 1
    return found


def _objects(shown: Sequence[Drawn], hover: Any) -> dict[str, list[dict[str, Any]]]:
    least = NAMED * exact_sum(each.area for each, kind, _ in shown if kind != "fn")
    objects: dict[str, list[dict[str, Any]]] = {}
    for each, kind, place in shown:
        glyph = "" if kind == "tp" else f"{mark(kind).glyph} "
        caption = glyph + shorten(each.label, 24) if each.area >= least else ""
        drawn = {"rings": _largest_first(each.rings), "caption": caption, "lines": hover(each)}
        if each.rings:
            objects.setdefault(_style(each.label, place, kind), []).append(drawn)
    return objects


def _true_hover(each: SegmentOutcome) -> str:
    what = "a crowd: not counted" if each.kind == "ignored" else "true segment"
    return f"{shorten(each.label, 60)}: {what}, {each.area:,.0f} pixels"


def _hover(each: SegmentOutcome) -> str:
    parts = [f"{shorten(each.label, 60)}: {mark(each.kind).title}"]
    if each.kind == "ignored":
        parts = [f"{shorten(each.label, 60)}: ignored, mostly void or crowd"]
    elif each.kind == "fp_misclassification" and each.other:
        parts.append(f"is {shorten(each.other, 24)}")
    elif each.kind == "fp_localisation" and each.iou is not None:
        parts.append(f"outlined too badly: IoU {each.iou:.2f}, not above .5")
    elif detail := DETAILS.get(each.kind):
        parts.append(detail)
    if each.iou is not None and each.kind != "fp_localisation":
        parts.append(f"IoU {each.iou:.2f}")
    return ", ".join([*parts, f"{each.area:,.0f} pixels"])


def _panel(title: str, counts: str, objects: Mapping[str, list[dict[str, Any]]]) -> dict[str, Any]:
    return {
        "title": title, "counts": counts, "objects": dict(objects), "labelled": True, "named": True, "crowded": False,
        "shaped": True, "filled": [style for style in objects if not style.endswith(" fn")],
    }  # fmt: skip


def _style(label: str, place: int, kind: str) -> str:
    return f"{label} {place} {kind}"


def _largest_first(rings: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return rings rounded, the one with the largest box first: the name is written into it."""

    def extent(ring: Sequence[float]) -> float:
        return (max(ring[0::2]) - min(ring[0::2])) * (max(ring[1::2]) - min(ring[1::2]))

    return [[round(number, 1) for number in ring] for ring in sorted(rings, key=extent, reverse=True)]
