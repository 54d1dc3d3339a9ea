"""A condition as a form: groups of rows such as "contains Paris", joined by all or any. The form and the text of the
condition language (metrics.text.conditions) say the same.
"""

import re
from dataclasses import dataclass
from typing import Literal, get_args

from metrics.text.conditions import Expression, Junction, Negation, Term, parse_condition
from metrics.text.patterns import compiled

Test = Literal["contains", "lacks", "matches", "matches_not"]
TESTS: tuple[Test, ...] = get_args(Test)
NEGATED: dict[Test, Test] = {
    "contains": "lacks", "lacks": "contains", "matches": "matches_not", "matches_not": "matches"
}  # fmt: skip
WORDS = {True: " AND ", False: " OR "}


@dataclass(frozen=True, slots=True)
class Row:
    """One test of the answer: contains or lacks a text, matches or matches_not a regular expression."""

    test: Test
    text: str


@dataclass(frozen=True, slots=True)
class Group:
    """Rows of which all (`every`) or any must hold."""

    every: bool
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class ConditionForm:
    """Groups of which all (`every`) or any must hold."""

    every: bool
    groups: tuple[Group, ...]


def form_of(condition: str) -> ConditionForm | None:
    """Return a condition as a form; None where it is nested too deeply for one. ConditionError where it is none."""
    expression = _without_not(parse_condition(condition).expression)
    every = isinstance(expression, Junction) and expression.every
    if isinstance(expression, Junction) and not any(isinstance(part, Junction) for part in expression.parts):
        return ConditionForm(True, (Group(every, tuple(_row(part) for part in expression.parts)),))
    parts = expression.parts if isinstance(expression, Junction) else (expression,)
    groups = []
    for part in parts:
        rows = part.parts if isinstance(part, Junction) else (part,)
        if any(isinstance(row, Junction) for row in rows):
            return None
        groups.append(Group(isinstance(part, Junction) and part.every, tuple(_row(row) for row in rows)))
    return ConditionForm(every or not isinstance(expression, Junction), tuple(groups))


def condition_of(form: ConditionForm) -> str:
    """Return the text of a form; "" where it has no row. Groups without rows do not count."""
    groups = [group for group in form.groups if group.rows]
    texts = [WORDS[group.every].join(_written(row) for row in group.rows) for group in groups]
    if len(groups) > 1:
        texts = [f"({text})" if len(group.rows) > 1 else text for text, group in zip(texts, groups, strict=True)]
    return WORDS[form.every].join(texts)


def row_problem(row: Row) -> str:
    """Return why a row cannot be used; "" where it can."""
    if not row.text:
        return "nothing to look for"
    if row.test in ("matches", "matches_not"):
        try:
            compiled(row.text)
        except ValueError as failure:
            return f"RE2 cannot read the expression: {failure}"
    return ""


def _written(row: Row) -> str:
    negation = "NOT " if row.test in ("lacks", "matches_not") else ""
    if row.test in ("contains", "lacks"):
        return negation + '"' + row.text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    quoted = re.sub(r'\\.|"', lambda found: '\\"' if found[0] == '"' else found[0], row.text, flags=re.DOTALL)
    return f'{negation}regexp("{quoted}")'


def _row(leaf: Expression) -> Row:
    negated = isinstance(leaf, Negation)
    term = leaf.part if isinstance(leaf, Negation) else leaf
    assert isinstance(term, Term)
    if term.written.startswith('"'):
        test, text = "contains", re.sub(r'\\(["\\])', r"\1", term.written[1:-1])
    else:
        test, text = "matches", term.written[len('regexp("') : -len('")')].replace('\\"', '"')
    found: Test = "contains" if test == "contains" else "matches"
    return Row(NEGATED[found] if negated else found, text)


def _without_not(expression: Expression, negated: bool = False) -> Expression:
    """Return the expression with NOT only before terms (De Morgan), and no junction within one of its own kind."""
    match expression:
        case Negation(part):
            return _without_not(part, not negated)
        case Junction(every, parts):
            own = every != negated
            flat: list[Expression] = []
            for part in parts:
                plain = _without_not(part, negated)
                flat += plain.parts if isinstance(plain, Junction) and plain.every == own else (plain,)
            return Junction(own, tuple(flat))
    return Negation(expression) if negated else expression
