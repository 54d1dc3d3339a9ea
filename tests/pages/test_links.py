"""The ways from a number to its pictures: the gallery that a link opens holds exactly the objects that are counted."""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from components.data import reviews, run_reads
from components.viewers import tile_gallery
from components.views.objects import object_list
from components.widgets import drilldown_filters, url
from metrics.analysis import OperatingPoint
from metrics.core.registry import evaluators
from metrics.presentation.chart_data import confusion_counts
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished
from tests.evaluators.detected import numbered, suite_and_outputs
from tests.evaluators.test_keypoints import suite_and_outputs as poses_of
from tests.pages.conftest import Open
from tests.pages.page_scenes import objects_run, panoptic_run, told
from tests.vision.coco_oracle import random_scene
from tests.vision.keypoint_oracle import random_poses

EVALUATORS = ("detection_pr_curve", "detection_confusion", "error_breakdown", "calibration", "coco_summary")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with random scenes: crowds, ties, labels without ground truth."""
    folder = tmp_path_factory.mktemp("random")
    for seed in (2, 3, 8):
        suite, outputs = suite_and_outputs(random_scene(seed))
        finished(
            Workspace(folder), numbered(suite), outputs, *EVALUATORS, "detection_pr_curve_detailed", name=f"seed {seed}"
        )
    objects_run(folder, *EVALUATORS[1:])
    return folder


@pytest.fixture
def runs(place: Path, monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    monkeypatch.setenv("ASSAY_WORKSPACE", str(place))
    return list(Workspace().runs())


@pytest.fixture
def pictures(runs: list[Run]) -> Run:
    return next(run for run in runs if run.name == "Pictures")


def in_gallery(run: Run, model: str, link: dict[str, Any]) -> int:
    """How many objects the gallery shows for the filters of a link."""
    listed = object_list.object_list(run.id, parse_qs(url.href("gallery", model=model, **link).partition("?")[2]))
    assert listed is not None
    return listed.page(48, 0).objects


POINTS = [
    pytest.param(0.5, 0.5, id="of-the-run"), pytest.param(0.0, 0.5, id="all"), pytest.param(0.3, 0.75, id="strict"),
]  # fmt: skip


@pytest.mark.parametrize(("score", "iou"), POINTS)
def test_every_cell_of_a_confusion_matrix_opens_as_many_objects_as_it_counts(runs, score, iou):
    for run in runs:
        for model in run.models:
            counts = reviews.confusion_at(run.id, model, OperatingPoint(score, iou))
            margins = confusion_counts.margins_of(counts)
            assert len(counts)
            for row in counts.to_dict("records"):
                link = {"evaluator": "detection_confusion", "score": score, "iou": iou}
                link |= drilldown_filters.cell((row["label"],), (row["predicted"],), margins)
                assert in_gallery(run, model, link) == row["count"], (run.name, row)


@pytest.mark.parametrize(("score", "oks"), [(0.0, 0.5), (0.5, 0.5), (0.3, 0.8)])
def test_every_cell_of_a_confusion_of_poses_opens_as_many_as_it_counts(tmp_path, monkeypatch, score, oks):
    monkeypatch.setenv("ASSAY_WORKSPACE", str(tmp_path))
    suite, outputs = poses_of(random_poses(np.random.default_rng(5), images=12))
    matching = {"detection_confusion": {"matching": "keypoint_summary"}}
    run = finished(Workspace(tmp_path), suite, outputs, "detection_confusion", parameters=matching)
    counts = reviews.confusion_at(run.id, "m", OperatingPoint(score, oks))
    margins = confusion_counts.margins_of(counts)
    assert set(counts["label"]) | set(counts["predicted"]) == {"person", *margins}
    for row in counts.to_dict("records"):
        link = {"evaluator": "detection_confusion", "score": score, "iou": oks}
        link |= drilldown_filters.cell((row["label"],), (row["predicted"],), margins)
        assert in_gallery(run, "m", link) == row["count"], row


def test_every_cell_of_a_confusion_of_segments_opens_as_many_as_it_counts(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_WORKSPACE", str(tmp_path))
    run, seen = panoptic_run(tmp_path, seed=3, pictures=40), set[str]()
    counts = run_reads.curves(run.id, "panoptic_quality")
    margins = confusion_counts.margins_of(counts)
    for row in counts.to_dict("records"):
        link = {"evaluator": "panoptic_quality"}
        link |= drilldown_filters.cell((row["label"],), (row["predicted"],), margins, scored=False)
        assert in_gallery(run, "m", link) == row["count"], row
        seen |= {row["label"], row["predicted"]}
    assert seen == {*"abcd", *margins}


def test_a_cell_of_several_classes_opens_all_of_them(runs: list[Run]) -> None:
    for run in runs:
        counts = run_reads.curves(run.id, "detection_confusion")
        margins, labels = confusion_counts.margins_of(counts), run.suite.labels
        for model in run.models:
            mine = counts[counts["model"] == model]
            inner = mine[mine["label"].isin(labels) & mine["predicted"].isin(labels)]
            link = {"evaluator": "detection_confusion", "score": 0.5, "iou": 0.5}
            link |= drilldown_filters.cell(labels, labels, margins)
            assert in_gallery(run, model, link) == inner["count"].sum()


def test_every_bar_of_an_error_opens_what_it_counts(runs: list[Run]) -> None:
    for run in runs:
        gains = tuple(f"d_ap_{error}" for error in drilldown_filters.ERRORS if error)
        numbers = run_reads.label_numbers(run.id, "error_breakdown", gains)
        for row in numbers[numbers["value"].notna()].to_dict("records"):
            label = [row["label"]] if isinstance(row["label"], str) else []
            link = drilldown_filters.number("error_breakdown", row["metric"], {}) | {"label": label}
            assert in_gallery(run, row["series"], link) == row["n"], (run.name, row)


def test_every_bin_of_a_reliability_diagram_lists_what_it_counts(runs: list[Run]) -> None:
    for run in runs:
        for row in run_reads.curves(run.id, "calibration").to_dict("records"):
            rows, total = run_reads.scored(run.id, "calibration", (row["model"], 1), row["bin_low"], row["bin_high"])
            assert (len(rows), total) == (row["n"], row["n"])
            if row["n"]:
                assert (rows["kind"] == "tp").mean() == pytest.approx(row["accuracy"])


@pytest.mark.parametrize("threshold", [0.25, 0.5, 0.85])
@pytest.mark.parametrize("family", ["tp", "fp", "fn"])
def test_a_point_of_a_curve_opens_what_it_counts(runs: list[Run], threshold: float, family: str) -> None:
    for run in runs:
        curve = run_reads.curves(run.id, "detection_pr_curve")
        at = curve[(curve["threshold"] - threshold).abs() < 1e-9]
        for row in at.to_dict("records"):
            link = {"evaluator": "detection_pr_curve", "label": [row["label"]], "kind": [family], "score": threshold}
            assert in_gallery(run, row["model"], link) == row[family], (run.name, row)


def test_every_detection_metric_has_a_way(pictures: Run) -> None:
    for name in EVALUATORS:
        for metric in evaluators()[name].metrics:
            link = drilldown_filters.number(name, metric.name, pictures.evaluators[name])
            assert link["evaluator"] == name
            assert set(link["kind"]) <= {*tile_gallery.KINDS, "fp", "fn", "fp_both", "fn_localisation"}


def test_cells_of_the_leaderboard_open_the_gallery(pictures: Run, open_page: Open) -> None:
    page = open_page("leaderboard", run=pictures.id, minor="1", evaluator=["coco_summary", "error_breakdown"])
    drawn = told(page, "heatmap")
    links = {column["key"]: urlsplit(column["behind"]) for column in drawn["columns"]}
    assert {link.path for link in links.values()} == {"gallery"}
    small = next(link for key, link in links.items() if "AR_small" in key)
    assert parse_qs(small.query) == {
        "run": [pictures.id], "evaluator": ["coco_summary"], "kind": ["fn"], "size": ["small"], "score": ["0"],
        "iou": ["0.5"],
    }  # fmt: skip


def test_a_problem_opens_the_gallery(pictures: Run, open_page: Open) -> None:
    page = open_page("problems", run=pictures.id)
    assert page.button[0].label == "Open the worst problem's objects"


@pytest.mark.parametrize(
    ("asked", "label", "shown"),
    [
        pytest.param(
            {"view": "confusion", "truth": "dog", "predicted": "missed"}, "See them as pictures", 4, id="cell"
        ),
        pytest.param({"view": "errors", "of": "shy", "error": "missed"}, "See them as pictures", 4, id="error"),
        pytest.param(
            {"view": "classes", "evaluator": "coco_summary", "of": "shy", "of_class": "dog"},
            "See the objects of shy, dog", None, id="class",
        ),
        pytest.param(
            {"view": "calibration", "of": "keen", "bin": "0.2666666666666667"}, "See them as pictures", 4, id="bin"
        ),
        pytest.param(
            {"view": "thresholds", "of": "shy", "of_class": "dog", "kind": "fn"}, "See them as pictures", 4, id="point"
        ),
    ],
)  # fmt: skip
def test_the_views_lead_to_the_pictures(pictures, open_page, asked, label, shown):
    page = open_page("curves", run=pictures.id, **({"model": "shy"} if asked["view"] == "confusion" else {}), **asked)
    links = {link.proto.label: link.proto for link in page.get("page_link")}
    assert links[label].page.endswith("gallery")
    if shown is not None:
        assert f"{shown} " in "\n".join(caption.value for caption in page.caption)


def test_the_pictures_beside_the_curves_follow_the_slider(pictures, open_page, monkeypatch):
    given: dict[str, Any] = {}
    monkeypatch.setattr("components.viewers.tile_gallery.gallery", lambda drawn, key: given.update(drawn))
    page = open_page("curves", run=pictures.id, model="keen", label="dog", threshold="0.5")
    said = "keen, dog: scored just above 0.50, the next to drop out if the threshold rises"
    assert said in [text.value for text in page.text]
    assert [tile["lines"][2] for tile in given["tiles"]] == ["0.60"] * 4
    page.select_slider[0].set_value(0.3).run()
    assert not page.exception
    assert [tile["lines"][2] for tile in given["tiles"]] == ["0.30"] * 4 + ["0.60"] * 3
    page.select_slider[0].set_value(0.95).run()
    assert "keen, dog: no prediction scores 0.95 or more." in [text.value for text in page.text]


def test_the_example_leads_back_to_the_gallery_as_it_was(pictures: Run, open_page: Open) -> None:
    page = open_page("gallery", run=pictures.id, kind="tp", label="dog", score="0.5")
    state = f"run={pictures.id}&kind=tp&label=dog&score=0.5"
    page.button[0].click().run()
    assert not page.exception
    example = open_page("case", run=pictures.id, case="p0", gallery=state)
    (link,) = [link.proto for link in example.get("page_link") if "kind" in link.proto.query_string]
    assert (link.label, parse_qs(link.query_string)) == ("Gallery", parse_qs(state))
    alone = open_page("case", run=pictures.id, case="p0").get("page_link")
    assert not [link for link in alone if "kind" in link.proto.query_string]
