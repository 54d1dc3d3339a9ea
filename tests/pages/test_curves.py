"""Curves: where should I set the threshold, and what gets confused?"""

from pathlib import Path

import pytest

from components.data import run_reads
from components.views.curves.class_bars import ERRORS
from metrics.core.suite import Outputs, Suite
from metrics.presentation.chart_data.confusion_counts import NONE
from metrics.reports.build import build
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished
from tests.pages.conftest import HOSTILE, Look, Open, labels_outputs, labels_suite
from tests.pages.page_scenes import objects_run, texts_run
from tests.pages.reading import words

OF_OBJECTS = ("detection_pr_curve_detailed", "detection_confusion", "error_breakdown")
OF_LABELS = ("classification_pr_curve", "classification", "roc_auc", "classification_pr_curve_detailed", "calibration")


def pictures_run(folder: Path) -> Run:
    return objects_run(folder, *OF_OBJECTS)


def labels_run(folder: Path) -> Run:
    """A run of every evaluator of classification that has curves."""
    return finished(Workspace(folder), labels_suite(), labels_outputs(), *OF_LABELS, name="Animals")


def plain_run(folder: Path) -> Run:
    return finished(Workspace(folder), labels_suite(), labels_outputs(), "classification_pr_curve", name="Plain")


@pytest.fixture
def pictures(look_at: Look) -> Run:
    return look_at(pictures_run)


@pytest.fixture
def labels(look_at: Look) -> Run:
    return look_at(labels_run)


def ranked_run(folder: Path) -> Run:
    """Two models of 400 cases: the surest answers of `useful` are right, `few` has ten of them."""
    suite = Suite.from_rows("ranked", "classification", [{"case_id": f"c{i}", "label": "a"} for i in range(400)])
    outputs = [{"case_id": f"c{i}", "model": model} for model, n in (("useful", 400), ("few", 10)) for i in range(n)]
    predictions = [
        row | {"label": "b" if i >= 200 and i % 3 == 0 else "a", "score": 1 - i / 500}
        for row in outputs
        if (i := int(row["case_id"][1:])) < 400
    ]
    given = Outputs.from_rows(outputs, predictions)
    return finished(Workspace(folder), suite, given, "selective_accuracy", name="Ranked")


@pytest.mark.parametrize("view", ["thresholds", "f1", "outcomes", "ranks", "confusion", "errors", "classes"])
def test_the_views_of_a_run_of_objects(pictures: Run, open_page: Open, view: str) -> None:
    page = open_page("curves", run=pictures.id, view=view)
    assert page.segmented_control[0].value == view
    assert page.segmented_control[0].options == [
        "Threshold", "F1", "Outcomes", "Precision–recall", "Confusion", "Error costs", "Classes",
    ]  # fmt: skip


