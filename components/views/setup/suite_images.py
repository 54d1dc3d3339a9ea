"""What a suite of images holds: classes, sizes, images without objects, a wall of ground truth; and look-alikes."""

import pandas as pd
import streamlit as st

from components.data import suite_images, visitors
from components.data.suite_drafts import SuiteFacts
from components.viewers import tile_gallery
from components.views.setup import suite_editor
from components.widgets import controls, filters, url
from components.widgets.tables import header, records
from metrics.presentation import format

TILES = 24
TALL = 300  # pixels of the tables above the wall
SHOWN_PAIRS = 24
SIZES = {"small": "Small, up to 32²", "medium": "Medium, up to 96²", "large": "Large, over 96² px"}


def draw_contents(suite: str, draft: str, facts: SuiteFacts) -> None:
    """Draw what a suite of objects in images holds, and its images with their ground truth."""
    found = suite_images.contents(suite, draft)
    empty = len(found.without_objects)
    st.text(
        f"{format.plural(found.images, 'image')} · {format.plural(found.objects, 'object')} of "
        f"{format.plural(len(found.classes), 'class', 'classes')} · {found.objects / max(1, found.images):.1f} an image"
    )
    left, middle, right = st.columns([4, 3, 3], gap="medium")
    with left:
        table = pd.DataFrame(found.classes)
        table["share"] = 100 * table["objects"] / max(1, found.objects)
        columns = {
            "label": header("Class", 110), "objects": st.column_config.NumberColumn("Objects", width=60),
            "images": st.column_config.NumberColumn("Images", width=60, help="Click to see them below."),
            "share": st.column_config.ProgressColumn("Share", format="%.0f %%", min_value=0.0, max_value=100.0),
        }  # fmt: skip
        clicked = records(table, columns, "classes-of-images", TALL)
        if clicked is not None and url.param("label") != table["label"].iloc[clicked]:
            url.put(label=str(table["label"].iloc[clicked]), empty=None, page=None)
            st.rerun()
    with middle:
        rows = [(SIZES[name], n, 100 * n / max(1, sum(found.sizes.values()))) for name, n in found.sizes.items()]
        _draw_table("Object size", rows, "Objects")
    with right:
        sides = list(found.image_sizes.items())
        rows = [(size, n, 100 * n / max(1, found.images)) for size, n in sides[:8]]
        rest = sum(n for _, n in sides[8:])
        _draw_table("Image size", [*rows, *[("others", rest, 100 * rest / found.images)] * bool(rest)], "Images")
    if facts.tags or facts.values:
        with st.expander("Tags and columns"):
            suite_editor.draw_contents(facts)
    if empty and filters.toggle(f"Only the {format.plural(empty, 'image')} without objects", "empty"):
        draw_wall(suite, draft, facts, found.without_objects)
    else:
        draw_wall(suite, draft, facts)


def _draw_table(title: str, rows: list[tuple[str, int, float]], things: str) -> None:
    columns = {
        "value": header(title, 120), "n": st.column_config.NumberColumn(things, width=55),
        "share": st.column_config.ProgressColumn("Share", width=90, format="%.0f %%", min_value=0.0, max_value=100.0),
    }  # fmt: skip
    st.dataframe(pd.DataFrame(rows, columns=list(columns)), hide_index=True, column_config=columns, height="content")


def draw_wall(suite: str, draft: str, facts: SuiteFacts, only: tuple[str, ...] | None = None) -> None:
    """Draw the images of a suite with their ground truth; each opens its case."""
    label = None if only is not None else filters.one("Class", list(facts.labels), "label")
    page = int(url.number("page", 1, low=1))
    found = suite_images.wall(suite, draft, label, only, TILES, TILES * (page - 1))
    last = max(1, -(-found.total // TILES))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader("Ground truth", anchor=False)
        st.text(format.plural(found.total, "image") + (f" with {label}" if label else ""), width="stretch")
        controls.pager(min(page, last), last)
    _draw_tiles(suite, found, "wall")


def draw_look_alikes(suite: str, draft: str) -> None:
    """Draw the pairs of images that look alike, side by side."""
    if not suite_images.has_images(suite):
        st.text("The suite came without images: nothing can be compared. Upload it again with a zip of them.")
        return
    pairs = suite_images.near_duplicates(suite, draft)
    if not pairs:
        st.text("✓ No two images look alike (difference hash).")
        return
    st.text(
        f"{format.plural(len(pairs), 'pair')} of images {'looks' if len(pairs) == 1 else 'look'} alike: copies, frames "
        "of one video, or the same scene. Keep one of each, or give them one group, so that intervals do not count "
        "them twice."
    )
    for place, pair in enumerate(pairs[:SHOWN_PAIRS]):
        found = suite_images.wall(suite, draft, None, (pair.case_id, pair.other), 2, 0)
        st.text(f"{' and '.join(found.names)}: {pair.apart} of 128 bits differ")
        _draw_tiles(suite, found, f"pair-{place}")
    if len(pairs) > SHOWN_PAIRS:
        st.caption(f"The {SHOWN_PAIRS} most alike are shown.")


def _draw_tiles(suite: str, found: suite_images.Wall, key: str) -> None:
    opens = "case" if visitors.may("editor") else "search"
    hrefs = [url.href("suites", suite=suite, view=None, **{opens: tile.case_id}).lstrip("/") for tile in found.tiles]
    pictures = suite_images.pictures_of(suite, tile_gallery.wanted(found.tiles, [None] * len(found.tiles)))
    payload = tile_gallery.payload(
        found.tiles, [None] * len(found.tiles), [one or "not ready yet" for one in pictures], hrefs, by_image=True
    )
    for tile, name, classes in zip(payload["tiles"], found.names, found.classes, strict=True):
        tile["lines"] = ["", format.shorten(name, 40), "", classes, ""]
    tile_gallery.gallery(payload, key)
