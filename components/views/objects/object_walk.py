"""The walk through the gallery's objects on the page Case: position, previous, next, and the way back."""

from typing import NamedTuple

import streamlit as st

from components.data import Place
from components.viewers import tile_gallery
from components.views.objects.object_list import ObjectList
from components.views.results import mark_controls
from components.widgets import url
from metrics.analysis import Tile
from metrics.presentation import format


class Walk(NamedTuple):
    """Where the example stands in the gallery's list: the shown object, and those beside it; None where there is none.

    `place` counts from 0; None where the list no longer holds the object, for example because its tag was changed.
    """

    listed: ObjectList
    place: int | None
    total: int
    before: Tile | None
    here: Tile | None
    after: Tile | None


def walk(listed: ObjectList, case_id: str, key: str) -> Walk:
    """Return where a case, and the object of that key in it, stands in the list; without a case its first."""
    place = listed.place(case_id, key) if case_id else 0
    if place is None:
        found = listed.page(1, 0)
        return Walk(listed, None, found.total, None, None, found.tiles[0] if found.tiles else None)
    first = max(0, place - 1)
    found = listed.page(place - first + 2, first)
    tiles = dict(enumerate(found.tiles, first))
    return Walk(listed, place, found.total, tiles.get(place - 1), tiles.get(place), tiles.get(place + 1))


def address(listed: ObjectList, tile: Tile) -> dict[str, url.Value]:
    """Return the query parameters of the example that shows a tile of the list."""
    return {"case": tile.case_id, "object": None if listed.by_image else tile.objects[0].key}


def draw(found: Walk, case_id: str, state: str) -> None:
    """Draw previous, next, the position in the gallery's list and what is shown, and the link back to the gallery."""
    listed = found.listed
    thing = "image" if listed.by_image else "object"
    with st.container(horizontal=True, vertical_alignment="center"):
        steps = {
            "Previous": (found.before, "arrow_back", "Left"),
            f"Next {thing}": (found.after, "arrow_forward", "Right"),
        }
        for label, (tile, icon, key) in steps.items():
            st.button(
                label, icon=f":material/{icon}:", type="primary" if key == "Right" else "secondary", shortcut=key,
                key=f"walk-{label}", disabled=tile is None, on_click=url.put,
                kwargs=address(listed, tile) if tile else {},
            )  # fmt: skip
        facts = [_position(found, thing), *_about(found), f"image {format.shorten(case_id, 24)}"]
        st.text(" · ".join(facts), width="stretch")
        key = "" if listed.by_image else url.param("object", "")
        mine = {"object": Place(case_id, listed.choice["model"], listed.choice["repeat"], key)} if key else {}
        mark_controls.draw(listed.run, {**mine, "image": Place(case_id)})
        values: dict[str, url.Value] = {**url.state_of(state)}
        if found.place is not None:
            page = found.place // tile_gallery.TILES + 1
            values["page"] = page if page > 1 else None
        url.link("Gallery", "gallery", icon=":material/grid_view:", **values)


def _position(found: Walk, thing: str) -> str:
    of = format.count(found.total)
    return (
        f"not among the gallery's {of}" if found.place is None else f"{format.count(found.place + 1)} of {of} {thing}s"
    )


def _about(found: Walk) -> list[str]:
    """Return what became of the object, in the words of its tile."""
    if found.here is None or found.listed.by_image:
        return []
    _, label, score, words, _ = tile_gallery.object_lines(found.here.objects[0])
    return [", ".join([f"{label} {score}".strip(), words])]
