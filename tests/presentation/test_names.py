"""Models' names where there is little room."""

import pytest

from metrics.presentation.format import common_prefix, middle, short_names
from metrics.presentation.panel_rows import short_names as short_judges


@pytest.mark.parametrize(("names", "expected"), [
    (["acme/llama-3-8b", "acme/llama-3-70b"], "acme/llama-3-"),
    (["gpt-4", "gpt-5"], ""),
    (["acme/llama"], ""),
    (["same-name-x", "same-name-x"], "same-name-"),
    (["prefixed", "prefixes"], ""),
    ([], ""),
    (["top_k_5", "top_k_10"], ""),
    (["run-2024-01-05", "run-2024-02-05 b"], ""),
    (["results/", "results/top"], ""),
    (["models/模型一", "models/模型二"], "models/"),
], ids=[
    "up-to-a-separator", "too-short-to-cut", "one-name", "equal", "no-separator", "none", "numbers", "a-date",
    "all-of-one", "other-letters",
])  # fmt: skip
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
    assert short_names(["top_k_5", "top_k_10"]) == {"top_k_5": "top_k_5", "top_k_10": "top_k_10"}
    assert short_names(["acme/llama-3-8b", "acme/llama-3-70b"]) == {"acme/llama-3-8b": "8b", "acme/llama-3-70b": "70b"}


@pytest.mark.parametrize(("names", "short"), [
    (["a at h:1", "b at h:1", "gpt-4o"], ["a", "b", "gpt-4o"]),
    (["a at h:1", "a at h:2"], ["a at h:1", "a at h:2"]),
    (["a at h:1, draw 1", "a at h:1, draw 2"], ["a at h:1, draw 1", "a at h:1, draw 2"]),
], ids=["different models", "one model on two servers", "draws"])  # fmt: skip
def test_a_judges_address_is_shown_only_where_it_tells_judges_apart(names, short):
    assert list(short_judges(names).values()) == short
