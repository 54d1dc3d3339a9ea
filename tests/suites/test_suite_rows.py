"""Cases added, changed, renamed and relabelled; every problem at once."""

from typing import Any

import pytest

from metrics.core.errors import InputError
from metrics.core.suite import Suite
from metrics.suites import Edit, add_cases, apply, change_cases, relabel_objects, rename_cases
from tests.suites.suite_scenes import ids, suite


def told(failure: pytest.ExceptionInfo[InputError]) -> list[str]:
    return [str(problem) for problem in failure.value.problems]


def row(found: Suite, case_id: str) -> dict[str, Any]:
    return next({k: v for k, v in row.items() if v is not None} for row in found.cases.to_pylist()
                if row["case_id"] == case_id)  # fmt: skip


def pictures() -> Suite:
    cases = [{"case_id": f"p{n}", "image": "p.png"} for n in range(3)]
    boxes = [{"case_id": f"p{n // 2}", "annotation_id": n, "label": "cat", "x": float(n)} for n in range(4)]
    return Suite.from_rows("pictures", "detection", cases, boxes)


def test_added_cases_come_last_with_all_their_columns():
    new = {
        "case_id": " e ", "question": "Why?", "expected_answers": ["so", " "], "tags": [], "weight": 2,
        "conditions": '"so" AND NOT "no"', "json_schema": '{"type": "object"}', "owner": "Ada", "source_text": " ",
    }  # fmt: skip
    found = add_cases(suite(), [new, {"case_id": "e~copy", "perturbs": "e"}])
    assert ids(found) == ["a", "b", "c", "c~copy", "d", "e", "e~copy"]
    assert row(found, "e") == {
        "case_id": "e", "question": "Why?", "expected_answers": ["so"], "weight": 2.0, "metadata.owner": "Ada",
        "conditions": '"so" AND NOT "no"', "json_schema": '{"type": "object"}',
    }  # fmt: skip
    assert row(found, "a") == row(suite(), "a"), "the others are as they were"


def test_changes_are_those_of_the_rows_given_and_lists_are_numbers():
    rows = [{"case_id": "a", "question": "How short?", "area": None}, {"case_id": "c", "weight": None, "owner": "Ada"}]
    found = change_cases(suite(), rows)
    assert row(found, "a") == {
        "case_id": "a", "question": "How short?", "tags": ["loans", "easy"], "metadata.complexity": "simple"
    }  # fmt: skip
    assert "weight" not in row(found, "c")
    assert row(found, "c")["metadata.owner"] == "Ada"
    for case in ("b", "c~copy", "d"):
        assert row(found, case) == row(suite(), case)
    good = {"case_id": "e", "reference_context_ids": ["d"], "reference_grades": [-1, 0.5], "correct_choice": 0.0}
    assert row(add_cases(suite(), [good | {"reference_context_ids": ["d", "f"]}]), "e")["reference_grades"] == [-1, 0.5]
    with pytest.raises(InputError) as failure:
        add_cases(suite(), [good | {"reference_grades": ["2"], "correct_choice": 0.5}])
    assert told(failure) == [
        "desk, case e, column reference_grades: found ['2']; expected a list of numbers",
        "desk, case e, column correct_choice: found 0.5; expected a whole number from 0 up",
    ]


def test_metadata_variants_and_new_classes():
    first = change_cases(suite(), [{"case_id": "a", "owner": "Ada"}])
    assert change_cases(first, [{"case_id": "a", "owner": ""}]).fingerprint == suite().fingerprint
    found = rename_cases(suite(), {"c": "see", "a": "b", "b": "a"})
    assert (ids(found), row(found, "c~copy")["perturbs"]) == (["b", "a", "see", "c~copy", "d"], "see")
    labels = Suite.from_rows("l", "classification", [{"case_id": "a", "label": "z"}])
    assert add_cases(labels, [{"case_id": "b", "label": "y"}, {"case_id": "c", "label": "x"}]).labels == ("z", "x", "y")
    with pytest.raises(InputError, match="l, case b, column label: found nothing; expected the true class"):
        add_cases(labels, [{"case_id": "b"}])


def test_objects_follow_a_new_id_and_take_new_labels():
    found = rename_cases(pictures(), {"p0": "first"})
    assert found.annotations is not None
    assert found.annotations["case_id"].to_pylist() == ["first", "first", "p1", "p1"]
    found = relabel_objects(found, {"first": {1: "dog"}, "p1": {2: "ant"}})
    assert found.annotations is not None
    assert found.annotations["label"].to_pylist() == ["cat", "dog", "ant", "cat"]
    assert found.labels == ("cat", "ant", "dog")


