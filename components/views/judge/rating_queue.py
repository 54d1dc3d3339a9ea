"""Rating one thing after the other: who rates, what is put off until the end, and the last rating, to be taken back."""

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import streamlit as st

from components.data import visitors
from components.widgets import filters, url

LONGEST = 200  # characters of a rater's or a criterion's name


def known_name() -> str:
    """Return the name that the person gave in this session, on whichever page; the address keeps it, too."""
    name = url.param("rater", "").strip() or st.session_state.get("rater-given", "")
    st.session_state["rater-given"] = name
    url.put(rater=name)
    return str(name)


def rater(words: str) -> str | None:
    """Return who rates; None while a form asks for the name: ratings are stored by it, so nothing is shown before."""
    if own := visitors.own_name():
        return own[:LONGEST]
    if known_name():
        return filters.text("Your name", "rater").strip()[:LONGEST]
    with st.container(border=True):
        st.subheader("Who are you?", anchor=False)
        st.text(words)
        with st.form("name", border=False):
            name = st.text_input("Your name", max_chars=LONGEST, key="rater-name")
            if st.form_submit_button("Begin", type="primary") and name.strip():
                url.put(rater=name.strip())
                st.rerun()
    return None


class RatingQueue(NamedTuple):
    """What a session keeps of the ratings of one kind. A rating is what `withdraw` takes, a run's id first."""

    kind: str
    withdraw: Callable[..., object]

    @property
    def put_off(self) -> list[Any]:
        """What was put off, to be shown again last."""
        kept: list[Any] = st.session_state.setdefault(f"{self.kind}-skipped", [])
        return kept

    def note(self, thing: Hashable, rating: tuple[Any, ...]) -> None:
        """Note that a thing was rated."""
        st.session_state[f"{self.kind}-last"] = rating
        st.session_state[f"{self.kind}-skipped"] = [one for one in self.put_off if one != thing]

    def skip(self, thing: Hashable) -> None:
        """Put a thing off."""
        st.session_state[f"{self.kind}-skipped"] = [*(one for one in self.put_off if one != thing), thing]

    def draw_back(self, run: str) -> None:
        """Draw the button that takes the last rating of a run back."""
        last = st.session_state.get(f"{self.kind}-last")
        st.button(
            "Back",
            key=f"{self.kind}-back",
            shortcut="B",
            disabled=not last or last[0] != run,
            on_click=self.take_back,
            help="Removes the last one.",
        )

    def take_back(self) -> None:
        """Take the last rating back."""
        if last := st.session_state.pop(f"{self.kind}-last", None):
            self.withdraw(*last)
