"""Building a report from a run: the answer, the counts, the worst cases, and every format of it."""

import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from pypdf import PdfReader

from metrics.core.classes import ClassFacts
from metrics.core.suite import Outputs, Suite, Task
from metrics.presentation.blocks import Matrix, Table
from metrics.presentation.format import day
from metrics.presentation.questions.which_leads import Standing, level_text
from metrics.reports import render
from metrics.reports.build import build
from metrics.reports.renderers.figures import picture
from metrics.reports.renderers.pdf import _breakable_tree, _method, pdf
from metrics.reports.report import Report
from metrics.reports.sections import worst_cases
from metrics.store import Run, Workspace
from metrics.store.reviews import Review
from tests.analysis.scored import scored_run
from tests.engine.engine_scenes import finished, text_outputs, text_suite
from tests.pages.page_scenes import masks_run
from tests.presentation.asked import ask
from tests.reports.made import cell, column
from tests.reports.runs import by_hand


@pytest.fixture(scope="module")
def report(marked_run: Run) -> Report:
    return build(marked_run)


def facts(report: Report) -> dict[str, str]:
    return {fact.name: fact.value for group in report.facts for fact in group.facts}


def test_it_says_what_the_run_says(marked_run: Run, report: Report) -> None:
    run = marked_run
    assert (report.title, report.evaluators) == (f"turns, {day(run.created)}", ("ROUGE", "Looping detection"))
    assert report.headline == "good leads: ahead in 1 of 2 questions (Right?: ROUGE-L), behind in none."
    assert facts(report)["Cases"] == "12; 3 invalid rows skipped"
    assert facts(report)["Suite fingerprint"] == run.spec.suite.fingerprint
    assert "numpy" in facts(report)["Versions"]
    assert report.models == ("good", "poor")
    assert {column.evaluator for column in report.heatmap.columns} == {"rouge", "looping_detection"}
    assert [method.evaluator for method in report.methods] == ["rouge", "looping_detection"]
    assert report.methods[0].metrics[0].name == "rougeL"
    assert not report.methods[0].details, "in full on request"
    (whole, _) = build(run, ["formulas"]).methods
    assert (whole.metrics[0].name, bool(whole.details)) == ("rouge1", True)
    assert any(problem.model == "poor" and problem.title == "rougeL" for problem in report.problems)
    messages = [insight.message for insight in report.insights]
    assert "poor is worst at ROUGE-L (0.640)" in messages
    assert len(messages) == len(set(messages))
    notes = report.section("leaderboard").notes
    assert "a paired test on the same cases" in notes[0]
    assert (
        "significant at 5 % after Holm's correction for all metrics and pairs of models of the run together" in notes[0]
    )
    assert notes[1] == "Ranks in ROUGE-L: 1: good; 2: poor."
    assert all(problem.affected == 12 for problem in report.problems if problem.title == "rougeL")


def test_worst_cases_are_bad_distinct_and_complete(report: Report) -> None:
    worst = report.worst
    assert worst
    assert len({(case.case_id, case.model) for case in worst}) == len(worst)
    case = worst[0]
    assert (case.model, [passage.name for passage in case.passages]) == ("poor", ["Question", "Expected", "Answer"])
    assert case.because[0].value < 1


@pytest.mark.parametrize("format", ["pdf", "html", "json"])
def test_every_document_is_repeatable(marked_run: Run, format: str) -> None:
    content = render(marked_run, format)
    assert render(marked_run, format) == content  # type: ignore[arg-type]
    assert content[:5] in (b"%PDF-", b"<!doc", b'{\n "t')


def test_a_run_of_a_later_version_still_reports(workspace: Path) -> None:
    report = build(by_hand())
    assert (report.headline, report.heatmap) == ("No metric has a value, so no model can be recommended.", None)
    assert "does not have the evaluator" in report.methods[0].definition
    assert pdf(report)


def standing(leader: str, *level: str, problem: bool = False) -> Standing:
    return Standing(column("e", "E", "m", threshold=0.4), leader, cell(0.5, 0.4, 0.6, 10, problem=problem), level)


@pytest.mark.parametrize(("models", "entry", "expected"), [
    ("ab", standing("a"), "no other model"), ("ab", standing("a", "b"), "b"),
    ("abc", standing("a", "b", "c"), "every other model"),
    ("a", standing("a"), "met: ≥ 0.4"), ("a", standing("a", problem=True), "missed: ≥ 0.4"),
], ids=["alone", "one", "all", "met", "missed"])  # fmt: skip
def test_level_text(models: str, entry: Standing, expected: str) -> None:
    assert level_text(entry, tuple(models)) == expected


