"""Text of others inside Markdown stays text, for a CommonMark reader with GitHub's tables."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, strategies as st
from markdown_it import MarkdownIt

from metrics.presentation.safe_text import ZERO_WIDTH, code, prose, table

ATTACKS = {
    "image": "![x](https://evil.example/p.png)",
    "reference image": "![x][y]",
    "link": "[click](javascript:alert(1))",
    "autolink": "<https://evil.example>",
    "bare link": "see https://evil.example/p or www.evil.example now",
    "mail": "write to a@b.co",
    "html": "<img src=x onerror=alert(1)><script>x</script><!-- c -->",
    "entity": "&lt;b&gt; &#60;i&#62;",
    "mention": "@octocat and @org/team",
    "issue": "fixes #1, GH-2, octo/repo#3",
    "table": "a | b\n| --- | --- |\n| c | d |",
    "escaped pipe": "a \\| b \\\\| c",
    "code": "`x` ``y` and ```\nfence\n```",
    "heading": "# big",
    "underlined": "=====",
    "rule": "---",
    "list": "- a\n- b",
    "numbered": "1. a",
    "quote": "> a",
    "emphasis": "*a* _b_ **c** ~~d~~",
    "emoji": ":tada: :+1:",
    "maths": "$x$ $$y$$",
    "comment end": "--> <details><summary>x</summary>",
    "directions": "a \u202egnp.exe",
    "lines": "one\n\ntwo\r\n\tthree",
    "nothing": "",
}
GFM = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
ALLOWED = {"p", "table", "thead", "tbody", "tr", "th", "td", "code"}


class Elements(HTMLParser):
    """The elements and the text outside code of a rendered page; of the cells how many each row has."""

    def __init__(self, html: str):
        super().__init__()
        self.elements: list[str] = []
        self.outside = ""
        self.text = ""
        self._open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.elements.append(tag)
        self._open.append(tag)
        assert not attrs or tag in ("th", "td"), (tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if "code" not in self._open:
            self.outside += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)


def harmless(markdown: str) -> Elements:
    found = Elements(GFM.render(markdown))
    assert set(found.elements) <= ALLOWED
    # what GitHub looks for in the rendered text, outside of code
    for mark in ("@", "#"):
        assert all(after[:1] in ("\u200b", "") for after in found.outside.split(mark)[1:]), found.outside
    source = re.sub("`[^`]*`", "", markdown)
    assert not re.search(r"://|www\.", source), "GitHub makes links of them"
    return found


@pytest.mark.parametrize("text", ATTACKS.values(), ids=ATTACKS)
def test_names_and_sentences(text):
    flat = " ".join(text.replace("\u202e", "").split())
    for written in (prose(text), f"It is {prose(text)}.", code(text), f"{code(text)} and {code(text)}"):
        found = harmless(written)
        assert found.elements.count("p") == bool(written)
        assert flat in found.text.replace("\u200b", "")
    rows = harmless(table(("a", "b"), [(code(text), prose(text)), (prose(text), code(text))])).elements
    assert (rows.count("th"), rows.count("td"), rows.count("tr"), rows.count("p")) == (2, 4, 3, 0)


@given(st.text(st.sampled_from("`|\\*_[]()<>!#@&:;$~=-+1.\n ahttps/w{}\"'^"), max_size=40))
def test_any_text(text):
    flat = " ".join(text.split())
    for written in (prose(text), code(text), f"- {code(text)}"[2:]):
        assert (flat or "–") in harmless(f"x {written}").text.replace("\u200b", "") or not flat
    assert harmless(table(("a", "b"), [(code(text), prose(text))])).elements.count("td") == 2


def test_a_plain_name_stays_readable():
    assert code("gpt-4o @ v2 <b>") == "`gpt-4o @ v2 <b>`", "inside code nothing is looked for"
    assert code("a|b") == "<code>a&#124;b</code>"
    assert prose("Best in 3 of 4: 0.84 (0.81–0.87), p < 0.05.") == "Best in 3 of 4: 0.84 (0.81–0.87), p &#60; 0.05."
    assert prose("@x") == f"&#64;{ZERO_WIDTH}x"
