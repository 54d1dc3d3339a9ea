"""The fields of a case that a target may see, and templates with placeholders for them: `{question}`."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from metrics.core.errors import InputProblem
from metrics.core.fields import CASE_FIELDS, FIELDS
from metrics.core.suite import LATER, METADATA, Suite

PLACEHOLDER = re.compile(r"\{\{([A-Za-z_][\w.-]*)\}\}|\{([A-Za-z_][\w.-]*)\}")  # a doubled one is text
NAMES = {"reference_contexts": "contexts"}  # column → placeholder, where they differ
SEEN = {NAMES.get(each.name, each.name): each.name for each in CASE_FIELDS if each.given == "always"}
REVEALED = {each.name: each.name for each in CASE_FIELDS if each.given == "revealed"}
REVEALED |= {"expected_answer": "expected_answers"}

Fields = Mapping[str, Any]  # name → text or list of texts


def cases_seen(suite: Suite, reveal_expected: bool) -> Iterator[Fields]:
    """Yield of each case what a target may see: texts, lists of texts, `metadata` by name. Absent text is empty."""
    columns = SEEN | (REVEALED if reveal_expected else {})
    metadata = [name for name in suite.cases.column_names if name.startswith(METADATA)]
    for row in suite.cases.select([*dict.fromkeys(columns.values()), *metadata]).to_pylist():
        fields = {
            name: row[column] or ([] if FIELDS[column].is_list else "")
            for name, column in columns.items()
            if row[column] or column not in LATER  # what was asked before there was the column is asked as it was
        }
        if reveal_expected:
            fields["expected_answer"] = next(iter(fields["expected_answers"]), "")
        yield fields | {"metadata": {name.removeprefix(METADATA): row[name] or "" for name in metadata}}


def known_names(suite: Suite, reveal_expected: bool = False) -> tuple[str, ...]:
    """Return the placeholders that the cases of a suite have values for."""
    filled = {name for name in suite.cases.column_names if suite.cases[name].null_count < len(suite)}
    own = [name.removeprefix(METADATA) for name in filled if name.startswith(METADATA)]
    columns = SEEN | (REVEALED if reveal_expected else {})
    return tuple(sorted({*own, *(name for name, column in columns.items() if column in filled)}))


def check(texts: Iterable[str], suite: Suite, reveal_expected: bool, where: str) -> list[InputProblem]:
    """Return a problem for every placeholder that no case has."""
    known = known_names(suite, reveal_expected)
    found = dict.fromkeys(name for text in texts for escaped, name in PLACEHOLDER.findall(text) if not escaped)
    problems = []
    for name in found:
        if name in known:
            continue
        expected = "one of " + ", ".join(f"{{{each}}}" for each in known) + "; {{name}} is text"
        if name in REVEALED:
            expected = "nothing that gives the answer away, unless reveal_expected is set"
        problems.append(InputProblem(where, f"the placeholder {{{name}}}", expected))
    return problems


def fill(template: str, fields: Fields, escape: Callable[[str], str] = str) -> str:
    """Return a text with the case's values in place of placeholders; a list as numbered paragraphs.

    What stands in a value is never taken for a placeholder.
    """
    return PLACEHOLDER.sub(
        lambda found: f"{{{found[1]}}}" if found[1] else escape(_text(_value(fields, found[2]))), template
    )


def fill_url(template: str, fields: Fields) -> str:
    """Return an address with percent-encoded values."""
    return fill(template, fields, lambda text: quote(text, safe="", errors="replace"))


def fill_json(template: Any, fields: Fields) -> Any:
    """Return a JSON value with placeholders filled in its texts; a text that is only `{contexts}` becomes a list."""
    if isinstance(template, str):
        whole = PLACEHOLDER.fullmatch(template)
        return _value(fields, whole[2]) if whole and whole[2] else fill(template, fields)
    if isinstance(template, dict):
        return {key: fill_json(value, fields) for key, value in template.items()}
    return [fill_json(value, fields) for value in template] if isinstance(template, list) else template


def _value(fields: Fields, name: str) -> Any:
    return fields[name] if name in fields else fields["metadata"].get(name, "")


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "\n\n".join(f"[{number}] {item}" for number, item in enumerate(value, 1))
