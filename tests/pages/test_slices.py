"""Slices: where is the model worse than elsewhere?"""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from metrics.analysis.slices.find_slices import SliceSearch
from metrics.analysis.slices.slice_outcomes import Measure
from metrics.core.suite import Outputs, Suite
from metrics.presentation.questions.where_is_it_worse import search_blocks, where_is_it_worse
from metrics.store import Run, Workspace
from tests.analysis.slices.slicing import PLANTED, pair_run, pictures_run, sliced_run
from tests.engine.engine_scenes import finished
from tests.models.word_vectors import WordVectors
from tests.pages.conftest import Open, Went

BY = {"key": "classification_text/accuracy"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a planted slice, noise, pictures with a hard class, and a suite without any feature."""
    folder = tmp_path_factory.mktemp("sliced")
    sliced_run(folder)
    rows = [{"case_id": f"c{place}", "question": "Why?", "expected_answers": ["yes"]} for place in range(8)]
    outputs = [{"case_id": f"c{place}", "model": "m", "answer": ["yes", "nay"][place % 2]} for place in range(8)]
    suite = Suite.from_rows("plain", "text", rows)
    finished(Workspace(folder), suite, Outputs.from_rows(outputs), "classification_text", name="Plain")
    pictures_run(folder)
    return folder


@pytest.fixture
def runs(place: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Run]:
    monkeypatch.setenv("ASSAY_WORKSPACE", str(place))
    return {run.name: run for run in Workspace().runs()}


def texts(page: AppTest) -> list[str]:
    assert not page.exception
    return [text.value for text in page.text]


def test_where_b_falls_behind_a_is_a_link_of_compare(tmp_path: Path, monkeypatch, open_page: Open) -> None:
    monkeypatch.setenv("ASSAY_WORKSPACE", str(tmp_path))
    run = pair_run(tmp_path)
    compared = open_page("compare", run=run.id, a="base", b="m", **BY)
    (label,) = [link.label for link in compared.page_link if link.label.startswith("Where is B worse")]
    assert label == "Where is B worse against A? By tag, length and other features"
    page = open_page("slices", run=run.id, model="m", against="base", **BY)
    assert page.subheader[-1].value.startswith(r"m, Classification by text\: Accuracy, difference from base\: 1 of ")
    assert texts(page)[0].startswith("m · Classification by text: Accuracy, difference from base ↑ −0.0")
    assert not open_page("slices", run=run.id, model="m", **BY).sidebar.selectbox(key="filter-against").value


def test_the_found_slice_in_a_sentence_and_its_cases(runs: dict[str, Run], open_page: Open, went: Went) -> None:
    page = open_page("slices", run=runs["Planted"].id, **BY)
    assert page.subheader[0].value.endswith("is significantly worse than the rest")
    assert texts(page)[0] == "m · Classification by text: Accuracy ↑ 0.757 (95 % 0.738–0.775) · 2,000 questions"
    assert "Questions tagged ‘table’ with more than 3 contexts: 0.383 instead of 0.769, n = 60" in texts(page)[1]
    button = next(button for button in page.button if button.label == f"See the {PLANTED} cases")
    button.click().run()
    values = went[-1]
    assert (values.pop("page"), values["model"], values["status"]) == ("cases", "m", "ok")
    cases = open_page("cases", **values)
    shown = texts(cases)
    assert shown[0].endswith(f"Accuracy\u00a0↑ 0.383 (95 % 0.271–0.510) · n {PLANTED}")
    assert shown[1] == "Only cases tagged ‘table’ with more than 3 contexts"
    assert any(text.startswith(f"1–{PLANTED} of {PLANTED} cases, worst first") for text in shown)
    example = open_page("case", **values)
    assert any(f"1 of {PLANTED}" in text for text in texts(example))


def test_a_features_slices_and_the_choice_is_in_the_address(runs: dict[str, Run], open_page: Open) -> None:
    page = open_page("slices", run=runs["Planted"].id, feature="contexts", **BY)
    rows = page.dataframe[0].value
    assert rows.iloc[:, 0].tolist() == ["1", "2", "3", "4", "5"]
    assert rows["n"].astype(int).sum() == 2_000
    assert "–" not in set(rows["Pooled"]) | set(rows["95 % of pooled"]), "five slices are drawn towards each other"
    assert page.segmented_control[0].value == "contexts"


def test_nothing_found_says_how_small_an_effect_would_have_been(runs: dict[str, Run], open_page: Open) -> None:
    key = "detection_pr_curve/predictions_right"
    page = open_page("slices", run=runs["Pictures"].id, key=key)
    answer = page.subheader[1].value.replace("\\", "")
    assert re.match("m, Detection precision–recall curve: predictions right: (no slice has enough|none of)", answer)
    measure = Measure("rouge", "rougeL", "ROUGE", "", "higher", "cases", True, False)
    found = SliceSearch(
        measure, "m", "questions", (), 90, 0, 600, 20, 1000, False, ((20, 0.5181), (120, 0.1992), (400, float("inf")))
    )
    assert search_blocks(found)[1][0].text == (
        "With 20 questions, a gap of 0.518 would be detected 80 % of the time; with 120, 0.199."
    )
    few = replace(found, n=30, detectable=((20, float("inf")),))
    assert search_blocks(few)[1][0].text == "30 questions are too few: no gap could be detected."


def test_objects_of_pictures(runs: dict[str, Run], open_page: Open, went: Went) -> None:
    page = open_page("slices", run=runs["Pictures"].id, key="detection_pr_curve/objects_found")
    sentence = texts(page)[1]
    assert sentence.startswith("Objects of class ‘dog’ and of size ‘small’")
    images = re.search(r"in (\d+) images", sentence)
    assert images
    next(button for button in page.button if button.label.startswith("See the ")).click().run()
    cases = open_page("cases", **{key: value for key, value in went[-1].items() if key != "page"})
    assert any(f"of {images[1]} cases" in text for text in texts(cases))


def test_the_tab_says_what_the_report_says_of_all_metrics(runs: dict[str, Run], open_page: Open, went: Went) -> None:
    """Whatever metric is chosen: its own answer names it, the report's stands above it and leads to each slice."""
    run = runs["Pictures"]
    told = where_is_it_worse(run)
    page = open_page("slices", run=run.id, key="detection_pr_curve/best_f1?iou=0.5")
    assert told[0].text.startswith("1 of ")
    assert [one.value.replace("\\", "") for one in page.subheader] == [
        told[0].text,
        "m, Detection precision–recall curve: Best F1 macro: none of 2 slices are significantly worse than the rest",
    ]
    assert page.dataframe[0].value["Slice"].tolist() == [told[1].rows[0][-1]]
    assert told[1].links[0].where["key"] == "detection_pr_curve/objects_found"


def test_cases_without_features(runs: dict[str, Run], open_page: Open) -> None:
    page = open_page("slices", run=runs["Plain"].id)
    assert page.subheader[0].value == "The cases have no features to slice by"
    assert page.button[0].label == "Evaluate a suite"


def test_topics_only_on_request(runs: dict[str, Run], open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = WordVectors()
    monkeypatch.setattr("metrics.models.provide", lambda *_: {"embedder": embedder})
    page = open_page("slices", run=runs["Planted"].id, **BY)
    assert embedder.asked == []
    page.sidebar.toggle[0].set_value(True).run()
    assert not page.exception
    assert len(embedder.asked) == 2_000
    assert page.query_params["topics"] == ["1"] or page.query_params["topics"] == "1"


@pytest.mark.parametrize(
    ("address", "told"),
    [
        pytest.param("tag:table", "cannot be read", id="no-slice"),
        pytest.param(
            '{"model": "m", "of": "cases", "where": [["metadata.no", "x"]]}', "nothing to slice by", id="unknown"
        ),
        pytest.param('{"model": "x", "of": "cases", "where": [["tag", "x"]]}', "has no model 'x'", id="model"),
    ],
)
def test_a_wrong_slice_in_the_address(runs: dict[str, Run], open_page: Open, address: str, told: str) -> None:
    page = open_page("cases", run=runs["Planted"].id, slice=address)
    assert told in page.error[0].value
    assert any(button.label == "Clear filters" for button in page.sidebar.button)
    example = open_page("case", run=runs["Planted"].id, slice=address)
    assert any("1 of 2,000" in text for text in texts(example))
