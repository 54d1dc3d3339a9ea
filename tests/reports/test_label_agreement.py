"""The report's section on people's labels."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from pypdf import PdfReader

from metrics.reports.build import build
from metrics.reports.renderers.html import html
from metrics.reports.renderers.pdf import pdf
from metrics.reports.sections.label_agreement import agreement_section
from metrics.store import Run, Workspace
from tests.labels import label, labelled_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return labelled_run(Workspace(tmp_path_factory.mktemp("reported")))


def test_without_labels_there_is_none(workspace: Path) -> None:
    assert agreement_section(labelled_run(Workspace(), 4)) is None


def test_it_says_how_far_the_scores_agree_and_what_the_means_are(run: Run) -> None:
    label(run, "ann", range(30))
    section = agreement_section(run)
    assert section is not None
    assert (section.title, section.question) == ("Judge agreement", "How far can these scores be trusted?")
    agreement, means = section.tables
    (row,) = agreement.rows
    assert row[:2] == ("ROUGE-L\u00a0↑", "good")
    assert row[-1] == "60"
    assert [one[0] for one in means.rows] == ["long", "short"]
    assert [one[-1] for one in means.rows] == ["30 of 40"] * 2
    assert section.notes[0] == (
        "60 labels by 1 rater for good. 60 outputs labelled at random speak for all outputs. κ and the rates "
        "judge each output by thresholds that the other labels chose."
    )
    assert "1,000 bootstrap samples" in section.notes[1]
    assert "PPI++" in section.notes[1]


def test_it_is_in_every_form_of_the_report(run: Run) -> None:
    label(run, "ann", range(30))
    report = build(run)
    assert [section.title for section in report.appendices if section.title == "Judge agreement"] == ["Judge agreement"]
    page = html(report).decode()
    assert '<h2 id="judge-agreement">Judge agreement</h2>' in page
    text = "".join(part.extract_text() for part in PdfReader(io.BytesIO(pdf(replace(report, worst=())))).pages)
    assert "Means of the judge, and corrected by labels" in text
    assert "30 of 40" in text
