"""What differs between two suites; applied as edits, it makes the one from the other."""

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from metrics.core.suite import Suite
from metrics.suites import Change, Difference, Edit, apply, difference
from tests.suites.suite_scenes import suite

CASES = st.dictionaries(
    st.sampled_from("abcdef"),
    st.fixed_dictionaries(
        {
            "question": st.none() | st.sampled_from(["p?", "q?"]),
            "expected_answers": st.none() | st.lists(st.sampled_from(["x", "y"]), min_size=1, max_size=2),
            "weight": st.none() | st.sampled_from([0.0, 1.0, 2.5]),
            "tags": st.none() | st.lists(st.sampled_from("st"), min_size=1, max_size=2, unique=True),
            "area": st.none() | st.sampled_from(["desk", "hall"]),
        }
    ),
    min_size=1,
)


def rows_of(found: Suite) -> dict[str, dict[str, Any]]:
    return {
        row["case_id"]: {name: value for name, value in row.items() if value is not None}
        for row in found.cases.to_pylist()
    }


def as_edits(found: Difference, after: Suite) -> list[Edit]:
    added = tuple(rows_of(after)[id] for id in found.added)
    changed: dict[str, dict[str, Any]] = {}
    for change in found.changes:
        changed.setdefault(change.case_id, {"case_id": change.case_id})[change.field] = change.after
    edits = [Edit(do="add", rows=added)] if added else []
    edits += [Edit(do="change", rows=tuple(changed.values()))] if changed else []
    return edits + ([Edit(do="leave_out", cases=found.removed)] if found.removed else [])


@given(CASES, CASES)
@settings(max_examples=60)
def test_the_difference_applied_makes_the_later_suite(before, after):
    old, new = (suite([{"case_id": id, **row} for id, row in cases.items()]) for cases in (before, after))
    found = difference(old, new)
    assert rows_of(apply(old, as_edits(found, new))) == rows_of(new)
    back = difference(new, old)
    assert (set(back.added), set(back.removed)) == (set(found.removed), set(found.added))
    mirrored = {(each.case_id, each.field, str(each.after), str(each.before)) for each in back.changes}
    assert mirrored == {(each.case_id, each.field, str(each.before), str(each.after)) for each in found.changes}


def test_fields_are_told_one_by_one():
    found = difference(
        suite(),
        apply(suite(), [
            Edit(do="change", rows=({"case_id": "b", "question": "How much?", "expected_answers": ["9"]},)),
            Edit(do="tag", cases=("c",), tag="new"), Edit(do="leave_out", cases=("a",)),
            Edit(do="add", rows=({"case_id": "e", "question": "?"},)),
        ]),
    )  # fmt: skip
    assert (found.added, found.removed, found.changed) == (("e",), ("a",), ("b", "c"))
    assert found.changes == (
        Change("b", "question", "How much is it, and why?", "How much?"), Change("b", "expected_answers", None, ["9"]),
        Change("c", "tags", ["fees", "easy"], ["fees", "easy", "new"]),
    )  # fmt: skip


@pytest.mark.parametrize(("one", "other"), [("cat", "dog"), ("cat", None)], ids=["label", "no object"])
def test_objects_are_a_field(one, other):
    def pictures(label: str | None) -> Suite:
        boxes = [{"case_id": "p", "annotation_id": 1, "label": label, "x": 1.0, "y": 2.5, "width": 3.0, "height": 4.0}]
        return Suite.from_rows("p", "detection", [{"case_id": "p"}, {"case_id": "q"}], boxes if label else [])

    found = difference(pictures(one), pictures(other))
    assert found.changes == (Change("p", "objects", f"{one} 1 2.5 3 4", f"{other} 1 2.5 3 4" if other else ""),)
