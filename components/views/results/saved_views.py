"""The saved views of a page: a name for its filters."""

from urllib.parse import parse_qs

import streamlit as st

from components.data import reviews, visitors
from components.widgets import url
from components.widgets.literal import literal
from metrics.presentation import format


def draw(run: str, page: str) -> None:
    """Draw a button that lists the saved views of a page, each a link, and saves the present one."""
    views, may_save = reviews.saved_views(page), visitors.may("editor")
    if not views and not may_save:
        return
    with st.popover(f"Views ({len(views)})" if views else "Views", icon=":material/bookmark:"):
        for view in views:
            with st.container(horizontal=True, vertical_alignment="center"):
                url.link(
                    literal(format.shorten(view.name, 40)), page, icon=":material/bookmark:", **_state(view.state, run)
                )
                if may_save and st.button("Delete", key=f"remove-view-{view.name}", type="tertiary"):
                    reviews.remove_view(page, view.name)
                    st.rerun()
        if may_save:
            st.text_input("Save these filters as", key="view-name", placeholder="Name", on_change=_save, args=(page,))
        if problem := st.session_state.pop("view-problem", ""):
            st.error(literal(problem))


def _state(text: str, run: str) -> dict[str, url.Value]:
    return {**{name: values for name, values in parse_qs(text).items() if name != "page"}, "run": run}


def _save(page: str) -> None:
    name = st.session_state["view-name"]
    if name.strip():
        st.session_state["view-problem"] = reviews.save_view(name, page, url.state())
        st.session_state["view-name"] = ""
