"""What the image viewer draws of a segmentation: wrong areas, or every region in the colour of its class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from metrics.presentation.format import count, shorten
from metrics.presentation.palette import CLASSES, mark, text_colour
from metrics.presentation.viewers.object_panels import extent

if TYPE_CHECKING:
    from metrics.analysis import Segment

VIEWS = {"mistakes": "Mistakes", "classes": "Classes"}
MARKED = {  # kind of a region: its mark, its name in the legend
    "mistaken": ("fp", "another class"),
    "missed": ("fn", "no class"),
    "ignored": ("ignored", "ignored"),
    "truth": ("annotation", "true regions"),
}
NO_CLASS = "no class"
NAMED = {"mistakes": 0.03, "classes": 0.01}  # of the picture; smaller areas are named on hover only
LEGEND = 16  # classes


def class_colours(labels: Sequence[str], segments: Iterable[Segment] = ()) -> dict[str, str]:
    """Return a colour for each class, readable on photographs; colours repeat beyond the last of CLASSES.

    After the labels come those that only segments have: the background.
    """
    found = {label for each in segments for label in (each.truth, each.predicted) if label is not None}
    every = (*labels, *sorted(found - {*labels}))
    return {label: CLASSES[index % len(CLASSES)] for index, label in enumerate(every)}


def styles(colours: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return how the viewer draws each kind: mistakes by their marks, classes (`class NAME`) solid in their colours."""
    drawn = {}
    for kind, (name, _) in MARKED.items():
        style = mark(name)
        width = 1.2 if kind in ("truth", "ignored") else 1.6
        drawn[kind] = {"colour": style.colour, "ink": text_colour(style.colour), "dash": style.dash, "width": width}
    for label, colour in colours.items():
        drawn[f"class {label}"] = {"colour": colour, "ink": text_colour(colour), "dash": "", "width": 1.4}
    return drawn


def mistakes_panel(title: str, segments: Sequence[Segment], only: str | None = None) -> dict[str, Any]:
    """Return the areas that a model labels wrongly or not at all, over the outlines of the true regions."""
    shown = [one for one in segments if one.kind in MARKED and only in (None, one.truth, one.predicted)]
    wrong = sum(segment.pixels for segment in shown if segment.kind in ("mistaken", "missed"))
    total = sum(segment.pixels for segment in shown if segment.kind == "truth")
    least = NAMED["mistakes"] * total
    objects = {
        kind: [_drawn(segment, "" if kind in ("truth", "ignored") else segment.predicted or NO_CLASS, least)
               for segment in shown if segment.kind == kind]
        for kind in ("truth", "ignored", "mistaken", "missed")
    }  # fmt: skip
    share = f"{100 * wrong / total:.1f} % of " if total and only is None else ""
    counts = f"✗ {share}{count(total)} pixels wrong" if share else f"✗ {count(wrong)} pixels wrong"
    return _panel(title, counts, objects, ("ignored", "mistaken", "missed"))


def classes_panel(
    title: str, segments: Sequence[Segment], side: Literal["truth", "predicted"], only: str | None = None
) -> dict[str, Any]:
    """Return the regions of one side, each in the colour of its class."""
    shown = [segment for segment in segments if segment.kind == side and only in (None, _label(segment, side))]
    total = sum(segment.pixels for segment in segments if segment.kind == side)
    objects = {
        f"class {_label(segment, side)}": [_drawn(segment, _label(segment, side), NAMED["classes"] * total)]
        for segment in shown
    }
    number = len({_label(segment, side) for segment in shown})
    return _panel(title, f"{number} {'class' if number == 1 else 'classes'}", objects, tuple(objects))


def legend(view: str, colours: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Return a sample of each area, of classes at most LEGEND: its colour, its CSS border style and its name."""
    if view == "mistakes":
        return [(mark(name).colour, mark(name).line, title) for name, title in MARKED.values()]
    return [(colour, "solid", shorten(label, 24)) for label, colour in list(colours.items())[:LEGEND]]


def legend_html(view: str, colours: Mapping[str, str]) -> str:
    """Return the legend as HTML: a sample of each area with its name."""
    box = "display:inline-block;width:1.5em;height:.8em;margin-right:.35em;border:2px"
    texts = [
        f'<span style="white-space:nowrap"><span style="{box} {line} {colour};background:{colour}4d"></span>'
        f"{escape(title)}</span>"
        for colour, line, title in legend(view, colours)
    ]
    more = len(colours) - LEGEND if view == "classes" else 0
    texts += [f"<span>and {more} more</span>"] if more > 0 else []
    return f'<div style="display:flex;flex-wrap:wrap;gap:.1em 1em;font-size:.85em">{"".join(texts)}</div>'


def mistakes_table(segments: Sequence[Segment]) -> pd.DataFrame:
    """Return which classes are confused in one image, most pixels first."""
    rows = [
        {"true": segment.truth, "predicted": segment.predicted or NO_CLASS, "pixels": segment.pixels}
        for segment in segments
        if segment.kind in ("mistaken", "missed")
    ]
    return pd.DataFrame(rows, columns=["true", "predicted", "pixels"])


def _label(segment: Segment, side: str) -> str:
    return (segment.truth if side == "truth" else segment.predicted) or NO_CLASS


def _drawn(segment: Segment, caption: str, least: float) -> dict[str, Any]:
    names = {
        "truth": f"{segment.truth}: true region",
        "predicted": f"{segment.predicted}: predicted region",
        "mistaken": f"{segment.truth} predicted as {segment.predicted}",
        "missed": f"{segment.truth}, no class predicted",
        "ignored": "ignored: not counted",
    }
    return {
        "rings": sorted(segment.rings, key=_extent, reverse=True),  # the name is written into the first
        "caption": shorten(caption, 24) if segment.pixels >= least else "",
        "lines": f"{shorten(names[segment.kind], 80)}, {segment.pixels:,} pixels",
    }


def _extent(ring: Sequence[float]) -> float:
    """Return the area of the box around a ring."""
    left, top, right, bottom = extent([ring])
    return (right - left) * (bottom - top)


def _panel(title: str, counts: str, objects: dict[str, Any], filled: Sequence[str]) -> dict[str, Any]:
    objects = {kind: [each for each in drawn if each["rings"]] for kind, drawn in objects.items()}
    return {
        "title": title, "counts": counts, "objects": {kind: drawn for kind, drawn in objects.items() if drawn},
        "labelled": True, "named": True, "crowded": True, "shaped": True, "filled": list(filled),
    }  # fmt: skip
