"""Tags and notes of cases and objects: given one by one on the example, or to many at once; saved views."""

from collections.abc import Callable, Sequence
from urllib.parse import parse_qs

import streamlit as st

from components.data import Mark, Place, boards, reviews, visitors
from components.widgets import controls, url
from components.widgets.literal import literal
from metrics.presentation import format

Places = Sequence[Place]


def draw(run: str, named: dict[str, Place]) -> None:
    """Draw a button that opens the tags and the note of each place, by its name; its label shows the tags."""
    if boards.is_board(run):
        return
    marks = reviews.marks(run)
    given = list(dict.fromkeys(tag for place in named.values() for tag in marks.get(place, Mark()).tags))
    noted = any(marks.get(place, Mark()).note for place in named.values())
    label = format.shorten(", ".join(given), 30) if given else "Tags"
    may_mark = visitors.may("editor")
    with st.popover(label + (" ✎" if noted else ""), icon=":material/label:", help="Tags and notes"):
        for name, place in named.items():
            mark = marks.get(place, Mark())
            known = sorted({tag for each in marks.values() for tag in each.tags} | {*mark.tags})
            key = "-".join(map(str, place))
            st.multiselect(
                f"Tags of this {name}", known, controls.agreed(f"tags-{key}", list(mark.tags)), key=f"tags-{key}",
                accept_new_options=True, placeholder="Type a tag", on_change=_retag, args=(run, place, key),
                disabled=not may_mark,
            )  # fmt: skip
            st.text_area(
                f"Note on this {name}", controls.agreed(f"note-{key}", mark.note) or "", key=f"note-{key}", height=80,
                on_change=_annotate, args=(run, place, key), disabled=not may_mark,
            )  # fmt: skip
        _draw_problem()


def draw_bulk(run: str, ticked: Places, every: Callable[[], Places], total: int, things: str) -> None:
    """Draw a button that opens a form to tag what is ticked, or else all that the filters show."""
    if not boards.may_note(run):
        return
    with st.popover(f"Tag {len(ticked)} ticked" if ticked else "Tag all shown", icon=":material/label:"):
        known = sorted({tag for mark in reviews.marks(run).values() for tag in mark.tags})
        what = f"{format.count(len(ticked))} ticked" if ticked else f"all {format.count(total)} {things} of the filters"
        st.multiselect(f"Tags for {what}", known, key="bulk-tags", accept_new_options=True, placeholder="Type a tag")
        with st.container(horizontal=True):
            for label, add in (("Add", True), ("Remove", False)):
                st.button(
                    label, type="primary" if add else "secondary", disabled=not st.session_state.get("bulk-tags"),
                    key=f"bulk-{label}", on_click=_tag_all, args=(run, ticked, every, add),
                )  # fmt: skip
        _draw_problem()


def tags_in_use(run: str, of: tuple[str, int] | None = None) -> dict[str, str]:
    """Return each tag and how many places have it, as the choices of a filter.

    Places are cases and objects, only those of one model and repeat where given.
    """
    counts: dict[str, int] = {}
    for place, mark in reviews.marks(run).items():
        if not place.object or of in (None, (place.model, place.repeat)):
            for tag in mark.tags:
                counts[tag] = counts.get(tag, 0) + 1
    asked = [tag for tag in url.params("mark") if tag not in counts]
    return {tag: f"{format.shorten(tag, 40)} ({counts.get(tag, 0)})" for tag in sorted([*counts, *asked])}


def tagged_cases(run: str, tag: str | None) -> tuple[str, ...] | None:
    """Return the cases with a tag, on them or on an object in them; None without a tag, which is no restriction."""
    if not tag:
        return None
    return tuple(dict.fromkeys(place.case_id for place, mark in reviews.marks(run).items() if tag in mark.tags))


def _retag(run: str, place: Place, key: str) -> None:
    chosen: list[str] = st.session_state[f"tags-{key}"]
    before = reviews.marks(run).get(place, Mark()).tags
    _tag(run, [place], [tag for tag in chosen if tag not in before], [tag for tag in before if tag not in chosen])


def _annotate(run: str, place: Place, key: str) -> None:
    st.session_state["mark-problem"] = reviews.note_place(run, place, st.session_state[f"note-{key}"])


def _tag_all(run: str, ticked: Places, every: Callable[[], Places], add: bool) -> None:
    tags: list[str] = st.session_state["bulk-tags"]
    _tag(run, ticked or every(), tags if add else [], [] if add else tags)


def _tag(run: str, places: Places, add: Sequence[str], remove: Sequence[str]) -> None:
    st.session_state["mark-problem"] = reviews.tag_places(run, places, add, remove)
    st.session_state["marks-changed"] = True


def _draw_problem() -> None:
    if problem := st.session_state.pop("mark-problem", ""):
        st.error(literal(problem))


def draw_views(run: str, page: str) -> None:
    """Draw a button that lists the saved views of a page, each a link, and saves the present one."""
    views, may_save = reviews.saved_views(page), visitors.may("editor")
    if not views and not may_save:
        return
    with st.popover(f"Views ({len(views)})" if views else "Views", icon=":material/bookmark:"):
        for view in views:
            with st.container(horizontal=True, vertical_alignment="center"):
                state: dict[str, url.Value] = {**parse_qs(view.state), "page": None, "run": run}
                url.link(literal(format.shorten(view.name, 40)), page, icon=":material/bookmark:", **state)
                if may_save and st.button("Delete", key=f"remove-view-{view.name}", type="tertiary"):
                    reviews.remove_view(page, view.name)
                    st.rerun()
        if may_save:
            st.text_input("Save these filters as", key="view-name", placeholder="Name", on_change=_save, args=(page,))
        if problem := st.session_state.pop("view-problem", ""):
            st.error(literal(problem))


def _save(page: str) -> None:
    name = st.session_state["view-name"]
    if name.strip():
        st.session_state["view-problem"] = reviews.save_view(name, page, url.state())
        st.session_state["view-name"] = ""
