"""Exact match: whether the answer equals an expected answer, as text, quantity, date, time or choice."""

import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, NamedTuple, Self, get_args

from pydantic import Field, field_validator, model_validator

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, Status, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Verdict, yes_or_no
from metrics.core.installation import missing_extra
from metrics.core.suite import Case
from metrics.text.answers import choices
from metrics.text.answers.dates import DateOrder, clock_time, whole_dates
from metrics.text.answers.forms import AnswerForm, Punctuation, UnicodeForm, Which, boxed, matched, same_json
from metrics.text.answers.mathematics import brackets_of, same_for_math_verify, same_mathematics
from metrics.text.answers.quantities import DecimalMark, Units, quantity, same_amount
from metrics.text.patterns import compiled

Rule = Literal["text", "number", "date", "time", "choice", "mathematics", "json"]
RULES: tuple[Rule, ...] = get_args(Rule)
LABELS = {
    "text": "same text", "number": "same quantity", "date": "same date", "time": "same time", "choice": "same choice",
    "mathematics": "same mathematics", "json": "same JSON",
}  # fmt: skip
SAID = ("number", "date", "time")  # rules that take what an answer says to be the answer, as `choice` does by itself
NOT_FOUND = "no answer in that form"


class ExactMatchParameters(Parameters):
    """By which rules an answer may equal an expected one, and what does not count."""

    rules: tuple[Rule, ...] = Field(
        RULES,
        min_length=1,
        description="text: equal texts; number: equal quantities, whatever their form and unit; date: the same day, "
        "month or year; time: the same time of day; choice: the same letter of a multiple-choice question; "
        "mathematics: the same expression, set, interval or matrix in LaTeX; json: equal by field. One rule that holds "
        "is enough.",
    )
    extract: str = Field(
        "",
        description="An expression (RE2) that finds the answer in the output: its first group counts, else the whole "
        "match. “#### (.+)” is for GSM8K. Empty: the whole output is the answer. Without a match the answer is wrong.",
    )
    extract_match: Which = Field("last", description="Which match of `extract` counts: the first or the last.")
    boxed: bool = Field(False, description="The answer is what is in the last \\boxed{…}; without one it is wrong.")
    ignore_case: bool = Field(True, description="“paris” is “Paris”.")
    ignore_white_space: bool = Field(True, description="Runs of white space are one space, and none around the text.")
    punctuation: Punctuation = Field(
        "ends",
        description="keep: all of it counts; ends: sentence ends, quotes, brackets and Markdown emphasis around the "
        "whole text do not; all: none counts, as in SQuAD.",
    )
    ignore_articles: bool = Field(False, description="“The Hague” is “Hague”: a, an and the do not count, as in SQuAD.")
    unicode_form: UnicodeForm = Field(
        "NFKC", description="Normal form of Unicode; NFKC: ﬁ is fi and ２ is 2; NFC: only é is é; none: as written."
    )
    absolute_tolerance: float = Field(
        0.0, ge=0, allow_inf_nan=False, description="Numbers may differ by this much, in the expected answer's unit."
    )
    relative_tolerance: float = Field(
        0.0, ge=0, allow_inf_nan=False, description="Numbers may differ by this share of the expected one: .01 is 1 %."
    )
    units: Units = Field(
        "convert",
        description="convert: 1 km is 1000 m; written: units must be the same word; ignore: only numbers are compared.",
    )
    decimal_mark: DecimalMark = Field(".", description="What separates decimals: 1,200.5 or 1.200,5.")
    date_order: DateOrder = Field(
        "either", description="How 3/4/2024 is read; either: as 3 April or 4 March, and matches both."
    )

    math_verify: bool = Field(
        False,
        title="Ask math-verify",
        description="Let math-verify, which computes with symbols, decide where the rule mathematics does not hold. It "
        "needs assay[math].",
    )

    @field_validator("extract")
    @classmethod
    def _readable(cls, extract: str) -> str:
        try:
            compiled(extract)
        except ValueError as failure:
            raise ValueError(f"an expression that RE2 can read: {failure}") from None
        return extract

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.extract and self.boxed:
            raise ValueError("extract or boxed, not both: each finds the answer in its own way")
        return self

    def reads_as_written(self) -> bool:
        """Return whether the form of Unicode counts."""
        return self.unicode_form == "none"

    @property
    def extracts(self) -> bool:
        """Whether the answer is a part of the output."""
        return bool(self.extract) or self.boxed

    def part(self, text: str) -> str | None:
        """Return the part of a text that is the answer, None where there is none."""
        if self.boxed:
            return boxed(text)
        return matched(self.extract, text, self.extract_match) if self.extract else text

    @property
    def form(self) -> AnswerForm:
        """What does not count in texts."""
        return AnswerForm(
            self.ignore_case, self.ignore_white_space, self.punctuation, self.ignore_articles, self.unicode_form
        )