def test_all_problems_of_new_rows_are_told_at_once():
    rows: list[dict[str, Any]] = [
        {"case_id": "a"}, {"question": "no id"}, {"case_id": "f", "weight": -1}, {"case_id": "f", "tags": "x"},
        {"case_id": "g", "conditions": '"open'}, {"case_id": "h", "json_schema": "{"},
        {"case_id": "i", "image": "../../etc/passwd"}, {"case_id": "j", "question": "x" * 1_000_001},
        {"case_id": "k\n", "question": 3}, {"case_id": "l\x07"}, {"case_id": "m", "weight": float("inf")},
        {"case_id": "n", "expected_calls": "search"}, {"case_id": "o", "expected_calls": '["search"]'},
    ]  # fmt: skip
    with pytest.raises(InputError) as failure:
        add_cases(suite(), rows)
    assert told(failure) == [
        "desk, case new, column case_id: found nothing; expected the id of the case",
        "desk, case f, column weight: found -1; expected a number from 0 up",
        "desk, case f, column tags: found 'x'; expected a list of texts",
        'desk, case g, column conditions: found a quote that is not closed at character 1; expected a closing "',
        "desk, case h, column json_schema: found the schema is not JSON: Expecting property name enclosed in double "
        "quotes at line 1, column 2; expected a JSON Schema",
        "desk, case i, column image: found '../../etc/passwd'; expected an image of the suite: others come with a file "
        "of cases",
        "desk, case j, column question: found 1,000,001 characters; expected at most 1,000,000",
        "desk, case k, column question: found 3; expected a text",
        r"desk, case 'l\x07', column case_id: found the id 'l\x07'; expected 1 to 500 printable characters",
        "desk, case m, column weight: found inf; expected a number from 0 up",
        "desk, case n, column expected_calls: found no JSON: Expecting value at line 1, column 1; expected a JSON list "
        'of calls such as [{"name": "search", "arguments": {"query": "Paris"}}], in order',
        "desk, case a, column case_id: found the id 'a' again; expected an id that no other case has",
        "desk, case f, column case_id: found the id 'f' again; expected an id that no other case has",
    ]


@pytest.mark.parametrize(("rows", "problem"), [
    ([{"case_id": "gone", "question": "?"}], "case gone, column case_id: found no such case"),
    ([{"case_id": "a", "weight": 1}] * 2, "case a, column case_id: found 2 rows; expected one row a case"),
    ([{"case_id": "a", "perturbs": "gone"}], "case a, column perturbs: found a variant of 'gone'"),
    ([{"case_id": "a", "perturbs": "a"}], "case a, column perturbs: found a variant of itself"),
    ([{"case_id": "c", "perturbs": "c~copy"}], "case c, column perturbs: found a variant of itself"),
], ids=["unknown", "twice", "no original", "its own", "a circle"])  # fmt: skip
def test_what_cannot_be_changed(rows, problem):
    with pytest.raises(InputError) as failure:
        change_cases(suite(), rows)
    assert problem in told(failure)[0]


def test_a_variant_that_has_lost_its_original_does_not_block_other_edits():
    lost = suite([{"case_id": "a~copy", "perturbs": "a"}, {"case_id": "b"}])
    assert row(change_cases(lost, [{"case_id": "b", "question": "?"}]), "b")["question"] == "?"
    assert len(add_cases(lost, [{"case_id": "a"}])) == 3
    with pytest.raises(InputError, match="a variant of 'c'"):
        change_cases(lost, [{"case_id": "a~copy", "perturbs": "c"}])


@pytest.mark.parametrize(("names", "problem"), [
    ({"gone": "e"}, "case gone, column case_id: found no such case"),
    ({"a": "b"}, "case a, column case_id: found the id 'b' again"),
    ({"a": " "}, "case a, column case_id: found no id"),
    ({"a": "e", "b": "e"}, "case a, column case_id: found the id 'e' again"),
], ids=["unknown", "taken", "empty", "twice"])  # fmt: skip
def test_what_is_no_new_id(names, problem):
    with pytest.raises(InputError) as failure:
        rename_cases(suite(), names)
    assert problem in told(failure)[0]


@pytest.mark.parametrize(("objects", "problem"),
    [({"p0": {7: "dog"}}, "no object 7"), ({"p0": {0: " "}}, "no label of object 0")],
    ids=["unknown", "empty"])  # fmt: skip
def test_what_cannot_be_relabelled(objects, problem):
    with pytest.raises(InputError, match=problem):
        relabel_objects(pictures(), objects)
    with pytest.raises(InputError):
        relabel_objects(suite(), objects)


def test_edits_say_what_they_do():
    edits = [
        Edit(do="add", rows=({"case_id": "e"},)), Edit(do="rename", names={"a": "z"}),
        Edit(do="change", rows=({"case_id": "b", "question": "?", "metadata.area": "hall"},)),
    ]  # fmt: skip
    assert [edit.words for edit in edits] == ["1 case: added", "1 case: renamed", "1 case: question, area changed"]
    found = apply(suite(), edits)
    assert (ids(found), row(found, "b")["metadata.area"]) == (["z", "b", "c", "c~copy", "d", "e"], "hall")
