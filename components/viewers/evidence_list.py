"""The verdicts of a score, item by item: each claim, nugget or passage with its reason and supporting contexts.

Items that are compared with expected ones, such as steps, are drawn next to them.
Drawn by evidence_list.js, which highlights a row together with what it rests on, and the words that it quotes; every
text is inserted as text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from components.viewers.browser_component import browser_component
from metrics.presentation.verdict_rows import VerdictGroup
from metrics.presentation.viewers.evidence_rows import payload


def draw(
    groups: Sequence[VerdictGroup], contexts: Sequence[str], key: str, ids: Sequence[str | None] | None = None
) -> None:
    """Draw the verdicts of one score beside the contexts they rest on, each with its id if there is one."""
    packed = json.dumps(payload(groups, contexts, ids), ensure_ascii=False, separators=(",", ":"))
    browser_component("evidence_list")(key=key, data=packed.encode("utf-8", "replace"))
