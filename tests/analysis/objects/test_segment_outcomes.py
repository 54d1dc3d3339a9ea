"""What became of the segments of an image, and how the page draws it."""

from dataclasses import replace

import pytest

from metrics import analysis
from metrics.analysis.objects.object_filter import ObjectFilter
from metrics.core.suite import Outputs, Suite
from metrics.presentation.viewers import panoptic_panels
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished
from tests.evaluators.panoptic_oracle import Picture, rows_of
from tests.evaluators.test_panoptic import THINGS, columns


@pytest.fixture(scope="module")
def maps(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """One image: an a that is found, a b taken for a c, half of a c, a d that is missed; each of some columns."""
    picture = Picture(
        columns((1, 0, 2), (2, 2, 6), (3, 6, 8), (4, 8, 9)), columns((1, 0, 2), (2, 2, 6), (3, 7, 9)),
        {1: (0, False), 2: (1, False), 3: (2, False), 4: (3, False)}, {1: 0, 2: 2, 3: 2},
    )  # fmt: skip
    rows = rows_of([picture])
    suite = Suite.from_rows("maps", "segmentation", rows["cases"], rows["annotations"], list("abcd"))
    outputs = Outputs.from_rows([{"case_id": "0", "model": "m"}], rows["predictions"])
    folder = tmp_path_factory.mktemp("maps")
    return finished(Workspace(folder), replace(suite, classes=THINGS), outputs, "panoptic_quality")


def test_outcomes_are_those_of_the_matches(maps: Run) -> None:
    truths, found = analysis.segment_outcomes(maps, "0", "m")
    assert sorted((each.label, each.kind, each.thing) for each in truths) == [
        ("a", "tp", True), ("b", "fn_misclassification", True), ("c", "fn_no_prediction", False),
        ("d", "fn_no_prediction", False),
    ]  # fmt: skip
    assert sorted((each.label, each.kind, each.other) for each in found) == [
        ("a", "tp", "a"), ("c", "fp_localisation", "c"), ("c", "fp_misclassification", "b"),
    ]  # fmt: skip
    assert all(each.rings and each.area for each in (*truths, *found))


def test_a_panel_tells_verdicts_by_line_and_by_words(maps: Run) -> None:
    truths, found = analysis.segment_outcomes(maps, "0", "m")
    panel = panoptic_panels.model_panel("m", truths, found)
    assert panel["counts"] == "✓ 1 found · ✗ 2 false · – 3 missed"
    lines = {shape["lines"] for shapes in panel["objects"].values() for shape in shapes}
    assert "a: true positive, IoU 1.00, 20 pixels" in lines
    assert "c: false positive: wrong class, is b, IoU 1.00, 40 pixels" in lines
    assert "c: false positive, outlined too badly: IoU 0.33, not above .5, 20 pixels" in lines
    styles = panoptic_panels.styles(list("abcd"))
    assert set(panel["objects"]) <= set(styles)
    assert styles["a 0 tp"]["dash"] != styles["a 0 fp"]["dash"] != styles["a 0 fn"]["dash"]
    assert len({styles[f"a {place} tp"]["colour"] for place in range(3)}) == 3
    assert panoptic_panels.truth_panel("Ground truth", truths, "b")["counts"] == "1 segment"


def test_the_gallery_shows_segments_without_scores(maps: Run) -> None:
    assert analysis.match_evaluators(maps) == {"panoptic_quality": "Panoptic quality"}
    counts = analysis.object_counts(maps, "panoptic_quality", ObjectFilter(model="m", score_low=0.5))["kind"]
    assert counts == {"tp": 1, "fp_misclassification": 1, "fp_localisation": 1, "fn_misclassification": 1,
                      "fn_no_prediction": 2}  # fmt: skip
