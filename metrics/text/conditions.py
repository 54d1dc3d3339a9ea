"""The condition language of text matching: quoted strings and regexp("…") with AND, OR, NOT and parentheses."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.unicode_forms import normalized
from metrics.text.patterns import compiled

MAX_CHARACTERS = 10_000
MAX_DEPTH = 50
MAX_TERMS = 200
FEW = 8  # texts that are looked through one by one sooner than as a column
MOST_PROBLEMS = 20  # listed of one condition

TOKEN = re.compile(
    r'\s*(?:(?P<symbol>[()!]|&&|\|\|)|(?P<string>"(?:[^"\\]|\\.)*+"|[“”„](?:[^“”„\\]|\\.)*+[“”„])'
    r"|(?P<word>\w+)|(?P<end>\Z))",
    re.DOTALL,
)
SYMBOLS = {"&&": "AND", "||": "OR", "!": "NOT"}
OPERATORS = ("AND", "OR", "NOT")
STRAIGHT = str.maketrans(dict.fromkeys("‘’‚‛′", "'") | dict.fromkeys("“”„‟″", '"'))


class ConditionProblem(NamedTuple):
    """One thing in a condition that cannot be read: what was found and expected; `position` from 1."""

    found: str
    expected: str
    position: int

    @property
    def place(self) -> str:
        """Return what was found and at which character, in words."""
        return f"{self.found} at character {self.position}"

    def __str__(self) -> str:
        """Return the problem in words."""
        return f"{self.place}; expected {self.expected}"


class ConditionError(ValueError):
    """A condition that cannot be read. `problems` are all that was found wrong, in order; the text lists them."""

    def __init__(self, problems: Sequence[ConditionProblem]):
        super().__init__("the condition has " + "; and ".join(map(str, problems)))
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class Term:
    """A leaf of a condition: as it was written, and the test whether a text contains it (see `comparable`).

    `within` is the same test of a column of ASCII texts, where Arrow's functions are exactly Python's and RE2's.
    """

    written: str
    matches: Callable[[str], bool]
    within: Callable[[pa.Array], pa.Array]


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

    def terms_in(self, text: str) -> tuple[bool, ...]:
        """Return for each term whether `text` contains it."""
        text = comparable(text)
        return tuple(term.matches(text) for term in self.terms)

    def found_in(self, texts: pa.Array) -> list[tuple[bool, ...] | None]:
        """Return for each text of a column, and for each term, whether the text contains it; None for null."""
        if len(texts) < FEW:
            return [None if text is None else self.terms_in(text) for text in texts.to_pylist()]
        plain = pc.fill_null(pc.string_is_ascii(texts), False)
        ascii_texts = texts.filter(plain)
        columns = [term.within(ascii_texts).to_pylist() for term in self.terms]
        found = iter(zip(*columns, strict=True))
        others = iter(texts.filter(pc.invert(plain)).to_pylist())
        return [
            next(found) if is_plain else None if (text := next(others)) is None else self.terms_in(text)
            for is_plain in plain.to_pylist()
        ]

    @property
    def forbidden(self) -> tuple[bool, ...]:
        """For each term whether it stands under an odd number of NOTs: what contains it is the worse for it."""
        under = _negated(self.expression, False)
        return tuple(under[id(term)] for term in self.terms)

    def holds(self, found: Sequence[bool]) -> bool:
        """Return whether the condition is true for a text that contains these terms."""
        return _holds(self.expression, dict(zip(map(id, self.terms), found, strict=True)))


def comparable(text: str) -> str:
    """Return `text` with composed characters (NFC) and straight quotes, as texts and conditions are compared.

    >>> comparable("Zoe\u0308 can’t")
    "Zoë can't"
    """
    return normalized("NFC", text).translate(STRAIGHT)


@lru_cache(maxsize=1024)
def parse_condition(text: str, case_sensitive: bool = True) -> Condition:
    r"""Return the condition that `text` states; ConditionError with all problems and their positions otherwise.

        or    = and { OR and }        and  = not { AND not }        not = { NOT } item
        item  = "…" | regexp("…") | ( or )

    Keywords in any case; && || ! are AND OR NOT. Quotes may be curly. A string matches if the text contains it; in it
    \" is a quote and \\ a backslash. A regular expression matches if RE2 finds it anywhere; in it only \" is changed.
    Curly and straight quotes, and the composed and decomposed forms of a character, are equal. Limits: 10,000
    characters, 200 terms, 50 levels, 1,000 characters and 1 MiB of compiled program per expression.
    """
    if len(text) > MAX_CHARACTERS:
        long = ConditionProblem(f"{len(text):,} characters", f"at most {MAX_CHARACTERS:,}", MAX_CHARACTERS + 1)
        raise ConditionError([long])
    return _Parser(text, case_sensitive).condition()


class _Parser:
    """A recursive descent parser; `kind`, `value` and `at` are those of the next token.

    What cannot be read is noted in `problems` and passed over, so that one reading finds all of them.
    """

    def __init__(self, text: str, case_sensitive: bool):
        self.text = text
        self.case_sensitive = case_sensitive
        self.terms: list[Term] = []
        self.problems: list[ConditionProblem] = []
        self.next_place = 0
        self.open_quote = False
        self.advance()

    def condition(self) -> Condition:
        expression = self.junction(0)
        while self.kind != "end" and len(self.problems) < MOST_PROBLEMS:
            self.note('AND, OR or the end; text to look for must be in "quotes"')
            if self.kind != "string" and self.value != "(" and not self.keyword("REGEXP"):
                self.advance()  # a word in the place of AND, or a parenthesis too many
            if self.kind != "end":
                self.junction(0)
        if self.problems:
            raise ConditionError(self.problems)
        return Condition(expression, tuple(self.terms))

    def advance(self) -> None:
        match = TOKEN.match(self.text, self.next_place)
        while match is None:
            self.next_place = self.unreadable()
            match = TOKEN.match(self.text, self.next_place)
        self.kind = str(match.lastgroup)
        self.value = match[self.kind]
        self.at = match.start(self.kind)
        self.next_place = match.end()
        if self.kind == "symbol" and self.value in SYMBOLS:
            self.kind, self.value = "word", SYMBOLS[self.value]
        elif self.kind == "string" and not self.value.startswith('"'):  # a term is written with straight quotes
            inner = re.sub(r'\\.|"', lambda found: '\\"' if found[0] == '"' else found[0], self.value[1:-1])
            self.value = f'"{inner}"'

    def unreadable(self) -> int:
        """Note the character where no token begins; return the place behind it."""
        at = len(self.text) - len(self.text[self.next_place :].lstrip())
        if self.text[at] in '"“”„':
            self.problems.append(ConditionProblem("a quote that is not closed", 'a closing "', at + 1))
            self.open_quote = True
            return len(self.text)
        expected = '"…", regexp("…"), AND, OR, NOT or a parenthesis'
        self.problems.append(ConditionProblem(repr(self.text[at]), expected, at + 1))
        if len(self.problems) >= MOST_PROBLEMS:
            raise ConditionError(self.problems)
        return at + 1

    def keyword(self, word: str) -> bool:
        return self.kind == "word" and self.value.upper() == word

    def note(self, expected: str) -> None:
        """Note the next token, unless it only follows from what was noted there, or from a quote that is not closed."""
        found = "the end" if self.kind == "end" else repr(self.value)
        if not self.open_quote and (not self.problems or self.problems[-1].position <= self.at):
            self.problems.append(ConditionProblem(found, expected, self.at + 1))

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
                self.note(f"at most {MAX_DEPTH} nested parentheses")
                raise ConditionError(self.problems)
            self.advance()
            expression = self.junction(depth + 1)
            self.close()
            return expression
        if len(self.terms) >= MAX_TERMS:
            self.note(f"at most {MAX_TERMS} strings and expressions")
            raise ConditionError(self.problems)
        if self.kind == "string":
            term = _containing(self.value, re.sub(r'\\(["\\])', r"\1", self.value[1:-1]), self.case_sensitive)
            self.advance()
        elif self.keyword("REGEXP"):
            term = self.regexp()
        else:
            self.note('"…", regexp("…"), NOT or (')
            term = _unread(self.value)
            if self.kind == "word" and self.value.upper() not in OPERATORS:
                self.advance()
        self.terms.append(term)
        return term

    def regexp(self) -> Term:
        self.advance()
        opened = self.value == "(" and self.kind == "symbol"
        if opened:
            self.advance()
        else:
            self.note('( after regexp, as in regexp("…")')
        written, at = self.value, self.at
        if self.kind == "string":
            term = self.expression(written, at)
            self.advance()
        else:
            term = _unread(written)
            self.note('an expression in quotes, as in regexp("…")')
            if self.kind == "word":
                self.advance()
        if opened:
            self.close()
        return term

    def expression(self, written: str, at: int) -> Term:
        pattern = comparable(written[1:-1].replace('\\"', '"'))
        try:
            expression = compiled(pattern, self.case_sensitive)
        except ValueError as failure:
            found = f"the expression {written}: {failure}"
            self.problems.append(ConditionProblem(found, "one that RE2 can read", at + 1))
            return _unread(written)
        return Term(
            f"regexp({written})",
            lambda text: expression.search(text) is not None,
            partial(pc.match_substring_regex, pattern=pattern, ignore_case=not self.case_sensitive),
        )

    def close(self) -> None:
        if self.value == ")" and self.kind == "symbol":
            self.advance()
        else:
            self.note(")")


def _containing(written: str, wanted: str, case_sensitive: bool) -> Term:
    wanted = comparable(wanted)
    if case_sensitive:
        return Term(written, lambda text: wanted in text, partial(pc.match_substring, pattern=wanted))
    folded = wanted.casefold()
    return Term(
        written, lambda text: folded in text.casefold(), lambda texts: pc.match_substring(pc.ascii_lower(texts), folded)
    )


def _unread(written: str) -> Term:
    """Return a term in the place of one that cannot be read; no condition with it is ever asked."""
    return Term(written, bool, pc.is_valid)


def _holds(expression: Expression, found: dict[int, bool]) -> bool:
    match expression:
        case Term():
            return found[id(expression)]
        case Negation(part):
            return not _holds(part, found)
        case Junction(every, parts):
            return (all if every else any)(_holds(part, found) for part in parts)


def _negated(expression: Expression, under: bool) -> dict[int, bool]:
    match expression:
        case Term():
            return {id(expression): under}
        case Negation(part):
            return _negated(part, not under)
        case Junction(_, parts):
            return {term: below for part in parts for term, below in _negated(part, under).items()}
