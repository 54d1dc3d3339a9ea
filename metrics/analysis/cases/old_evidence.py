"""Reading the evidence of a stored score, also of runs sealed before verdicts were typed.

Those runs hold each evaluator's own records: a list is taken for verdicts where every record has one of VERDICT_KEYS,
and whether an item holds is decided by the words that the evaluators of that time used. Nothing else may read them.
"""

import json
from collections.abc import Mapping
from typing import Any

from metrics.core.evidence import RESERVED, Evidence, Link, Verdict, yes_or_no

HOLD = frozenset(
    "supported relevant useful agree correct full support unbiased civil passes passed yes excellent good match".split()
)
FAIL = frozenset(
    "unsupported irrelevant useless contradict incorrect none not_support biased toxic fails failed no poor bad "
    "mismatch inserted deleted".split()
)
VERDICT_KEYS = ("verdict", "grade", "supported", "passes", "passed", "correct")
REASON_KEYS = ("reason", "comment")
EXPECTED_TEXT = "expected"  # the text that an item is compared with
RELEVANT_GRADE = 2  # of 3, from which a passage answers the question
RENAMED = {"answer_claims": "claims"}  # groups that records refer to by another name


def read_evidence(text: str | None) -> Evidence | None:
    """Return the evidence stored as `text`, whatever version wrote it; None for a score without any."""
    if text is None:
        return None
    record = json.loads(text)
    if "version" in record:
        return Evidence.of_record(record)
    verdicts = {
        name: tuple(_verdict(entry, record) for entry in value)
        for name, value in record.items()
        if (
            isinstance(value, list)
            and bool(value)
            and all(isinstance(entry, Mapping) and any(key in entry for key in VERDICT_KEYS) for entry in value)
        )
    }
    facts = {name: value for name, value in record.items() if name not in verdicts and name not in RESERVED}
    return Evidence(verdicts, facts, record.get("judge"), record.get("panel"))


def _verdict(entry: Mapping[str, Any], record: Mapping[str, Any]) -> Verdict:
    key = next(key for key in VERDICT_KEYS if key in entry)
    reason = next((key for key in REASON_KEYS if key in entry), "")
    numbered = {name: value for name, value in entry.items() if _is_numbers(value)}
    used = {key, reason, EXPECTED_TEXT, *numbered}
    rests_on: list[Link] = [(RENAMED.get(name, name), number) for name, value in numbered.items() for number in value]
    text = ""
    for name, value in entry.items():
        if name in used:
            continue
        if isinstance(value, int) and not isinstance(value, bool):
            named = f"Context {value}" if name == "context" else _looked_up(f"{name}s", value, record)
            if named is None:
                continue
            if name == "context":
                rests_on.append(("contexts", value))
            used.add(name)
            text = text or named
        elif isinstance(value, str) and not text:
            used.add(name)
            text = value
    found = entry[key]
    label = f"grade {found}" if key == "grade" and found is not None else _word(found)
    facts = {name: value for name, value in entry.items() if name not in used and value not in (None, "", [], {})}
    expected = str(entry[EXPECTED_TEXT]) if EXPECTED_TEXT in entry else None
    holds = yes_or_no(_holds(found))
    return Verdict(text, holds, label, str(entry.get(reason) or ""), tuple(rests_on), expected=expected, facts=facts)


def _holds(verdict: Any) -> bool | None:
    if isinstance(verdict, bool) or verdict is None:
        return verdict
    if isinstance(verdict, int | float):
        return verdict >= RELEVANT_GRADE
    word = str(verdict).strip().lower()
    return True if word in HOLD else False if word in FAIL else None


def _is_numbers(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, int) and not isinstance(one, bool) for one in value)


def _looked_up(name: str, number: int, record: Mapping[str, Any]) -> str | None:
    """Return the `text` of the record of that number, from 1, in another list of the evidence."""
    entries = record.get(name)
    if isinstance(entries, list) and 1 <= number <= len(entries) and isinstance(entries[number - 1], Mapping):
        text = entries[number - 1].get("text")
        return text if isinstance(text, str) else None
    return None


def _word(value: Any) -> str:
    if value is None:
        return "unreadable"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3g}" if isinstance(value, float) else str(value).replace("_", " ")
