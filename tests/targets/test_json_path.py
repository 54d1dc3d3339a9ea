"""Paths in JSON replies."""

import pytest

from metrics.targets.json_path import find, parse_path

REPLY = {"choices": [{"message": {"content": "hi"}}], "docs": [{"t": "a"}, {"t": "b"}], "odd.name": {"x y": 1}}


@pytest.mark.parametrize(("path", "found"), [
    ("choices[0].message.content", "hi"), ("$.choices[-1].message.content", "hi"), ("docs[*].t", ["a", "b"]),
    ('$["odd.name"]["x y"]', 1), ("['odd.name']['x y']", 1), ("", REPLY),
])  # fmt: skip
def test_find(path, found):
    assert find(REPLY, parse_path(path)) == found


@pytest.mark.parametrize(("path", "reason"), [
    ("docs[2].t", "nothing at docs[2]"), ("choices.message", "nothing at choices.message"),
    ("choices[0].message[*]", "no list at choices[0].message"), ("nope", "nothing at nope"),
    ("docs[*].u", "nothing at u"),
])  # fmt: skip
def test_nothing_there(path, reason):
    with pytest.raises(KeyError) as caught:
        find(REPLY, parse_path(path))
    assert caught.value.args == (reason,)


@pytest.mark.parametrize("path", ["a[", "a[?(@.b)]", "a..b", "a['b]", "__import__('os')[x]"])
def test_no_path(path):
    with pytest.raises(ValueError, match="cannot be read from"):
        parse_path(path)
