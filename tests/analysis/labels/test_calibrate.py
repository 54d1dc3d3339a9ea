"""Calibrating a metric on a run's own labels: when it can be, what it stores, and that later runs use it."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from metrics.analysis.labels.calibrate import calibrate, calibrated_here, chosen_criterion, chosen_metric
from metrics.analysis.labels.labelled_scores import labelled_scores
from metrics.cli.main import main
from metrics.core.errors import InputError
from metrics.store import Workspace
from metrics.store.rating_sets import Labels
from metrics.store.threshold_profiles import Calibrations
from tests.labels import MODELS, label, labelled_run, passes

ROUGE = ("rouge", "rougeL")


def test_labels_set_the_threshold_and_say_how_good_it_is(workspace: Path) -> None:
    run = labelled_run(Workspace(), 40)
    label(run, "ann", range(40))
    found = calibrate(run, *ROUGE, "good")
    both = labelled_scores(run, *ROUGE, "good")
    assert found.auc == pytest.approx(roc_auc_score(both.passed, both.score))
    assert found.separates
    assert (found.n, found.passed, found.models, found.settings) == (80, int(both.passed.sum()), {}, {})
    assert found.data == "“good” of suite passing"
    right = (both.score >= found.threshold) == both.passed
    assert np.mean([right[both.passed].mean(), right[~both.passed].mean()]) >= found.balanced - 0.1
    assert found.balanced_low < found.balanced < found.balanced_high


def test_later_runs_use_it_and_this_one_keeps_its_own(workspace: Path) -> None:
    run = labelled_run(Workspace(), 40)
    label(run, "ann", range(40))
    found = calibrate(run, *ROUGE, "good")
    Calibrations(workspace).keep(found)
    later = labelled_run(Workspace(), 40, name="later")
    assert [one.evaluator("rouge").metric("rougeL").threshold for one in (run, later)] == [None, found.threshold]
    assert calibrated_here(run, *ROUGE) == found
    assert calibrated_here(run, "rouge", "rouge1") is None


def test_labels_that_scores_do_not_follow_give_no_threshold(workspace: Path) -> None:
    run = labelled_run(Workspace(), 40)
    rows = "case_id,model,rater,label\n" + "".join(
        f"c{index},{model},ann,{'pass' if (index // 8 + index) % 2 else 'fail'}\n"
        for index in range(40) for model in MODELS
    )  # fmt: skip
    (workspace / "noise.csv").write_text(rows)
    assert main(["labels", "add", run.id, str(workspace / "noise.csv"), "--quiet"]) == 0
    found = calibrate(run, *ROUGE, "label")
    assert not found.separates
    assert found.threshold is None


@pytest.mark.parametrize(("indices", "expected"), [
    (range(10), "labels of “good”, column rouge.rougeL: found 20 outputs with a label and a score; expected at least"),
    (range(7, 40, 8), None),
], ids=["too few", "few but both kinds"])  # fmt: skip
def test_too_few_labels_are_refused(workspace: Path, indices: range, expected: str | None) -> None:
    run = labelled_run(Workspace(), 40)
    label(run, "ann", indices)
    with pytest.raises(InputError, match=expected or "expected at least 30"):
        calibrate(run, *ROUGE, "good")


def test_labels_of_one_kind_are_refused(workspace: Path) -> None:
    run = labelled_run(Workspace(), 400)
    good = [index for index in range(400) if all(passes(index, model) for model in MODELS)]
    label(run, "ann", good)
    assert len(good) >= 15
    with pytest.raises(
        InputError, match=r"found all \d+ of them pass; expected outputs that pass and outputs that fail"
    ):
        calibrate(run, *ROUGE, "good")


def test_the_metric_and_the_criterion_are_found_by_name(workspace: Path) -> None:
    run = labelled_run(Workspace(), 4)
    assert chosen_metric(run, "rougeL") == chosen_metric(run, "rouge.rougeL") == ROUGE
    with pytest.raises(InputError, match="--metric: found 'rougeX'; expected one of rouge"):
        chosen_metric(run, "rougeX")
    with pytest.raises(
        InputError, match="--criterion: found none; expected labels of the run's outputs: --labels FILE"
    ):
        chosen_criterion(run, None, "rougeL")
    label(run, "ann", range(4))
    assert chosen_criterion(run, None, "rougeL") == "good"
    label(run, "ann", range(4), criterion="rougeL")
    assert (chosen_criterion(run, None, "rougeL"), chosen_criterion(run, "good", "rougeL")) == ("rougeL", "good")
    with pytest.raises(InputError, match="--criterion: found 'x'; expected one of"):
        chosen_criterion(run, "x", "rougeL")


def test_the_command_reads_labels_calibrates_and_forgets(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = labelled_run(Workspace(), 40)
    rows = "case_id,model,rater,label\n" + "".join(
        f"c{index},{model},ann,{'pass' if passes(index, model) else 'fail'}\n"
        for index in range(40) for model in MODELS
    )  # fmt: skip
    (workspace / "mine.csv").write_text(rows)
    arguments = ["calibrate", "latest", "--metric", "rougeL"]
    assert main(arguments) == 2
    assert "expected labels of the run's outputs: --labels FILE" in capsys.readouterr().err
    assert main([*arguments, "--labels", str(workspace / "mine.csv")]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("rouge.rougeL: threshold 0.")
    assert "on 80 labels of “label” of suite passing" in captured.out
    assert "later runs with the same models and parameters use it" in captured.err
    assert len(Labels(run).sets()) == 1
    assert main([*arguments, "--forget"]) == 0
    assert capsys.readouterr().out == "rouge.rougeL: forgotten\n"
    assert main([*arguments, "--forget"]) == 0
    assert capsys.readouterr().out == "rouge.rougeL: nothing was calibrated\n"