CASE = {"case_id": "one", "image": "one.png", "image_width": 200, "image_height": 150}


@pytest.fixture
def media(tmp_path: Path) -> Path:
    folder = tmp_path / "media"
    folder.mkdir()
    Image.new("RGB", (200, 150), "#88aacc").save(folder / "one.png")
    return folder


def one_image_run(task: Task, media: Path, truths: list[dict[str, Any]], found: list[dict[str, Any]], name: str) -> Run:
    suite = Suite.from_rows("s", task, [CASE], [{"case_id": "one"} | row for row in truths])
    rows = [{"case_id": "one", "model": "m"} | row for row in found]
    outputs = Outputs.from_rows([{"case_id": "one", "model": "m"}], rows)
    return finished(Workspace(), replace(suite, media=media), outputs, name)


def test_detection_shows_images_with_their_boxes(workspace, media, monkeypatch) -> None:
    cat = {"label": "cat", "x": 20.0, "y": 30.0, "width": 60.0, "height": 80.0}
    truth = cat | {"annotation_id": 1, "area": 4800.0, "is_crowd": False}
    found = [cat | {"x": 130.0, "y": 20.0, "score": 0.8}, cat | {"score": 0.1}]
    run = one_image_run("detection", media, [truth], found, "average_precision")
    Review(run).choose_point(0.3, 0.5)
    (worst,) = build(run).worst
    assert worst.image is not None
    assert sorted(entry.kind for entry in worst.boxes) == ["fn", "fp_hallucination"]
    assert worst.image_note == "Boxes matched at IoU ≥ 0.5; 1 prediction with a score below 0.3 not drawn."
    text = "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(render(run, "pdf"))).pages)
    assert "1 missed" in text
    assert "1 false positive: background" in text
    assert b"data:image/jpeg;base64," in render(run, "html")
    monkeypatch.setattr(worst_cases, "MOST_BOXES", 1)
    (worst,) = build(run).worst
    assert [entry.kind for entry in worst.boxes] == ["fn"]
    assert worst.image_note.endswith("; the first 1 of 2 objects are drawn, mistakes before what is right.")


def test_masks_are_matched_and_drawn_as_masks(workspace: Path, media: Path) -> None:
    corner = [20.0, 20.0, 120.0, 20.0, 20.0, 120.0]  # the two halves of a square: the box of each is that square
    other = [120.0, 20.0, 120.0, 120.0, 20.0, 120.0]
    square = {"label": "cat", "x": 20.0, "y": 20.0, "width": 100.0, "height": 100.0}
    truth, found = square | {"annotation_id": 1, "polygons": [corner]}, square | {"score": 0.8, "polygons": [other]}
    run = one_image_run("detection", media, [truth], [found], "average_precision")
    (worst,) = build(run).worst
    assert [(entry.kind, entry.rings, entry.filled) for entry in worst.boxes] == [
        ("fn", (tuple(corner),), True),
        ("fp_hallucination", (tuple(other),), True),
    ]
    assert worst.image_note == "Masks matched at IoU ≥ 0.5."
    assert b"fill-opacity:0.3" in render(run, "html")


def test_poses_are_drawn_as_skeletons(workspace: Path, media: Path) -> None:
    """One of two key points is labelled in the truth; the skeleton of the prediction is far from it."""
    person = {"case_id": "one", "label": "person", "x": 20.0, "y": 20.0, "width": 40.0, "height": 80.0}
    truth = person | {"annotation_id": 1, "keypoints": [30.0, 30.0, 2, 0.0, 0.0, 0]}
    found = person | {"model": "m", "score": 0.8, "keypoints": [120.0, 30.0, 2, 120.0, 90.0, 2]}
    suite = Suite.from_rows("people", "detection", [CASE], [truth])
    facts = ClassFacts(keypoints=("head", "foot"), skeleton=((0, 1),))
    suite = replace(suite, media=media, classes={"person": facts})
    outputs = Outputs.from_rows([{"case_id": "one", "model": "m"}], [found])
    (worst,) = build(finished(Workspace(), suite, outputs, "keypoint_summary")).worst
    head, foot = (120.0, 30.0, 120.0, 30.0), (120.0, 90.0, 120.0, 90.0)
    assert [(entry.kind, entry.bones, entry.outlined) for entry in worst.boxes] == [
        ("fn", ((30.0, 30.0, 30.0, 30.0),), False),
        ("fp_hallucination", ((120.0, 30.0, 120.0, 90.0), head, foot), False),
    ]
    assert worst.image_note == "Key points matched at OKS ≥ 0.5."
    drawn, _ = picture(worst)
    assert (drawn.shapes.count("<circle"), drawn.shapes.count("M120.0 30.0L120.0 90.0")) == (3, 2)
    assert "Z" not in "".join(re.findall('d="(.*?)"', drawn.shapes)), "no box hides the pose"


