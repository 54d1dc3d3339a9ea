"""decisive: the metrics that models are chosen by, given to the command or evaluate() and kept with the suite."""

from pathlib import Path

import pytest

from metrics import evaluate
from metrics.analysis import headline
from metrics.analysis.leaderboard.leaderboard import leaderboard
from metrics.core.errors import InputError
from metrics.store.threshold_profiles import ThresholdProfiles

SUITE = [{"case_id": str(place), "label": "ab"[place % 2]} for place in range(40)]
OUTPUTS = [
    {"case_id": str(place), "model": model, "label": "ab"[place % 2 if place % 4 or model == "good" else 1]}
    for model in ("good", "poor")
    for place in range(40)
]


def test_of_a_call_and_of_the_runs_after_it(tmp_path: Path) -> None:
    data = {"suite": SUITE, "outputs": OUTPUTS, "evaluators": ["classification"], "workspace": tmp_path}
    run = evaluate(**data, decisive=["classification.f1", "accuracy"])
    kept = ThresholdProfiles(tmp_path).decisive(run.spec.suite.fingerprint)
    assert kept == ("classification/f1", "classification/accuracy")
    for each in (run, evaluate(**data)):
        assert leaderboard(each).decisive == ("classification/f1?average=macro", "classification/accuracy")
        assert "decisive metrics" in headline(leaderboard(each)).sentence


def test_an_unknown_metric_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"decisive: found 'f2'"):
        evaluate(SUITE, OUTPUTS, evaluators=["classification"], workspace=tmp_path, decisive=["f2"])
