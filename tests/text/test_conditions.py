"""The condition language: what it means, what it refuses and where, and in what time."""

import re

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from metrics.text.conditions import ConditionError, comparable, parse_condition


def holds(condition: str, text: str, case_sensitive: bool = True) -> bool:
    parsed = parse_condition(condition, case_sensitive)
    return parsed.holds(parsed.terms_in(text))


@pytest.mark.parametrize(("condition", "text", "expected"), [
    pytest.param('"cat"', "a cat sat", True, id="string"),
    pytest.param('"Cat"', "a cat sat", False, id="case"),
    pytest.param('""', "", True, id="empty-string"),
    pytest.param('"a" AND "b"', "b a", True, id="and"),
    pytest.param('"a" AND "b"', "a", False, id="and-half"),
    pytest.param('"a" OR "b"', "b", True, id="or"),
    pytest.param('NOT "a"', "b", True, id="not"),
    pytest.param('NOT NOT "a"', "a", True, id="not-not"),
    pytest.param('"a" OR "b" AND "c"', "a", True, id="and-before-or"),
    pytest.param('("a" OR "b") AND "c"', "a", False, id="parentheses"),
    pytest.param('NOT "a" AND "b"', "b", True, id="not-before-and"),
    pytest.param('NOT ("a" AND "b")', "a", True, id="not-parentheses"),
    pytest.param('"a"and not"b"', "a", True, id="keywords-in-any-case-without-spaces"),
    pytest.param(r'"say \"hi\""', 'say "hi"', True, id="escaped-quote"),
    pytest.param(r'"C:\\temp\new"', r"C:\temp\new", True, id="escaped-backslash"),
    pytest.param('"AND (OR"', "x AND (OR y", True, id="keywords-in-a-string"),
    pytest.param(r'regexp("\d{4}")', "in 1889", True, id="expression"),
    pytest.param(r'REGEXP ( "^in \"x\"$" )', 'in "x"', True, id="expression-with-quote"),
    pytest.param(r'regexp("\\d")', "3", False, id="backslash-stays-in-an-expression"),
    pytest.param('regexp("今.")', "今天很好", True, id="unicode"),
    pytest.param(' \n"a"\tAND\n"b" ', "ab", True, id="white-space"),
    pytest.param('"a" AND "a" AND NOT "b"', "a", True, id="the-same-twice"),
    pytest.param('"a" && ("b" || !"c")', "a", True, id="symbols"),
    pytest.param('"a"&&!"b"', "a b", False, id="symbols-without-spaces"),
    pytest.param('"a && b"', "a && b", True, id="symbols-in-a-string"),
    pytest.param("“a” OR „b“", "b", True, id="curly-quotes"),
    pytest.param('“say "hi"”', 'say "hi"', True, id="straight-quotes-in-curly-ones"),
    pytest.param('"don\'t"', "I don’t", True, id="curly-apostrophe-in-the-text"),
    pytest.param('"don’t"', "I don't", True, id="curly-apostrophe-in-the-condition"),
    pytest.param(r'regexp("^\"no\"$")', "“no”", True, id="curly-quotes-in-the-text-of-an-expression"),
    pytest.param('"Zoë"', "Zoe\u0308", True, id="composed"),
    pytest.param('regexp("^Zoe\u0308$")', "Zoë", True, id="decomposed-expression"),
])  # fmt: skip
def test_meaning(condition: str, text: str, expected: bool) -> None:
    assert holds(condition, text) is expected


def test_case_may_be_ignored() -> None:
    assert holds('"STRASSE" AND regexp("cat")', "straße CAT", case_sensitive=False)


