"""The boxes that the page draws before a run: as a detector's, read and fixed."""

from types import SimpleNamespace
from typing import Any

import pytest

from components.data import object_lint
from components.data.object_lint import _drawn
from metrics.core.suite import Outputs, Suite


def box(label: str, x: float, **more: Any) -> dict[str, Any]:
    return {"case_id": "i", "label": label, "x": float(x), "y": 0.0, "width": 10.0, "height": 10.0, **more}


def test_an_object_is_found_once_by_the_best_score() -> None:
    suite = Suite.from_rows("s", "detection", [{"case_id": "i"}], [box("cat", 0), box("cat", 50)])
    predictions = [
        box("cat", 1, score=0.5), box("cat", 0, score=0.9), box("dog", 50, score=0.8), box("dog", 80, score=0.7),
    ]  # fmt: skip
    predictions = [{"model": "m", **row} for row in predictions]
    drawn = _drawn(suite, Outputs.from_rows([{"case_id": "i", "model": "m"}], predictions))
    assert [(one.kind, one.score, one.detail.partition(":")[0]) for one in drawn] == [
        ("annotation", None, ""), ("fn", None, "found as another class"), ("tp", 0.9, ""),
        ("fp_misclassification", 0.8, "wrong class"), ("fp", 0.7, "background"), ("fp", 0.5, "duplicate"),
    ]  # fmt: skip


@pytest.mark.parametrize("size", [{}, {"image_width": 640, "image_height": 480}], ids=["unknown", "known"])
def test_boxes_lie_inside_the_picture_whose_size_nobody_knows(monkeypatch: Any, size: dict[str, int]) -> None:
    box = {"case_id": "1", "label": "a", "x": 10.0, "y": 20.0, "width": 300.0, "height": 200.0}
    suite = Suite.from_rows("s", "detection", [{"case_id": "1", **size}], [{**box, "annotation_id": 1}], labels=["a"])
    found = {**box, "model": "m", "x": 200.0, "score": 0.5}
    outputs = Outputs.from_rows([{"case_id": "1", "model": "m"}], [found])
    monkeypatch.setattr(object_lint, "uploaded_data", lambda _: SimpleNamespace(suite=suite))
    monkeypatch.setattr(object_lint, "corrected", lambda *_: outputs)
    inputs: Any = None
    seen = object_lint.box_preview(inputs, "m", [], "1")
    assert (seen.width, seen.height) == ((640, 480) if size else (525, 231))
