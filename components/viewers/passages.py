"""Passages of documents with the words marked that something rests on.

Drawn by passages.js, which inserts every text as text.
"""

import json
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


def draw(passages: Sequence[tuple[str, str]], quotes: Sequence[str], key: str) -> None:
    """Draw passages (where each stands, its text), the quotes marked."""
    payload = [{"place": place, "parts": marked(text, quotes)} for place, text in passages]
    packed = json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    browser_component("passages")(key=key, data=packed)