class _Match(NamedTuple):
    """Why an answer equals an expected one: by which rule, and as what each of them was read."""

    rule: Rule
    number: int  # of the expected answer, from 1
    made: str
    wanted: str


def _example(name: str, answer: str, expected: list[str], value: float, **parameters: Any) -> Example:
    given = {"answer": answer, "expected_answers": expected}
    return Example(name, given, {"exact_match": value}, parameters=parameters)


@evaluator(
    inputs=("answer", "expected_answers"),
    synonyms=("accuracy", "em", "squad"),
    metrics=Metric("exact_match", "Share of answers that equal an expected answer.", threshold=0.5, binary=True),
    version=3,
    default_needs=("short_answers",),
    sources=("Rajpurkar et al. 2016, SQuAD", "lm-evaluation-harness"),
    standards=("valid and reliable", "outcomes analysis"),
    differs_from="text_matching searches the answer for strings and expressions; here the whole answer must equal the "
    "expected one. classification_text takes answers as labels and gives precision, recall and confusion. token_f1 "
    "gives credit for some of the words.",
    differs_from_source="The peers compare texts alone; here equal quantities, dates, times and choices are equal too: "
    "`rules` = text leaves them out. Case and marks around the text are ignored unless the parameters say otherwise. "
    "SQuAD's form is ignore_articles with `punctuation` = all; it takes 1.5 for 15, which the default does not. "
    "lm-evaluation-harness's is `rules` = text, `punctuation` = keep, `unicode_form` = none, with its own ignore_case. "
    "`extract` is its filter regex: `extract_match` = last is group_select −1, first is 0, its default; what it marks "
    "[invalid] is wrong here. Expressions run in RE2, without look-around and back references; the last match is "
    "looked for in the last 10,000 characters. What they find in an expected answer is compared, too. Mathematics is "
    "compared by values, at three points and to 12 digits, not by a computer algebra system, unless `math_verify` asks "
    "one.",
    examples=(
        _example("case, white space and marks around the text do not count", " **paris**.", ["Rome", "Paris"], 1),
        _example("a sentence is not equal to the name in it", "It is Paris.", ["Paris"], 0),
        _example("numbers are equal in words, and in any unit of their kind", "one thousand metres", ["1 km"], 1),
        _example("a number is not equal to one of another unit", "5 miles", ["5 km"], 0),
        _example("3.14 is within 1 % of 3.14159", "3.14", ["3.14159"], 1, relative_tolerance=0.01),
        _example("the same day", "March 1st, 2024", ["2024-03-01"], 1),
        _example("the letter of a choice, however the answer says it", "The correct answer is (B).", ["B"], 1),
        _example("a number that is said to be the answer", "60 · 2 = 120. The answer is 120 km.", ["120 km"], 1),
        _example("the same time of day", "at 2:30 p.m.", ["14:30"], 1),
        _example(
            "GSM8K: what follows ####, in the answer as in the expected one",
            "6 boxes of 7 are 42.\n#### 42.00",
            ["6 · 7 = 42\n#### 42"],
            1,
            extract="#### (.+)",
        ),
        _example("no answer in that form is wrong", "42", ["42"], 0, extract="#### (.+)"),
        _example(
            "the last \\boxed{…}", "\\boxed{9} was wrong: so $x = \\boxed{\\sqrt{2}}$.", ["\\sqrt{2}"], 1, boxed=True
        ),
        _example("mathematics in the last \\boxed{…}", "So $x = \\boxed{11 + 9a}$.", ["\\boxed{9a+11}"], 1),
        _example(
            "JSON with its members in another order",
            '{"total": 1250.0, "vendor": "Acme"}',
            ['{"vendor": "Acme", "total": 1250}'],
            1,
        ),
        _example(
            "SQuAD's form", "the U.S. Senate", ["US senate"], 1, rules=["text"], punctuation="all", ignore_articles=True
        ),
        _example("an empty answer", "", ["Paris"], 0),
        Example.not_applicable("no expected answer has text", {"answer": "Paris", "expected_answers": [" "]}),
    ),
)
def exact_match(case: Case, parameters: ExactMatchParameters) -> CaseScore:
    """Whether the whole answer equals one of the expected answers; the mean over cases is the share of right answers.

    1 if one of the `rules` holds for one of the expected answers, tried in this order, else 0:

        text    the texts are equal in one form, by default without regard to case, runs of white space, the variants
                that Unicode calls compatible (NFKC), and sentence ends, quotes, brackets and emphasis around the text
        number  both are one number, with or without a unit:   |a − e| ≤ max(absolute, relative · |e|)
        date    both are one date, and name the same day, month or year
        time    both are one time of day, the same to the second, and in the same zone or both in none
        choice  the expected answer is a letter, "(B)" or "B) Paris", and the answer chooses that letter
        mathematics  both are one number, expression, set, tuple, interval or matrix in LaTeX
        json    both are equal JSON objects or arrays, in any order of their members

    Numbers are read exactly, as fractions: 1,200.5, 1.2e3, 1.2×10³, ½, 1 1/2, forty-two, 3 million, $5. Units are
    converted by pint (SI with its prefixes, imperial and US units, temperatures, data, percent); a number without a
    unit equals only one without, or a share: 50 % is 0.5. Currencies are not converted. A number with leading zeros is
    a code. Dates: 2024-03-01, 1 March 2024, March 1st, 2024, 1.3.2024, 3/1/2024, 2024年3月1日, March 2024, 1 March.
    Times: 14:30, 14:30:15, 2:30 pm, 2 p.m., 14h30, 14.30 Uhr, 3 o'clock, noon; hours without am or pm are those of the
    24-hour clock, zones (UTC, +02:00) are not converted. What an answer says last to be the answer counts ("… = 120.
    The answer is 120 km."), in the languages of choices.

    A choice is the whole answer ("b", "(B)", "$B$"), stands before a bracket, point or colon ("B) Paris"), or is said
    to be the answer, in some thirty languages ("The answer is B", "答案：B", "So B."); two letters choose nothing. If
    both say a text beside the letter or below it, the texts must agree too, and no text may be that of another of
    the case's `choices`. Where a case has choices, the text of one and its letter are the same answer.

    Mathematics: \\frac{1}{2} is 0.5, 9a+11 is 11 + 9a, {1,2} is {2,1} but not (1,2), and [0,1) is not [0,1]. Units,
    degree signs and "x =" count only where both have them; 1,000 is 1000. It is read where one of both is written in
    LaTeX, or both are numbers in brackets. Where one has a \\boxed{…}, what is in the last one is compared by all
    rules, if the whole answer fits none.

    With `extract` or `boxed` the answer is only that part of the output; an output without it is wrong. Of an expected
    answer that part is compared, too, where it has one.

    An empty answer is wrong; a case whose expected answers are all blank is not applicable. Evidence: the rule that
    held, the expected answer that was met, and both as they were compared. With the parameters of SQuAD's form and
    texts in ASCII equal to the exact match of SQuAD v1.1.
    """
    if not any(expected.strip() for expected in case.expected_answers):
        return not_applicable("no expected answer has text")
    whole = case.answer or ""
    answer, wanted = parameters.part(whole), case.expected_answers
    if parameters.extracts:
        wanted = tuple(parameters.part(expected) or expected for expected in wanted)
    if parameters.math_verify and (missing := missing_extra("math_verify", "math", "math_verify")):
        return CaseScore({}, Status.SKIPPED, missing)
    found = next(_matches(answer or "", wanted, parameters), None)
    if found is None and not parameters.extracts and "mathematics" in parameters.rules:
        inner, boxes = boxed(whole), [boxed(expected) for expected in wanted]
        if inner is not None or any(boxes):
            parts = tuple(box or expected for box, expected in zip(boxes, wanted, strict=True))
            found = next(_matches(inner or whole, parts, parameters.model_copy(update={"boxed": True})), None)
    form = parameters.form
    if found and found.rule == "choice" and choices.names_another(answer or "", case.choices, form):
        found = None
    elif found is None and case.choices and "choice" in parameters.rules:
        chosen = [choices.choice_of(text, case.choices, form) for text in (answer or "", *wanted)]
        if chosen[0] and chosen[0] in chosen[1:]:
            found = _Match("choice", chosen.index(chosen[0], 1), chosen[0], chosen[0])
    facts: dict[str, Any] = {"rule": found.rule if found else None}
    if parameters.extracts:
        facts["extracted"] = answer
    if found:
        facts |= {
            "expected_answer": found.number,
            "answer_as_compared": found.made,
            "expected_as_compared": found.wanted,
        }
        expected = case.expected_answers[found.number - 1]
    else:
        facts["answer_as_compared"] = None if answer is None else form.of(answer)
        facts["expected_as_compared"] = [form.of(one) for one in wanted]
        expected = case.expected_answers[0]
    label = LABELS[found.rule] if found else "differs" if answer is not None else NOT_FOUND
    verdict = Verdict(whole, yes_or_no(found is not None), label, expected=expected)
    return CaseScore({"exact_match": float(found is not None)}, evidence=Evidence({"answer": [verdict]}, facts))


