"""The boxes that the page draws before a run: as a detector's, read and fixed."""

from typing import Any

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
