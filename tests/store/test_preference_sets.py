"""Preferences on disk: the later one counts, both orders of a judge stay, and a person can take one back."""

import pytest

from metrics.core.schema import BOTH_BAD, PREFERENCES, preference
from metrics.store import Run, Workspace
from metrics.store.rating_sets import Preferences
from tests.preferences import compared_run, judgement, vote


@pytest.fixture(scope="module")
def sealed_run(tmp_path_factory):
    return compared_run(Workspace(tmp_path_factory.mktemp("compared")), 4)


def kept(run: Run) -> list[tuple[object, ...]]:
    names = ("case_id", "model_a", "model_b", "rater", "outcome", "shown_first")
    return [tuple(row[name] for name in names) for row in Preferences(run).table().to_pylist()]


def test_models_are_kept_in_the_order_of_their_names_and_the_later_preference_counts(run):
    vote(run, 0, "birch", "amber", 1.0, shown_first="birch")
    vote(run, 0, "amber", "cedar", 0.5, note=BOTH_BAD)
    assert kept(run) == [("c0", "amber", "birch", "ann", 0.0, "birch"), ("c0", "amber", "cedar", "ann", 0.5, None)]
    vote(run, 0, "amber", "birch", 1.0, shown_first="amber")
    assert kept(run)[1:] == [("c0", "amber", "birch", "ann", 1.0, "amber")]
    vote(run, 0, "amber", "birch", 0.0, rater="bo")
    assert (len(kept(run)), Preferences(run).table().schema.remove_metadata()) == (3, PREFERENCES)


def test_a_preference_can_be_taken_back_and_a_set_removed(run):
    row = preference("c1", "amber", "birch", 1.0, rater="ann", shown_first="birch")
    Preferences(run).give(row)
    vote(run, 2, "amber", "birch", 0.5)
    Preferences(run).withdraw({**row, "outcome": 0.5})
    assert [one[0] for one in kept(run)] == ["c2"]
    (own,) = Preferences(run).sets()
    assert (own.name, own.kind, own.rows, own.criteria) == ("ann", "page", 1, ("quality",))
    Preferences(run).remove(own.id)
    assert (kept(run), Preferences(run).version) == ([], "")


def test_a_judge_keeps_both_orders_and_one_set(run):
    judgement(run, 0, "amber", "birch", 1.0, 0.0)
    judgement(run, 1, "amber", "birch", 1.0, 1.0)
    judgement(run, 0, "amber", "birch", 0.5, 0.5)
    assert sorted(kept(run)) == [
        (case, "amber", "birch", "j", outcome, first)
        for case, outcome in (("c0", 0.5), ("c1", 1.0))
        for first in ("amber", "birch")
    ]
    assert [(one.kind, one.name, one.rows) for one in Preferences(run).sets()] == [("judge", "j", 4)]
