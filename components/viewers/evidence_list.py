"""What was found item by item: each claim, nugget or passage with its verdict, reason and supporting contexts.

Items that are held against expected ones, as steps are, stand beside these.
Drawn by evidence.js, in which a row and what it rests on light up together; every text is put in as text.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from components.palette import GLYPHS, MARKS, MUTED
from components.viewers.browser_component import browser_component

COLOURS = {True: MARKS["tp"].colour, False: MARKS["fp"].colour, None: MUTED[False]}
SHOWN = ("number", "text", "against", "glyph", "verdict", "reason", "rests", "links", "more")  # of a row
MOST_ROWS = 200  # of a list
MOST_CHARACTERS = 20_000  # of a context


def payload(lists: Sequence[Mapping[str, Any]], contexts: Sequence[str]) -> dict[str, Any]:
    """Return what evidence.js draws: lists of verdicts as `data.verdicts` gives them; the contexts if one rests on
    them.
    """
    rests_on_contexts = any(name == "contexts" for entry in lists for row in entry["rows"] for name, _ in row["rests"])
    return {
        "lists": [
            {
                "name": entry["name"], "title": entry["title"], "note": note(entry["rows"]),
                "rows": [_row(row) for row in entry["rows"][:MOST_ROWS]],
            }
            for entry in lists
        ],
        "contexts": [text[:MOST_CHARACTERS] for text in contexts] if rests_on_contexts else [],
        "hint": "hover or click a row to see what it rests on",
    }  # fmt: skip


def note(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return how many rows hold: `✓ 2 · ✗ 1`; and how many are not drawn."""
    tally = {mark: sum(row["holds"] is mark for row in rows) for mark in GLYPHS}
    parts = [f"{GLYPHS[mark]} {number}" for mark, number in tally.items() if number]
    if len(rows) > MOST_ROWS:
        parts.append(f"the first {MOST_ROWS} are shown")
    return " · ".join(parts)


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    shown = {name: row[name] for name in SHOWN}
    return shown | {"colour": COLOURS[row["holds"]]}


def draw(lists: Sequence[Mapping[str, Any]], contexts: Sequence[str], key: str) -> None:
    """Draw the verdicts of one score beside the contexts they rest on."""
    packed = json.dumps(payload(lists, contexts), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    browser_component("evidence_list")(key=key, data=packed)
