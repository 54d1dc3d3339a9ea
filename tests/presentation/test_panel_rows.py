"""The names of a panel's judges in tables."""

import pytest

from metrics.presentation.panel_rows import short_names


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["a at h:1", "b at h:1", "gpt-4o"], ["a", "b", "gpt-4o"]),
        (["a at h:1", "a at h:2"], ["a at h:1", "a at h:2"]),
        (["a at h:1, draw 1", "a at h:1, draw 2"], ["a at h:1, draw 1", "a at h:1, draw 2"]),
    ],
    ids=["different models", "one model on two servers", "draws"],
)
def test_an_address_is_shown_only_where_it_tells_judges_apart(names, short):
    assert list(short_names(names).values()) == short
