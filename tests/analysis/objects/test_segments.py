"""The regions of one segmented image, and where a model is wrong."""

from pathlib import Path

import pytest

from metrics.analysis import segments
from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished
from tests.pages.page_scenes import masks_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return masks_run(tmp_path_factory.mktemp("masks"))


def said(run: Run, case: str, model: str) -> list[tuple[object, ...]]:
    return [(part.kind, part.truth, part.predicted, part.pixels) for part in segments(run, case, model)]


def test_a_model_that_is_right(run: Run) -> None:
    assert said(run, "p1", "exact") == [
        ("predicted", None, "road", 5400), ("predicted", None, "sky", 5400),
        ("truth", "road", None, 4800), ("truth", "sky", None, 4800), ("ignored", None, None, 1200),
    ]  # fmt: skip


def test_mistakes_leave_out_what_is_ignored(run: Run) -> None:
    parts = segments(run, "p0", "late")
    wrong = {(part.truth, part.predicted): part for part in parts if part.kind == "mistaken"}
    assert {pair: part.pixels for pair, part in wrong.items()} == {("road", "water"): 4800, ("sky", "water"): 1600}
    ring = wrong["sky", "water"].rings[0]
    assert (min(ring[::2]), max(ring[::2]), min(ring[1::2]), max(ring[1::2])) == (60, 80, 0, 80)


def test_pixels_of_no_label_are_missed(tmp_path: Path) -> None:
    case = {"case_id": "a", "image_width": 4, "image_height": 2}
    road = {"case_id": "a", "label": "road", "x": 0.0, "y": 0.0, "width": 4.0, "height": 2.0}
    suite = Suite.from_rows("s", "segmentation", [case], [road | {"annotation_id": 1}])
    outputs = Outputs.from_rows([{"case_id": "a", "model": "m"}], [road | {"model": "m", "width": 3.0}])
    run = finished(Workspace(tmp_path), suite, outputs, "segmentation_iou")
    assert said(run, "a", "m") == [
        ("truth", "road", None, 8), ("predicted", None, "road", 6), ("missed", "road", None, 2),
    ]  # fmt: skip


def test_uncovered_pixels_are_a_region_where_the_truth_leaves_some_uncovered(tmp_path: Path) -> None:
    """4 × 2 pixels: the road covers three columns, the model gives it two, and one of no road too."""
    case = {"case_id": "a", "image_width": 4, "image_height": 2}
    road = {"case_id": "a", "label": "road", "x": 0.0, "y": 0.0, "width": 3.0, "height": 2.0}
    suite = Suite.from_rows("s", "segmentation", [case], [road | {"annotation_id": 1}])
    made = [road | {"model": "m", "width": 2.0}, road | {"model": "m", "x": 3.0, "width": 1.0, "height": 1.0}]
    run = finished(Workspace(tmp_path), suite, Outputs.from_rows([{"case_id": "a", "model": "m"}], made),
                   "segmentation_iou")  # fmt: skip
    rest = "background"
    assert said(run, "a", "m") == [
        ("truth", "road", None, 6), ("predicted", None, "road", 5), ("predicted", None, rest, 3),
        ("truth", rest, None, 2), ("mistaken", "road", rest, 2), ("mistaken", rest, "road", 1),
    ]  # fmt: skip


def test_an_image_of_unknown_size_has_none(tmp_path: Path) -> None:
    road = {"case_id": "a", "label": "road", "x": 0.0, "y": 0.0, "width": 4.0, "height": 2.0}
    suite = Suite.from_rows("s", "segmentation", [{"case_id": "a"}], [road | {"annotation_id": 1}])
    outputs = Outputs.from_rows([{"case_id": "a", "model": "m"}], [road | {"model": "m"}])
    assert segments(finished(Workspace(tmp_path), suite, outputs, "segmentation_iou"), "a", "m") == []
