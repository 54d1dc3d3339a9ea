"""How numbers (at most three significant digits), times, statuses and names are written, wherever they are read."""

import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from metrics.core.metric_names import column_name as column_name, in_words as in_words, metric_name as metric_name
from metrics.core.number_text import (
    MISSING as MISSING,
    amount as amount,
    exact as exact,
    interval as interval,
    number as number,
    p_value as p_value,
    p_words as p_words,
)

FIGURE_SPACE = "\u2007"  # as wide as a digit in tabular figures
POINT_SPACE = "\u2008"  # as wide as the point
ARROWS = {"higher": "↑", "lower": "↓", "none": ""}
DIRECTIONS = {"higher": "higher is better", "lower": "lower is better", "none": "neither end is better"}
STATUSES = {
    "ok": "scored",
    "not_applicable": "not applicable",
    "parse_failure": "reply unreadable",
    "error": "error",
    "skipped": "skipped",
}
WHOLE = 24  # characters of a name that are shown whatever others are called
PREFIX = 6  # characters in common that are worth leaving out
BREAK = re.compile(r".*[-_/:. ]", re.DOTALL)


def aligned(values: Sequence[float | None]) -> list[str]:
    """Return the numbers of a right-aligned column, padded on the right so that their points align."""
    texts = [number(value) for value in values]
    depths = [len(text.partition(".")[2]) for text in texts]
    deepest = max(depths, default=0)
    return [
        text + ("" if depth else POINT_SPACE if deepest else "") + FIGURE_SPACE * (deepest - depth)
        for text, depth in zip(texts, depths, strict=True)
    ]


def count(n: int) -> str:
    """Return a whole number with thousands separated: 12,345."""
    return f"{n:,}"


def rough(n: int) -> int:
    """Return an estimated whole number to two digits: 39,408 → 39,000."""
    return int(float(f"{n:.2g}"))


def plural(n: int, noun: str, many: str | None = None) -> str:
    """Return `1 case` or `12,345 cases`; `many` is the plural where it is not noun + s."""
    return f"{count(n)} {noun if n == 1 else many or noun + 's'}"


def share(part: float, whole: float) -> str:
    """Return a share in per cent: `42 %`; MISSING where the whole is 0."""
    return f"{round(100 * part / whole)} %" if whole else MISSING


def size_text(size: int) -> str:
    """Return a number of bytes: `800 B`, `12 kB`, `3.4 MB`, `1.1 GB`."""
    if size < 1000:
        return f"{size} B"
    if size < 1e6:
        return f"{size / 1e3:,.0f} kB"
    return f"{size / 1e6:,.1f} MB" if size < 1e9 else f"{size / 1e9:,.1f} GB"


def duration(seconds: float | None) -> str:
    """Return a time span: `0.4 s`, `12 s`, `3 min 05 s`, `2 h 10 min`; MISSING for None."""
    if seconds is None:
        return MISSING
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def moment(iso: str) -> str:
    """Return an ISO date and time as `21 Nov 2026, 10:28`; the text itself where it is not one."""
    try:
        when = datetime.fromisoformat(iso)
    except ValueError:
        return iso
    return f"{when.day} {when:%b %Y, %H:%M}"


def day(iso: str) -> str:
    """Return the day of an ISO date and time as `21 Nov 2026`; the text itself where it is not one."""
    return moment(iso).partition(",")[0]


def range_text(low: float, high: float) -> str:
    """Return the range of a metric: `0 … 1`, `−1 … ∞`."""
    return " … ".join(number(edge) if abs(edge) == float("inf") else exact(edge) for edge in (low, high))


def title(name: str) -> str:
    """Return a metric's name as a title: `best_f1` → `Best f1`, `map_averaged` → `Map averaged`."""
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]


def shorten(text: str, limit: int = 60) -> str:
    """Return the text as one line of at most `limit` characters, cut with an ellipsis."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def short_names(names: Sequence[str], limit: int = WHOLE, prefix: str = "") -> dict[str, str]:
    """Return each name with its middle left out beyond `limit` characters; a `prefix` that is shown elsewhere, never.

    Two names that would become equal are given in full.
    """
    shorter = {name: middle(name.removeprefix(prefix), limit) for name in names}
    seen = Counter(shorter.values())
    return {name: text if seen[text] == 1 else name for name, text in shorter.items()}


def common_prefix(names: Sequence[str]) -> str:
    """Return what all of several names begin with, up to a separator.

    "" if that is hardly worth leaving out, as every name is short or it is itself, or if it would leave no letter of a
    name: a bare number says nothing.
    """
    if len(names) < 2 or max(map(len, names)) <= WHOLE:
        return ""
    first, last = min(names), max(names)
    shared = next((place for place, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    found = BREAK.match(first[:shared])
    start = found[0] if found and len(found[0]) >= PREFIX else ""
    return start if all(any(map(str.isalpha, name[len(start) :])) for name in names) else ""


def middle(text: str, limit: int) -> str:
    """Return the text on one line with an ellipsis in place of its middle if it has more than `limit` characters."""
    flat = " ".join(text.split())
    if len(flat) <= limit:
        return flat
    tail = (limit - 1) // 2
    return f"{flat[: limit - 1 - tail]}…{flat[-tail:]}"
