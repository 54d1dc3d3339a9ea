"""The sidebar's filters: each shows what the address says and writes there what is chosen."""

from collections.abc import Callable, Mapping

import streamlit as st

from components.widgets import url
from components.widgets.controls import agreed, place

ANY = ""


def many(label: str, options: Mapping[str, str], name: str, every: str = "All") -> list[str]:
    """Choose any of `options` (value → text); the values chosen, [] for no restriction, which reads `every`."""
    chosen = [value for value in url.params(name) if value in options]
    key = _key(name)
    st.sidebar.multiselect(
        f"{label} ({len(options)})", list(options), agreed(key, chosen), options.__getitem__, key=key,
        placeholder=every, on_change=_write, args=(name, key),
    )  # fmt: skip
    return chosen


def one(label: str, options: Mapping[str, str], name: str, every: str = "All") -> str | None:
    """Choose one of `options` (value → text), or None for no restriction, which is offered first as `every`."""
    return pick(label, {ANY: every, **options}, name, len(options)) or None


def pick(label: str, options: Mapping[str, str], name: str, count: int | None = None) -> str:
    """Choose exactly one of `options` (value → text, at least one); the first is the default.

    The label says how many options there are; `count` replaces that number.
    """
    asked = url.param(name, ANY) or ANY
    chosen = asked if asked in options else next(iter(options))
    key = _key(name)
    st.sidebar.selectbox(
        f"{label} ({len(options) if count is None else count})", list(options),
        place(list(options), agreed(key, chosen)), options.__getitem__, key=key, on_change=_write, args=(name, key),
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
    least = round(url.number(f"{name}_min", low, low, high), 2)
    most = max(least, round(url.number(f"{name}_max", high, low, high), 2))
    return least if least > low else None, most if most < high else None


def search(label: str, name: str) -> str:
    """Text to look for; "" for none."""
    chosen = url.param(name, "")
    key = _key(name)
    st.sidebar.text_input(label, agreed(key, chosen) or "", key=key, type="search", on_change=_write, args=(name, key))
    return chosen or ""


def toggle(label: str, name: str) -> bool:
    """Return a switch, off by default."""
    chosen = url.flag(name)
    key = _key(name)
    st.sidebar.toggle(label, agreed(key, chosen) or False, key=key, on_change=_write, args=(name, key))
    return chosen


def reset(names: list[str]) -> None:
    """A button that takes every one of the filters away, where one is set."""
    if any(url.param(name) for name in names):
        st.sidebar.button("Clear filters", on_click=_clear(names), icon=":material/filter_alt_off:")


def _key(name: str) -> str:
    return f"filter-{name}"


def _write(name: str, key: str) -> None:
    url.put(**{name: st.session_state[key], "page": None})


def _write_edges(name: str, key: str, widest: tuple[float, float]) -> None:
    edges = zip(("min", "max"), st.session_state[key], widest, strict=True)
    url.put(page=None, **{f"{name}_{end}": None if edge == limit else edge for end, edge, limit in edges})


def _clear(names: list[str]) -> Callable[[], None]:
    return lambda: url.put(**dict.fromkeys([*names, "page"]))
