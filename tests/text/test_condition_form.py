"""The form of a condition and its text say the same, both ways."""

import pytest
from hypothesis import given, strategies as st

from metrics.text.condition_form import TESTS, ConditionForm, Group, Row, condition_of, form_of, row_problem
from metrics.text.conditions import ConditionError, parse_condition

TEXTS = ["a", "b", 'say "hi"', "C:\\new", "\\", "AND (OR", "今"]
EXPRESSIONS = ["a", "[ab]+", 'in "x"', r"\d", r"\\", r"a\"b", r"\\\\\"", "今."]
ANSWERS = ["", "a", "b", "a b", 'say "hi" in "x" 3', "C:\\new \\ AND (OR", "今天", 'a"b \\"']

row = st.builds(Row, st.sampled_from(["contains", "lacks"]), st.sampled_from(TEXTS)) | st.builds(
    Row, st.sampled_from(["matches", "matches_not"]), st.sampled_from(EXPRESSIONS)
)
group = st.builds(Group, st.booleans(), st.lists(row, min_size=1, max_size=3).map(tuple))
form = st.builds(ConditionForm, st.booleans(), st.lists(group, min_size=1, max_size=3).map(tuple))


def holds(condition: str, text: str) -> bool:
    parsed = parse_condition(condition)
    return parsed.holds(parsed.terms_in(text))


def row_holds(one: Row, text: str) -> bool:
    import re2

    found = one.text in text if one.test in ("contains", "lacks") else re2.search(one.text, text) is not None
    return found == (one.test in ("contains", "matches"))


@given(form, st.sampled_from(ANSWERS))
def test_the_text_of_a_form_means_what_the_form_says(found: ConditionForm, answer: str) -> None:
    groups = [(all if each.every else any)(row_holds(one, answer) for one in each.rows) for each in found.groups]
    assert holds(condition_of(found), answer) is (all if found.every else any)(groups)


@given(form)
def test_the_form_of_the_text_of_a_form_has_the_same_text(found: ConditionForm) -> None:
    text = condition_of(found)
    again = form_of(text)
    for answer in ANSWERS:
        assert holds(condition_of(again), answer) is holds(text, answer)
    assert form_of(condition_of(again)) == again


@pytest.mark.parametrize(("condition", "text"), [
    ('"a"', '"a"'), ('not "a" and "b"', 'NOT "a" AND "b"'), ('NOT ("a" AND regexp("b"))', 'NOT "a" OR NOT regexp("b")'),
    ('"a" AND ("b" AND "c")', '"a" AND "b" AND "c"'), ('"a" AND NOT ("b" AND NOT ("c" AND "d"))', None),
    ('"Paris" AND (regexp("18(87|89)") OR NOT "London")', '"Paris" AND (regexp("18(87|89)") OR NOT "London")'),
    ('"a" OR "b" AND "c"', '"a" OR ("b" AND "c")'), ('"a" AND ("b" OR ("c" AND "d"))', None),
], ids=["a term", "keywords", "De Morgan", "flat", "deep by NOT", "two levels", "or of and", "deep"])  # fmt: skip
def test_forms(condition: str, text: str | None) -> None:
    found = form_of(condition)
    assert (None if found is None else condition_of(found)) == text


def test_a_condition_that_cannot_be_read_has_no_form() -> None:
    with pytest.raises(ConditionError, match="at character 5"):
        form_of('"a" "b"')


@pytest.mark.parametrize(("test", "text", "problem"), [
    ("contains", "x", ""), ("lacks", "", "nothing to look for"), ("matches", "[", "RE2 cannot read the expression"),
    ("matches", "a\\", "RE2 cannot read the expression"), ("matches_not", r"\d", ""), ("contains", "[", ""),
])  # fmt: skip
def test_rows_that_cannot_be_used(test: str, text: str, problem: str) -> None:
    assert row_problem(Row(next(each for each in TESTS if each == test), text)).startswith(problem)
    assert bool(row_problem(Row(next(each for each in TESTS if each == test), text))) is bool(problem)


def test_groups_without_rows_do_not_count() -> None:
    empty = Group(True, ())
    assert condition_of(ConditionForm(True, (empty,))) == ""
    assert condition_of(ConditionForm(False, (empty, Group(True, (Row("contains", "a"),))))) == '"a"'
