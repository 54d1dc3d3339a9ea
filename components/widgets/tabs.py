"""The tabs below a page's title: those of its place, beside its own tab the tab's pages; only what has content."""

from collections.abc import Callable

import streamlit as st

from components.data import boards, run_reads, workspace_runs
from components.widgets import url
from metrics.core.errors import RunCorrupt

# A link of Streamlit's is marked only where it leads to this very page: the place in the menu and the tab are marked on
# each of their pages.
STYLE = """<style>
.st-key-tab-row:not(:has(a)) { display: none; }
.st-key-tab-row { margin-block: -0.5rem; }
.st-key-tabs { flex-wrap: nowrap; overflow-x: auto; scrollbar-width: none; column-gap: 1.2rem;
  border-bottom: 1px solid light-dark(#dfe4e9, #2b333c); }
.st-key-tabs :is(a, .stElementContainer) { margin: 0; }
.st-key-tabs a { background: none !important; padding: 0 0 5px; border-radius: 0; }
.st-key-tabs a > span:has([data-testid="stIconMaterial"]) { display: none; }
.st-key-tabs p { white-space: nowrap; font-weight: 500 !important; }
[class*="st-key-subtab-"] p { font-size: 12px; font-weight: 400 !important; }
[class*="st-key-subtab-"] p::before { content: "› " / ""; }
[data-testid="stTopNavLink"] { background: none !important; }
%s { box-shadow: inset 0 -2px light-dark(#0f6b78, #4fb9c5); }
%s { color: light-dark(#0f6b78, #4fb9c5) !important; font-weight: 650 !important; }
</style>"""


def mark_place(name: str) -> str:
    """Return the style that marks the place of a page in the menu, its tab, and the page in its tab."""
    place, tab = url.place_of(name)
    menu = [f'[data-testid="st{where}NavLink"][href$="/{url.home_of(place)}"]' for where in ("Top", "Sidebar")]
    links = [
        f'.st-key-tabs a:is([href="{page}"], [href^="{page}?"])' for page in (next(iter(url.PLACES[place][tab])), name)
    ]
    return STYLE % (f"{menu[0]}, {links[0]}", ", ".join(f"{link} :is(p, span)" for link in (*menu, *links)))


def draw_tabs(name: str, run: str, of: str) -> None:
    """Draw the tabs of a page's place, after its own tab the tab's other pages; each keeps the run in the address.

    run: as addresses name it; of: the id that its numbers are read by.
    """
    place, here = url.place_of(name)
    tabs = {tab: pages for tab, pages in url.PLACES[place].items() if tab}
    if here not in tabs or (place == "Runs" and not run):
        return
    with st.container(horizontal=True, key="tabs"):
        for tab, pages in tabs.items():
            first = next((page for page in pages if _has_content(page, of)), None)
            if first:
                url.link(tab, first, run=run)
            for page in pages if tab == here else ():
                if page != first and (page == name or _has_content(page, of)):
                    with st.container(key=f"subtab-{page}", width="content"):
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


def _has_curves(run: str) -> bool:
    from components.views.curves.curve_offers import offered_views  # with pandas, which the first page leaves out

    return _is_finished(run) and bool(offered_views(run))


def _is_finished(run: str) -> bool:
    return workspace_runs.run_facts(run).state == "finished"


NEEDS: dict[str, Callable[[str], bool]] = {  # pages that not every run has something for
    "case": lambda _: False,  # one is opened from a list
    "curves": _has_curves,
    "gallery": lambda run: _is_finished(run) and run_reads.has_gallery(run),
    "compare": lambda run: len(workspace_runs.run_facts(run).models) > 1 or len(boards.same_suite(run)) > 1,
    "trend": lambda run: len(boards.same_suite(run)) > 1 + boards.is_board(run),
}
