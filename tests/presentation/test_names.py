"""Models' names where there is little room."""

import pytest

from metrics.presentation.names import common_prefix, middle, short_names


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["acme/llama-3-8b", "acme/llama-3-70b"], "acme/llama-3-"),
        (["gpt-4", "gpt-5"], ""),
        (["acme/llama"], ""),
        (["same-name-x", "same-name-x"], "same-name-"),
        (["prefixed", "prefixes"], ""),
        ([], ""),
    ],
    ids=["up-to-a-separator", "too-short-to-cut", "one-name", "equal", "no-separator", "none"],
)
def test_common_prefix(names, expected):
    assert common_prefix(names) == expected


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [("short", 9, "short"), ("abcdefghijkl", 9, "abcd…ijkl"), ("a\nb", 9, "a b"), ("abcdefgh", 4, "ab…h")],
)
def test_middle(text, limit, expected):
    assert middle(text, limit) == expected
    assert len(middle(text, limit)) <= limit


def test_names_that_would_become_equal_are_given_in_full():
    names = ["abcdefgh-1-stuvwxyz", "abcdefgh-2-stuvwxyz", "other"]
    assert short_names(names, 9) == {**dict.fromkeys(names), names[0]: names[0], names[1]: names[1], "other": "other"}
    assert short_names(["acme/llama-3-8b", "acme/llama-3-70b"]) == {"acme/llama-3-8b": "8b", "acme/llama-3-70b": "70b"}
