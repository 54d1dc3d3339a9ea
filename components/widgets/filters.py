"""The sidebar's filters: each shows what the address says and writes there what is chosen."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from components.widgets import url
from components.widgets.controls import agreed, is_gone, place

ANY = ""
Options = Mapping[str, str] | Sequence[str]  # value → text, or values that are their own texts


def many(label: str, options: Options, name: str, every: str = "All") -> list[str]:
    """Choose any of `options`; the values chosen, [] for no restriction, which reads `every`."""
    texts = _texts(options)
    chosen = [value for value in url.params(name) if value in texts]
    key = _key(name)
    st.sidebar.multiselect(
        f"{label} ({len(texts)})", list(texts), agreed(key, chosen), texts.__getitem__, key=key,
        placeholder=every, on_change=_write, args=(name, key),
    )  # fmt: skip
    return chosen


def unasked(options: Options, most: int) -> str:
    """Return what `many` reads where only the first `most` of its options are shown unasked."""
    return "All" if len(options) <= most else f"The first {most}"


def one(label: str, options: Options, name: str, every: str = "All") -> str | None:
    """Choose one of `options`, or None for no restriction, which is offered first as `every`; None without options."""
    texts = _texts(options)
    return (pick(label, {ANY: every, **texts}, name, len(texts)) or None) if texts else None


def pick(label: str, options: Options, name: str, count: int | None = None, at: DeltaGenerator = st.sidebar) -> str:
    """Choose exactly one of `options`, of which there is at least one; the first is the default.

    The label says how many options there are; `count` replaces that number; `at` is where it stands.
    """
    texts = _texts(options)
    asked = url.param(name, ANY)
    chosen = asked if asked in texts else next(iter(texts))
    key = _key(name)
    at.selectbox(
        f"{label} ({len(texts) if count is None else count})", list(texts),
        place(list(texts), agreed(key, chosen)), texts.__getitem__, key=key, on_change=_write, args=(name, key),
    )  # fmt: skip
    return chosen


def between(label: str, name: str, low: float = 0.0, high: float = 1.0, step: float = 0.01, form: str = "%.2f") -> None:
    """A range within `low` … `high`, which `bounds` reads; `form` is how its ends are written."""
    least, most = bounds(name, low, high)
    key = _key(name)
    shown = (low if least is None else least, high if most is None else most)
    st.sidebar.slider(
        label, low, high, agreed(key, shown), step=step, format=form, key=key, on_change=_write_edges,
        args=(name, key, (low, high)),
    )  # fmt: skip


def bounds(name: str, low: float = 0.0, high: float = 1.0) -> tuple[float | None, float | None]:
    """Return the range of the address, `name`_min and `name`_max; None for an unrestricted end."""
    return bounds_in(lambda end: url.param(end, ""), name, low, high)


def bounds_in(
    param: Callable[[str], str], name: str, low: float = 0.0, high: float = 1.0
) -> tuple[float | None, float | None]:
    """Return the range `name`_min … `name`_max of query parameters that `param` reads, "" for an absent one."""
    least = round(url.as_number(param(f"{name}_min"), low, low, high), 2)
    most = max(least, round(url.as_number(param(f"{name}_max"), high, low, high), 2))
    return least if least > low else None, most if most < high else None


def value_bounds() -> dict[str, float]:
    """Return the part of a choice of cases that keeps the values value_min ≤ value < value_max of the address."""
    asked = {"low": url.number("value_min", math.nan), "high": url.number("value_max", math.nan)}
    return {name: value for name, value in asked.items() if not math.isnan(value)}


def search(label: str, name: str) -> str:
    """Text to look for; "" for none."""
    return text(label, name, "search")


def text(label: str, name: str, kind: Literal["default", "search"] = "default") -> str:
    """Any text; "" for none."""
    chosen = url.param(name, "")
    key = _key(name)
    st.sidebar.text_input(label, agreed(key, chosen) or "", key=key, type=kind, on_change=_write, args=(name, key))
    return chosen


def toggle(label: str, name: str, help: str | None = None) -> bool:
    """Return a switch, off by default."""
    chosen = url.flag(name)
    key = _key(name)
    st.sidebar.toggle(label, agreed(key, chosen) or False, key=key, help=help, on_change=_write, args=(name, key))
    return chosen


def reset(names: list[str]) -> None:
    """A button that takes every one of the filters away, where one is set."""
    if any(url.param(name) for name in names):
        nothing = dict.fromkeys([*names, "page"])
        st.sidebar.button("Clear filters", on_click=url.put, kwargs=nothing, icon=":material/filter_alt_off:")


def _texts(options: Options) -> dict[str, str]:
    return dict(options) if isinstance(options, Mapping) else {value: value for value in options}


def _key(name: str) -> str:
    return f"filter-{name}"


def _write(name: str, key: str) -> None:
    if not is_gone(key):
        url.put(**{name: st.session_state[key], "page": None})


def _write_edges(name: str, key: str, widest: tuple[float, float]) -> None:
    if is_gone(key):
        return
    edges = zip(("min", "max"), st.session_state[key], widest, strict=True)
    url.put(page=None, **{f"{name}_{end}": None if edge == limit else edge for end, edge, limit in edges})
