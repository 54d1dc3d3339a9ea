"""The HTML report: one file that loads nothing, runs nothing and says the same as the PDF."""

from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pypdfium2
import pytest
from hypothesis import given, strategies as st
from PIL import Image

from metrics.presentation.blocks import Passage
from metrics.presentation.palette import ramp
from metrics.presentation.safe_text import shown
from metrics.reports.renderers.html import html
from metrics.reports.renderers.pdf import pdf
from metrics.reports.report import Report
from tests.reports.made import HOSTILE, MODELS, SCRIPTS, made, noted, worst_text

VOID = {"meta"}
ATTACKS = {
    "script": "<script>alert(1)</script>",
    "closed-style": "</style><script>alert(1)</script>",
    "attribute": '" onload="alert(1)" x="',
    "image": "<img src=http://evil/x.png onerror=alert(1)>",
    "entity": "&lt;b&gt; &amp; &#60;",
    "comment": "<!-- --> ]]> <![CDATA[",
    "hostile": HOSTILE,
    "scripts": SCRIPTS,
}


class Page(HTMLParser):
    """The elements, attributes and texts of a page; an element that is not closed in order fails the test."""

    def __init__(self, content: bytes):
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.names: set[str] = set()
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self.feed(content.decode())
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.texts.append(data)


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("media") / "street.png"
    Image.effect_noise((640, 400), 60).save(path)
    return html(made(path))


def assert_harmless(page: Page) -> None:
    assert page.names.isdisjoint({"script", "iframe", "object", "embed", "link", "form", "base", "img"})
    for _, name, value in page.attributes:
        assert not name.startswith("on")
        if name in ("src", "href", "xlink:href"):
            assert value.startswith(("#", "data:image/jpeg;base64,"))
        assert "url(" not in value


def test_it_says_what_the_pdf_says(content: bytes) -> None:
    text = "\n".join(Page(content).texts)
    for expected in (
        "MT-RAG answers, 21 Nov 2026", "atlas-large leads", "0.512", "0.470–0.550", "Data and run", "Leaderboard",
        "3 errors", "Curves", "Worst cases", "Methods", "under 0.4", "Significant: the whole 95 % interval",
        "By how much?",
        "159 unscored", "1 missed", "Lin 2004", SCRIPTS, *MODELS,
    ):  # fmt: skip
        assert expected in text


@pytest.mark.attack("model", "a report that calls home", "it loads nothing and runs no script")
def test_it_loads_and_runs_nothing(content: bytes) -> None:
    page = Page(content)
    assert_harmless(page)
    policies = [value for name, key, value in page.attributes if name == "meta" and value.startswith("default-src")]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]
    assert b"@media screen and (prefers-color-scheme:dark)" in content
    assert b"@import" not in content


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
@pytest.mark.attack("model", "scripts and images in every text of a report", "the HTML report escapes everything")
def test_hostile_text_is_only_text(attack: str) -> None:
    case = replace(worst_text(), case_id=attack, model=attack, passages=(Passage(attack, attack),), tags=(attack,))
    report = replace(
        made(), title=attack, headline=attack, models=(attack, "b", "c"), worst=(case,), sections=noted(attack)
    )
    page = Page(html(report))
    assert_harmless(page)
    assert "".join(page.texts).count(shown(attack)) >= 7


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_survives(text: str) -> None:
    page = Page(html(Report(text, "run", "2026-11-21", text)))
    assert_harmless(page)
    assert shown(text) in "".join(page.texts)


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_shows_it_without_complaint(browser, content: bytes, tmp_path: Path, scheme: str) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "report.html"
    path.write_bytes(content)
    context = browser.new_context(viewport={"width": 420, "height": 900}, color_scheme=scheme, java_script_enabled=True)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("request", lambda request: complaints.append(request.url) if request.url.startswith("http") else None)
    page.goto(path.as_uri())
    assert page.locator("h1").inner_text() == "MT-RAG answers, 21 Nov 2026"
    assert (page.evaluate("document.documentElement.scrollWidth"), complaints) == (420, [])
    context.close()


@pytest.mark.browser
def test_paper_is_light_shaded_and_no_longer_than_the_pdf(browser, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    report = made()
    path = tmp_path / "report.html"
    path.write_bytes(html(report))
    context = browser.new_context(color_scheme="dark")
    page = context.new_page()
    page.goto(path.as_uri())
    printed = pypdfium2.PdfDocument(page.pdf(prefer_css_page_size=True))
    context.close()
    assert len(printed) <= len(pypdfium2.PdfDocument(pdf(report)))
    found: Counter[tuple[int, ...]] = Counter()
    for sheet in printed:
        image = sheet.render(scale=1).to_pil().convert("RGB")
        assert image.getpixel((2, 2)) == (255, 255, 255)
        found += Counter({colour: count for count, colour in image.getcolors(1 << 20)})
    shades = {tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5)) for colour in ramp()}
    assert sum(found[shade] > 500 for shade in shades) >= 5, "the cells of the leaderboard keep their colours"
    assert "1 / " in printed[0].get_textpage().get_text_range()
