"""Suite, Outputs and Case: fingerprints, restriction, joining."""

import json
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from metrics.core.classes import ClassFacts, class_records, classes_of
from metrics.core.suite import CASES, Outputs, Suite, conform, fingerprint

texts = st.lists(st.one_of(st.none(), st.text(max_size=8)), max_size=12)
lists = st.lists(st.one_of(st.none(), st.lists(st.text(max_size=4), max_size=3)), max_size=12)


@given(texts, st.integers(0, 12), st.integers(0, 3))
def test_fingerprint_does_not_see_chunks_slices_and_padding(values, cut, pad):
    whole = pa.table({"a": pa.array(values, pa.string())})
    chunked = pa.concat_tables([whole.slice(0, cut), whole.slice(cut)])
    padded = pa.table({"a": pa.array(["pad"] * pad + values, pa.string()).slice(pad)})
    assert fingerprint(whole) == fingerprint(chunked) == fingerprint(padded)


@given(lists, lists)
def test_fingerprint_tells_lists_apart(left, right):
    tables = [pa.table({"a": pa.array(values, pa.list_(pa.string()))}) for values in (left, right)]
    assert (fingerprint(tables[0]) == fingerprint(tables[1])) == (left == right)


@pytest.mark.parametrize(("left", "right"), [
    pytest.param({"a": ["x", ""]}, {"a": ["", "x"]}, id="order"),
    pytest.param({"a": ["ab", "c"]}, {"a": ["a", "bc"]}, id="boundaries"),
    pytest.param({"a": [None]}, {"a": [""]}, id="absent-or-empty"),
    pytest.param({"a": ["1"]}, {"b": ["1"]}, id="column-name"),
    pytest.param({"a": [1.0]}, {"a": [1]}, id="type"),
    pytest.param({"a": [0.0]}, {"a": [None]}, id="zero-or-none"),
])  # fmt: skip
def test_fingerprint_tells_apart(left, right):
    assert fingerprint(pa.table(left)) != fingerprint(pa.table(right))


def test_what_does_not_change_the_fingerprint():
    rows = [{"case_id": "1", "question": "q"}]
    one, two = Suite.from_rows("one", "text", rows), Suite.from_rows("two", "text", rows)
    assert one.fingerprint == two.fingerprint
    row = {"case_id": "a", "model": "m", "answer": "x", "retrieved_contexts": ["y"]}
    assert Outputs.from_rows([row]).fingerprint.startswith("f63bd7f4d0ae9a38")  # as before there were such columns
    with_ids = Outputs.from_rows([row | {"context_ids": ["7"]}])
    assert with_ids.fingerprint != Outputs.from_rows([row]).fingerprint


def test_tags_labels_and_columns_of_a_suite():
    suite = Suite.from_rows(
        "s", "text", [{"case_id": str(i), "tags": tags} for i, tags in enumerate([["b"], ["a", "b"], None, ["c"]])]
    )
    assert suite.tags == ("b", "a", "c")
    rows = [{"case_id": "1", "labels": ["b", "a"]}, {"case_id": "2", "label": "c"}]
    assert Suite.from_rows("a", "classification", rows).labels == ("a", "b", "c")
    table = conform(pa.table({"weight": [1], "case_id": ["007"], "metadata.site": [5]}), CASES)
    assert (table.column_names, table["weight"].to_pylist()) == ([*CASES.names, "metadata.site"], [1.0])
    assert table["metadata.site"].to_pylist() == ["5"]
    with pytest.raises(ValueError, match=r"columns \['colour'\] are not in the schema"):
        conform(pa.table({"colour": ["red"]}), CASES)


def test_restriction_keeps_order_and_facts_about_classes_survive_json():
    suite = Suite.from_rows(
        "s", "detection", [{"case_id": c} for c in "abc"],
        [{"case_id": c, "label": "x", "annotation_id": 1} for c in "abca"],
    )  # fmt: skip
    part = suite.restricted(pa.array(["c", "a"]))
    assert part.cases["case_id"].to_pylist() == ["a", "c"]
    assert part.annotations is not None
    assert part.annotations["case_id"].to_pylist() == ["a", "c", "a"]
    outputs = Outputs.from_rows([{"case_id": "a", "model": m, "run": r} for m in "xy" for r in (1, 2)])
    assert outputs.restricted("y", 2).outputs.num_rows == 1
    plain = Suite.from_rows("a", "detection", [{"case_id": "1"}], [], ["cat"])
    facts = {
        "cat": ClassFacts("animal", True, 12, ("nose", "tail"), ((0, 1),), (0.26, 0.5)),
        "sky": ClassFacts(is_thing=False),
    }
    assert plain.fingerprint.startswith("cb726a88b0794c8c")  # as before classes had facts
    known = replace(plain, classes=facts)
    assert known.fingerprint not in (plain.fingerprint, replace(plain, classes={"cat": ClassFacts()}).fingerprint)
    assert class_records(facts)["sky"] == {"is_thing": False}
    assert classes_of(json.loads(json.dumps(class_records(facts)))) == facts
