"""Report: what do I tell the others?"""

from pathlib import Path

import pytest

from components.data import run_archives, run_reads, workspace_runs
from components.views.results import weighted_view
from metrics.reports.exchange.exporters import EXPORTS
from metrics.reports.section_names import SECTIONS
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished, text_outputs, text_suite
from tests.pages.conftest import Open


def test_what_the_report_holds(run: Run, open_page: Open) -> None:
    page = open_page("report", run=run.id)
    labels = [box.label for box in page.checkbox]
    assert labels[0].startswith("**Summary** · ")
    assert [label.split("**")[1] for label in labels] == [title for title, _ in SECTIONS.values()]
    assert "sharp" in page.dataframe[0].value["Best value of"].tolist()


def test_a_choice_of_sections(run: Run, open_page: Open) -> None:
    page = open_page("report", run=run.id)
    for box in page.checkbox:
        box.uncheck()
    page.run()
    assert not page.exception
    assert page.get("download_button")[0].proto.disabled
    assert not next(one for one in page.get("download_button") if one.proto.label == "CSV").proto.disabled
    page.checkbox(key="section-summary").check().run()
    assert not page.get("download_button")[0].proto.disabled
    text = workspace_runs.render_report(run.id, "html", ["summary"]).decode()
    assert "What to do next" in text
    assert 'class="heat' not in text


def test_whether_a_model_may_replace_another_is_in_the_report(run: Run, open_page: Open) -> None:
    """As Compare asks for it; what there is not is not asked."""
    asked = {"run": run.id, "a": "blunt", "b": "sharp", "margin": "classification/accuracy:0.05"}
    answer = "sharp may replace blunt: not worse than you allow in this metric."
    page = open_page("report", **asked)
    assert answer in [text.value for text in page.text]
    replacing = workspace_runs.Replacing(
        "sharp", run.id, "blunt", (("classification/accuracy", 0.05),), None, anytime=False
    )
    text = workspace_runs.render_report(run.id, "html", ["comparison"], replacing).decode()
    assert "sharp may replace blunt: Accuracy of Classification is better, " in text
    for wrong in ({"a": "gone"}, {"before": "gone"}, {"margin": "classification/accuracy:x"}):
        other = open_page("report", **(asked | wrong))
        assert answer not in [text.value for text in other.text]


def test_the_weighted_score_of_the_address_is_in_the_report(run: Run, open_page: Open) -> None:
    page = open_page("report", run=run.id, weight="classification/accuracy:2")
    (sentence,) = (text.value for text in page.text if text.value.startswith("With "))
    assert sentence.startswith("With Classification: Accuracy 1, sharp leads: sharp 0.900 (")
    notes = weighted_view.notes_of(run.id, run_reads.Weighting((("classification/accuracy", 2.0),)))
    assert notes[0] == sentence
    assert (
        "sharp leads: sharp 0.900 ("
        in workspace_runs.render_report(run.id, "html", ["leaderboard"], None, notes).decode()
    )


@pytest.mark.parametrize(
    ("form", "start"), [("html", b"<!"), ("json", b"{"), ("csv", b"PK"), ("parquet", b"PK"), ("pdf", b"%PDF")]
)
def test_every_format_downloads(run: Run, form: str, start: bytes) -> None:
    assert workspace_runs.render_report(run.id, form)[: len(start)] == start


def test_every_export_that_suits_the_run_is_a_download(
    run: Run, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    monkeypatch.setattr(run_archives, "export", lambda *asked: made.append(asked) or b"")
    page = open_page("report", run=run.id)
    labels = [one.proto.label for one in page.get("download_button")]
    fitting = [one for one in EXPORTS.values() if one.form != "server" and one.fits(run)]
    assert sorted(labels[-len(fitting) :]) == sorted(one.title for one in fitting)
    assert {"Valor JSON", "Scores", "Curves", "Inspect log"} < set(labels)
    assert not {"Result CSV", "Bitmaps", "Flips", "MLflow"} & set(labels), "a run of labels has nothing of these"
    assert not made, "nothing is made before it is asked for"
    run_archives.export_run(run.id, "valor")
    assert made == [(run, "valor", None)]


def test_hub_results_wait_for_a_benchmark_and_say_what_is_wrong_with_it(run: Run, open_page: Open) -> None:
    page = open_page("report", run=run.id)
    button = {one.proto.label: one.proto for one in page.get("download_button")}
    assert button["Hub results"].disabled
    assert not button["Inspect log"].disabled
    page.text_input(key="export-benchmark").set_value("mine").run()
    assert any(text.value.startswith("Hub results: benchmark: found 'mine'; expected the") for text in page.text)


def test_the_page_says_which_columns_of_a_result_csv_are_empty(open_page: Open, workspace: Path) -> None:
    run = finished(Workspace(workspace), text_suite(), text_outputs(), "hallucination_hhem")
    page = open_page("report", run=run.id)
    assert page.selectbox(key="export-model").value == "good"
    said = next(text.value for text in page.text if "hallucination_score" in text.value)
    assert said.startswith("Result CSV: generation_score_hallucination_score is empty: ")


def test_pages_for_others(run: Run, open_page: Open) -> None:
    page = open_page("report", run=run.id)
    assert "Web page (zip)" in [one.proto.label for one in page.get("download_button")]
    assert run_archives.bundle_run(run.id).startswith(b"PK")
