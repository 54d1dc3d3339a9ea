"""The verdicts in a score's evidence: claims, nuggets, passages … each with a mark, a reason and what it rests on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

GOOD = "supported relevant useful agree correct full support unbiased civil passes passed pass yes excellent good met"
HOLDS = frozenset(
    "supported relevant useful agree correct full support unbiased civil passes passed yes excellent good match".split()
)
FAILS = frozenset(
    "unsupported irrelevant useless contradict incorrect none not_support biased toxic fails failed no poor bad "
    "mismatch inserted deleted".split()
)
NAMES = ("verdict", "grade", "supported", "passes", "passed", "correct")  # of a record's verdict
REASONS = ("reason", "comment")
AGAINST = "expected"  # what a record's text is held against, side by side
RELEVANT_GRADE = 2  # of 3, from which a passage answers the question
ALIASES = {"answer_claims": "claims"}  # the list that a row's numbers count in, where it has another name
GLYPHS = {True: "✓", False: "✗", None: "–"}  # holds, does not hold, in part or unknown


@dataclass(frozen=True, slots=True)
class Row:
    """One thing judged: its text, whether it holds (None: in part, or unknown), the verdict in words, and why.

    `against` is the text it is held against, empty where it stands alone; None where the list has no such sides.
    `rests_on` are the things it rests on as (list, number from 1): ("contexts", 3), ("reference_claims", 1); `more` has
    the record's other fields in words.
    """

    number: int
    text: str
    holds: bool | None
    verdict: str
    reason: str = ""
    rests_on: tuple[tuple[str, int], ...] = ()
    more: tuple[str, ...] = ()
    against: str | None = None

    @property
    def glyph(self) -> str:
        """The mark that stands beside the verdict's colour."""
        return GLYPHS[self.holds]

    @property
    def links(self) -> str:
        """What it rests on in words: `contexts 1, 3`, `reference claim 2`; empty for nothing but itself."""
        by_name: dict[str, list[str]] = {}
        for name, number in self.rests_on:
            by_name.setdefault(name.replace("_", " "), []).append(str(number))
        texts = [
            f"{name if len(numbers) > 1 else name.removesuffix('s')} {', '.join(numbers)}"
            for name, numbers in by_name.items()
        ]
        return " · ".join(text for text in texts if text != self.text.casefold())


@dataclass(frozen=True, slots=True)
class VerdictList:
    """The rows under one name of the evidence."""

    name: str
    rows: tuple[Row, ...]

    @property
    def title(self) -> str:
        """The name as words."""
        return self.name.replace("_", " ").capitalize()


def verdict_lists(evidence: Mapping[str, Any]) -> tuple[tuple[VerdictList, ...], dict[str, Any]]:
    """Return the lists of records with a verdict, in the evidence's order; and the evidence without them."""
    lists: list[VerdictList] = []
    rest: dict[str, Any] = {}
    for name, value in evidence.items():
        if _has_verdicts(value):
            rows = tuple(_row(number, record, evidence) for number, record in enumerate(value, 1))
            lists.append(VerdictList(name, rows))
        else:
            rest[name] = value
    return tuple(lists), rest


def holds(verdict: Any) -> bool | None:
    """Return whether a verdict is a good one: None for one in part, an unknown one, or none at all."""
    if isinstance(verdict, bool) or verdict is None:
        return verdict
    if isinstance(verdict, int | float):
        return verdict >= RELEVANT_GRADE
    word = str(verdict).strip().lower()
    return True if word in HOLDS else False if word in FAILS else None


def _has_verdicts(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(record, Mapping) and any(name in record for name in NAMES) for record in value)
    )


def _row(number: int, record: Mapping[str, Any], evidence: Mapping[str, Any]) -> Row:
    verdict = next(name for name in NAMES if name in record)
    reason = next((key for key in REASONS if key in record), "")
    links = {key: _numbers(value) for key, value in record.items() if _numbers(value)}
    used = {verdict, reason, AGAINST, *links}
    rests_on = [(ALIASES.get(key, key), one) for key, numbers in links.items() for one in numbers]
    text = ""
    for key, value in record.items():
        if key in used:
            continue
        if isinstance(value, int) and not isinstance(value, bool):
            named = f"Context {value}" if key == "context" else _looked_up(f"{key}s", value, evidence)
            if named is None:
                continue
            if key == "context":
                rests_on.append(("contexts", value))
            used.add(key)
            text = text or named
        elif isinstance(value, str) and not text:
            used.add(key)
            text = value
    others = tuple(
        f"{key.replace('_', ' ')}: {_word(value)}"
        for key, value in record.items()
        if key not in used and value not in (None, "", [], {})
    )
    found = record[verdict]
    said = f"grade {found}" if verdict == "grade" and found is not None else _word(found)
    against = str(record[AGAINST]) if AGAINST in record else None
    return Row(number, text, holds(found), said, str(record.get(reason) or ""), tuple(rests_on), others, against)


def _numbers(value: Any) -> tuple[int, ...]:
    if isinstance(value, list) and all(isinstance(one, int) and not isinstance(one, bool) for one in value):
        return tuple(value)
    return ()


def _looked_up(name: str, place: int, evidence: Mapping[str, Any]) -> str | None:
    """Return the text of the record in that place, from 1, of another list of the evidence that has texts."""
    records = evidence.get(name)
    if isinstance(records, list) and 1 <= place <= len(records) and isinstance(records[place - 1], Mapping):
        text = records[place - 1].get("text")
        return text if isinstance(text, str) else None
    return None


def _word(value: Any) -> str:
    if value is None:
        return "unreadable"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}"
    return str(value).replace("_", " ")
