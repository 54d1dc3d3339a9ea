"""Controls in the page itself. The address is the only truth, as with the sidebar's filters."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import add_script_run_ctx, get_script_run_ctx

from components.widgets import url

T = TypeVar("T")


def steps(label: str, name: str, usual: float, values: Sequence[float]) -> float:
    """Return the one of rising `values` next to what the address keeps under `name`; the usual one is not written."""
    chosen = min(values, key=lambda value: abs(value - url.number(name, usual)))
    key = f"control-{name}"
    if len(values) > 1:
        st.select_slider(
            label, values, agreed(key, chosen), "{:.4g}".format, key, on_change=_write, args=(name, key, usual)
        )
    return chosen


def number(
    label: str, name: str, usual: float, low: float, high: float | None = None, step: float = 0.01,
    help: str | None = None, form: str = "%.4g", width: int = 170,
) -> float:  # fmt: skip
    """Return a number that is typed in and the address keeps under `name`; the usual one is not written."""
    chosen = url.number(name, usual, low, float("inf") if high is None else high)
    key = f"control-{name}"
    st.number_input(
        label, low, high, agreed(key, chosen), step=step, key=key, format=form, width=width, help=help,
        on_change=_write, args=(name, key, usual),
    )  # fmt: skip
    return chosen


def choice(label: str, options: Mapping[str, str], name: str, clears: Sequence[str] = ()) -> str:
    """One of `options` (value → text) as buttons in a row; the first is the default, which is not written.

    A choice takes the query parameters `clears` away: what was said of the one chosen before.
    """
    first = next(iter(options))
    asked = url.param(name, first)
    chosen = str(asked if asked in options else first)
    key = f"control-{name}"
    st.segmented_control(
        label, list(options), format_func=options.__getitem__, key=key, default=agreed(key, chosen), required=True,
        on_change=_write, args=(name, key, first, clears), label_visibility="collapsed",
    )  # fmt: skip
    return chosen


def nested_choice(
    options: Mapping[str, str], more: Mapping[str, str], name: str, part: str, clears: Sequence[str] = ()
) -> str:
    """Return one of `options` or, where the last of them is chosen, one of `more` from a second row kept under `part`.

    An address whose `name` is one of `more`, as it was before there were two rows, leads there.
    """
    last = list(options)[-1]
    if (asked := url.param(name, "")) in more:
        url.put(**{name: last, part: asked})
    chosen = choice("View", options, name, clears=(*clears, part))
    return choice(options[last], more, part, clears=clears) if chosen == last else chosen


def menu(label: str, options: Mapping[str, str], name: str, clears: Sequence[str] = ()) -> None:
    """Draw a button with a menu of `options` (value → text); the address keeps what is chosen, and loses `clears`."""
    chosen = st.menu_button(
        label, list(options), format_func=options.__getitem__, key=f"menu-{name}", icon=":material/insert_chart:"
    )
    if chosen:
        url.put(**dict.fromkeys(clears), **{name: chosen})
        st.rerun()


def pager(page: int, last: int) -> None:
    """Buttons to the pages before and after `page` of `last` (from 1), which the address keeps; none for one page."""
    if last <= 1:
        return
    if st.button("Previous", disabled=page <= 1, icon=":material/chevron_left:"):
        url.put(page=page - 1 if page > 2 else None)
        st.rerun()
    if st.button("Next", disabled=page >= last, icon=":material/chevron_right:", icon_position="right"):
        url.put(page=page + 1)
        st.rerun()


def download(
    label: str, data: Any, file: str, key: str | None = None, icon: str = ":material/download:", **options: Any
) -> None:
    """Draw a button that downloads a file; the page does not run again for it, and a callable is called only then."""
    made = _made_for_visitor(data) if callable(data) else data
    st.download_button(label, made, file, key=key, icon=icon, on_click="ignore", **options)


def _made_for_visitor(make: Callable[[], T]) -> Callable[[], T]:
    """Return the function as it runs in this page: the server calls it in a thread that knows of no visitor."""
    enter = partial(add_script_run_ctx, ctx=get_script_run_ctx())

    def make_here() -> T:
        with ThreadPoolExecutor(1, initializer=enter) as thread:
            return thread.submit(make).result()

    return make_here


def agreed(key: str, value: T) -> T | None:
    """Make the widget of that key show `value`: the default to give it, or None where its state had to be overwritten.

    The first time the default must carry the value: if a first script run is cut short by a second one, which a browser
    that tells its theme causes, a state written by the first never reaches the browser.
    """
    if st.session_state.get(key, value) == value:
        return value
    st.session_state[key] = value
    return None


def place(options: Sequence[T], value: T | None) -> int:
    """Return the place of `value`, as `agreed` gave it, among a box's options; 0 where its state was overwritten."""
    return 0 if value is None else options.index(value)


def is_gone(key: str) -> bool:
    """Return whether a callback came too late to read the widget of its key, and has nothing to write.

    Pages share keys. Who leaves a page can still use what the browser shows of it; by then its key may already stand
    for the widget of the next page, which has no value before it is drawn.
    """
    return key not in st.session_state


def _write(name: str, key: str, default: object, clears: Sequence[str] = ()) -> None:
    if is_gone(key):
        return
    value = st.session_state[key]
    url.put(**dict.fromkeys(clears), **{name: None if value == default else value})
