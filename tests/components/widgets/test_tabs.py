"""The tabs: on every page the same of its place, and the one that holds the page is marked."""

import re
from typing import Any

import pytest

from components.widgets import tabs, url


@pytest.mark.parametrize("name", url.PAGES)
def test_the_tab_that_holds_the_page_is_marked_among_all_of_its_place(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: dict[str, str] = {}

    def link(label: str, page: str, **_: Any) -> None:
        drawn[page] = label

    monkeypatch.setattr(tabs, "NEEDS", {})
    monkeypatch.setattr(url, "link", link)
    tabs.draw_tabs(name, "a run")
    place, tab = url.place_of(name)
    every = [title for title in url.PLACES[place] if title]
    assert list(drawn.values()) == (every if tab else []), "no tab comes or goes with the page"
    marked = {page for page in re.findall(r'href="([a-z_]+)"', tabs.mark_place(name)) if page in drawn}
    assert [drawn[page] for page in marked] == ([tab] if tab else [])
    opened_from_a_list = {"case": "Cases"}
    assert not tab or tab == opened_from_a_list.get(name, url.PAGES[name][0]), "the tab is called as its page"
