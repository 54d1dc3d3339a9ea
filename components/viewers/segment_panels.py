"""What the image viewer draws of a segmentation: mistaken areas, or every region in the colour of its class."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from components.viewers.image_viewer import extent
from metrics.presentation.format import count, shorten
from metrics.presentation.palette import mark, series, text_colour

VIEWS = {"mistakes": "Mistakes", "classes": "Classes"}
MARKED = {  # kind of a mistake: the mark it is drawn with, what the legend calls it
    "mistaken": ("fp", "another class"),
    "missed": ("fn", "no class"),
    "ignored": ("ignored", "ignored"),
    "truth": ("annotation", "true regions"),
}
NO_CLASS = "no class"
NAMED = {"mistakes": 0.03, "classes": 0.01}  # of the picture; smaller areas are named on hover only
LEGEND = 16  # classes


def class_colours(labels: Sequence[str]) -> dict[str, str]:
    """Return a colour for each class, read well on photographs; they come round again."""
    colours = series(dark=True)
    return {label: colours[index % len(colours)] for index, label in enumerate(labels)}


def styles(colours: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return how the viewer draws each kind: the mistakes by their marks, classes (`class NAME`) solid in their
    colours.
    """
    drawn = {}
    for kind, (name, _) in MARKED.items():
        style = mark(name)
        width = 1.2 if kind in ("truth", "ignored") else 1.6
        drawn[kind] = {"colour": style.colour, "ink": text_colour(style.colour), "dash": style.dash, "width": width}
    for label, colour in colours.items():
        drawn[f"class {label}"] = {"colour": colour, "ink": text_colour(colour), "dash": "", "width": 1.4}
    return drawn


def mistakes_panel(title: str, segments: Sequence[Mapping[str, Any]], only: str | None = None) -> dict[str, Any]:
    """Return the areas that a model gives another class or none, over the outlines of the true regions."""
    shown = [segment for segment in segments if segment["kind"] in MARKED and only in (None, *_labels(segment))]
    wrong = sum(segment["pixels"] for segment in shown if segment["kind"] in ("mistaken", "missed"))
    total = sum(segment["pixels"] for segment in shown if segment["kind"] == "truth")
    least = NAMED["mistakes"] * total
    objects = {
        kind: [_drawn(segment, "" if kind in ("truth", "ignored") else segment["predicted"] or NO_CLASS, least)
               for segment in shown if segment["kind"] == kind]
        for kind in ("truth", "ignored", "mistaken", "missed")
    }  # fmt: skip
    share = f"{100 * wrong / total:.1f} % of " if total and only is None else ""
    counts = f"✗ {share}{count(total)} pixels wrong" if share else f"✗ {count(wrong)} pixels wrong"
    return _panel(title, counts, objects, ("ignored", "mistaken", "missed"))


def classes_panel(
    title: str, segments: Sequence[Mapping[str, Any]], side: str, only: str | None = None
) -> dict[str, Any]:
    """Return the regions of one side, `truth` or `predicted`, each in the colour of its class."""
    shown = [segment for segment in segments if segment["kind"] == side and only in (None, segment[side])]
    total = sum(segment["pixels"] for segment in segments if segment["kind"] == side)
    objects = {
        f"class {segment[side]}": [_drawn(segment, segment[side], NAMED["classes"] * total)] for segment in shown
    }
    number = len({segment[side] for segment in shown})
    return _panel(title, f"{number} {'class' if number == 1 else 'classes'}", objects, tuple(objects))


def legend_html(view: str, colours: Mapping[str, str]) -> str:
    """Return what the areas mean: a sample of each, with its name."""
    from html import escape

    samples = (
        [(mark(name).colour, mark(name).line, title) for name, title in MARKED.values()] if view == "mistakes"
        else [(colour, "solid", shorten(label, 24)) for label, colour in list(colours.items())[:LEGEND]]
    )  # fmt: skip
    box = "display:inline-block;width:1.5em;height:.8em;margin-right:.35em;border:2px"
    texts = [
        f'<span style="white-space:nowrap"><span style="{box} {line} {colour};background:{colour}4d"></span>'
        f"{escape(title)}</span>"
        for colour, line, title in samples
    ]
    more = len(colours) - LEGEND if view == "classes" else 0
    texts += [f"<span>and {more} more</span>"] if more > 0 else []
    return f'<div style="display:flex;flex-wrap:wrap;gap:.1em 1em;font-size:.85em">{"".join(texts)}</div>'


def mistakes_table(segments: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return what is taken for what in one image, the most pixels first."""
    rows = [
        {"true": segment["truth"], "taken for": segment["predicted"] or NO_CLASS, "pixels": segment["pixels"]}
        for segment in segments
        if segment["kind"] in ("mistaken", "missed")
    ]
    return pd.DataFrame(rows, columns=["true", "taken for", "pixels"])


def _labels(segment: Mapping[str, Any]) -> tuple[str | None, str | None]:
    return segment["truth"], segment["predicted"]


def _drawn(segment: Mapping[str, Any], caption: str, least: float) -> dict[str, Any]:
    names = {
        "truth": f"{segment['truth']}: true region",
        "predicted": f"{segment['predicted']}: predicted region",
        "mistaken": f"{segment['truth']} taken for {segment['predicted']}",
        "missed": f"{segment['truth']}, given no class",
        "ignored": "ignored: counts nowhere",
    }
    return {
        "rings": sorted(segment["rings"], key=_extent, reverse=True),  # the name is written into the first
        "caption": shorten(caption, 24) if segment["pixels"] >= least else "",
        "lines": f"{shorten(names[segment['kind']], 80)}, {segment['pixels']:,} pixels",
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