def _matches(answer: str, expected: tuple[str, ...], parameters: ExactMatchParameters) -> Iterator[_Match]:
    """Yield why the answer equals an expected one, rule by rule."""
    if not answer.strip():
        return
    for rule in RULES:
        if rule in parameters.rules:
            said = choices.said_answer(answer) if rule in SAID else None
            for number, wanted in enumerate(expected, 1):
                for made in filter(None, (answer, said)):
                    if wanted.strip() and (shown := MATCHES[rule](made, wanted, parameters)):
                        yield _Match(rule, number, *shown)


def _same_text(answer: str, expected: str, parameters: ExactMatchParameters) -> tuple[str, str] | None:
    made, wanted = parameters.form.of(answer), parameters.form.of(expected)
    brackets = {brackets_of(answer), brackets_of(expected)} - {""}
    return (made, wanted) if made == wanted and len(brackets) < 2 else None


def _same_number(answer: str, expected: str, parameters: ExactMatchParameters) -> tuple[str, str] | None:
    wanted = quantity(expected, parameters.decimal_mark)
    made = quantity(answer, parameters.decimal_mark) if wanted else None
    if wanted is None or made is None:
        return None
    tolerances = _exactly(parameters.absolute_tolerance), _exactly(parameters.relative_tolerance)
    return (made.shown, wanted.shown) if same_amount(made, wanted, *tolerances, parameters.units) else None


