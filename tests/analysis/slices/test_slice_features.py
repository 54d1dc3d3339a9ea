"""What is known of each case to slice by, in numbers, and which of it is shown."""

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from metrics.analysis.slices.slice_conditions import Condition
from metrics.analysis.slices.slice_features import Categories, Marks, Numbers, _marks, features, known_of_cases
from metrics.core.suite import Outputs, Suite
from metrics.store import Workspace
from tests.engine.engine_scenes import finished


def test_what_is_known_of_texts(tmp_path: Path) -> None:
    rows = [
        {"case_id": "a", "question": "Who?", "expected_answers": ["four", "sixsix"], "tags": ["x", "y"],
         "label": "easy", "metadata.year": "2015", "metadata.town": "Bonn", "source_text": "abc",
         "reference_contexts": ["r"]},
        {"case_id": "b", "question": "Where?", "expected_answers": ["nine char"], "tags": [], "label": None,
         "metadata.year": "1999", "metadata.town": None, "source_text": "abcdef", "reference_contexts": ["r", "s"]},
    ]  # fmt: skip
    outputs = [
        {"case_id": "a", "model": "m", "answer": "yes", "retrieved_contexts": ["ab", "cde"]},
        {"case_id": "b", "model": "m", "answer": "nobody", "retrieved_contexts": ["f"]},
        {"case_id": "a", "model": "other", "answer": "a long answer", "retrieved_contexts": ["f"]},
    ]
    run = finished(Workspace(tmp_path), Suite.from_rows("s", "text", rows), Outputs.from_rows(outputs), "rouge")
    known = known_of_cases(run, "m")
    numbers = {name: column.values.tolist() for name, column in known.items() if isinstance(column, Numbers)}
    assert numbers == {
        "question_length": [4, 6], "source_length": [3, 6], "expected_length": [5, 9], "expected_answers": [2, 1],
        "reference_contexts": [1, 2], "metadata.year": [2015, 1999], "answer_length": [3, 6], "contexts": [2, 1],
        "context_length": [5, 1],
    }  # fmt: skip
    words = {
        name: [column.names[code] if code >= 0 else None for code in column.codes]
        for name, column in known.items()
        if isinstance(column, Categories)
    }
    assert words == {"class": ["easy", None], "metadata.town": ["Bonn", None]}
    tag = known["tag"]
    assert isinstance(tag, Marks)
    assert {name: tag.held[:, place].tolist() for place, name in enumerate(tag.names)} == {
        "x": [True, False], "y": [True, False],
    }  # fmt: skip


def test_what_is_known_of_images(tmp_path: Path) -> None:
    cases = [
        {"case_id": "a", "image_width": 1920, "image_height": 1080},
        {"case_id": "b", "image_width": 1000, "image_height": 500},
        {"case_id": "empty", "image_width": 100, "image_height": 100},
    ]
    box = {"x": 0.0, "y": 0.0, "width": 9.0, "height": 9.0}
    held = [("a", "cat"), ("a", "cat"), ("b", "dog"), ("a", "dog"), ("b", "owl")]
    annotations = [
        box | {"case_id": case, "label": label, "annotation_id": place} for place, (case, label) in enumerate(held, 1)
    ]
    suite = Suite.from_rows("s", "detection", cases, annotations)
    outputs = Outputs.from_rows([{"case_id": case["case_id"], "model": "m"} for case in cases])
    known = known_of_cases(finished(Workspace(tmp_path), suite, outputs, "average_precision"), "m")
    assert set(known) == {"image_size", "objects", "holds"}
    size, count, holds = known["image_size"], known["objects"], known["holds"]
    assert isinstance(size, Numbers)
    assert isinstance(count, Numbers)
    assert isinstance(holds, Marks)
    assert (size.values.tolist(), count.values.tolist()) == ([2.0736, 0.5, 0.01], [3, 2, 0])
    assert {name: holds.held[:, place].tolist() for place, name in enumerate(holds.names)} == {
        "cat": [True, False, False], "dog": [True, True, False], "owl": [False, True, False],
    }  # fmt: skip


def test_five_units_are_enough_to_be_shown() -> None:
    codes = np.repeat([0, 1, 2, -1], [6, 5, 4, 5])
    [kinds] = features({"metadata.kind": Categories(("six", "five", "four"), codes)})
    assert [one.label for one in kinds.conditions] == ["six", "five", "none given"]
    assert kinds.facets[0].codes.tolist() == [0] * 6 + [1] * 5 + [-1] * 4 + [2] * 5
    held = np.arange(12)[:, None] < np.array([4, 5, 7, 8])
    [tags] = features({"tag": Marks(("four", "five", "all but five", "all but four"), held)})
    assert [one.label for one in tags.conditions] == ["all but five", "five"]


def test_units_by_a_condition() -> None:
    """None as a value is none given."""
    marks = Marks(("x", "y"), np.array([[True, False], [True, True], [False, False]]))
    kinds = Categories(("a", "b"), np.array([0, -1, 1]))
    assert {
        (name, value): known.mask(Condition(name, value)).tolist()
        for name, known in (("tag", marks), ("kind", kinds))
        for value in ("x", "y", "b", "no such", None)
    } == {
        ("tag", "x"): [True, True, False], ("tag", "y"): [False, True, False], ("tag", "b"): [False] * 3,
        ("tag", "no such"): [False] * 3, ("tag", None): [False, False, True],
        ("kind", "x"): [False] * 3, ("kind", "y"): [False] * 3, ("kind", "b"): [False, False, True],
        ("kind", "no such"): [False] * 3, ("kind", None): [False, True, False],
    }  # fmt: skip
    numbers = Numbers(np.array([1.0, 2.0, 3.0, np.nan]))
    assert numbers.mask(Condition("n", low=1.0, high=2.0, is_number=True)).tolist() == [False, True, False, False]
    assert numbers.mask(Condition("n", low=1.0, is_number=True)).tolist() == [False, True, True, False]


def test_the_most_frequent_names_are_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three names two are kept; a unit without any has none of them."""
    monkeypatch.setattr(sys.modules[_marks.__module__], "MOST_VALUES", 2)
    found = _marks(pa.array(["c", "a", "b", "a", None, "b"]), np.array([0, 0, 1, 2, 3, 2]), 4)
    assert found.names == ("a", "b")
    assert found.held.tolist() == [[True, False], [False, True], [True, True], [False, False]]
