"""The condition language of text matching: quoted strings and regexp("…") with AND, OR, NOT and parentheses."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from metrics.text.patterns import compiled

MAX_CHARACTERS = 10_000
MAX_DEPTH = 50
MAX_TERMS = 200

TOKEN = re.compile(r'\s*(?:(?P<symbol>[()])|(?P<string>"(?:[^"\\]|\\.)*+")|(?P<word>\w+)|(?P<end>\Z))', re.DOTALL)


class ConditionError(ValueError):
    """A condition that cannot be read: what was found and expected; `position` counts characters from 1."""

    def __init__(self, found: str, expected: str, position: int):
        super().__init__(f"the condition has {found} at character {position}; expected {expected}")
        self.found = f"{found} at character {position}"
        self.expected = expected
        self.position = position


@dataclass(frozen=True, slots=True)
class Term:
    """A leaf of a condition: as it was written, and the test whether a text contains it."""

    written: str
    matches: Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Negation:
    """NOT part."""

    part: "Expression"


@dataclass(frozen=True, slots=True)
class Junction:
    """Parts joined by AND (`every`) or by OR."""

    every: bool
    parts: tuple["Expression", ...]


Expression = Term | Negation | Junction


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that has been read: its expression and its terms in the order written."""

    expression: Expression
    terms: tuple[Term, ...]

    def found(self, text: str) -> tuple[bool, ...]:
        """Return for each term whether `text` contains it."""
        return tuple(term.matches(text) for term in self.terms)

    def holds(self, found: Sequence[bool]) -> bool:
        """Return whether the condition is true for a text that contains these terms."""
        return _holds(self.expression, dict(zip(map(id, self.terms), found, strict=True)))


@lru_cache(maxsize=1024)
def parse_condition(text: str, case_sensitive: bool = True) -> Condition:
    r"""Return the condition that `text` states; ConditionError with the position for anything else.

        or    = and { OR and }        and  = not { AND not }        not = { NOT } item
        item  = "…" | regexp("…") | ( or )

    Keywords in any case. A string matches if the text contains it; in it \" is a quote and \\ a backslash. A regular
    expression matches if RE2 finds it anywhere; in it only \" is changed. Limits: 10,000 characters, 200 terms, 50
    levels, 1,000 characters and 1 MiB of compiled program per expression.
    """
    if len(text) > MAX_CHARACTERS:
        raise ConditionError(f"{len(text):,} characters", f"at most {MAX_CHARACTERS:,}", MAX_CHARACTERS + 1)
    return _Parser(text, case_sensitive).condition()


class _Parser:
    """A recursive descent parser; `kind`, `value` and `at` are those of the next token."""

    def __init__(self, text: str, case_sensitive: bool):
        self.text = text
        self.case_sensitive = case_sensitive
        self.terms: list[Term] = []
        self.next_place = 0
        self.advance()

    def condition(self) -> Condition:
        expression = self.junction(0)
        if self.kind != "end":
            raise self.error('AND, OR or the end; text to look for must be in "quotes"')
        return Condition(expression, tuple(self.terms))

    def advance(self) -> None:
        match = TOKEN.match(self.text, self.next_place)
        if match is None:
            at = len(self.text) - len(self.text[self.next_place :].lstrip())
            if self.text[at] == '"':
                raise ConditionError("a quote that is not closed", 'a closing "', at + 1)
            raise ConditionError(repr(self.text[at]), '"…", regexp("…"), AND, OR, NOT or a parenthesis', at + 1)
        self.kind = str(match.lastgroup)
        self.value = match[self.kind]
        self.at = match.start(self.kind)
        self.next_place = match.end()

    def keyword(self, word: str) -> bool:
        return self.kind == "word" and self.value.upper() == word

    def error(self, expected: str) -> ConditionError:
        return ConditionError("the end" if self.kind == "end" else repr(self.value), expected, self.at + 1)

    def junction(self, depth: int, every: bool = False) -> Expression:
        parts = [self.part(depth, every)]
        while self.keyword("AND" if every else "OR"):
            self.advance()
            parts.append(self.part(depth, every))
        return parts[0] if len(parts) == 1 else Junction(every, tuple(parts))

    def part(self, depth: int, every: bool) -> Expression:
        if not every:
            return self.junction(depth, every=True)
        negated = False
        while self.keyword("NOT"):
            negated = not negated
            self.advance()
        item = self.item(depth)
        return Negation(item) if negated else item

    def item(self, depth: int) -> Expression:
        if self.value == "(" and self.kind == "symbol":
            if depth >= MAX_DEPTH:
                raise self.error(f"at most {MAX_DEPTH} nested parentheses")
            self.advance()
            expression = self.junction(depth + 1)
            self.close()
            return expression
        if len(self.terms) >= MAX_TERMS:
            raise self.error(f"at most {MAX_TERMS} strings and expressions")
        if self.kind == "string":
            term = Term(self.value, _containing(re.sub(r'\\(["\\])', r"\1", self.value[1:-1]), self.case_sensitive))
            self.advance()
        elif self.keyword("REGEXP"):
            term = self.regexp()
        else:
            raise self.error('"…", regexp("…"), NOT or (')
        self.terms.append(term)
        return term

    def regexp(self) -> Term:
        self.advance()
        if self.value != "(" or self.kind != "symbol":
            raise self.error('( after regexp, as in regexp("…")')
        self.advance()
        if self.kind != "string":
            raise self.error('an expression in quotes, as in regexp("…")')
        written, at = self.value, self.at
        self.advance()
        self.close()
        try:
            expression = compiled(written[1:-1].replace('\\"', '"'), self.case_sensitive)
        except ValueError as failure:
            raise ConditionError(f"the expression {written}: {failure}", "one that RE2 can read", at + 1) from None
        return Term(f"regexp({written})", lambda text: expression.search(text) is not None)

    def close(self) -> None:
        if self.value != ")" or self.kind != "symbol":
            raise self.error(")")
        self.advance()


def _containing(wanted: str, case_sensitive: bool) -> Callable[[str], bool]:
    if case_sensitive:
        return lambda text: wanted in text
    folded = wanted.casefold()
    return lambda text: folded in text.casefold()


def _holds(expression: Expression, found: dict[int, bool]) -> bool:
    match expression:
        case Term():
            return found[id(expression)]
        case Negation(part):
            return not _holds(part, found)
        case Junction(every, parts):
            return (all if every else any)(_holds(part, found) for part in parts)