@lru_cache
def _exactly(tolerance: float) -> Fraction:
    """Return the tolerance as it is written: .1 is a tenth, and not the float next to it."""
    return Fraction(str(tolerance))


def _same_date(answer: str, expected: str, parameters: ExactMatchParameters) -> tuple[str, str] | None:
    wanted = whole_dates(expected, parameters.date_order)
    both = wanted & whole_dates(answer, parameters.date_order) if wanted else None
    if not both:
        return None
    year, month, day = max(both)
    shown = f"{year or '?'}-{month:02}" + (f"-{day:02}" if day else "")
    return shown, shown


def _same_time(answer: str, expected: str, _: ExactMatchParameters) -> tuple[str, str] | None:
    wanted = clock_time(expected)
    made = clock_time(answer) if wanted else None
    return (made.shown, wanted.shown) if wanted and made == wanted else None


def _same_choice(answer: str, expected: str, parameters: ExactMatchParameters) -> tuple[str, str] | None:
    wanted = choices.choice(expected) if len(expected) <= choices.MAX_CHOICE else None
    made = choices.choice(answer) if wanted else None
    if wanted is None or made is None:
        alone = (
            wanted is not None
            and wanted.text
            and choices.words(answer) == [wanted.letter.casefold(), *choices.words(wanted.text)]
        )
        return (wanted.letter, wanted.letter) if wanted and alone else None
    texts = (choices.Choice(one.letter, one.text and parameters.form.of(one.text)) for one in (made, wanted))
    return (made.letter, wanted.letter) if choices.same_choice(*texts) else None


WRITTEN_AS_MATHEMATICS = re.compile(r"\\[A-Za-z{(\[]|\$[^$]+\$|\^")


def _same_mathematics(answer: str, expected: str, parameters: ExactMatchParameters) -> tuple[str, str] | None:
    written = (WRITTEN_AS_MATHEMATICS.search(answer), WRITTEN_AS_MATHEMATICS.search(expected))
    if not (parameters.boxed or any(written) or (brackets_of(answer) and brackets_of(expected))):
        return None
    same = same_mathematics(answer, expected) or (parameters.math_verify and same_for_math_verify(answer, expected))
    return (answer, expected) if same else None


def _same_json(answer: str, expected: str, _: ExactMatchParameters) -> tuple[str, str] | None:
    return (answer, expected) if same_json(answer, expected) else None


Rules = dict[Rule, Callable[[str, str, ExactMatchParameters], tuple[str, str] | None]]
MATCHES: Rules = {
    "text": _same_text, "number": _same_number, "date": _same_date, "time": _same_time, "choice": _same_choice,
    "mathematics": _same_mathematics, "json": _same_json,
}  # fmt: skip
