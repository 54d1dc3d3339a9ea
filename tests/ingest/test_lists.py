"""List cells: which rule reads them, and what comes out, one by one, by the column and from every format."""
# ruff: noqa: E501 - a table reads better with one line a case

import json
from collections import deque

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from metrics.core.errors import InputError
from metrics.ingest import load_outputs, load_suite, outputs_from_frame, suite_from_frame
from metrics.ingest.arrays import BLOCK, may_hold
from metrics.ingest.source import Reading
from metrics.ingest.tables.lists import ListForm, split_column, understand
from tests.ingest.files import write

CELLS = {
    "json": ('["a", "b"]', "JSON array", ["a", "b"]),
    "json numbers": ("[1, 2.5, true]", "JSON array", ["1", "2.5", "true"]),
    "json objects are their text": ('[{"text": "a"}, {"node": {"text": "b"}, "score": 1}]', "JSON array", ["a", "b"]),
    "json object without a text": ('[{"text": "a"}, {"x": 1}]', "one text", None),
    "json lone object": ('{"page_content": "a"}', "JSON array", ["a"]),
    "json object of something else": ('{"x": 1}', "one text", ['{"x": 1}']),
    "json nested": ('[["a", "b"]]', "one text", None), "json number beyond 64 bits": (f"[{2**70}]", "JSON array", [str(2**70)]),
    "json empty": ("[]", "JSON array", []), "python": ("['a', \"b's\"]", "Python list", ["a", "b's"]),
    "python escapes": (r"['a\n\d\'', u'\u00e9']", "Python list", ["a\n\\d'", "é"]),
    "python trailing comma": ("['a', ]", "Python list", ["a"]),
    "numpy without commas": ("['a' 'b']", "Python list", ["a", "b"]),
    "numpy array": ("array(['a', 'b'], dtype=object)", "Python list", ["a", "b"]),
    "numpy array of a type": ("array(['a'], dtype='<U1')", "Python list", ["a"]),
    "numpy texts": ("[np.str_('a'), np.str_('b')]", "Python list", ["a", "b"]),
    "numpy lines": ("['a'\n 'b']", "Python list", ["a", "b"]), "numpy cut": ("['a' ... 'b']", "one text", None),
    "tuple": ("('a', 'b')", "Python list", ["a", "b"]), "tuple of one": ("('a',)", "Python list", ["a"]),
    "brackets": ("('a')", "one text", ["('a')"]), "interval": ("(1, 2)", "one text", ["(1, 2)"]),
    "prose in brackets": ('("Yes", she said) so', "one text", ['("Yes", she said) so']),
    "documents": ("[Document(page_content='a, \\'b\\'', metadata={'x': [1]}), Document(id='2', page_content=\"c\")]",
                  "Python list", ["a, 'b'", "c"]),
    "a printed document": ("page_content='a' metadata={'x': 1}", "Python list", ["a"]),
    "nodes": ("[NodeWithScore(node=TextNode(id_='1', text='a'), score=0.5)]", "Python list", ["a"]),
    "documents cut": ("[Document(page_content='a', meta", "one text", None),
    "python objects": ("[{'text': 'a', 'score': None}]", "Python list", ["a"]),
    "python nested": ("[['a'], ['b']]", "one text", None), "None first": ("[None, 'a']", "one text", None),
    "nan in a list": ("[nan, 'a']", "one text", None), "link": ("[a](b) says", "one text", ["[a](b) says"]),
    "footnote": ("[[1]](b) says", "one text", ["[[1]](b) says"]), "a call": ("max(['a'])", "one text", ["max(['a'])"]),
    "deque": ("deque(['a', 'b'], maxlen=5)", "Python list", ["a", "b"]), "tensor": ("tensor(['a'])", "Python list", ["a"]),
    "frozenset": ("frozenset({'a'})", "Python list", ["a"]), "index": ("pd.Index(['a'], dtype='object')", "Python list", ["a"]),
    "dict values": ("dict_values(['a'])", "Python list", ["a"]), "empty deque": ("deque([])", "Python list", []),
    "pandas": ("<StringArray>\n['a', 'b']\nLength: 2, dtype: string", "Python list", ["a", "b"]),
    "deque of None": ("deque([None])", "one text", None), "byte order mark": ('\ufeff["a"]', "JSON array", ["a"]),
    "JSON twice": (r'"[\"a\", \"b\"]"', "JSON array", ["a", "b"]),
    "enumeration": ("[Node(kind={<Kind.A: '1'>: 2}, text='a')]", "Python list", ["a"]),
    "document without its text": ("<Document id=1>", "one text", None), "objects": ("[<x.Node object at 0x7f>]", "one text", None),
    "haystack": ("<Document: {'id': 'x', 'content': 'a < b'}>", "one text", None),
    "documents without their texts": ("[<Document id=1>, <Document id=2>]", "one text", None),
    "a document in XML": ("<Document id=1>a</Document>", "one text", ["<Document id=1>a</Document>"]),
    "HTML": ("<p class=x>a</p>", "one text", ["<p class=x>a</p>"]), "NA": ("[<NA>]", "one text", None),
    "numpy's nan": ("[np.nan]", "one text", None), "float nan": ("[float('nan')]", "one text", None),
    "curly quotes": ("[“a”, “b”]", "one text", None), "a word in brackets": ("[Applause]", "one text", ["[Applause]"]),
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
    assert understand(text, ListForm(semicolons=True)) == (rule, items)


def test_column_mixes_rules_nulls_and_chunks():
    column = pa.chunked_array([pa.array(["a", None, '["x","y"]', "p;q", "[]"]), pa.array(["z", '["x","y"]', '["cut'])])
    lists, bad = split_column(column, ListForm(semicolons=True))
    assert lists.to_pylist() == [["a"], None, ["x", "y"], ["p", "q"], [], ["z"], ["x", "y"], None]
    assert bad.tolist() == [False] * 7 + [True]


@given(st.lists(st.lists(st.text(max_size=5), max_size=4), max_size=20))
def test_json_lists_round_trip(rows):
    column = pa.chunked_array([pa.array([json.dumps(row, ensure_ascii=False) for row in rows], pa.string())])
    assert split_column(column, ListForm())[0].to_pylist() == rows


@given(st.lists(st.text(max_size=8), min_size=1, max_size=4))
def test_python_lists_round_trip(row):
    rule, items = understand(repr(row), ListForm())
    assert items == row
    assert rule in ("JSON array", "Python list")


def in_every_format(folder, rows, suite=None):
    """Yield the rows as read from every format that has types, with its name, and what is refused as its message."""
    frame = [dict(row) for row in rows]
    written = {name: write(folder, name, rows) for name in ("r.jsonl", "r.json", "r.parquet")}
    written["r.yaml"] = write(folder, "r.yaml", json.dumps(rows))
    for name, path in written.items():
        yield name, _table(lambda path=path: load_outputs(path, suite=suite).value if suite else load_suite(path).value)
    yield "frame", _table(lambda: outputs_from_frame(frame, suite=suite) if suite else suite_from_frame(frame))


def _table(read):
    try:
        value = read()
    except InputError as error:
        return str(error.problems[0])
    return value


NULL = 'expected a list such as ["a", "b"], closed and without null'
TYPED = {  # column → value → items, or None where it is refused
    "a text that looks like a list": ("expected_answers", "[2, 3, 5]", ["[2, 3, 5]"]),
    "a text in a list": ("expected_answers", ["[2, 3, 5]"], ["[2, 3, 5]"]),
    "a quoted list in a text": ("expected_answer", '["a", "b"]', ['["a", "b"]']),
    "a word": ("expected_answer", "None", ["None"]), "null": ("expected_answers", ["Paris", None], None),
    "nested": ("retrieved_contexts", [["a", "b"]], None), "empty": ("retrieved_contexts", [], []),
    "objects": ("retrieved_contexts", [{"page_content": "a", "metadata": {"k": "v"}}], ["a"]),
    "an object": ("retrieved_contexts", {"text": "a"}, ["a"]), "no text": ("retrieved_contexts", [{"id": "1"}], None),
    "parts": ("retrieved_contexts", [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], ["a", "b"]),
    "parts of an answer": ("answer", [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
    "a part of an answer": ("answer", {"type": "text", "text": "a"}, "a"),
    "parts as code": ("answer", "[{'type': 'text', 'text': 'a'}]", "a"),
    "parts of the expected answer": ("expected_answer", [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], ["a\nb"]),
    "an answer of JSON": ("answer", [{"a": "1"}], '[{"a":"1"}]'), "code": ("retrieved_contexts", "['a', 'b']", ["a", "b"]),
    "array as code": ("retrieved_contexts", "array(['a'], dtype=object)", ["a"]),
    "null as code": ("retrieved_contexts", "['a', None]", None), "no passage": ("retrieved_contexts", "null", None),
    "a passage of numbers": ("retrieved_contexts", "[1, 2]", ["[1, 2]"]),
    "ids with scores": ("context_ids", [{"id": "a", "score": "0.5"}], ["a"]),
    "graded ids": ("reference_context_ids", {"a": 2, "b": 1}, ["a", "b"]),
}  # fmt: skip


@pytest.mark.parametrize(("column", "value", "items"), TYPED.values(), ids=TYPED.keys())
def test_typed_values_are_the_same_in_every_format(tmp_path, column, value, items):
    answered = column in ("answer", "retrieved_contexts", "context_ids")
    suite = load_suite(write(tmp_path, "s.csv", "case_id,question\n1,q\n")).value if answered else None
    beside = {"answer": "x"} if answered else {"question": "q"}
    name = "expected_answers" if column == "expected_answer" else column
    for format, read in in_every_format(tmp_path, [{"case_id": "1", **beside, column: value}], suite):
        if items is None:
            assert column in read, format
            assert NULL in read, format
        else:
            table = read.outputs if answered else read.cases
            assert table[name].to_pylist() == [items], format


CODE = {  # as CSV has it: header → cell → items
    "plural": ("expected_answers", '["a", "b"]', ["a", "b"]), "single": ("expected_answer", '["a", "b"]', ['["a", "b"]']),
    "numbers": ("ground_truth", "[2, 3, 5]", ["[2, 3, 5]"]), "parts": ("expected", "[{'type': 'text', 'text': 'a'}]", ["a"]),
    "no spaces": ("expected_answers", "a;b", ["a", "b"]), "one": ("expected_answers", "a; ", ["a; "]),
    "tags": ("tags", "a; b", ["a", "b"]), "single prose": ("expected_answer", "yes; really", ["yes; really"]),
}  # fmt: skip


@pytest.mark.parametrize(("header", "cell", "items"), CODE.values(), ids=CODE.keys())
def test_cells_of_text(tmp_path, header, cell, items):
    quoted = '"' + cell.replace('"', '""') + '"'
    suite = load_suite(write(tmp_path, "s.csv", f"case_id,question,{header}\n1,q,{quoted}\n")).value
    assert suite.cases["tags" if header == "tags" else "expected_answers"].to_pylist() == [items]


PROSE = {"prose": "He came; he saw.", "spaces": "a ; b", "HTML": "a&nbsp;b", "code": "x=1;y=2"}


@pytest.mark.parametrize("cell", PROSE.values(), ids=PROSE.keys())
@pytest.mark.parametrize("format", ["csv", "xlsx"])
def test_semicolons_in_prose_are_asked_about(tmp_path, cell, format):
    path = tmp_path / f"s.{format}"
    frame = pd.DataFrame([{"case_id": "1", "question": "q", "reference_contexts": cell}])
    frame.to_csv(path, index=False) if format == "csv" else frame.to_excel(path, index=False)
    with pytest.raises(InputError, match="reference_contexts_separator=semicolon or reference_contexts_separator=none"):
        load_suite(path)
    for answer, items in (("none", [cell]), ("semicolon", [part.strip() for part in cell.split(";")])):
        suite = load_suite(path, reading=Reading(answers={"reference_contexts_separator": answer})).value
        assert suite.cases["reference_contexts"].to_pylist() == [items]


def test_semicolons_beside_lists_belong_to_their_text(tmp_path):
    content = 'case_id,question,reference_contexts\n1,q,"[""a"", ""b""]"\n2,q,He came; he saw.\n'
    suite = load_suite(write(tmp_path, "s.csv", content)).value
    assert suite.cases["reference_contexts"].to_pylist() == [["a", "b"], ["He came; he saw."]]
    assert "reference_contexts_separator=none" in str(suite.receipt)


def test_what_is_not_read_of_objects_is_said(tmp_path):
    rows = [{"case_id": "1", "answer": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": "u"}],
             "retrieved_contexts": [{"text": "a", "meta": {"page": 3}}, {"text": "b", "meta": {"page": 4}}]}]  # fmt: skip
    suite = load_suite(write(tmp_path, "s.csv", "case_id,question\n1,q\n")).value
    said = [str(line) for line in load_outputs(write(tmp_path, "o.jsonl", rows), suite=suite).value.receipt]
    why = "(2) is not used: of an object in a list only the text is read, such as '3'"
    assert f"o.jsonl: retrieved_contexts[].meta.page {why}" in said
    why = "(1) is not used: of the parts of a message only texts are read, such as 'u'"
    assert f"o.jsonl: answer[].image_url {why}" in said


def test_objects_of_any_depth_are_read(tmp_path):
    """The receipt names what is in them down to some depth."""
    deep = '{"x":' * 900 + "1" + "}" * 900
    row = '{"case_id": "1", "question": "q", "reference_contexts": [{"text": "a", "more": ' + deep + "}]}"
    suite = load_suite(write(tmp_path, "s.jsonl", row + "\n")).value
    assert suite.cases["reference_contexts"].to_pylist() == [["a"]]
    assert "reference_contexts[].more.x.x" in str(suite.receipt)


class Document:
    """What LangChain's retrievers return."""

    def __init__(self, text):
        self.page_content, self.metadata = text, {"page": 3}


class Text:
    """What Haystack's retrievers return, and a message."""

    def __init__(self, text):
        self.content = text


class Node:
    """What LlamaIndex's retrievers return."""

    def __init__(self, node):
        self.node, self.score = node, 0.5


IN_MEMORY = {  # values that only tables in memory have → items, None where they are refused
    "documents": ([Document("a"), Document("b")], ["a", "b"]), "a document": (Document("a"), ["a"]),
    "array": (np.array(["a", "b"], dtype=object), ["a", "b"]), "tuple": (("a", "b"), ["a", "b"]),
    "deque": (deque(["a", "b"]), ["a", "b"]), "frozenset": (frozenset(["a"]), ["a"]), "series": (pd.Series(["a"]), ["a"]),
    "values": ({1: "a"}.values(), ["a"]), "bytes": ([b"a"], ["a"]), "strings": (pd.array(["a"], dtype="string"), ["a"]),
    "nodes": ([Node(Text("a"))], ["a"]), "messages": ([Text("a")], ["a"]),
    "arrays in a list": ([np.array(["a"])], None), "nan in a list": (["a", np.nan], None),
}  # fmt: skip


@pytest.mark.parametrize("table", [list, pd.DataFrame], ids=["records", "pandas"])
@pytest.mark.parametrize(("value", "items"), IN_MEMORY.values(), ids=IN_MEMORY.keys())
def test_values_in_memory(tmp_path, value, items, table):
    suite = load_suite(write(tmp_path, "s.csv", "case_id,question\n1,q\n")).value
    rows = table([{"case_id": "1", "answer": "x", "retrieved_contexts": value}])
    if items is None:
        with pytest.raises(InputError, match="closed and without null"):
            outputs_from_frame(rows, suite=suite)
    else:
        assert outputs_from_frame(rows, suite=suite).outputs["retrieved_contexts"].to_pylist() == [items]


@pytest.mark.parametrize("value", [object(), [object()], ["a", len], (text for text in "ab"), [..., "a"]], ids=range(5))
@pytest.mark.parametrize("column", ["answer", "retrieved_contexts"])
def test_objects_without_a_text_are_refused(tmp_path, value, column):
    suite = load_suite(write(tmp_path, "s.csv", "case_id,question\n1,q\n")).value
    with pytest.raises(InputError, match=f"column {column}: found values that are not text: an object"):
        outputs_from_frame([{"case_id": "1", "answer": "x", column: value}], suite=suite)


def test_a_message_is_its_text(tmp_path):
    suite = load_suite(write(tmp_path, "s.csv", "case_id,question\n1,q\n")).value
    assert outputs_from_frame([{"case_id": "1", "answer": Text("a")}], suite=suite).outputs["answer"].to_pylist() == [
        "a"
    ]


@pytest.mark.parametrize("cell", ["{}", "()", "set()"])
def test_nothing_retrieved_as_code(tmp_path, cell):
    suite = load_suite(write(tmp_path, "s.csv", "case_id,question\n1,q\n")).value
    outputs = load_outputs(
        write(tmp_path, "o.csv", f"case_id,answer,retrieved_contexts\n1,x,{cell}\n"), suite=suite
    ).value
    assert outputs.outputs["retrieved_contexts"].to_pylist() == [[]]


@pytest.mark.parametrize(
    "passage", [{"body": "a"}, {"payload": {"text": "a"}}, {"_source": {"content": "a"}}, {"text": "a", "body": "b"}]
)
def test_passages_of_vector_stores(tmp_path, passage):
    rows = [{"case_id": "1", "question": "q", "reference_contexts": [passage]}]
    for _, suite in in_every_format(tmp_path, rows):
        assert suite.cases["reference_contexts"].to_pylist() == [["a"]]


@pytest.mark.parametrize(
    ("texts", "mark", "found"),
    [
        (["a", None, "b<"], b"<", True), (["a", "b"], b"<", False), ([], b"<", False), ([None], b"<", False),
        (["[1]/"], b"[/", False), (["x[/THINK]"], b"[/", True), (["x" * (BLOCK - 1) + "[/"], b"[/", True),
        (["say ◁"], "◁".encode(), True),
    ],
)  # fmt: skip
def test_marks_are_found_in_whole_columns(texts, mark, found):
    column = pa.array(texts, pa.string())
    assert may_hold(column, mark) == may_hold(pa.chunked_array([column, column]), b"\x01", mark) == found


@pytest.mark.parametrize(
    ("cells", "answer", "labels", "said"),
    [
        (["cat, dog", "dog", "cat"], None, [["cat", "dog"], ["dog"], ["cat"]], "asked"),
        (["cat, dog", "dog", "cat"], "none", [["cat, dog"], ["dog"], ["cat"]], "asked"),
        (["cat|dog", "cat, dog", "cat"], None, [["cat|dog"], ["cat, dog"], ["cat"]], None),
        (["cat|dog", "dog", "cat"], None, [["cat", "dog"], ["dog"], ["cat"]], None),
        (["Korea, South", "Peru", "Fiji"], "none", [["Korea, South"], ["Peru"], ["Fiji"]], "asked"),
        (["Korea, South", "Peru", "Fiji"], None, None, "asked"),
    ],
)
def test_classes_between_commas(tmp_path, cells, answer, labels, said):
    path = write(tmp_path, "s.csv", "case_id,labels\n" + "".join(f'{n},"{cell}"\n' for n, cell in enumerate(cells)))
    reading = Reading(answers={"labels_separator": answer} if answer else {})
    if labels is None:
        with pytest.raises(InputError, match="cells with , such as 'Korea, South'"):
            load_suite(path, task="classification", reading=reading)
        return
    suite = load_suite(path, task="classification", reading=reading).value
    assert suite.cases["labels"].to_pylist() == labels
    assert [line.use for line in suite.receipt if "cells with ," in line.meaning] == ([said] if said else [])