@pytest.mark.parametrize(("condition", "message"), [
    pytest.param("", 'the end at character 1; expected "…"', id="empty"),
    pytest.param('"a" AND', 'the end at character 8; expected "…"', id="open-end"),
    pytest.param('"a" "b"', "'\"b\"' at character 5; expected AND, OR or the end", id="no-operator"),
    pytest.param("Paris", "'Paris' at character 1; expected \"…\"", id="no-quotes"),
    pytest.param('("a"', "the end at character 5; expected )", id="open-parenthesis"),
    pytest.param('"a")', "')' at character 4; expected AND, OR", id="closing-parenthesis"),
    pytest.param('"a" OR "b', "a quote that is not closed at character 8", id="open-quote"),
    pytest.param('"a" & "b"', "'&' at character 5; expected", id="other-operator"),
    pytest.param('"a" OR “b', "a quote that is not closed at character 8", id="open-curly-quote"),
    pytest.param('regexp "a"', "'\"a\"' at character 8; expected ( after regexp", id="regexp-no-parenthesis"),
    pytest.param("regexp(a)", "'a' at character 8; expected an expression in quotes", id="regexp-no-quotes"),
    pytest.param('regexp("a(")', 'the expression "a(": missing ): a( at character 8', id="regexp-broken"),
    pytest.param(r'regexp("(a)\1")', "at character 8; expected one that RE2 can read", id="regexp-back-reference"),
    pytest.param('regexp("' + "a" * 1001 + '")', "1,001 characters, more than 1,000", id="regexp-long"),
    pytest.param('regexp("((a{100}){100}){100}")', "at character 8", id="regexp-explodes"),
    pytest.param("(" * 51 + '"a"' + ")" * 51, "at most 50 nested parentheses", id="deep"),
    pytest.param(" OR ".join(['"a"'] * 201), "at most 200 strings", id="many"),
    pytest.param('"' + "a" * 10_000 + '"', "10,002 characters at character 10001; expected at most 10,000", id="long"),
])  # fmt: skip
def test_what_cannot_be_read_says_where(condition: str, message: str) -> None:
    with pytest.raises(ConditionError, match=re.escape(message)):
        parse_condition(condition)


@pytest.mark.parametrize(("condition", "found"), [
    pytest.param('"a" XOR "b" AND regexp("[") OR Paris', ["'XOR'", 'the expression "[": missing ]: [', "'Paris'"],
        id="a word, an expression, missing quotes"),
    pytest.param('Paris AND (Rome OR "x"', ["'Paris'", "'Rome'", "the end"], id="missing quotes and parenthesis"),
    pytest.param('regexp(a) AND regexp "b" AND "c"', ["'a'", "'\"b\"'"], id="two expressions"),
    pytest.param('regexp("(") AND regexp("[")',
        ['the expression "(": missing ): (', 'the expression "[": missing ]: ['], id="RE2, twice"),
    pytest.param(") ) )", ["')'"] * 3, id="parentheses"),
    pytest.param('a "b', ["'a'", "a quote that is not closed"], id="what follows an open quote is not repeated"),
    pytest.param("§ " * 99, ["'§'"] * 20, id="at most twenty"),
])  # fmt: skip
def test_all_problems_are_listed(condition: str, found: list[str]) -> None:
    with pytest.raises(ConditionError) as refused:
        parse_condition(condition)
    assert [problem.found for problem in refused.value.problems] == found


def test_what_a_condition_forbids() -> None:
    assert parse_condition('"a" AND NOT ("b" OR NOT "c") OR NOT NOT "d"').forbidden == (False, True, False, False)


@given(
    st.lists(st.sampled_from(['"a"', '"b', "AND", "OR", "NOT", "(", ")", 'regexp("a+")', "regexp", " ", "\\"])).map(
        "".join
    )
)
def test_anything_is_read_or_refused(condition: str) -> None:
    position = None
    try:
        parsed = parse_condition(condition)
    except ConditionError as failure:
        position = [problem.position for problem in failure.problems]
    if position is None:
        assert isinstance(parsed.holds(parsed.terms_in("a")), bool)
    else:
        assert position
        assert position[0] >= 1
        assert position[-1] <= len(condition) + 1
        assert position == sorted(position)


@given(st.text(max_size=30), st.text(max_size=10))
def test_an_escaped_string_is_contained_as_python_says(text: str, wanted: str) -> None:
    quoted = '"' + wanted.replace("\\", "\\\\").replace('"', '\\"') + '"'
    assert holds(quoted, text) is (comparable(wanted) in comparable(text))


LETTERS = st.text(
    st.sampled_from('abKSks ſKßİıéÉe\u0301Å‘’“"\n.*1') | st.characters(exclude_categories=("Cs",)), max_size=8
)
EXPRESSIONS = ("k", "[k-s]+", "^s", r"\bk\b", r"\w$", ".", "ſ", "(?i)É", r"[^a\s]", "s{2}|é", r"\pL", "")


@given(st.lists(st.none() | LETTERS, min_size=8, max_size=20), LETTERS, st.sampled_from(EXPRESSIONS), st.booleans())
def test_a_column_of_texts_is_looked_through_as_its_texts_are(texts, wanted, expression, case_sensitive):
    quoted = wanted.replace("\\", "\\\\").replace('"', '\\"')
    condition = parse_condition(f'"{quoted}" OR regexp("{expression}")', case_sensitive)
    alone = [None if text is None else condition.terms_in(text) for text in texts]
    assert condition.found_in(pa.array(texts, pa.string())) == alone