def test_of_many_classes_the_worst_are_drawn(labels: Run, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("components.views.curves.class_bars.DRAWN", 2)
    page = open_page("curves", run=labels.id, view="classes")
    assert "The worst 2 of 3 classes. The table lists them all." in [caption.value for caption in page.caption]
    assert set(page.dataframe[0].value["Class"]) == {"cat", "dog", "owl"}


def test_a_run_without_detailed_curves_says_how_to_ask_for_them(look_at: Look, open_page: Open) -> None:
    page = open_page("curves", run=look_at(plain_run).id)
    offered = [caption.value for caption in page.caption if "on request" in caption.value]
    assert [each.partition(": ")[2] for each in offered] == [
        "choose Detailed classification precision–recall curve on Evaluate, or --evaluators "
        "…,classification_pr_curve_detailed."
    ]


def test_a_run_with_detailed_curves_does_not_offer_them(labels: Run, open_page: Open) -> None:
    page = open_page("curves", run=labels.id)
    assert not any("on request" in caption.value for caption in page.caption)


@pytest.mark.parametrize("view", ["thresholds", "f1", "outcomes", "roc", "calibration", "confusion", "classes"])
def test_the_views_of_a_run_of_labels(labels: Run, open_page: Open, view: str) -> None:
    page = open_page("curves", run=labels.id, view=view)
    assert page.segmented_control[0].options == [
        "Threshold", "F1", "Outcomes", "ROC", "Calibration", "Confusion", "Classes",
    ]  # fmt: skip
    drawn = [text.value for kind in (page.text, page.caption) for text in kind]
    assert not [text for text in drawn if "object" in text or "image" in text]
    marked = [each.value for each in (*page.markdown, *page.caption, *page.subheader)]
    assert not [text for text in marked if "onerror" in text], "the name of a model is hostile"


def test_only_the_view_shown_is_computed(pictures: Run, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    curves = run_reads.curves
    monkeypatch.setattr(
        "components.data.run_reads.curves", lambda run, evaluator: read.append(evaluator) or curves(run, evaluator)
    )
    assert not open_page("curves", run=pictures.id, view="confusion").exception
    assert read == ["detection_confusion"]


def test_another_view_forgets_what_was_chosen_in_the_last(pictures: Run, open_page: Open) -> None:
    page = open_page(
        "curves", run=pictures.id, view="confusion", model="shy", truth="dog", predicted="missed", threshold="0.3"
    )
    page.segmented_control[0].set_value("thresholds").run()
    assert not page.exception
    assert {name: page.query_params.get(name) for name in ("view", "truth", "predicted")} == dict.fromkeys(
        ("view", "truth", "predicted")
    )
    assert (page.query_params["model"], page.query_params["threshold"]) == ("shy", "0.3")


@pytest.mark.parametrize(
    ("evaluator", "view"), [("average_precision", "Average precision at IoU ≥ 0.50"), ("error_breakdown", "Present AP")]
)
def test_a_link_may_name_the_evaluator_alone(pictures: Run, open_page: Open, evaluator: str, view: str) -> None:
    assert view in words(open_page("curves", run=pictures.id, evaluator=evaluator))


def cells(run: Run, evaluator: str) -> None:
    """Every cell lists as many as it counts."""
    frame = run_reads.curves(run.id, evaluator)
    assert len(frame)
    for row in frame.to_dict("records"):
        cell = ((name if isinstance(name, str) else NONE,) for name in (row["label"], row["predicted"]))
        rows, total = run_reads.confused(run.id, evaluator, (row["model"], row["run"]), *cell)
        assert (len(rows), total) == (row["count"], row["count"])


def test_every_cell_of_a_run_of_labels_lists_what_it_counts(labels: Run) -> None:
    cells(labels, "classification")


def test_every_cell_of_classified_answers_lists_what_it_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_WORKSPACE", str(tmp_path))
    answers = ("Yes", " no.", "NO", "perhaps", "")
    cases = [
        {"case_id": f"c{index}", "expected_answers": ["yes" if index % 2 else "no"]} for index in range(len(answers))
    ]
    outputs = [{"case_id": f"c{index}", "model": "m", "answer": answer} for index, answer in enumerate(answers)]
    suite = Suite.from_rows("answers", "text", cases)
    cells(
        finished(Workspace(tmp_path), suite, Outputs.from_rows(outputs), "classification_text"), "classification_text"
    )


def test_every_error_lists_what_its_bar_counts(pictures: Run) -> None:
    numbers = run_reads.label_numbers(
        pictures.id, "error_breakdown", tuple(f"d_ap_{error}" for error in ERRORS if error)
    )
    for row in numbers[numbers["value"].notna()].to_dict("records"):
        kinds = ERRORS[row["metric"].removeprefix("d_ap_")]
        label = row["label"] if isinstance(row["label"], str) else None
        assert run_reads.matched(pictures.id, "error_breakdown", row["series"], kinds, label)[1] == row["n"]


def test_counts_beside_the_curves_follow_the_threshold(pictures: Run, open_page: Open) -> None:
    page = open_page("curves", run=pictures.id, evaluator="detection_pr_curve", threshold="0.2")
    assert "All classes at score ≥ 0.20" in words(page)
    assert "keen – best pooled F1 1.00 at 0.35\n✓ 8 found · ✗ 4 false · – 0 missed" in words(page)
    page.select_slider[0].set_value(0.7).run()
    assert page.query_params["threshold"] == "0.7"
    assert "✓ 4 found · ✗ 0 false · – 4 missed" in words(page)
    assert page.select_slider[0].options == [f"{step / 20:.4g}" for step in range(1, 20)], "the points of the curve"
    between = open_page("curves", run=pictures.id, evaluator="detection_pr_curve", threshold="0.71")
    assert "All classes at score ≥ 0.70" in words(between)


@pytest.mark.parametrize(
    ("kind", "images"), [("fp", ["p0", "p1", "p2", "p3"]), ("fn", []), ("tp", ["p0", "p1", "p2", "p3"])]
)
def test_the_objects_behind_a_point(pictures: Run, open_page: Open, kind: str, images: list[str]) -> None:
    page = open_page(
        "curves",
        run=pictures.id,
        evaluator="detection_pr_curve",
        of="keen",
        of_class="dog",
        threshold="0.25",
        kind=kind,
    )
    assert "keen, dog, score ≥ 0.25" in words(page)
    assert (sorted(page.dataframe[0].value["case_id"]) if len(page.dataframe) else []) == images


def test_a_match_below_the_threshold_is_a_missed_object(pictures: Run, open_page: Open) -> None:
    page = open_page(
        "curves",
        run=pictures.id,
        evaluator="detection_pr_curve",
        of="keen",
        of_class="dog",
        threshold="0.75",
        kind="fn",
    )
    assert sorted(page.dataframe[0].value["case_id"]) == ["p0", "p1", "p2", "p3"]


def test_curves_by_rank(pictures: Run, open_page: Open) -> None:
    page = open_page("curves", run=pictures.id, evaluator="average_precision", iou="0.75")
    assert "Average precision at IoU ≥ 0.75" in words(page)
    table = page.dataframe[0].value.set_index(["Class", "Model"])
    assert table.loc[("dog", "keen"), "AP"].strip() == "1.00"
    assert table.loc[("dog", "shy"), "AP"].strip() == "0.00"


def test_objects_have_an_iou(pictures: Run, open_page: Open) -> None:
    page = open_page("curves", run=pictures.id, of="keen", of_class="dog", kind="tp")
    assert list(page.dataframe[0].proto.column_order) == ["picture", "case_id", "score", "iou"]


def test_cases_have_none(labels: Run, open_page: Open) -> None:
    page = open_page("curves", run=labels.id, of="sharp", of_class="dog")
    assert list(page.dataframe[0].proto.column_order) == ["case_id", "score", "kind"]


def test_risk_and_coverage_say_from_which_score_on_to_answer(look_at: Look, open_page: Open) -> None:
    """Of the first 208 of 400 answers 3 are wrong: P(X ≤ 3) = .008; of 212 4: .018, more than .05 / 5."""
    run = look_at(ranked_run)
    page = open_page("curves", run=run.id)
    sentence = (
        "useful: Answer only when the score is ≥ 0.586: then at most 5 % of the answers are wrong, with 95 % "
        "confidence; 52 % of the cases are answered."
    )
    why = "at most 5 % wrong answers (95 % sure): too few, at least 49 more needed."
    said = words(page)
    assert sentence in said
    assert f"few: No guarantee: these cases show no threshold with {why}" in said
    assert [link.proto.label for link in page.get("page_link")][-2:] == [
        "Surest mistakes of useful", "Surest mistakes of few",
    ]  # fmt: skip
    note = next(" ".join(group.notes) for group in build(run).charts if group.title == "Risk and coverage")
    assert sentence in note
    assert why in note


def test_the_confusion_matrix_and_the_cases_of_a_cell(run: Run, open_page: Open) -> None:
    page = open_page("curves", run=run.id, model="sharp")
    assert page.metric[0].value == "0.900"
    assert page.dataframe[0].value["count"].sum() == 12
    page = open_page("curves", run=run.id, model="sharp", truth="cat", predicted="dog")
    assert "sharp: cat, predicted as dog" in words(page)
    assert set(page.dataframe[0].value["case_id"]) == {"c0", "c30", "c60", "c90"}


def test_what_is_missed_is_listed(pictures: Run, open_page: Open) -> None:
    page = open_page("curves", run=pictures.id, view="confusion", model="shy", truth="dog", predicted="missed")
    assert "shy: dog, missed" in words(page)
    assert sorted(page.dataframe[0].value["case_id"]) == ["p0", "p1", "p2", "p3"]


def test_the_examples_behind_an_outcome(pictures: Run, open_page: Open) -> None:
    page = open_page(
        "curves", run=pictures.id, view="outcomes", threshold="0.3", of="keen", kind="fp_hallucination", label="dog"
    )
    assert "keen, false: other, score ≥ 0.30" in words(page)
    assert len(page.dataframe[0].value) == 1
    assert "1 of 4 objects are listed." in [caption.value for caption in page.caption]


def test_the_objects_behind_an_error(pictures: Run, open_page: Open) -> None:
    page = open_page("curves", run=pictures.id, view="errors", of="shy", error="missed")
    assert "shy: missed" in words(page)
    assert len(page.dataframe[0].value) == 4


def test_the_best_threshold_is_offered(labels: Run, open_page: Open) -> None:
    page = open_page("curves", run=labels.id, view="f1")
    next(button for button in page.button if button.label.startswith("See what happens at")).click().run()
    assert not page.exception
    assert "All classes at score ≥ 0.05" in words(page)


def test_a_run_without_curves_says_so(look_at: Look, open_page: Open) -> None:
    page = open_page("curves", run=look_at(texts_run).id)
    assert "This run has no curves" in [heading.value for heading in page.subheader]


def test_a_ranking_by_k(workspace: Path, open_page: Open) -> None:
    cases = [{"case_id": f"c{i}", "reference_context_ids": ["a", f"b{i % 3}"]} for i in range(12)]
    outputs = [
        {"case_id": f"c{i}", "model": model, "context_ids": ["b1", "a"] if model == "m" else ["x", "b2", "a"]}
        for i in range(12)
        for model in ("m", HOSTILE)
    ]
    suite = Suite.from_rows("ids", "text", cases)
    run = finished(Workspace(), suite, Outputs.from_rows(outputs), "ranking", name="Ids")
    page = open_page("curves", run=run.id)
    assert page.segmented_control[0].options == ["By rank"]
    table = page.dataframe[0].value
    assert table.loc[table["Measure"] == "Recall@3", "Value"].tolist() == ["0.667", "0.667"]
    open_page("curves", run=run.id, of="m", metric="recall_at_3")
    groups = [group for group in build(run).charts if group.title == "By rank"]
    titles = [f"Ranking of retrieved ids: {name} of the first k\u00a0↑" for name in ("nDCG", "Recall")]
    assert [chart.title for chart in groups[0].charts][:2] == titles
