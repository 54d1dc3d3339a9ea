"""Cases of a suite edited by a form and in a table, merged, and compared with earlier versions."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from components.data import suite_cases, suite_drafts
from components.views.setup.case_table import table_edits
from metrics.core.fields import CASE_FIELDS, Task
from metrics.core.suite import Outputs, Suite
from metrics.store import Workspace
from tests.engine.engine_scenes import finished
from tests.pages.conftest import Open
from tests.pages.page_scenes import marked
from tests.pages.reading import labelled, press, words
from tests.pages.test_suites import HOSTILE, ROWS, newest

CONDITION = '"euro" AND (regexp("[0-9]+") OR NOT "free")'


@pytest.fixture
def stored(workspace: Path) -> str:
    """The fingerprint of a stored suite of twelve cases; c1 has everything that a case can have."""
    full = ROWS[1] | {
        "conditions": CONDITION, "json_schema": "{}", "source_text": "A text.", "reference_contexts": ["one", HOSTILE],
        "weight": 2.0, "group": "desk", "expected_answers": ["1 euro", HOSTILE],
        "reference_context_ids": ["doc-1", HOSTILE], "reference_grades": [2.0, 1.0],
        "choices": ["1 euro", HOSTILE], "correct_choice": 1,
    }  # fmt: skip
    return Workspace().save_suite(Suite.from_rows("desk", "text", [ROWS[0], full, *ROWS[2:]]))


@pytest.fixture
def page(stored: str, open_page: Open) -> Open:
    return lambda **params: open_page("suites", suite=stored, **params)


def saved(page: AppTest) -> Suite:
    press(page, "Save as a new suite")
    return newest()


def row(suite: Suite, case_id: str) -> dict[str, Any]:
    return next(row for row in suite.cases.to_pylist() if row["case_id"] == case_id)


def keyed(boxes: Any, ending: str) -> Any:
    return next(box for box in boxes if (box.key or "").endswith(ending))


def rows(boxes: Any, part: str) -> list[Any]:
    return [box for box in boxes if f"-conditions-{part}-" in (box.key or "")]


def test_opening_a_case_changes_nothing(page: Open) -> None:
    shown = page(case="c1")
    assert "2 of 12 cases" in words(shown)
    assert "Not applied yet" not in words(shown)
    assert labelled(shown.button, "Apply").disabled
    assert shown.code[0].value == CONDITION
    assert "✓ a schema that can be used" in words(shown)


def test_every_field_of_a_case_is_edited(page: Open, stored: str) -> None:
    shown = page(case="c1")
    labelled(shown.text_area, "Question").set_value("How much?").run()
    labelled(shown.text_area, "Expected answer 2").set_value("one euro").run()
    labelled(shown.text_area, "Source text").set_value(" ").run()
    labelled(shown.multiselect, "Tags").set_value(["fees", "new"]).run()
    labelled(shown.selectbox, "Complexity").set_value("medium").run()
    labelled(shown.number_input, "Weight").set_value(3.5).run()
    labelled(shown.text_input, "Group").set_value("").run()
    labelled(shown.text_input, "Case id").set_value("first").run()
    assert "Not applied yet: question, expected answers, source text, tags, weight, group, complexity, id" in words(
        shown
    )
    press(shown, "Apply")
    assert "1 edit" not in words(shown), "the values and the id are two"
    assert shown.query_params["case"] in ("first", ["first"])
    found = row(saved(shown), "first")
    assert found == row(Workspace().suite(stored), "c1") | {
        "case_id": "first", "question": "How much?", "expected_answers": ["1 euro", "one euro"], "source_text": None,
        "tags": ["fees", "new"], "metadata.complexity": "medium", "weight": 3.5, "group": None,
    }  # fmt: skip


@pytest.mark.parametrize("task", ["text", "classification", "regression"])
def test_form_and_table_edit_every_column_of_the_task(workspace: Path, open_page: Open, task: Task) -> None:
    wanted = {field.name for field in CASE_FIELDS if field.edited and field.fits(task)}
    rows = [{"case_id": "a", "question": "q", "label": "cat", "true_value": 1.0}, {"case_id": "b", "perturbs": "a"}]
    stored = Workspace().save_suite(Suite.from_rows("small", task, rows))
    shown = open_page("suites", suite=stored, case="a")
    boxes = [*shown.text_area, *shown.text_input, *shown.number_input, *shown.selectbox, *shown.multiselect]
    keys = " ".join(str(box.key) for box in (*boxes, *shown.get("button_group")))
    in_table = {"reference_context_ids", "reference_grades"}
    assert ["id", "grade"] in [list(frame.value.columns) for frame in shown.dataframe]
    keys = keys.replace("-correct", "-correct_choice")
    assert {name for name in wanted if f"-{name}" not in keys} == in_table
    shown = open_page("suites", suite=stored, table="1")
    columns = labelled(shown.multiselect, "Columns")
    columns.set_value(sorted(wanted)).run()
    assert set(shown.dataframe[0].value.columns) == {"case_id", *wanted}


def test_an_expected_answer_is_added_and_one_removed(page: Open) -> None:
    shown = page(case="c1")
    keyed(shown.button, "-expected_answers-add").click().run()
    labelled(shown.text_area, "Expected answer 3").set_value("EUR 1").run()
    keyed(shown.button, "-expected_answers-remove-0").click().run()
    press(shown, "Apply")
    assert row(saved(shown), "c1")["expected_answers"] == [HOSTILE, "EUR 1"]


def test_the_first_choice_is_made_the_correct_one(page: Open) -> None:
    shown = page(case="c1")
    box = labelled(shown.selectbox, "Correct choice")
    assert box.value == 1
    box.set_value(0).run()
    assert "Not applied yet: correct choice" in words(shown)
    press(shown, "Apply")
    found = row(saved(shown), "c1")
    assert (found["correct_choice"], found["choices"]) == (0, ["1 euro", HOSTILE])
    assert (found["reference_context_ids"], found["reference_grades"]) == (["doc-1", HOSTILE], [2.0, 1.0])


def test_a_case_with_grades_is_duplicated(page: Open) -> None:
    shown = page(case="c1")
    press(shown, "Duplicate")
    found = saved(shown)
    assert row(found, "c1-copy") == row(found, "c1") | {"case_id": "c1-copy"}


def test_problems_of_all_fields_are_told_and_nothing_is_applied(page: Open) -> None:
    shown = page(case="c1")
    labelled(shown.text_input, "Case id").set_value("c2").run()
    labelled(shown.text_area, "JSON Schema").set_value('{"type": 3}').run()
    assert "✗ the schema is not" in words(shown)
    press(shown, "Apply")
    told = words(shown)
    assert "✗ desk, case c1, column json_schema: found" in told
    assert "✗ desk, case c1, column case_id: found the id 'c2' again" in told
    assert "draft" not in shown.query_params
    press(shown, "Revert")
    assert labelled(shown.text_input, "Case id").value == "c1"


def test_a_new_case_gets_the_next_id_and_is_opened(page: Open) -> None:
    shown = page()
    press(shown, "New case")
    assert labelled(shown.text_input, "Case id").value == "c12"
    labelled(shown.text_area, "Question").set_value(HOSTILE).run()
    press(shown, "Add the case")
    assert "13 of 13 cases" in words(shown)
    press(shown, "Duplicate")
    assert shown.query_params["case"] in ("c12-copy", ["c12-copy"])
    press(shown, "Previous")
    assert "13 of 14 cases" in words(shown)
    press(shown, "Remove")
    assert "desk: 13 cases, text · 3 edits, not saved" in words(shown)
    press(shown, "Undo")
    assert "desk: 14 cases, text · 2 edits, not saved" in words(shown)
    assert row(saved(shown), "c12-copy")["question"] == HOSTILE


def test_a_class_is_asked_for(workspace: Path, open_page: Open) -> None:
    rows = [{"case_id": "1", "question": "q", "label": "cat"}, {"case_id": "2", "question": "r", "label": "dog"}]
    stored = Workspace().save_suite(Suite.from_rows("animals", "classification", rows))
    shown = open_page("suites", suite=stored, new="1")
    labelled(shown.text_area, "Question").set_value("s").run()
    press(shown, "Add the case")
    assert "column label: found nothing; expected the true class of the case" in words(shown)
    labelled(shown.selectbox, "True class").set_value("dog").run()
    press(shown, "Add the case")
    assert row(saved(shown), "3")["label"] == "dog"


def test_a_condition_is_built_by_rows_and_tried(page: Open) -> None:
    shown = page(case="c2")
    rows(shown.text_input, "what")[0].set_value("euro").run()
    assert shown.code[0].value == '"euro"'
    press(shown, "Add a row")
    rows(shown.selectbox, "test")[1].set_value("matches_not").run()
    rows(shown.text_input, "what")[1].set_value("[0-9").run()
    assert "✗ RE2 cannot read the expression: missing ]" in words(shown)
    rows(shown.text_input, "what")[1].set_value("[0-9]").run()
    press(shown, "Add a group")
    rows(shown.text_input, "what")[2].set_value('"free"').run()
    assert shown.code[0].value == r'("euro" AND NOT regexp("[0-9]")) AND "\"free\""'
    keyed(shown.text_area, "-conditions-trial").set_value('euro "free" 7').run()
    assert "✗ fails" in words(shown)
    tried = next(frame.value for frame in shown.dataframe if "term" in frame.value)
    assert list(tried["found"]) == ["✓", "✓", "✓"]
    keyed(shown.text_area, "-conditions-trial").set_value('euro "free"').run()
    assert "✓ passes" in words(shown)
    rows(shown.button, "remove")[2].click().run()
    press(shown, "Apply")
    assert row(saved(shown), "c2")["conditions"] == '"euro" AND NOT regexp("[0-9]")'


def test_a_condition_is_written_as_text_with_the_place_of_an_error(page: Open) -> None:
    shown = page(case="c1")
    mode = keyed(shown.get("button_group"), "-conditions-mode")
    mode.set_value(["text"]).run() if isinstance(mode.value, list) else mode.set_value("text").run()
    labelled(shown.text_area, "Condition").set_value('"a" "b"').run()
    assert "✗ the condition has '\"b\"' at character 5; expected AND, OR or the end" in words(shown)
    press(shown, "Apply")
    assert "column conditions: found '\"b\"' at character 5" in words(shown)
    labelled(shown.text_area, "Condition").set_value('"a" AND ("b" OR ("c" AND "d"))').run()
    mode = keyed(shown.get("button_group"), "-conditions-mode")
    mode.set_value(["form"]).run() if isinstance(mode.value, list) else mode.set_value("form").run()
    assert "This condition is nested too deeply for the form: it is edited as text." in words(shown)


def test_a_case_that_is_not_there(page: Open) -> None:
    shown = page(case="gone")
    assert "The suite has no case" in shown.info[0].value
    press(shown, "Back to the cases")
    assert "1–12 of 12 cases" in words(shown)


def test_cases_shown_are_duplicated(page: Open) -> None:
    shown = page(tag="fees")
    labelled(shown.selectbox, "Edit").select("copy").run()
    press(shown, "Apply to all 6 cases shown")
    assert "desk: 18 cases, text · 1 edit, not saved" in words(shown)
    assert row(saved(shown), "c1-copy")["conditions"] == CONDITION


def test_what_was_changed_in_a_table_becomes_edits() -> None:
    rows = pd.DataFrame(
        {"case_id": ["a", "b", "c"], "question": ["p", None, "q"], "tags": [["x"], [], []], "weight": [1.0, None, None]}
    )
    delta = {
        "edited_rows": {0: {"question": "P", "tags": ["x"], "weight": 1.0},
            "1": {"case_id": "z", "weight": 0.0, "question": ""}, 2: {"question": "gone anyway"}},
        "added_rows": [{"question": "new"}, {}, {"case_id": "own"}], "deleted_rows": [2],
    }  # fmt: skip
    assert table_edits(rows, delta, ["n1"]) == [
        {"do": "leave_out", "cases": ["c"]},
        {"do": "change", "rows": [{"case_id": "a", "question": "P"}, {"case_id": "b", "weight": 0.0}]},
        {"do": "rename", "names": {"b": "z"}},
        {"do": "add", "rows": [{"question": "new", "case_id": "n1"}, {"case_id": "own"}]},
    ]
    assert table_edits(rows, {}, []) == []
    added = {"added_rows": [{"reference_grades": given, "choices": ["1"]} for given in (["2", ".5"], ["2", "high"])]}
    assert [edit["reference_grades"] for edit in table_edits(rows, added, ["a", "b"])[0]["rows"]] == [
        [2.0, 0.5], ["2", "high"],
    ]  # fmt: skip


def test_all_problems_of_a_table_are_told_at_once(stored: str) -> None:
    edits = [
        {"do": "change", "rows": [{"case_id": "c1", "conditions": "Paris"}, {"case_id": "c2", "json_schema": "["}]},
        {"do": "rename", "names": {"c3": "c4"}}, {"do": "add", "rows": [{"case_id": "c5"}]},
    ]  # fmt: skip
    token, problems = suite_drafts.add_edits(stored, "", edits)
    assert token == ""
    assert [str(problem).partition(": found")[0] for problem in problems] == [
        "desk, case c1, column conditions", "desk, case c2, column json_schema", "desk, case c3, column case_id",
        "desk, case c5, column case_id",
    ]  # fmt: skip


def test_the_table_shows_a_page_of_the_suites_columns(workspace: Path, open_page: Open) -> None:
    rows = [{"case_id": f"{n:03}", "question": "q", "area": "hall", "tags": ["t"] if n % 2 else []} for n in range(250)]
    stored = Workspace().save_suite(Suite.from_rows("many", "text", rows))
    shown = open_page("suites", suite=stored, table="1", page="3")
    assert "201–250 of 250 cases" in words(shown)
    frame = shown.dataframe[0].value
    assert list(frame.columns) == ["case_id", "question", "tags", "metadata.area"]
    assert (frame["case_id"].iloc[0], list(frame["tags"].iloc[1])) == ("200", ["t"])
    assert labelled(shown.button, "Apply the changes").disabled
    labelled(shown.multiselect, "Columns").set_value(["conditions"]).run()
    assert list(shown.dataframe[0].value.columns) == ["case_id", "conditions"]


def test_ids_go_on_where_the_suite_ends(workspace: Path) -> None:
    for ids, found in (
        (["c7", "c9"], ["c10", "c11"]),
        (["x", "q-007"], ["q-008", "q-009"]),
        (["x"], ["case-2", "case-3"]),
    ):
        stored = Workspace().save_suite(Suite.from_rows("ids", "text", [{"case_id": id} for id in ids]))
        assert suite_cases.next_case_ids(stored, "", 2) == found


def test_cases_of_a_file_are_merged_and_conflicts_asked_about(page: Open) -> None:
    shown = page(view="merge")
    file = b"id,prompt\nc2,Another?\nnew,New?\n"
    shown.file_uploader[0].set_value(("more.csv", file, "text/csv")).run()
    assert "more: 1 new case\n1 id in both, for different cases: c2" in words(shown)
    shown.radio[0].set_value("rename").run()
    press(shown, "Merge 2 cases")
    assert "✓ more merged." in words(shown)
    assert "more: merged" in words(shown)
    found = saved(shown)
    assert (row(found, "c2-2")["question"], row(found, "c2-2")["metadata.origin"]) == ("Another?", "more")
    assert len(Workspace().suites()) == 2, "the file is no suite of its own"


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"case_id,question\na,one\na,two\n", "Cannot be merged: 1 problem"), (b"\xff\xfe\x00", "bad.csv cannot be read")],
    ids=["a case twice", "bytes"],
)
def test_a_file_that_cannot_be_merged(page: Open, content: bytes, told: str) -> None:
    shown = page(view="merge")
    shown.file_uploader[0].set_value(("bad.csv", content, "text/csv")).run()
    assert told in words(shown)
    assert not [button for button in shown.button if button.label.startswith("Merge")]


def test_a_stored_suite_is_merged(page: Open, stored: str) -> None:
    assert "The workspace has no other suite of the task text." in words(page(view="merge", more="suite"))
    other = Workspace().save_suite(Suite.from_rows("other", "text", [ROWS[0], {"case_id": "x", "question": "New?"}]))
    Workspace().save_suite(Suite.from_rows("labels", "classification", [{"case_id": "x", "label": "l"}]))
    shown = page(view="merge", more="suite")
    assert list(labelled(shown.selectbox, "Suite (1)").options) == [f"other · 2 cases · {other[:7]}"]
    labelled(shown.selectbox, "Suite (1)").select(other).run()
    assert "other: 1 new case · 1 already here, skipped" in words(shown)
    press(shown, "Merge 1 case")
    assert "desk: 13 cases, text · 1 edit, not saved" in words(shown)


def test_versions_and_what_differs(page: Open, stored: str, open_page: Open) -> None:
    assert "This is the only version." in words(page(view="history"))
    outputs = Outputs.from_rows([{"case_id": row["case_id"], "model": "m", "answer": "1 euro"} for row in ROWS])
    finished(Workspace(), Workspace().suite(stored), outputs, "rouge", name="First run")
    edits = [
        {"do": "change", "rows": [{"case_id": "c2", "question": f"How {HOSTILE}?"}]},
        {"do": "add", "rows": [{"case_id": "x", "question": "New?"}]}, {"do": "leave_out", "cases": ["c3"]},
    ]  # fmt: skip
    token, _ = suite_drafts.add_edits(stored, "", edits)
    shown = page(view="history", draft=token)
    assert labelled(shown.selectbox, "To").value == "draft"
    assert "1 case changed" in words(shown)
    made, _ = suite_drafts.save_draft(stored, token, "second")
    shown = open_page("suites", suite=made, view="history")
    table = shown.dataframe[0].value
    assert list(table["name"]) == ["desk", "▸ second"]
    assert list(table.iloc[1][["cases", "added", "removed", "changed", "runs", "parent"]]) == [
        "12", "1", "1", "1", "0", "desk",
    ]  # fmt: skip
    assert table.iloc[1]["edits"] == "1 case: question changed; 1 case: added; 1 case: removed"
    assert list(table["runs"]) == ["1", "0"]
    assert labelled(shown.selectbox, "From").value == stored
    assert "removed" in {mark for _, mark in marked(shown)}
    assert (f"{HOSTILE}?", "added") in marked(shown)
    for kind, told in (("added", ["x", "New?"]), ("removed", ["c3", ROWS[3]["question"]])):
        shown = open_page("suites", suite=made, view="history", kind=kind)
        assert f"1 case {kind}" in words(shown)
        assert list(shown.dataframe[1].value.iloc[0][["Case id", "Question"]]) == told
    assert Workspace().runs()[0].spec.suite.fingerprint == stored, "a run keeps the version that it used"


def test_a_suite_is_renamed(page: Open, stored: str) -> None:
    shown = page(view="history")
    labelled(shown.text_input, "Name").set_value("counter").run()
    press(shown, "Rename the suite")
    assert "counter: 12 cases, text" in words(shown)
    assert "✓ renamed from 'desk'" in words(shown)
    assert Workspace().suite(stored).name == "counter"


def test_a_suite_of_images_is_edited(workspace: Path, open_page: Open) -> None:
    (workspace / "pictures").mkdir()
    Image.new("RGB", (8, 8)).save(workspace / "pictures" / "p0.png")
    cases = [{"case_id": f"p{n}", "image": "p0.png", "image_width": 8, "image_height": 8} for n in range(2)]
    boxes = [{"case_id": "p0", "annotation_id": n, "label": "cat", "x": 1.0} for n in range(2)]
    suite = Suite.from_rows("pictures", "detection", cases, boxes)
    stored = Workspace().save_suite(replace(suite, media=workspace / "pictures"))
    shown = open_page("suites", suite=stored, case="p0")
    assert shown.get("image")
    assert not [button for button in shown.button if button.label in ("Duplicate", "New case")]
    labelled(shown.multiselect, "Tags").set_value(["blurred"]).run()
    press(shown, "Apply")
    press(shown, "Next")
    assert "No objects: a detection in this image is a false positive." in words(shown)
    token, _ = suite_drafts.add_edits(
        stored, "".join(shown.query_params["draft"]), [{"do": "relabel", "objects": {"p0": {1: "dog"}}}]
    )
    made = Workspace().suite(suite_drafts.save_draft(stored, token, "relabelled")[0])
    assert made.annotations is not None
    assert (made.annotations["label"].to_pylist(), made.labels) == (["cat", "dog"], ("cat", "dog"))
    assert row(made, "p0")["tags"] == ["blurred"]
    table = open_page("suites", suite=stored, table="1").dataframe[0].value
    assert list(table.columns) == ["case_id", "tags"]


def test_chosen_cases_stay_chosen_after_an_edit(page: Open) -> None:
    shown = page()
    shown.session_state[shown.dataframe[0].key] = {"selection": {"rows": [1, 3], "columns": [], "cells": []}}
    shown.run()
    labelled(shown.text_input, "Tag").set_value("twice").run()
    press(shown, "Apply to the 2 chosen cases")
    assert [tags is not None and "twice" in tags for tags in shown.dataframe[0].value["tags"]].count(True) == 2
    labelled(shown.selectbox, "Edit").set_value("weigh").run()
    press(shown, "Apply to the 2 chosen cases")
    assert shown.dataframe[0].value["weight"].notna().tolist()[:4] == [False, True, False, True]
    labelled(shown.selectbox, "Edit").set_value("leave_out").run()
    press(shown, "Apply to the 2 chosen cases")
    assert "Apply to all 10 cases shown" in [button.label for button in shown.button]
