"""The tiles of the gallery, and what is done with those that are ticked, or with all of them: tag, save, export; and
the regions that a segmentation model gets wrong.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from components.data import Place, reviews, run_archives, run_reads, visitors, workspace_runs
from components.viewers import tile_gallery
from components.views.objects.object_list import ObjectList
from components.views.results import mark_controls
from components.widgets import controls, filters, url
from metrics.analysis import GalleryObject, Outline, Segment, Tile
from metrics.analysis.objects.object_export import MAX_EXPORTED as MOST_EXPORTED
from metrics.analysis.objects.segments import EVALUATOR
from metrics.presentation import format

SECONDS = 0.3  # of each script run that new thumbnails may take
FORMATS: dict[run_archives.ExportFormat, tuple[str, str, str]] = {  # title, file ending, what it holds
    "coco": ("COCO", "json", "The images of the selection with their ground truth, and the selected predictions."),
    "yolo": ("YOLO", "zip", "The images of the selection with their ground truth as text files."),
    "csv": ("CSV", "csv", "A row for each selected object: outcome, scores, boxes, tags and notes."),
}
IMAGES = 12  # of a page
MAX_REGIONS = 3  # of an image
REGION_SECONDS = 2.0  # for their thumbnails the first time


@st.fragment
def draw(listed: ObjectList, tiles: Sequence[Tile], total: int, hrefs: Sequence[str]) -> None:
    """Draw tiles that are links, and above them the buttons for what is ticked."""
    if st.session_state.pop("marks-changed", False):
        st.rerun()  # the filters beside the tiles count tags
    run, by_image = listed.run, listed.by_image
    about = [("" if by_image else tile.objects[0].key, tile.case_id) for tile in tiles]
    places = {f"{key}@{case_id}": _place_of(listed.choice, case_id, key) for key, case_id in about}
    keys = list(places)
    chosen = [places[key] for key in tile_gallery.ticked(keys)]
    thing = "images" if by_image else "objects"
    with st.container(horizontal=True):
        mark_controls.draw_bulk(run, chosen, lambda: _every_place(listed), total, thing)
        _draw_export(listed, chosen, total, thing)
        mark_controls.draw_views(run, "gallery")
    marks = reviews.marks(run)
    windows = [None if by_image else tile_gallery.window(tile) for tile in tiles]
    shown = tile_gallery.seen(hrefs)
    first = list(tile_gallery.wanted(tiles[:shown], windows[:shown]))
    later = len(tile_gallery.wanted(tiles[shown:], windows[shown:]))
    pictures = [*run_reads.thumbnails(run, first, SECONDS), *[None] * later]
    tags = [marks[place].tags if place in marks else () for place in places.values()]
    tile_gallery.gallery(tile_gallery.payload(tiles, windows, pictures, hrefs, by_image, keys, tags))


def _place_of(choice: Mapping[str, Any], case_id: str, key: str) -> Place:
    return Place(case_id, choice["model"], choice["repeat"], key) if key else Place(case_id)


def _every_place(listed: ObjectList) -> list[Place]:
    keys = run_archives.object_keys(listed.run, listed.evaluator, listed.sort, listed.by_image, **listed.choice)
    return [_place_of(listed.choice, case_id, key) for case_id, key in keys]


def _draw_export(listed: ObjectList, ticked: Sequence[Place], total: int, thing: str) -> None:
    """Draw a button that opens the ways to take the ticked objects along, or else all that the filters show."""
    choice = dict(listed.choice)
    if ticked:
        choice["places"] = tuple((place.case_id, place.object) for place in ticked)
    what = f"{len(ticked)} ticked" if ticked else "all shown"
    with st.popover(f"Export {what}", icon=":material/download:"):
        count = len(ticked) or total
        limit = f", the first {format.count(MOST_EXPORTED)} of them" if count > MOST_EXPORTED else ""
        st.caption(f"{format.count(count)} {thing}{limit}")
        for form, (title, ending, holds) in FORMATS.items():
            make = partial(run_archives.export_objects, listed.run, form, listed.evaluator, choice)
            controls.download(title, make, f"selection.{ending}", f"export-{form}", help=holds)
        if not visitors.may("editor"):
            return
        name = st.text_input(
            "As a new suite", f"{workspace_runs.run_facts(listed.run).suite['name']}, selection", key="suite-name"
        )
        if st.button("Save the suite", disabled=not name.strip(), icon=":material/dataset:"):
            fingerprint, message = run_archives.save_selection(listed.run, name.strip(), listed.evaluator, choice)
            st.text(message)
            url.link(
                "Evaluate it", "evaluate", icon=":material/play_circle:", **{"from": "stored", "suite": fingerprint}
            )


def draw_regions(run: str) -> None:
    """Draw the wrong regions of the worst images, the worst image first; each opens its case."""
    model = filters.pick("Model", run_reads.headline(run).models, "model")
    truth = filters.one("True class", list(run_reads.labels(run)), "truth")
    page = int(url.number("page", 1, low=1))
    metric = next(one.metric for one in run_reads.leaderboard(run).columns if one.evaluator == EVALUATOR)
    listed = run_reads.cases(run, EVALUATOR, metric, limit=IMAGES, offset=IMAGES * (page - 1), model=model)
    tiles: list[Tile] = []
    shares: list[str] = []
    for row in listed.rows.to_dict("records"):
        case = run_reads.image_facts(run, row["case_id"])
        found = [
            one for one in run_reads.segments(run, row["case_id"], model, row["run"])
            if one.kind in ("mistaken", "missed") and truth in (None, one.truth)
        ]  # fmt: skip
        pixels = (case["image_width"] or 0) * (case["image_height"] or 0)
        for one in found[:MAX_REGIONS]:
            tiles.append(Tile(**case, n=1, objects=(_object(one),)))
            shares.append(format.share(one.pixels, pixels) if pixels else format.plural(one.pixels, "pixel"))
    with st.container(horizontal=True, vertical_alignment="center"):
        last = max(1, -(-listed.total // IMAGES))
        st.text(f"{format.shorten(model, 40)}: the largest wrong regions of each image, the worst images first")
        controls.pager(min(page, last), last)
    if not tiles:
        st.info("These images have no wrong region" + (f" of {truth}." if truth else "."))
        return
    windows = [tile_gallery.window(tile) for tile in tiles]
    pictures = run_reads.thumbnails(run, tile_gallery.wanted(tiles, windows), REGION_SECONDS)
    about: dict[str, url.Value] = {"run": run, "evaluator": EVALUATOR, "metric": metric, "model": model}
    hrefs = [url.href("case", **about, case=tile.case_id, show="mistakes").lstrip("/") for tile in tiles]
    payload = tile_gallery.payload(tiles, windows, [one or "not ready yet" for one in pictures], hrefs, by_image=False)
    for tile, share in zip(payload["tiles"], shares, strict=True):
        tile["lines"][4] = share
    tile_gallery.gallery(payload, "regions")


def _object(one: Segment) -> GalleryObject:
    """Return a wrong region as an object of the gallery: of the predicted class, or missed where it has none."""
    outline = Outline(None, None, None, None, one.rings)
    if one.predicted is None:
        return GalleryObject("fn_no_prediction", str(one.truth), one.truth, None, None, one.pixels, None, outline)
    return GalleryObject("fp_misclassification", one.predicted, one.truth, None, None, one.pixels, outline, None)
