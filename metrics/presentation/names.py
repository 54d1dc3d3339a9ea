"""What people read: the names of metrics in place of their codes, and models' names where there is little room."""

import re
from collections import Counter
from collections.abc import Sequence

from metrics.core.metric_names import column_name, in_words, metric_name

__all__ = ["column_name", "common_prefix", "in_words", "metric_name", "middle", "short_names"]

PREFIX = 6  # characters in common that are worth leaving out
BREAK = re.compile(r".*[-_/:. ]", re.DOTALL)


def short_names(names: Sequence[str], limit: int = 22) -> dict[str, str]:
    """Return each name without what all of them begin with, and with its middle left out beyond `limit` characters.

    Two names that would become equal are given in full.
    """
    start = common_prefix(names)
    shorter = {name: middle(name[len(start) :], limit) for name in names}
    seen = Counter(shorter.values())
    return {name: text if seen[text] == 1 else name for name, text in shorter.items()}


def common_prefix(names: Sequence[str]) -> str:
    """Return what all of several names begin with, up to a separator; "" if that is hardly worth leaving out."""
    if len(names) < 2:
        return ""
    first, last = min(names), max(names)
    shared = next((place for place, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    found = BREAK.match(first[:shared])
    return found[0] if found and len(found[0]) >= PREFIX else ""


def middle(text: str, limit: int) -> str:
    """Return the text on one line with an ellipsis in place of its middle if it has more than `limit` characters."""
    flat = " ".join(text.split())
    if len(flat) <= limit:
        return flat
    tail = (limit - 1) // 2
    return f"{flat[: limit - 1 - tail]}…{flat[-tail:]}"
