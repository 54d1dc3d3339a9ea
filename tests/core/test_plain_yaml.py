"""Small YAML files: texts, lists and mappings, and what is refused at once."""

import pytest

from metrics.core.plain_yaml import DEEPEST, plain_yaml


def test_scalars_stay_text():
    read = {"level": "no", "number": "007", "day": "2024-05-01", "none": "", "list": ["1", "~"]}
    assert plain_yaml("level: no\nnumber: 007\nday: 2024-05-01\nnone:\nlist: [1, ~]\n") == read
    assert plain_yaml(b"a: \xc3\xa4") == {"a": "ä"}


@pytest.mark.parametrize(("text", "why"), [
    pytest.param("a: &a [x]\nb: *a\n", r"^an alias \(\*\)$", id="alias"),
    pytest.param("[" * 200_000, rf"^more than {DEEPEST} levels", id="deep lists"),
    pytest.param("{a: " * 20_000, rf"^more than {DEEPEST} levels", id="deep mappings"),
    pytest.param("- " * 20_000, rf"^more than {DEEPEST} levels", id="deep blocks"),
    pytest.param("a: [1\n", "^while parsing", id="unclosed"),
    pytest.param("a: \x00", "special characters|control characters", id="control"),
])  # fmt: skip
def test_what_is_refused(text, why):
    with pytest.raises(ValueError, match=why) as refused:
        plain_yaml(text)
    assert "\n" not in str(refused.value)
