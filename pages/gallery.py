from __future__ import annotations

from typing import Any

import streamlit as st

from components import data
from components.viewers import tile_gallery
from components.widgets import controls, filters, url
from components.widgets.frame import empty, frame
from metrics.presentation import format

SECONDS = 0.15  # of each script run that new thumbnails may take
FILTERS = ("kind", "label", "truth", "size", "score_min", "score_max", "iou_min", "iou_max", "tag", "search")


def nothing_here(run: str) -> None:
    """Why this run has no gallery, and the run of the workspace that has one."""
    task = data.run_facts(run).suite["task"]
    if task == "segmentation":
        empty(
            "Every pixel has a class here: there are no objects to match",
            "The list of cases has the images, the worst first; each opens with its wrong pixels drawn on it.",
            "See the cases", "cases", run=run,
        )  # fmt: skip
    elif task == "detection":
        empty(
            "No evaluator of this run says what became of each object",
            "Evaluators of detection such as COCO summary or precision and recall by score match every prediction with "
            "the ground truth; the gallery shows what they found.",
            "Evaluate it again",
        )
    else:
        what = "answers" if task == "text" else "labels" if task == "classification" else "traces"
        others = [each for each in data.runs() if each.suite["task"] == "detection" and each.state == "finished"]
        why = (
            f"This run is about {what}. A run of object detection opens here as pictures: what each model found, made "
            "up and missed, object by object."
        )
        if others:
            empty("This run has no objects", why, f"See {others[0].name}", "gallery", run=others[0].id)
        else:
            empty("This run has no objects", why, "Evaluate a detection suite")
    st.stop()


run = frame("Gallery", "Which objects go wrong?")
evaluators = data.match_evaluators(run)
if not evaluators:
    nothing_here(run)
models = data.run_facts(run).models
model = filters.pick("Model", models, "model")
evaluator = next((name for name in evaluators if name == url.param("evaluator")), next(iter(evaluators)))
repeats = data.repeats(run, model)
repeat = next((n for n in repeats if str(n) == url.param("repeat")), repeats[0])
by_image = url.param("view") == "images"
(score_low, score_high), (iou_low, iou_high) = filters.bounds("score"), filters.bounds("iou")
labels, truths, sizes = url.params("label"), url.params("truth"), url.params("size")
choice: dict[str, Any] = {
    "model": model, "repeat": repeat, "labels": tuple(labels), "truths": tuple(truths), "sizes": tuple(sizes),
    "score_low": score_low, "score_high": score_high, "iou_low": iou_low, "iou_high": iou_high,
    "tag": url.param("tag"), "search": url.param("search", ""),
}  # fmt: skip
kinds = data.object_counts(run, evaluator, **choice)["kind"]
known = tile_gallery.known_kinds(kinds, url.params("kind"))
asked = tile_gallery.asked_kinds(url.params("kind"), known)
url.put(kind=asked)
choice["kinds"] = tuple(asked or tile_gallery.mistakes(known))
counts = data.object_counts(run, evaluator, **choice)

titles = {kind: tile_gallery.kind_title(kind) for kind in known}
filters.many("Kind", tile_gallery.options(kinds, asked, titles), "kind", "Every mistake")
filters.many("Class", tile_gallery.options(counts["label"], labels), "label")
filters.many("True class", tile_gallery.options(counts["truth"], truths), "truth")
filters.many("Size", tile_gallery.options(counts["size"], sizes, tile_gallery.SIZES), "size")
filters.between("Score", "score")
filters.between("IoU", "iou")
tags = [choice["tag"]] if choice["tag"] else []
if counts["tag"] or tags:
    filters.one("Tag", tile_gallery.options(counts["tag"], tags), "tag")
filters.search("Image", "search")
orders = tile_gallery.OF_IMAGES | tile_gallery.SORTS if by_image else tile_gallery.SORTS
sort = filters.pick("Sort", orders, "sort")
if len(evaluators) > 1:
    filters.pick("Matched by", evaluators, "evaluator")
if len(repeats) > 1:
    filters.pick("Repeat", {str(n): str(n) for n in repeats}, "repeat")
filters.reset(list(FILTERS))


def read_page(page: int) -> data.ObjectPage:
    return data.objects(run, evaluator, sort, by_image, tile_gallery.TILES, tile_gallery.TILES * (page - 1), **choice)


page = int(url.number("page", 1, low=1))
found = read_page(page)
last = max(1, -(-found.total // tile_gallery.TILES))
if page > last:  # the filters of an old link may leave fewer pages
    page = last
    found = read_page(page)
tiles = found.tiles
of_kinds = {kind: kinds.get(kind, 0) for kind in choice["kinds"]}
st.text(tile_gallery.headline(model, of_kinds, counts["label"], found.objects))


here = url.state()


def open_tile(position: int) -> dict[str, url.Value]:
    """Return where a tile leads: its image, matched at the same score."""
    return {
        "run": run, "evaluator": evaluator, "model": model, "compare": model, "score": score_low,
        "case": tiles[position].case_id, "gallery": here,
    }  # fmt: skip


with st.container(horizontal=True, vertical_alignment="center"):
    if st.button("Open the first", type="primary", icon=":material/arrow_forward:", disabled=not tiles):
        url.go("example", **open_tile(0))
    controls.choice("View", {"objects": "Objects", "images": "Images"}, "view", ("page", "sort"))
    first = tile_gallery.TILES * (page - 1) + 1
    of = format.plural(found.total, "image" if by_image else "object")
    text = f"{format.count(first)}–{format.count(first + len(tiles) - 1)} of {of}" if tiles else of
    st.text(text)
    controls.pager(page, last)
if not tiles:
    st.info("No object fits the filters in the sidebar. Clear them to see every mistake.")
    st.stop()

windows = [None if by_image else tile_gallery.window(tile) for tile in tiles]
pictures = data.thumbnails(run, tile_gallery.wanted(tiles, windows), SECONDS)
if not any(tile.image for tile in tiles):
    st.caption("The suite came without images: only the boxes are drawn. Upload it again with a zip of its images.")
hrefs = [url.href("example", **open_tile(position)).lstrip("/") for position in range(len(tiles))]
tile_gallery.gallery(tile_gallery.payload(tiles, windows, pictures, hrefs, by_image))
if None in pictures:
    st.rerun()
