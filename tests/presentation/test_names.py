"""Models' names where there is little room."""

import pytest

from metrics.presentation.format import common_prefix, middle, short_names
from metrics.presentation.panel_rows import short_names as short_judges


@pytest.mark.parametrize(("names", "expected"), [
    (["acme/llama-3-8b-instruct-v1", "acme/llama-3-70b-instruct"], "acme/llama-3-"),
    (["acme/llama-3-8b-instruct", "acme/llama-3-70b"], ""),
    (["gpt-4", "gpt-5"], ""),
    (["acme/llama"], ""),
    (["same-name-x" + "y" * 14] * 2, "same-name-"),
    (["prefixed" * 4, "prefixes" * 4], ""),
    ([], ""),
    (["top_k_of_the_retriever_is_5", "top_k_of_the_retriever_is_10"], ""),
    (["run-of-the-week-2024-01-05", "run-of-the-week-2024-02-05 b"], ""),
    (["results/of/the/first/week/", "results/of/the/first/week/top"], ""),
    (["models/of/the/first/week/模型一", "models/of/the/first/week/模型二"], "models/of/the/first/week/"),
], ids=[
    "up-to-a-separator", "whole", "too-short-to-cut", "one-name", "equal", "no-separator", "none", "numbers", "a-date",
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
    assert short_names(["acme/llama-3-8b"], prefix="acme/") == {"acme/llama-3-8b": "llama-3-8b"}


@pytest.mark.parametrize(("names", "short"), [
    (["a at h:1", "b at h:1", "gpt-4o"], ["a", "b", "gpt-4o"]),
    (["a at h:1", "a at h:2"], ["a at h:1", "a at h:2"]),
    (["a at h:1, draw 1", "a at h:1, draw 2"], ["a at h:1, draw 1", "a at h:1, draw 2"]),
], ids=["different models", "one model on two servers", "draws"])  # fmt: skip
def test_a_judges_address_is_shown_only_where_it_tells_judges_apart(names, short):
    assert list(short_judges(names).values()) == short
