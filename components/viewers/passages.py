"""Passages of documents with words marked: those that something rests on, or those that are changed.

Drawn by passages.js, which inserts every text as text.
"""

import difflib
import json
import re
from collections.abc import Sequence

from components.viewers.browser_component import browser_component

Parts = list[tuple[str, bool]]


def marked(text: str, quotes: Sequence[str]) -> Parts:
    """Return the text in parts: each with whether it is in a quote; a quote that is not in the text marks nothing."""
    inside = [False] * len(text)
    for quote in quotes:
        start = text.find(quote) if quote else -1
        if start >= 0:
            inside[start : start + len(quote)] = [True] * len(quote)
    parts: Parts = []
    begin = 0
    for place in range(1, len(text) + 1):
        if place == len(text) or inside[place] != inside[begin]:
            parts.append((text[begin:place], inside[begin]))
            begin = place
    return parts


def changed(before: str, after: str) -> Parts:
    """Return the text after a change in parts, the words that are not in the text before marked."""
    old, new = (re.findall(r"\S+|\s+", text) for text in (before, after))
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    cuts = (("".join(new[start:end]), kind != "equal") for kind, _, _, start, end in matcher.get_opcodes())
    return [(text, is_new) for text, is_new in cuts if text]


def draw(passages: Sequence[tuple[str, Parts]], key: str) -> None:
    """Draw passages: where each stands, and its text in parts."""
    payload = [{"place": place, "parts": parts} for place, parts in passages]
    packed = json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    browser_component("passages")(key=key, data=packed)
