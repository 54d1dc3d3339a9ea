"""The gallery: thumbnails of objects or images with true positives, false positives and missed objects drawn on them.

The thumbnails hold no boxes: tile_gallery.js draws them on top, so that they stay sharp and follow the theme.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import streamlit as st

from components.viewers.browser_component import draw_in_browser, texts_of
from metrics.presentation.format import count, number, plural, shorten
from metrics.presentation.palette import MARKS, mark

if TYPE_CHECKING:
    from metrics.analysis import GalleryObject, Outline, Tile, Window

TILES = 48
FIRST = 18  # tiles whose pictures come with the page: what a window of 1280 × 720 shows
KINDS = {  # in this order: what the filter calls it, what a tile says
    "fp_hallucination": ("Background", "background"),
    "fp_misclassification": ("Wrong class", "wrong class"),
    "fp_localisation": ("Poor box", "poor box"),
    "fp_both": ("Wrong class and poor box", "wrong class, poor box"),
    "fp_duplicate": ("Duplicate", "duplicate"),
    "fn_no_prediction": ("Missed", "missed"),
    "fn_misclassification": ("Missed, wrong class", "missed, wrong class"),
    "fn_localisation": ("Missed, poor box", "missed, poor box"),
    "fn_low_score": ("Missed, low score", "score too low"),
    "tp": ("Found", "found"),
    "ignored": ("Ignored", "ignored"),
}
BANDS = {  # of the IoU with ground truth of its class, under the threshold of a match, {}; after TIDE
    "fp_hallucination": "<0.1",
    "fp_localisation": "0.1–{:g}",
}
RARE = {"fp_both", "fn_localisation", "fn_misclassification"}  # kinds that are offered where something is of them
SIZES = {"small": "Small, up to 32²", "medium": "Medium, up to 96²", "large": "Large, over 96² px"}
SORTS = {
    "score": "Highest score", "score_up": "Lowest score", "iou": "Highest IoU", "iou_up": "Lowest IoU",
    "size": "Largest", "size_up": "Smallest", "suite": "As in the suite",
}  # fmt: skip
OF_IMAGES = {"most": "Most objects"}
CONTEXT = 1.8  # a crop is that much wider or higher than the object
SMALLEST = 56  # pixels of the narrowest crop
ASPECT = 4 / 3
WIDTHS = {"annotation": 1.5, "ignored": 1.5, "fn": 2.5}
DOT = 1.0  # pixels of the image from the middle of a key point to its edge
BOX_LENGTH = 8  # numbers of a ring of four corners, which is no mask


def family(kind: str) -> str:
    """Return the family of a kind: fp, fn, tp or ignored."""
    return kind.partition("_")[0]


def kind_title(kind: str, iou: float | None = None) -> str:
    """Return the title of a kind; of one that is not in KINDS its name: `fp_other` is `Other`.

    With the IoU threshold of a match the title of a false positive that reaches none has its band of IoU.
    """
    words = kind.partition("_")[2] or mark(kind).title
    title = KINDS[kind][0] if kind in KINDS else words.replace("_", " ").capitalize()
    return title if iou is None or kind not in BANDS else f"{title} {BANDS[kind].format(iou)}"


def kind_words(kind: str) -> str:
    """Return the words for a kind on a tile."""
    return KINDS[kind][1] if kind in KINDS else kind_title(kind).lower()


def ordered_kinds(kinds: Sequence[str]) -> list[str]:
    """Return the kinds in display order: mistakes first, unlisted kinds beside their family."""
    order = list(KINDS)
    last = {head: max(i for i, kind in enumerate(order) if family(kind) == head) for head in ("fp", "fn", "tp")}
    places = {kind: order.index(kind) if kind in order else last.get(family(kind), len(order)) + 0.5 for kind in kinds}
    return sorted(set(kinds), key=lambda kind: (places[kind], kind))


def known_kinds(counted: Iterable[str], asked: Iterable[str]) -> list[str]:
    """Return the kinds to offer: the usual ones, those with a count, and rare ones that the address names."""
    return ordered_kinds([*({*KINDS} - RARE), *counted, *(RARE & {*asked})])


def mistakes(kinds: Sequence[str]) -> list[str]:
    """Return the kinds that are false or missed."""
    return [kind for kind in kinds if family(kind) in ("fp", "fn")]


def asked_kinds(asked: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return the known kinds among those asked for; a family (`fp`) stands for all of its kinds."""
    return [kind for kind in ordered_kinds(known) if kind in asked or family(kind) in asked]