def test_segments_are_drawn_in_the_colours_of_their_classes(workspace: Path, media: Path) -> None:
    """One cat found, one missed; a dog taken for a cat."""

    def part(label: str, left: float) -> dict[str, Any]:
        return {"label": label, "x": left, "y": 0.0, "width": 20.0, "height": 30.0}

    truths = [part(*each) | {"annotation_id": n} for n, each in enumerate((("cat", 0.0), ("cat", 20.0), ("dog", 40.0)))]
    found = [part("cat", left) for left in (0.0, 40.0)]
    report = build(one_image_run("segmentation", media, truths, found, "panoptic_quality"))
    (matrix,) = next(group for group in report.charts if group.title == "Confusion").charts
    assert isinstance(matrix, Matrix)
    assert (matrix.rows, matrix.columns) == (("cat", "dog", "background"), ("cat", "dog", "missed"))
    assert matrix.counts == ((1, 0, 1), (1, 0, 0), (0, 0, 0))
    (worst,) = report.worst
    drawn = [(box.kind, box.label, box.filled) for box in worst.boxes]
    assert drawn == [("fn", "cat", False), ("fn", "dog", False), ("fp", "cat", True), ("tp", "cat", True)]
    shades = [box.colour for box in worst.boxes if box.filled]
    assert len(set(shades)) == 2, "each thing has a shade of its own"
    assert worst.image_note == "Segments in the colours of their classes, matched at IoU > 0.5."
    figure, _ = picture(worst)
    assert [figure.shapes.count(f"fill:{shade}") for shade in shades] == [1, 1]


def test_mistaken_areas_are_drawn(workspace: Path, tmp_path: Path) -> None:
    run = masks_run(tmp_path)
    worst = next(case for case in build(run).worst if case.model == "late")
    assert worst.case_id == "p0"
    assert [(box.kind, box.label, box.filled) for box in worst.boxes] == [("fp", "water", True), ("fp", "water", True)]
    assert worst.image_note == "Areas of a wrong class, named by the predicted one."


def test_three_models_and_more_fare_against_each_other(workspace: Path) -> None:
    given = {model: [(place * step % 7) / 7 for place in range(20)] for model, step in (("a", 1), ("b", 3), ("c", 5))}
    told = [
        note
        for note in ask("which_leads", scored_run({"rouge.rougeL": given})).notes
        if note.startswith("By matches in ROUGE-L")
    ]
    assert len(told) == 1
    assert all(f"{model} 0." in told[0] for model in given)
    del given["c"]
    assert not [
        note for note in ask("which_leads", scored_run({"rouge.rougeL": given})).notes if note.startswith("By matches")
    ]


def test_an_empty_answer_is_told(workspace: Path) -> None:
    suite = Suite.from_rows(
        "s", "text", [{"case_id": one, "question": "q", "expected_answers": ["a b"]} for one in "ab"]
    )
    outputs = Outputs.from_rows(
        [{"case_id": "a", "model": "m", "answer": ""}, {"case_id": "b", "model": "m", "answer": "x"}]
    )
    report = build(finished(Workspace(), suite, outputs, "exact_match"))
    told = {case.case_id: [one.text for one in case.passages if one.name == "Answer"] for case in report.worst}
    assert told == {"a": ["(no answer)"], "b": ["x"]}


def test_the_table_of_differences_has_every_metric_that_its_sentence_counts(workspace: Path) -> None:
    found = ask("is_it_better", finished(Workspace(), text_suite(24), text_outputs(24), "token_f1", "exact_match"))
    assert found is not None
    [counted] = map(int, re.findall(r"of (\d+) metrics shown", found.sentences[0].text))
    [listed] = [one for one in found.blocks if isinstance(one, Table)]
    assert len({row[0] for row in listed.rows}) == counted > 2


def test_a_metric_of_common_words_is_not_broken(workspace: Path) -> None:
    report = build(finished(Workspace(), text_suite(4), text_outputs(4), "answer_semantic_similarity"))
    assert _breakable_tree(_method(report.methods[0]))["metrics"][0]["name"] == "Answer semantic similarity\u00a0↑"
