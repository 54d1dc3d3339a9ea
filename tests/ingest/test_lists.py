"""List cells: which rule reads them, and what comes out, one by one and by the column."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.ingest.tables.lists import split_column, understand

CELLS = {
    "json": ('["a", "b"]', "JSON array", ["a", "b"]),
    "json numbers": ("[1, 2.5, true]", "JSON array", ["1", "2.5", "true"]),
    "json objects keep their text": ('[{"text": "a"}, {"x": 1}]', "JSON array", ["a", '{"x":1}']),
    "json empty": ("[]", "JSON array", []), "python": ("['a', \"b's\"]", "Python list", ["a", "b's"]),
    "python escapes": (r"['a\n\d\'', u'\u00e9']", "Python list", ["a\n\\d'", "é"]),
    "python trailing comma": ("['a', ]", "Python list", ["a"]),
    "numpy without commas": ("['a' 'b']", "Python list", ["a", "b"]),
    "semicolons": ("a; b;;c ", ";", ["a", "b", "c"]),
    "prose with a bracket": ("[1] says so", "one text", ["[1] says so"]),
    "prose": ("a, b", "one text", ["a, b"]), "blanks survive": ("  a ", "one text", ["  a "]),
    "cut json": ('["a", "b', "one text", None), "null in a list": ('["a", null]', "one text", None),
    "None in a list": ("['a', None]", "one text", None),
    "a call is no list": ("['a', __import__('os').getcwd()]", "one text", None),
    "a comprehension is no list": ("['a' for a in 'b']", "one text", None),
    "deep nesting": ("[" * 50_000, "one text", ["[" * 50_000]), "lone surrogate": (r"['\ud800']", "one text", None),
}  # fmt: skip


@pytest.mark.parametrize(("text", "rule", "items"), CELLS.values(), ids=CELLS.keys())
def test_cell(text, rule, items):
    assert understand(text, semicolons=True) == (rule, items)


def test_column_mixes_rules_nulls_and_chunks():
    column = pa.chunked_array([pa.array(["a", None, '["x","y"]', "p;q", "[]"]), pa.array(["z", '["x","y"]', '["cut'])])
    lists, bad = split_column(column, semicolons=True)
    assert lists.to_pylist() == [["a"], None, ["x", "y"], ["p", "q"], [], ["z"], ["x", "y"], None]
    assert bad.tolist() == [False] * 7 + [True]


@given(st.lists(st.lists(st.text(max_size=5), max_size=4), max_size=20))
def test_json_lists_round_trip(rows):
    import json

    column = pa.chunked_array([pa.array([json.dumps(row, ensure_ascii=False) for row in rows], pa.string())])
    assert split_column(column, semicolons=True)[0].to_pylist() == rows


@given(st.lists(st.text(max_size=8), min_size=1, max_size=4))
def test_python_lists_round_trip(row):
    rule, items = understand(repr(row), semicolons=True)
    assert items == row
    assert rule in ("JSON array", "Python list")
