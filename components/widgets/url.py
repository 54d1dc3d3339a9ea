"""The address of a view: the pages, and state in the query parameters, so that a link reproduces the view."""

import math
from collections.abc import Container
from functools import partial
from pathlib import Path
from typing import NoReturn, overload
from urllib.parse import parse_qs, urlencode

import streamlit as st

from metrics.presentation.addresses import Value as Value, href as href, pairs, texts

ROOT = Path(__file__).resolve().parents[2]
Listed = tuple[str, str]  # title, icon
# The map: place → tab → pages, by file stem = name = address. The first page of a place is its link in the menu at the
# top; a tab without a title is not drawn.
PLACES: dict[str, dict[str, dict[str, Listed]]] = {
    "New evaluation": {"": {"evaluate": ("New evaluation", ":material/add:")}},
    "Runs": {
        "": {"runs": ("Runs", ":material/play_circle:")},
        "Overview": {
            "leaderboard": ("Overview", ":material/leaderboard:"),
            "problems": ("What went wrong", ":material/report:"),
        },
        "Cases": {
            "cases": ("Cases", ":material/list_alt:"),
            "case": ("Case", ":material/image_search:"),
            "gallery": ("Gallery", ":material/grid_view:"),
            "curves": ("Curves", ":material/show_chart:"),
        },
        "Compare": {
            "compare": ("Compare", ":material/balance:"),
            "trend": ("Over time", ":material/timeline:"),
        },
        "Slices": {"slices": ("Slices", ":material/pie_chart:")},
        "Report": {
            "report": ("Report", ":material/picture_as_pdf:"),
            "compliance": ("Compliance", ":material/policy:"),
        },
    },
    "Suites": {"": {"suites": ("Suites", ":material/dataset:")}},
    "Human review": {
        "Label": {"label": ("Label", ":material/rate_review:")},
        "Side by side": {"arena": ("Side by side", ":material/swords:")},
        "Agreement": {"judge_agreement": ("Agreement", ":material/verified:")},
    },
    "Monitor": {"": {"monitor": ("Monitor", ":material/monitor_heart:")}},
    "Library": {
        "Evaluators": {"evaluators": ("Evaluators", ":material/menu_book:")},
        "My criteria": {"criteria": ("My criteria", ":material/edit_note:")},
        "Sample size": {"sample_size": ("Sample size", ":material/straighten:")},
        "Samples": {"samples": ("Samples", ":material/science:")},
    },
    "Settings": {
        "Judge": {"judge": ("Judge", ":material/gavel:")},
        "Thresholds": {"thresholds": ("Thresholds", ":material/rule:")},
        "Local models": {"local_models": ("Local models", ":material/memory:")},
        "Cache": {"cache": ("Cache", ":material/cached:")},
    },
}
PAGES = {name: facts for tabs in PLACES.values() for pages in tabs.values() for name, facts in pages.items()}
# addresses that lead to a page with their parameters: the root, and former names
FORMER = {"": "leaderboard", "catalogue": "evaluators", "example": "case"}


def page(name: str, title: str | None = None) -> st.Page:
    """Return a page for st.switch_page and st.page_link; with a `title` as the link of its place in the menu."""
    own, icon = PAGES[name]
    return st.Page(
        ROOT / "pages" / f"{name}.py", title=title or own, icon=icon, url_path=name,
        visibility="visible" if title else "hidden",
    )  # fmt: skip


def home_of(place: str) -> str:
    """Return the page that the menu's link to a place opens."""
    return next(iter(next(iter(PLACES[place].values()))))


def place_of(name: str) -> tuple[str, str]:
    """Return the place of a page, and its tab."""
    return next((place, tab) for place, tabs in PLACES.items() for tab, pages in tabs.items() if name in pages)


def every_page() -> list[st.Page]:
    """Return the pages of the studio: of the menu the first of each place, the others hidden."""
    homes = {home_of(place): place for place in PLACES}
    return [page(name, homes.get(name)) for name in PAGES]


def former_pages() -> list[st.Page]:
    """Return a hidden page for each address of FORMER, which opens its page with the same query parameters."""
    return [
        st.Page(partial(_forward, name), title="Assay", url_path=address, default=not address, visibility="hidden")
        for address, name in FORMER.items()
    ]


def _forward(name: str) -> None:
    go(name, **{key: st.query_params.get_all(key) for key in st.query_params})


@overload
def param(name: str) -> str | None: ...


@overload
def param(name: str, default: str) -> str: ...


def param(name: str, default: str | None = None) -> str | None:
    """Return the query parameter, or `default` if it is absent or empty."""
    return st.query_params.get(name) or default


def params(name: str) -> list[str]:
    """Return every value of a repeatable query parameter."""
    return [value for value in st.query_params.get_all(name) if value]


def number(name: str, default: float, low: float = float("-inf"), high: float = float("inf")) -> float:
    """Return the query parameter as a number between `low` and `high`; `default` if it is absent or no number."""
    return as_number(st.query_params.get(name, ""), default, low, high)


def as_number(text: str, default: float, low: float = float("-inf"), high: float = float("inf")) -> float:
    """Return a text of an address as a number between `low` and `high`; `default` if it is none."""
    try:
        value = float(text)
    except ValueError:
        return default
    return min(high, max(low, value)) if value == value else default


def amounts(name: str, known: Container[str]) -> dict[str, float]:
    """Return the finite numbers above 0 of a repeatable query parameter `key:number`, by those keys that are known."""
    found = {}
    for text in params(name):
        key, _, amount = text.rpartition(":")
        value = as_number(amount, 0.0)
        if key in known and 0 < value < math.inf:
            found[key] = value
    return found


def flag(name: str) -> bool:
    """Return whether the query parameter is set to 1."""
    return st.query_params.get(name) == "1"


def put(**values: Value) -> None:
    """Write query parameters of this view; None, False, "" and [] remove one."""
    for name, value in values.items():
        found = texts(value)
        if found == st.query_params.get_all(name):
            continue
        if found:
            st.query_params[name] = found
        else:
            st.query_params.pop(name, None)


def go(name: str, /, **values: Value) -> NoReturn:
    """Open another page with these query parameters."""
    # a dict, because of pairs that share a name switch_page keeps only the last
    st.switch_page(page(name), query_params={name: found for name, value in values.items() if (found := texts(value))})


def state() -> str:
    """Return this view's query parameters as one text."""
    return urlencode([(name, value) for name in st.query_params for value in st.query_params.get_all(name)])


def state_of(text: str) -> dict[str, list[str]]:
    """Return the query parameters in a text that `state` gave."""
    return parse_qs(text)


def link(label: str, name: str, /, *, icon: str | None = None, **values: Value) -> None:
    """Draw a link to another page with its query parameters."""
    st.page_link(page(name), label=label, icon=icon, query_params=pairs(values))
