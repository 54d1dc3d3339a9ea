"""The answer in an output: by an expression, and in \boxed{…}."""

import random
import re

import pytest

from metrics.text.answers.forms import SEARCHED, boxed, matched

GSM8K = r"#### (\-?[0-9\.\,]+)"
FLEXIBLE = r"(-?[$0-9.,]{2,})|(-?[0-9]+)"


@pytest.mark.parametrize(("pattern", "text", "first", "last"), [
    (GSM8K, "So 6 · 7.\n#### 42", "42", "42"), (GSM8K, "#### 1\n#### 2", "1", "2"), (GSM8K, "42", None, None),
    (FLEXIBLE, "3 boxes cost $12.50, 4 more", "3", "4"), ("(?i)answer: (.*)", "ANSWER:  Paris ", "Paris", "Paris"),
    ("[A-D]", "A or B", "A", "B"), ("x(y)?", "x", "", ""), ("(?P<n>é+)", "aéé b", "éé", "éé"), ("", "ab", "", ""),
])  # fmt: skip
def test_what_an_expression_finds(pattern: str, text: str, first: str | None, last: str | None) -> None:
    assert (matched(pattern, text, "first"), matched(pattern, text, "last")) == (first, last)


@pytest.mark.parametrize("pattern", [GSM8K, FLEXIBLE, "[a-c]+", "(b)|c"])
def test_matches_are_those_of_findall(pattern: str) -> None:
    """Python's own engine is the oracle: findall, the first group with a text, the match that a place selects."""
    draw = random.Random(pattern)
    for _ in range(300):
        text = "".join(draw.choices("abc 01#,.$-\n", k=40)).replace("#", "#### ")
        every = re.findall(pattern, text)
        for which, place in (("first", 0), ("last", -1)):
            one = every[place] if every else None
            one = next(filter(None, one), "") if isinstance(one, tuple) else one
            assert matched(pattern, text, which) == (None if one is None else one.strip())


def test_the_last_match_is_looked_for_at_the_end() -> None:
    text = "#### 1" + " " * SEARCHED
    assert matched(GSM8K, text, "last") is None
    assert matched(GSM8K, text, "first") == "1"


@pytest.mark.parametrize(("text", "found"), [
    (r"\boxed{42}", "42"), (r"\boxed{1} then $\boxed{ \frac{1}{2} }$.", r"\frac{1}{2}"), (r"\fbox{a}", "a"),
    (r"\boxed{a} \fbox{b}", "b"), (r"\boxed{a", None), (r"\boxed{}", ""), ("boxed{a}", None), ("", None),
    (r"\boxed{" + "{" * 20_000, None),
])  # fmt: skip
def test_what_is_boxed(text: str, found: str | None) -> None:
    assert boxed(text) == found
