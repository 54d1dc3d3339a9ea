"""Callbacks of widgets that the address keeps."""

from streamlit.testing.v1 import AppTest


def leaving() -> None:
    """A page whose widgets are gone when their callbacks run."""
    from components.data import OperatingPoint
    from components.views.objects import point_controls
    from components.widgets import controls, filters, frame

    filters._write("search", "filter-search")
    filters._write_edges("score", "filter-score", (0.0, 1.0))
    controls._write("view", "control-view", "first", ("key",))
    point_controls._choose("score", "point-score", "run", OperatingPoint(0.5, 0.5))
    frame._pick_run("run_picker-finished")


def test_a_callback_that_comes_too_late_writes_nothing() -> None:
    page = AppTest.from_function(leaving)
    for name in ("run", "search", "page", "key"):
        page.query_params[name] = name
    assert not page.run().exception
    assert set(page.query_params) == {"run", "search", "page", "key"}


def same_run() -> None:
    """A page whose run is said to be picked again, as after going back."""
    import streamlit as st

    from components.widgets import frame

    st.session_state["picker"] = "r"
    frame._pick_run("picker")


def test_the_run_that_is_open_already_leaves_the_address_alone() -> None:
    page = AppTest.from_function(same_run)
    page.query_params["run"], page.query_params["model"] = "r", "m"
    assert not page.run().exception
    assert set(page.query_params) == {"run", "model"}
