"""The wrong regions of a segmentation as pictures: the largest of the worst images of one model."""

import streamlit as st

from components.data import run_reads
from components.viewers import tile_gallery
from components.widgets import controls, filters, url
from metrics.analysis import GalleryObject, Outline, Segment, Tile
from metrics.analysis.objects.segments import EVALUATOR
from metrics.presentation import format

IMAGES = 12  # of a page
MAX_REGIONS = 3  # of an image
SECONDS = 2.0  # for their thumbnails the first time


def draw(run: str) -> None:
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
    pictures = run_reads.thumbnails(run, tile_gallery.wanted(tiles, windows), SECONDS)
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
