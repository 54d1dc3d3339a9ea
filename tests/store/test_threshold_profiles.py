"""Thresholds set after the fact, over those that runs began with."""

from dataclasses import replace

import pytest

from metrics.analysis import leaderboard, problems
from metrics.core.calibration import Calibration
from metrics.core.errors import InputError
from metrics.reports.build import build
from metrics.store import Run, Workspace
from metrics.store.threshold_profiles import Calibrations, ThresholdProfiles

ROUGE = ("rouge", "rougeL")


def threshold(run: Run, key: str = "rouge/rougeL") -> float | None:
    again = Workspace(run.workspace.path).run(run.id)
    return next(column.threshold for column in leaderboard(again).columns if column.key == key)


def test_the_profile_in_force_stands_over_the_thresholds_of_a_run(run):
    profiles = ThresholdProfiles(run.workspace.path)
    assert (profiles.in_force, profiles.names, threshold(run)) == (None, (), 0.75)
    profiles.use("Release")
    profiles.put({ROUGE: 0.5, ("bleu", "bleu4"): 0.25})
    assert (threshold(run), threshold(run, "bleu/bleu4")) == (0.5, 0.25)
    profiles.use("Draft")
    assert (threshold(run), profiles.names) == (0.75, ("Release", "Draft"))
    profiles.use("Release")
    profiles.put({ROUGE: None})
    assert (threshold(run), threshold(run, "bleu/bleu4")) == (0.75, 0.25)
    profiles.remove("Release")
    assert (profiles.in_force, threshold(run, "bleu/bleu4")) == (None, None)


def test_problems_follow_the_profile(run):
    profiles = ThresholdProfiles(run.workspace.path)
    profiles.use("Release")
    for value, models in ((0.0, set()), (1.0, {"poor"})):
        profiles.put({ROUGE: value})
        found = problems(Workspace(run.workspace.path).run(run.id))
        assert set(found.loc[found["kind"] == "threshold", "model"]) == models


@pytest.mark.parametrize(("name", "value", "told"),
    [("", 0.5, "a name of 1 to 80 characters"), ("x" * 81, 0.5, "a name of 1 to 80"), ("A", float("nan"), "finite")],
    ids=["blank", "long", "not a number"])  # fmt: skip
def test_wrong_names_and_values_are_refused(tmp_path, name, value, told):
    profiles = ThresholdProfiles(tmp_path)
    with pytest.raises(InputError, match=told):
        profiles.use(name)
        profiles.put({ROUGE: value})
    assert not profiles.thresholds()


def test_a_value_needs_a_profile_and_a_damaged_file_is_named(tmp_path):
    with pytest.raises(InputError, match="no profile in force"):
        ThresholdProfiles(tmp_path).put({ROUGE: 0.5})
    (tmp_path / "thresholds.json").write_text('{"profiles": 3}', encoding="utf-8")
    with pytest.raises(InputError, match="remove the file to begin with none"):
        ThresholdProfiles(tmp_path).thresholds()


def test_a_calibration_replaces_and_forgets_that_of_its_key_alone(tmp_path):
    store = Calibrations(tmp_path)
    one = Calibration("e", 1, "m", {"embedder": "a"}, 0.5, 40, 20, "labels", 0.8, 0.7, 0.9)
    others = [replace(one, **change) for change in (
        {"evaluator": "f"}, {"version": 2}, {"metric": "n"}, {"models": {"embedder": "b"}}, {"settings": {"k": 1}},
    )]  # fmt: skip
    for each in (one, *others):
        store.keep(each)
    later = replace(one, threshold=0.6)
    store.keep(later)
    assert sorted(store.all(), key=repr) == sorted([later, *others], key=repr)
    store.forget(one)
    assert store.all() == others


def test_the_report_says_which_thresholds_were_set_after_the_run(run):
    profiles = ThresholdProfiles(run.workspace.path)
    profiles.use("Release")
    profiles.put({ROUGE: 0.5})
    groups = {group.title: group.facts for group in build(Workspace(run.workspace.path).run(run.id)).facts}
    facts = {fact.name: fact.value for fact in groups["Evaluators"]}
    assert facts["Thresholds set after the run"] == "ROUGE ROUGE-L 0.5"
