from typing import NoReturn

import streamlit as st

from components.data import run_reads, workspace_runs
from components.viewers import tile_gallery
from components.views.objects import object_list, object_walk, point_controls, tile_wall
from components.views.results import mark_controls
from components.widgets import controls, filters, url
from components.widgets.frame import empty, frame
from metrics.analysis.objects.segments import EVALUATOR
from metrics.presentation import format

FILTERS = (
    "kind", "label", "truth", "size", "score_min", "score_max", "iou_min", "iou_max", "tag", "search", "mark",
    "right",
)  # fmt: skip


def nothing_here(run: str) -> NoReturn:
    """Draw what stands in for objects: wrong regions, or why this run has no gallery and which run has one."""
    task = workspace_runs.run_facts(run).suite["task"]
    if task == "segmentation" and EVALUATOR in workspace_runs.run_facts(run).evaluators:
        tile_wall.draw_regions(run)
    elif task == "segmentation":
        why = "Segmentation IoU compares every pixel; the gallery then shows the wrong regions."
        empty("No evaluator of this run looked at the pixels", why, "Evaluate it again")
    elif task == "detection":
        empty(
            "No evaluator of this run says what became of each object",
            "Evaluators of detection such as COCO summary or precision and recall by score match every prediction with "
            "the ground truth; the gallery shows what they found.",
            "Evaluate it again",
        )
    else:
        what = {"text": "answers", "classification": "labels", "regression": "numbers"}.get(task, "traces")
        others = [one for one in workspace_runs.runs() if one.suite["task"] == "detection" and one.state == "finished"]
        why = (
            f"This run is about {what}. A run of object detection opens here as pictures: what each model found, made "
            "up and missed, object by object."
        )
        if others:
            empty("This run has no objects", why, f"See {others[0].name}", "gallery", run=others[0].id)
        else:
            empty("This run has no objects", why, "Evaluate a detection suite")
    st.stop()


run = frame("gallery", "Which objects go wrong?", unfinished=True)
evaluators = run_reads.match_evaluators(run)
if not evaluators:
    nothing_here(run)
models = run_reads.headline(run).models
filters.pick("Model", models, "model")
found_list = object_list.object_list(run, object_list.state_here())
listed = nothing_here(run) if found_list is None else found_list
choice, model, evaluator, by_image = listed.choice, listed.choice["model"], listed.evaluator, listed.by_image
url.put(kind=listed.asked)
labels, truths, sizes = choice["labels"], choice["truths"], choice["sizes"]
kinds, asked = listed.counted, listed.asked
counts = run_reads.object_counts(run, evaluator, **choice)

titles = {kind: tile_gallery.kind_title(kind, listed.point.iou) for kind in listed.known}
filters.many("Kind", tile_gallery.options(kinds, asked, titles), "kind", "Every mistake")
filters.many("Class", tile_gallery.options(counts["label"], labels), "label")
filters.many("True class", tile_gallery.options(counts["truth"], truths), "truth")
filters.many("Size", tile_gallery.options(counts["size"], sizes, tile_gallery.SIZES), "size")
scored = workspace_runs.run_facts(run).suite["task"] == "detection"  # segments have no scores
if scored:
    filters.between("Score", "score")
rules = run_reads.match_rules(run, evaluator)
filters.between(rules.similarity, "iou")
tags = [choice["tag"]] if choice["tag"] else []
if counts["tag"] or tags:
    filters.one("Tag", tile_gallery.options(counts["tag"], tags), "tag")
filters.one("Your tag", mark_controls.tags_in_use(run, (model, choice["repeat"])), "mark")
if len(models) > 1:
    filters.one("Wrong here, right in", [name for name in models if name != model], "right", "Any")
filters.search("Image", "search")
filters.pick("Sort", object_list.sorts_of(by_image), "sort")
if len(evaluators) > 1:
    filters.pick("Matched by", evaluators, "evaluator")
repeats = run_reads.repeats(run, model)
if len(repeats) > 1:
    filters.pick("Repeat", {str(n): str(n) for n in repeats}, "repeat")
filters.reset(list(FILTERS))

if scored:
    point_controls.draw(run, listed.point, object_list.state_here(), rules.similarity, rules.keyed)
page = int(url.number("page", 1, low=1))
found = listed.page(tile_gallery.TILES, tile_gallery.TILES * (page - 1))
last = max(1, -(-found.total // tile_gallery.TILES))
if page > last:  # the filters of an old link may leave fewer pages
    page = last
    found = listed.page(tile_gallery.TILES, tile_gallery.TILES * (page - 1))
tiles = found.tiles
of_kinds = {kind: kinds.get(kind, 0) for kind in choice["kinds"]}
of_labels = {name: n for name, n in counts["label"].items() if not labels or name in labels}
st.text(tile_gallery.headline(model, of_kinds, of_labels, found.objects))

here = url.state()


def open_tile(position: int) -> dict[str, url.Value]:
    """Return where a tile leads: its image, opened on its object, at the same operating point."""
    return {
        "run": run,
        "evaluator": evaluator,
        "model": model,
        "compare": model,
        "score": url.param("score"),
        "iou": url.param("iou"),
        **object_walk.address(listed, tiles[position]),
        "gallery": here,
    }


with st.container(horizontal=True, vertical_alignment="center"):
    if st.button("Open the first", type="primary", icon=":material/arrow_forward:", disabled=not tiles):
        url.go("case", **open_tile(0))
    controls.choice("View", {"objects": "Objects", "images": "Images"}, "view", ("page", "sort"))
    first = tile_gallery.TILES * (page - 1) + 1
    of = format.plural(found.total, "image" if by_image else "object")
    st.text(f"{format.count(first)}–{format.count(first + len(tiles) - 1)} of {of}" if tiles else of)
    controls.pager(page, last)
if not tiles:
    every = "No object fits the filters in the sidebar. Clear them to see every mistake."
    st.info(every if any(map(url.params, FILTERS)) else "No mistakes at these thresholds.")
    st.stop()

if not any(tile.image for tile in tiles):
    st.caption("The suite came without images: only the boxes are drawn. Upload it again with a zip of its images.")
hrefs = [url.href("case", **open_tile(position)).lstrip("/") for position in range(len(tiles))]
tile_wall.draw(listed, tiles, found.total, hrefs)
