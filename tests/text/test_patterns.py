"""Expressions that a user writes: what they find, what is refused, and that none of them can hang."""

import pytest

from metrics.text.patterns import MOST_FOUND, Found, find_all, readable


@pytest.mark.parametrize(("patterns", "text", "expected"), [
    pytest.param(["E-[0-9]+"], "E-1, E-22", [Found("pattern 1", 0, 3), Found("pattern 1", 5, 9)], id="twice"),
    pytest.param(["(?P<badge>E-[0-9]+)"], "E-1", [Found("badge", 0, 3)], id="named"),
    pytest.param(["badge: (?P<badge>[0-9]+)"], "badge: 42.", [Found("badge", 7, 9)], id="a group is the span"),
    pytest.param(["(?P<a>x)|(?P<b>y)"], "y", [Found("b", 0, 1)], id="the group that takes part"),
    pytest.param(["b", "a"], "ab", [Found("pattern 2", 0, 1), Found("pattern 1", 1, 2)], id="by position"),
    pytest.param(["社員[0-9]+"], "は社員77です", [Found("pattern 1", 1, 5)], id="characters, not bytes"),
    pytest.param(["(?i)secret"], "SeCrEt", [Found("pattern 1", 0, 6)], id="flags"),
    pytest.param(["x*"], "aaa", [], id="a match of nothing"),
    pytest.param([], "anything", [], id="none"),
])  # fmt: skip
def test_what_is_found(patterns: list[str], text: str, expected: list[Found]) -> None:
    assert find_all(patterns, text) == expected


def test_everything_unreadable_is_said_at_once() -> None:
    with pytest.raises(ValueError, match="expressions that RE2 cannot read") as refused:
        readable(["fine", "(", r"(a)\1", "a" * 1_001])
    said = str(refused.value)
    assert "'(': missing ): (" in said
    assert r"invalid escape sequence: \1" in said
    assert "it has 1,001 characters, more than 1,000" in said
    assert "fine" not in said


def test_findings_are_bounded() -> None:
    assert len(find_all(["a", "b"], "ab" * 5_000)) == 2 * MOST_FOUND
