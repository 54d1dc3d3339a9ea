"""Two suites as one: conflicts, origins, labels, objects, images."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from metrics.core.errors import InputError
from metrics.core.suite import Suite
from metrics.store import Workspace
from metrics.suites import CONFLICTS, Draft, Edit, drafted, merge, save_draft, save_part
from tests.suites.suite_scenes import ids, suite

OTHER: list[dict[str, Any]] = [
    {"case_id": "a", "question": "How long?", "tags": ["loans", "easy"], "complexity": "simple", "area": "desk"},
    {"case_id": "b", "question": "Another b?"},
    {"case_id": "b~copy", "question": "Another b?", "perturbs": "b", "perturbation": "copy"},
    {"case_id": "x", "question": "New?", "owner": "Ada"},
]


def column(found: Suite, name: str) -> dict[str, Any]:
    return dict(zip(found.cases["case_id"].to_pylist(), found.cases[name].to_pylist(), strict=True))


@pytest.mark.parametrize(("conflicts", "found", "b"), [
    ("skip", ["a", "b", "c", "c~copy", "d", "b~copy", "x"], "How much is it, and why?"),
    ("replace", ["a", "b", "c", "c~copy", "d", "b~copy", "x"], "Another b?"),
    ("rename", ["a", "b", "c", "c~copy", "d", "b-2", "b~copy", "x"], "How much is it, and why?"),
])  # fmt: skip
def test_conflicts(conflicts, found, b):
    made = merge(suite(), suite(OTHER, "more"), conflicts)
    assert (ids(made.suite), made.same, made.conflicts) == (found, 1, ("b",))
    assert (made.added, column(made.suite, "question")["b"]) == (len(found) - len(suite()), b)
    assert column(made.suite, "perturbs")["b~copy"] == ("b-2" if conflicts == "rename" else "b")
    assert column(made.suite, "metadata.owner")["x"] == "Ada"
    came = {"x", "b~copy", *({"b"} if conflicts == "replace" else ()), *made.renamed.values()}
    assert column(made.suite, "metadata.origin") == {id: "more" if id in came else None for id in found}


@given(st.sets(st.integers(0, 9), min_size=1), st.sets(st.integers(0, 9), min_size=1), st.sampled_from(CONFLICTS))
@settings(max_examples=40)
def test_every_case_is_somewhere_and_ids_stay_unique(one, other, conflicts):
    left = suite([{"case_id": str(n), "question": "left"} for n in sorted(one)])
    right = suite([{"case_id": str(n), "question": "left" if n % 2 else "right"} for n in sorted(other)])
    made = merge(left, right, conflicts)
    assert len(set(ids(made.suite))) == len(made.suite)
    assert {str(n) for n in one | other} <= set(ids(made.suite))
    assert made.added + made.same + len(made.conflicts) * (conflicts != "rename") == len(other)
    assert merge(made.suite, right, "skip").added == 0, "a second time adds nothing"


def test_origins_labels_tasks_and_variants():
    first = merge(suite(OTHER[:1], "one"), suite(OTHER[3:], "two")).suite
    again = merge(suite(name="three"), replace(first, name="both")).suite
    assert column(again, "metadata.origin") | {"c": ""} == {"a": None, "b": None, "c": "", "c~copy": None, "d": None,
                                                           "x": "two"}  # fmt: skip
    one = Suite.from_rows("one", "classification", [{"case_id": "a", "label": "z"}])
    other = Suite.from_rows("other", "classification", [{"case_id": "b", "label": "y"}])
    assert merge(one, other).suite.labels == ("z", "y")
    with pytest.raises(InputError, match="desk: found a suite of task text; expected one of task classification"):
        merge(one, suite())
    one = suite([{"case_id": "a"}, {"case_id": "b", "perturbs": "a"}])
    other = suite([{"case_id": "b"}, {"case_id": "a", "perturbs": "b"}])
    assert ids(merge(one, other, "replace").suite) == ["a", "b"]
    half = suite([{"case_id": "b", "perturbs": "c"}, {"case_id": "c", "perturbs": "d"}, {"case_id": "d"}])
    with pytest.raises(InputError, match="a variant of itself"):
        merge(half, suite([{"case_id": "d", "perturbs": "b"}, {"case_id": "b"}]).restricted(ids_of("d")), "replace")


def ids_of(*names: str) -> Any:
    import pyarrow as pa

    return pa.array(names)


def pictures(name: str, label: str, folder: Path, *images: str) -> Suite:
    folder.mkdir()
    for image in images:
        (folder / image).write_bytes(image.encode())
    cases = [{"case_id": image, "image": image} for image in images]
    boxes = [{"case_id": image, "annotation_id": n, "label": label} for n, image in enumerate(images, 1)]
    found = Suite.from_rows(name, "detection", cases, boxes)
    return replace(found, media=folder, category_ids=(3,))


def test_objects_and_images_of_both(tmp_path):
    one = pictures("one", "cat", tmp_path / "one", "a.png", "b.png")
    other = pictures("other", "dog", tmp_path / "other", "b.png", "c.png")
    with pytest.raises(InputError, match="images in both suites; expected a folder `media`"):
        merge(one, other)
    made = merge(one, other, "replace", tmp_path / "media").suite
    assert made.annotations is not None
    assert made.media is not None
    assert made.annotations.select(["case_id", "annotation_id", "label"]).to_pylist() == [
        {"case_id": "a.png", "annotation_id": 1, "label": "cat"},
        {"case_id": "b.png", "annotation_id": 3, "label": "dog"},
        {"case_id": "c.png", "annotation_id": 4, "label": "dog"},
    ]
    assert (made.labels, made.category_ids) == (("cat", "dog"), (3, 4))
    assert sorted(path.name for path in made.media.iterdir()) == ["a.png", "b.png", "c.png"]
    assert merge(one, other, "replace", tmp_path / "media").suite.media == made.media


def test_a_merge_is_an_edit_of_a_draft(workspace):
    stored = Workspace().save_suite(suite())
    part = save_part(workspace, suite(OTHER, "more"))
    edits = (Edit(do="merge", suite=part, name="more", conflicts="rename"), Edit(do="leave_out", cases=("b-2",)))
    assert edits[0].words == "more: merged"
    token = save_draft(workspace, Draft(suite=stored, edits=edits))
    assert ids(drafted(workspace, stored, token)) == ["a", "b", "c", "c~copy", "d", "x"]
    assert len(Workspace().suites()) == 1, "a part is not listed"
