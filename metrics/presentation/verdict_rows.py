"""The verdicts of an evidence as rows of plain text, the same in pages and reports."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from metrics.core.evidence import QUOTE_FOUND, QUOTE_GAP, Evidence, Holds, Link, Verdict
from metrics.presentation.format import number
from metrics.presentation.judge_notes import NOT_FOUND

SHA256 = re.compile("[0-9a-f]{64}")
HOLDS_GLYPHS: dict[Holds, str] = {"yes": "✓", "no": "✗", "unknown": "–"}


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """One verdict: its number in the group, from 1, and everything that is shown of it.

    `links` says in words what it `rests_on`; `notes` are its quote and facts, a text each; `expected` is None where the
    item is not compared with anything; `quotes` are the pieces of a judge's quote that stand in what it rests on.
    """

    number: int
    text: str
    holds: Holds
    glyph: str
    label: str
    reason: str
    rests_on: tuple[Link, ...]
    links: str
    notes: tuple[str, ...]
    expected: str | None
    quotes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VerdictGroup:
    """The rows of one group of verdicts."""

    name: str
    title: str
    rows: tuple[VerdictRow, ...]


def verdict_groups(evidence: Evidence) -> tuple[VerdictGroup, ...]:
    """Return the groups of verdicts of an evidence, in its order."""
    return tuple(
        VerdictGroup(name, _words(name).capitalize(), tuple(_row(place, one) for place, one in enumerate(verdicts, 1)))
        for name, verdicts in evidence.verdicts.items()
    )


def links_text(verdict: Verdict) -> str:
    """Return what a verdict rests on: `contexts 1, 3 · claim 2`; empty for nothing but the item itself."""
    by_group: dict[str, list[str]] = {}
    for group, place in verdict.rests_on:
        by_group.setdefault(_words(group), []).append(str(place))
    texts = (f"{name if len(own) > 1 else name.removesuffix('s')} {', '.join(own)}" for name, own in by_group.items())
    return " · ".join(text for text in texts if text != verdict.text.casefold())


def _row(place: int, verdict: Verdict) -> VerdictRow:
    return VerdictRow(
        place, verdict.text, verdict.holds, HOLDS_GLYPHS[verdict.holds], verdict.label, verdict.reason,
        verdict.rests_on, links_text(verdict), tuple(_notes(verdict)), verdict.expected,
        tuple(verdict.quote.split(QUOTE_GAP)) if verdict.facts.get(QUOTE_FOUND) else (),
    )  # fmt: skip


def _notes(verdict: Verdict) -> Iterator[str]:
    if verdict.probability is not None:
        yield f"probability that it holds: {number(verdict.probability)}"
    if verdict.quote:
        warning = f"⚠ {NOT_FOUND}: " if verdict.facts.get(QUOTE_FOUND) is False else ""
        yield f"{warning}“{verdict.quote}”"
    for name, value in verdict.facts.items():
        if name != QUOTE_FOUND and value not in (None, "", [], {}):
            yield f"{_words(name)}: {fact_text(value)}"


def fact_text(value: Any) -> str:
    """Return the value of a fact, JSON data, as text: `yes`, `0.667`, `a, b`, `name value`; a sha256 cut short."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number(value)
    if isinstance(value, list | tuple):
        return ", ".join(map(fact_text, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{_words(name)} {fact_text(part)}" for name, part in value.items())
    text = str(value)
    return f"{text[:12]}…" if SHA256.fullmatch(text) else text


def _words(name: str) -> str:
    return name.replace("_", " ")
