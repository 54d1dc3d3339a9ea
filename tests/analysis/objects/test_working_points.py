"""The matched objects behind a number: of a score threshold, of kinds of errors, of a range of scores."""

from pathlib import Path

import pandas as pd
import pytest

from metrics.analysis import match_evaluators, matched, scored, working_point
from metrics.analysis.objects.operating_point import listed
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished, text_outputs, text_suite

BY = "detection_pr_curve"
BOTH = ("cat", "dog")


@pytest.fixture(scope="module")
def run(pictures: Run) -> Run:
    return pictures


@pytest.mark.parametrize(("model", "labels", "threshold", "expected"), [
    pytest.param("keen", BOTH, 0.3, {"tp": 8, "fp": 4}, id="exactly-at-a-score"),
    pytest.param("keen", BOTH, 0.31, {"tp": 8}, id="false-ones-below"),
    pytest.param("keen", BOTH, 0.61, {"tp": 4, "fn": 4}, id="found-ones-below-are-missed"),
    pytest.param("keen", ("dog",), 0.61, {"fn": 4}, id="of-one-label"),
    pytest.param("shy", BOTH, 0.0, {"tp": 4, "fn": 4}, id="never-found"),
    pytest.param("shy", ("bird",), 0.0, {}, id="of-no-such-label"),
])  # fmt: skip
def test_counts_at_a_threshold(run, model, labels, threshold, expected) -> None:
    found = working_point(run, BY, (model, 1), labels, threshold)
    assert found.counts == expected
    assert found.rows.groupby("family", observed=True).size().to_dict() == expected


def test_the_objects_at_a_threshold(run: Run) -> None:
    rows = working_point(run, BY, ("keen", 1), BOTH, 0.2).rows
    of_tp = rows[rows["family"] == "tp"]
    assert of_tp["score"].tolist() == [0.6] * 4 + [0.9] * 4, "the least certain first"
    first = of_tp.iloc[0]
    assert (first["case_id"], first["label"], first["object"], first["iou"]) == ("p0", "dog", "p1", 1.0)
    lost = working_point(run, BY, ("keen", 1), ["dog"], 0.7).rows
    assert lost["score"].isna().all()
    assert (lost["kind"].unique().tolist(), lost["object"].tolist()[0]) == (["fn"], "p1")
    assert working_point(run, BY, ("shy", 1), ["dog"], 0.0).rows["object"].tolist() == ["a2", "a4", "a6", "a8"]


def test_matches_of_some_kinds(run: Run) -> None:
    found = matched(run, BY, "keen", ["tp", "fp_hallucination"])
    assert (found.total, found.rows["score"].tolist()) == (12, [0.9] * 4 + [0.6] * 4 + [0.3] * 4)
    assert matched(run, BY, "keen", ["tp"], "dog").rows["case_id"].tolist() == ["p0", "p1", "p2", "p3"]
    only = listed(run, BY, "model = ? AND kind = 'tp' AND case_id = ? AND label = ?", ["keen", "p2", "dog"])
    assert (only.total, only.rows["object"].tolist()) == (1, ["p9"])
    nothing = matched(run, BY, "keen", ["fp_duplicate"])
    assert (nothing.total, len(nothing.rows)) == (0, 0)


@pytest.mark.parametrize(("low", "high", "count"), [(0.3, 0.6, 4), (0.0, 0.3, 4), (0.29, 0.9, 12), (0.9, 1.0, 0)])
def test_matches_of_a_range_of_scores(run: Run, low: float, high: float, count: int) -> None:
    found = scored(run, BY, ("keen", 1), low, high)
    assert (found.total, len(found.rows)) == (count, count)


def test_which_evaluators_have_objects(run: Run, tmp_path: Path) -> None:
    assert match_evaluators(run) == {"average_precision": "Average precision", BY: "Detection precision–recall curve"}
    texts = finished(Workspace(tmp_path), text_suite(), text_outputs(), "rouge")
    assert match_evaluators(texts) == {}
    empty = working_point(texts, "rouge", ("good", 1), ["a"], 0.5)
    assert (len(empty.rows), empty.counts) == (0, {})
    assert isinstance(empty.rows, pd.DataFrame)
