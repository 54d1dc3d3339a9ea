"""The Markdown of an answer as elements that can neither load nor lead anywhere."""

from typing import Any

import pytest

from metrics.presentation.viewers.prose_blocks import MOST_CHARACTERS, TAGS, markdown_tree

HOSTILE = """# Hi **you** <script>alert(1)</script>

<iframe src=x></iframe>

![a picture](http://127.0.0.1:9/x.png) [a link](http://127.0.0.1:9/) <http://127.0.0.1:9/auto>

| a | b |
|---|---|
| 1 | ~~2~~ |

```html
<img src=x>
```
"""


def tags(nodes: list[Any]) -> set[str]:
    found = set()
    for node in nodes:
        if not isinstance(node, str):
            found |= {node[0]} | tags(node[1:])
    return found


@pytest.mark.parametrize(("text", "tree"), [
    ("a **b** _c_", [["p", "a ", ["strong", "b"], " ", ["em", "c"]]]),
    ("1. a\n2. b", [["ol", ["li", ["p", "a"]], ["li", ["p", "b"]]]]),
    ("[a](http://b.example)", [["p", "a", ["code", " <http://b.example>"]]]),
    ("![a](http://b.example/c.png)", [["p", ["code", "[image: a] <http://b.example/c.png>"]]]),
    ("[a](javascript:alert(1)) `b`", [["p", "[a](javascript:alert(1)) ", ["code", "b"]]]),
    ("plain words, 3 * 4,\nin two lines", None),
    ("<b>HTML</b> is text", None),
    ("*" * (MOST_CHARACTERS + 1), None),
    ("", None),
], ids=["emphasis", "list", "link", "image", "script address", "plain", "html", "too long", "empty"])  # fmt: skip
def test_markdown_tree(text, tree):
    assert markdown_tree(text) == tree


@pytest.mark.attack(
    "model", "markup, scripts and images in an answer", "only known elements are drawn, without addresses"
)
def test_hostile_text_yields_only_known_elements():
    tree = markdown_tree(HOSTILE) or []
    assert tags(tree) <= TAGS
    assert "<script>" in str(tree)
    assert "http://127.0.0.1:9/x.png" in str(tree)


def test_deep_nesting_is_bounded():
    assert markdown_tree("> " * 5_000 + "x") is not None
    assert markdown_tree("[" * 5_000 + "]" * 5_000 + " **a**") is not None
