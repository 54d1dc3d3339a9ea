"""The report's section on people's labels."""

from pathlib import Path

import pytest

from metrics.store import Run, Workspace
from tests.labels import label, labelled_run
from tests.presentation.asked import ask


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return labelled_run(Workspace(tmp_path_factory.mktemp("reported")))


def test_without_labels_there_is_none(workspace: Path) -> None:
    assert ask("can_the_judge_be_trusted", labelled_run(Workspace(), 4)) is None


def test_it_says_how_far_the_scores_agree_and_what_the_means_are(run: Run) -> None:
    label(run, "ann", range(30))
    section = ask("can_the_judge_be_trusted", run)
    assert (section.title, section.question) == ("Judge agreement", "How far can these scores be trusted?")
    agreement, means = section.tables
    (row,) = agreement.rows
    assert (row[:2], row[-1]) == (("ROUGE-L\u00a0↑", "good"), "60")
    assert [one[0] for one in means.rows] == ["long", "short"]
    assert [one[-1] for one in means.rows] == ["30 of 40"] * 2
    assert section.notes[0] == (
        "60 labels by 1 rater for good. 60 outputs labelled at random speak for all outputs. κ and the rates "
        "judge each output by thresholds that the other labels chose."
    )
    assert "1,000 bootstrap samples" in section.notes[1]
    assert "PPI++" in section.notes[1]