def options(
    counts: Mapping[str, int], chosen: Sequence[str], titles: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the choices of a filter with their counts, most frequent first; chosen ones stay even at zero."""
    names = sorted({*counts, *chosen}, key=lambda name: (-counts.get(name, 0), name))
    if titles is not None:
        names = [name for name in titles if name in names]
    texts = titles or {}
    return {name: f"{shorten(texts.get(name, name), 40)} ({count(counts.get(name, 0))})" for name in names}


def headline(model: str, kinds: Mapping[str, int], labels: Mapping[str, int], shown: int) -> str:
    """Return the answer of the page for the filtered objects: how many go wrong, how, and in which class most."""
    found = Counter({kind: n for kind, n in kinds.items() if n})
    noun = "mistake" if found and len(mistakes(list(found))) == len(found) else "object"
    start = f"{shorten(model, 40)}: {plural(shown, noun)}"
    if not shown:
        return f"{start}."
    parts = [f"{count(n)} {kind_words(kind)}" for kind, n in found.most_common(3)]
    if others := found.total() - sum(n for _, n in found.most_common(3)):
        parts.append(f"{count(others)} other")
    top = Counter(labels).most_common(1)
    most = f"; most of {shorten(top[0][0], 24)} ({count(top[0][1])})" if top and len(labels) > 1 else ""
    return f"{start} – {', '.join(parts)}{most}."


def window(tile: Tile) -> Window | None:
    """Return the part of the image around the prediction and ground truth of a tile; None for the whole image."""
    entry = tile.objects[0]
    edges = [edge for edge in (_edges(entry.prediction), _edges(entry.annotation)) if edge]
    width, height = tile.image_width, tile.image_height
    if not edges or not width or not height:
        return None
    left, top = min(edge[0] for edge in edges), min(edge[1] for edge in edges)
    right, bottom = max(edge[2] for edge in edges), max(edge[3] for edge in edges)
    wide = max((right - left) * CONTEXT, (bottom - top) * CONTEXT * ASPECT, SMALLEST)
    x0, x1 = _span((left + right) / 2, wide, width)
    y0, y1 = _span((top + bottom) / 2, wide / ASPECT, height)
    return None if (x1 - x0) * (y1 - y0) > 0.85 * width * height else (x0, y0, x1, y1)


def wanted(tiles: Sequence[Tile], windows: Sequence[Window | None]) -> list[tuple[str, Window | None]]:
    """Return the thumbnails to request: (image, window) of every tile that has an image."""
    return [(tile.image, part) for tile, part in zip(tiles, windows, strict=True) if tile.image]


def payload(
    tiles: Sequence[Tile],
    windows: Sequence[Window | None],
    pictures: Sequence[bytes | str | None],
    hrefs: Sequence[str],
    by_image: bool,
    keys: Sequence[str] = (),
    tags: Sequence[Sequence[str]] = (),
) -> dict[str, Any]:
    """Return the data for tile_gallery.js; `pictures` as `data.thumbnails` returns them for `wanted`.

    Tiles without a picture yet ask for it once they are seen. With `keys`, one a tile, tiles can be ticked; `tags` are
    written on them.
    """
    left = iter(pictures)
    drawn = []
    for tile, part, href in zip(tiles, windows, hrefs, strict=True):
        drawn.append(_tile(tile, part, next(left) if tile.image else "no image", href, by_image))
    for entry, key in zip(drawn, keys, strict=False):
        entry["key"] = key
    for entry, own in zip(drawn, tags, strict=False):
        entry["tags"] = list(own)
    styles = {
        kind: {"colour": entry.colour, "dash": entry.dash, "line": entry.line, "width": WIDTHS.get(family(kind), 2.0)}
        for kind, entry in MARKS.items()
    }
    seen = {shape["kind"] for tile in drawn for shape in tile["shapes"]}
    looks: dict[tuple[str, str, str], list[str]] = {}  # kinds that look alike have one entry, that of the most general
    for kind, look in MARKS.items():
        if kind in seen and kind != "annotation":
            looks.setdefault((look.colour, look.dash, look.glyph), [kind, look.title, look.glyph])
    legend = list(looks.values())
    if "annotation" in seen:
        legend.append(["annotation", "ground truth", ""])
    return {"tiles": drawn, "styles": styles, "legend": legend, "of": _digest(hrefs), "full": bool(keys)}


def gallery(data: Mapping[str, Any], key: str = "gallery") -> None:
    """Draw the payload: tiles that are links, walked by the arrow keys; x ticks one."""
    draw_in_browser("tile_gallery", data, key, sends=("ticked", "seen", "more"))


def ticked(keys: Sequence[str], key: str = "gallery") -> list[str]:
    """Return which of the tiles with these keys are ticked, in their order."""
    chosen = texts_of(_state(key).get("ticked")) or ()
    return [one for one in keys if one in chosen]


def seen(hrefs: Sequence[str], key: str = "gallery") -> int:
    """Return how many of the tiles with these links the browser has come to see, at least the FIRST."""
    match _state(key).get("seen"):
        case {"of": of, "tiles": int(tiles)} if of == _digest(hrefs):
            return max(FIRST, tiles)
    return FIRST


def _state(key: str) -> Mapping[str, Any]:
    return st.session_state.get(key) or {}


def _digest(hrefs: Sequence[str]) -> str:
    """Return what tells one list of tiles from another."""
    return hashlib.sha256("\n".join(hrefs).encode()).hexdigest()[:16]


def _tile(tile: Tile, part: Window | None, picture: bytes | str | None, href: str, by_image: bool) -> dict[str, Any]:
    entries = tile.objects
    view = part or _whole(tile)
    paths: dict[tuple[str, bool], str] = {}
    for entry in entries:
        for kind, geometry in _drawn(entry, by_image):
            path, filled = _path(geometry)
            paths[kind, filled] = paths.get((kind, filled), "") + path
    # ground truth lies under what was predicted; each kind is one path, so that crowded pictures stay light
    order = sorted(paths, key=lambda key: key[0] != "annotation")
    shapes = [{"kind": kind, "filled": filled, "path": paths[kind, filled]} for kind, filled in order]
    return {
        "href": href,
        "view": [view[0], view[1], view[2] - view[0], view[3] - view[1]],
        "image": "data:image/jpeg;base64," + base64.b64encode(picture).decode() if isinstance(picture, bytes) else None,
        "reason": picture if isinstance(picture, str) else "", "waits": picture is None,
        "shapes": shapes, "fine": by_image, "lines": _image_lines(tile) if by_image else object_lines(entries[0]),
        "about": "\n".join([_hover(entry) for entry in entries[:8]] + [f"Image {tile.case_id}"]),
    }  # fmt: skip


def object_lines(entry: GalleryObject) -> list[Any]:
    """Return [kind of the swatch, label, number at its right, outcome, number at its right]."""
    kind, words = entry.kind, kind_words(entry.kind)
    if kind == "fp_misclassification" and entry.truth:
        words = f"is {shorten(entry.truth, 24)}"
    score = "" if entry.score is None else f"{entry.score:.2f}"
    iou = "" if entry.iou is None else f"{_similarity(entry)} {entry.iou:.2f}"
    return [_mark_name(kind), shorten(entry.label, 40), score, words, iou]


def _image_lines(tile: Tile) -> list[Any]:
    families = Counter(family(entry.kind) for entry in tile.objects)
    words = {"fp": "false", "fn": "missed", "tp": "found", "ignored": "ignored"}
    parts = [f"{families[head]} {word}" for head, word in words.items() if families[head]]
    more = tile.n - len(tile.objects)
    return ["", shorten(tile.case_id, 40), count(tile.n), ", ".join(parts) + (f" +{count(more)}" if more else ""), ""]


def _hover(entry: GalleryObject) -> str:
    facts = [f"{shorten(entry.label, 40)}: {kind_title(entry.kind).lower()}"]
    if entry.truth and entry.truth != entry.label:
        facts.append(f"truth {shorten(entry.truth, 40)}")
    facts += [
        f"{name} {value:.3f}"
        for name, value in (("score", entry.score), (_similarity(entry), entry.iou))
        if value is not None
    ]
    return ", ".join([*facts, f"area {number(entry.area)} px²"])


def _similarity(entry: GalleryObject) -> str:
    """Return by what an object is held against ground truth: key points by OKS, all else by IoU."""
    posed = any(outline is not None and outline.bones for outline in (entry.prediction, entry.annotation))
    return "OKS" if posed else "IoU"


def _drawn(entry: GalleryObject, by_image: bool) -> list[tuple[str, Outline]]:
    """Return the geometries to draw for an object: its own and, on a tile of its own, the ground truth it refers to."""
    own, other = (entry.annotation, None) if family(entry.kind) == "fn" else (entry.prediction, entry.annotation)
    pairs = [(_mark_name(entry.kind), own), ("annotation", None if by_image else other)]
    return [(kind, geometry) for kind, geometry in pairs if geometry is not None]


@cache
def _mark_name(kind: str) -> str:
    """Return the key in MARKS of the mark of a kind."""
    return next(name for name, entry in MARKS.items() if entry is mark(kind))


def _edges(geometry: Outline | None) -> tuple[float, float, float, float] | None:
    """Return left, top, right and bottom of a geometry; None if unknown."""
    if geometry is None:
        return None
    x, y, width, height, polygons, _ = geometry
    if x is not None and y is not None and width is not None and height is not None:
        return x, y, x + width, y + height
    points = [point for ring in polygons or [] for point in ring]
    return (min(points[0::2]), min(points[1::2]), max(points[0::2]), max(points[1::2])) if points else None


def _path(geometry: Outline) -> tuple[str, bool]:
    """Return the SVG path of a geometry, and whether it is a mask to be filled (more than four corners)."""
    rings = geometry.polygons
    if geometry.bones:  # the box of a pose would hide it
        return "".join(map(_bone, geometry.bones)), False
    if rings:
        parts = ("L".join(f"{x:.1f} {y:.1f}" for x, y in zip(ring[0::2], ring[1::2], strict=True)) for ring in rings)
        return "".join(f"M{part}Z" for part in parts), len(rings) > 1 or len(rings[0]) > BOX_LENGTH
    edges = _edges(geometry)
    if edges is None:
        return "", False
    left, top, right, bottom = edges
    return f"M{left:.1f} {top:.1f}H{right:.1f}V{bottom:.1f}H{left:.1f}Z", False


def _bone(bone: Sequence[float]) -> str:
    """Return the SVG path of a line between two key points; a key point itself is a small square."""
    x, y, right, bottom = bone
    if (x, y) == (right, bottom):
        return f"M{x - DOT:.1f} {y - DOT:.1f}h{2 * DOT}v{2 * DOT}h{-2 * DOT}Z"
    return f"M{x:.1f} {y:.1f}L{right:.1f} {bottom:.1f}"


def _span(middle: float, length: float, limit: int) -> tuple[int, int]:
    """Return the span of `length` around `middle`, moved and cut to lie within 0 … limit."""
    size = max(1, min(limit, round(length)))
    begin = min(max(0, round(middle - size / 2)), limit - size)
    return begin, begin + size


def _whole(tile: Tile) -> tuple[float, float, float, float]:
    """Return the view of the whole image; if its size is unknown, the area its objects cover."""
    if tile.image_width and tile.image_height:
        return 0, 0, tile.image_width, tile.image_height
    edges = [edge for entry in tile.objects for edge in (_edges(entry.prediction), _edges(entry.annotation)) if edge]
    return 0, 0, max((edge[2] for edge in edges), default=100) + 10, max((edge[3] for edge in edges), default=75) + 10
