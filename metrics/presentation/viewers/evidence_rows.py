"""What evidence_list.js draws: each claim, nugget or passage with its verdict, reason and supporting contexts."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from metrics.presentation.palette import MARKS, MUTED
from metrics.presentation.phrases import context_titles
from metrics.presentation.verdict_rows import HOLDS_GLYPHS, VerdictGroup, VerdictRow

COLOURS: dict[str, str] = {"yes": MARKS["tp"].colour, "no": MARKS["fp"].colour, "unknown": MUTED[False]}

MOST_ROWS = 200  # of a group

MOST_CHARACTERS = 20_000  # of a context

AROUND = 400  # characters before a quote that stands further behind; twice as many from its beginning on


def payload(
    groups: Sequence[VerdictGroup], contexts: Sequence[str], ids: Sequence[str | None] | None = None
) -> dict[str, Any]:
    """Return what evidence.js draws: the groups of verdicts, and the contexts if a verdict rests on one."""
    rests_on_contexts = any(name == "contexts" for group in groups for row in group.rows for name, _ in row.rests_on)
    quotes = [quote for group in groups for row in group.rows[:MOST_ROWS] for quote in row.quotes]
    return {
        "groups": [
            {
                "name": group.name, "title": group.title, "note": note(group.rows),
                "rows": [_row(row) for row in group.rows[:MOST_ROWS]],
            }
            for group in groups
        ],
        "contexts": [_shown(text, quotes) for text in contexts] if rests_on_contexts else [],
        "titles": context_titles(len(contexts), ids),
        "hint": "hover or click a row to see what it rests on",
    }  # fmt: skip


def _shown(text: str, quotes: Sequence[str]) -> str:
    """Return the beginning of a context and, of what follows, the surroundings of each quote."""
    places = sorted({place for one in quotes if (place := text.find(one)) >= 0 and place + len(one) > MOST_CHARACTERS})
    beyond = [text[max(0, place - AROUND) : place + 2 * AROUND] for place in places[:MOST_ROWS]]
    return " […] ".join([text[:MOST_CHARACTERS], *beyond])


def note(rows: Sequence[VerdictRow]) -> str:
    """Return how many rows hold and how many do not: `✓ 2 · ✗ 1`; and that not all are drawn."""
    tally = Counter(row.holds for row in rows)
    parts = [f"{glyph} {tally[holds]}" for holds, glyph in HOLDS_GLYPHS.items() if tally[holds]]
    if len(rows) > MOST_ROWS:
        parts.append(f"the first {MOST_ROWS} are shown")
    return " · ".join(parts)


def _row(row: VerdictRow) -> dict[str, Any]:
    return {
        "number": row.number, "text": row.text, "expected": row.expected, "glyph": row.glyph, "label": row.label,
        "reason": row.reason, "restsOn": row.rests_on, "links": row.links, "notes": row.notes,
        "quotes": row.quotes, "colour": COLOURS[row.holds],
    }  # fmt: skip
