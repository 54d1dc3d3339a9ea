"""JSON as tools write it: whole numbers of any size, NaN, and what is no JSON."""

import math

import orjson
import pytest
from hypothesis import given, strategies as st

from metrics.core.exact_json import parse_json

NUMBERS = st.integers(-(2**200), 2**200) | st.sampled_from(
    [0, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1]
)


@given(st.dictionaries(st.text(max_size=3), NUMBERS | st.lists(NUMBERS, max_size=3), max_size=4))
def test_whole_numbers_are_exact(value):
    text = "{" + ",".join(f"{orjson.dumps(key).decode()}: {own}" for key, own in value.items()) + "}"
    assert parse_json(text.encode()) == value


def test_digits_that_are_no_whole_number():
    value = {"text": "1" * 30, "fraction": 0.1234567890123456789012345}
    assert parse_json(b'{"text": "' + b"1" * 30 + b'", "fraction": 0.1234567890123456789012345}') == value
    assert parse_json(b"[" + b"9" * 5000 + b"]") == ["9" * 5000]  # more than Python reads as a number


def test_constants():
    nan, infinity, text = parse_json(b'[NaN, -Infinity, "NaN"]')
    assert (math.isnan(nan), infinity, text) == (True, -math.inf, "NaN")


@pytest.mark.parametrize(
    "text", [b"[1,]", b"[NaN,]", b'["\\ud800", NaN]', b'["\\ud800", 100000000000000000000]', b"[" * 9999]
)
def test_no_json(text):
    with pytest.raises(orjson.JSONDecodeError):
        parse_json(text)
