"""The tabs below a page's title: those of its place, then the pages of its tab; only what the run has something for."""

from collections.abc import Callable

import streamlit as st

from components.data import run_reads, workspace_runs
from components.widgets import url
from metrics.core.errors import RunCorrupt

# A link of Streamlit's is marked only where it leads to this very page: the place in the menu and the tab are marked on
# each of their pages.
STYLE = """<style>
.st-key-tab-rows:not(:has(a)) { display: none; }
.st-key-tab-rows { margin-block: -0.5rem; row-gap: 2px; }
:is(.st-key-tabs, .st-key-subtabs) { flex-wrap: nowrap; overflow-x: auto; scrollbar-width: none; column-gap: 1.5rem; }
:is(.st-key-tabs, .st-key-subtabs) :is(a, .stElementContainer) { margin: 0; }
:is(.st-key-tabs, .st-key-subtabs) a { background: none !important; padding: 0 0 5px; border-radius: 0; }
:is(.st-key-tabs, .st-key-subtabs) a > span:has([data-testid="stIconMaterial"]) { display: none; }
:is(.st-key-tabs, .st-key-subtabs) p { white-space: nowrap; }
.st-key-tabs { border-bottom: 1px solid light-dark(#dfe4e9, #2b333c); }
[data-testid="stTopNavLink"] { background: none !important; }
.st-key-tabs p { font-weight: 500 !important; }
.st-key-subtabs p { font-size: 13px; font-weight: 400 !important; }
%s { box-shadow: inset 0 -2px light-dark(#0f6b78, #4fb9c5); }
%s { color: light-dark(#0f6b78, #4fb9c5) !important; font-weight: 650 !important; }
</style>"""


def mark_place(name: str) -> str:
    """Return the style that marks the place of a page in the menu, its tab, and the page in its tab."""
    place, tab = url.place_of(name)
    menu = [f'[data-testid="st{where}NavLink"][href$="/{url.home_of(place)}"]' for where in ("Top", "Sidebar")]
    rows = [
        f'.st-key-{row} a:is([href="{page}"], [href^="{page}?"])'
        for row, page in (("tabs", next(iter(url.PLACES[place][tab]))), ("subtabs", name))
    ]
    return STYLE % (f"{menu[0]}, {rows[0]}", ", ".join(f"{link} :is(p, span)" for link in (*menu, *rows)))


def draw_tabs(name: str, run: str) -> None:
    """Draw the tabs of a page's place, and the pages of its tab; each keeps the run in the address."""
    place, here = url.place_of(name)
    tabs = {tab: pages for tab, pages in url.PLACES[place].items() if tab}
    if here not in tabs or (place == "Runs" and not run):
        return
    with st.container(horizontal=True, key="tabs"):
        for tab, pages in tabs.items():
            first = next((page for page in pages if _has_content(page, run)), None)
            if first:
                url.link(tab, first, run=run)
    siblings = [page for page in tabs[here] if page == name or _has_content(page, run)]
    if len(siblings) > 1:
        with st.container(horizontal=True, key="subtabs"):
            for page in siblings:
                url.link(url.PAGES[page][0], page, run=run)


def _has_content(page: str, run: str) -> bool:
    """Return whether a page has something to show of a run; it is hidden from the tabs otherwise."""
    needs = NEEDS.get(page)
    if needs is None or not run:
        return needs is None
    try:
        return needs(run)
    except RunCorrupt:  # the page says what is damaged
        return False


def _can_compare(run: str) -> bool:
    return len(workspace_runs.run_facts(run).models) > 1 or len(workspace_runs.same_suite(run)) > 1


def _has_curves(run: str) -> bool:
    from components.views.curves.curve_offers import offered_views  # with pandas, which the first page leaves out

    return _is_finished(run) and bool(offered_views(run))


def _is_finished(run: str) -> bool:
    return workspace_runs.run_facts(run).state == "finished"


NEEDS: dict[str, Callable[[str], bool]] = {  # pages that not every run has something for
    "case": lambda _: False,  # one is opened from a list
    "curves": _has_curves,
    "gallery": lambda run: _is_finished(run) and run_reads.has_gallery(run),
    "compare": _can_compare,
    "trend": lambda run: len(workspace_runs.same_suite(run)) > 1,
}
