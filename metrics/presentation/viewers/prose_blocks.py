"""What prose.js draws: texts of people and models, words with marks or their Markdown as elements without any HTML.

Links and pictures in Markdown are words: their addresses stand beside them and lead nowhere.
"""

from collections.abc import Sequence
from typing import Any

from metrics.presentation.marked_text import Part
from metrics.presentation.palette import MARKS

TINTS = "".join(
    f".{name} {{ --tint: {MARKS[kind].colour}; }}"
    for name, kind in {"yes": "tp", "added": "tp", "no": "fp", "removed": "fp", "unknown": "ignored"}.items()
)
TAGS = frozenset(
    "p h1 h2 h3 h4 h5 h6 strong em s code pre ul ol li blockquote table thead tbody tr th td br hr".split()
)
MOST_CHARACTERS = 20_000  # beyond, a text is not rendered

Node = str | list[Any]  # words, or [tag, child, …]


def block(content: Sequence[Part] | Sequence[Node], title: str = "", rendered: bool = False) -> dict[str, Any]:
    """Return a text to draw: its parts, or where `rendered` the elements of its Markdown; and its title."""
    return {"title": title, "tree" if rendered else "parts": list(content)}


def markdown_tree(text: str) -> list[Node] | None:
    """Return the elements of a text; None where it has no Markdown to render, or is too long for it.

    Raw HTML stays text (CommonMark without HTML, with tables and strikethrough).
    """
    if len(text) > MOST_CHARACTERS:
        return None
    from markdown_it import MarkdownIt  # on use: only pages that render an answer need it
    from markdown_it.tree import SyntaxTreeNode

    reader = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    found = [node for child in SyntaxTreeNode(reader.parse(text)).children for node in _nodes(child)]
    return found if any(_is_rendered(node) for node in found) else None


def _is_rendered(node: Node) -> bool:
    """Return whether a node is more than words in paragraphs."""
    if isinstance(node, str):
        return False
    tag, *children = node
    return tag not in ("p", "br") or any(_is_rendered(child) for child in children)


def _nodes(node: Any) -> list[Node]:
    children = [part for child in node.children for part in _nodes(child)]
    if node.type in ("text", "html_inline", "html_block"):
        return [node.content] if node.content else []
    if node.type == "softbreak":
        return [" "]
    if node.type == "hardbreak":
        return [["br"]]
    if node.type in ("fence", "code_block"):
        return [["pre", ["code", node.content.rstrip("\n")]]]
    if node.type == "code_inline":
        return [["code", node.content]]
    if node.type == "link":
        return [*children, ["code", f" <{node.attrs.get('href', '')}>"]]
    if node.type == "image":
        return [["code", f"[image: {node.content}] <{node.attrs.get('src', '')}>"]]
    return [[node.tag, *children]] if node.tag in TAGS else children
