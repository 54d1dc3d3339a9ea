"""Models of a run ranked by the matches of its cases."""

from pathlib import Path

import numpy as np
import pytest

from metrics.analysis import head_to_head
from metrics.analysis.preferences.preferred import more_matches
from metrics.presentation.ranking_words import ADDED, matches_sentence, ranking_frame
from metrics.stats.bradley_terry import bradley_terry
from tests.analysis.scored import scored_run

OLD, NEW, THIRD = [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.5], [1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.5 + 1e-15], [0.4] * 8


def test_each_case_is_a_match_of_every_two_models(workspace: Path) -> None:
    """Rounding makes no winner, a case without a value no match; strengths are those of the arithmetic."""
    run = scored_run({"rouge.rougeL": {"old": OLD, "new": NEW, "third": [*THIRD[:-1], None]}})
    found = head_to_head(run, "rouge", "rougeL")
    assert (found.outcomes["new", "old"], found.outcomes["old", "new"]) == ((2, 5, 1), (1, 5, 2))
    assert (found.outcomes["old", "third"], found.cases, found.clusters, found.added) == ((4, 0, 3), 8, 8, False)
    assert [one.model for one in found.standings] == ["new", "old", "third"]
    assert (found.standings[0].wins, found.standings[0].ties, found.standings[0].losses) == (7, 5, 3)
    values = np.array([OLD, NEW, [*THIRD[:-1], np.nan]])
    first, second = np.array([[0, 1], [0, 2], [1, 2]]).T
    apart = (values[first] - values[second]).ravel()
    outcome = np.where(np.abs(apart) < 1e-9, 0.5, apart > 0)[~np.isnan(apart)]
    ones, others = (np.repeat(ends, 8)[~np.isnan(apart)] for ends in (first, second))
    expected = bradley_terry(ones, others, outcome, 3, clusters=np.tile(np.arange(8), 3)[~np.isnan(apart)])
    by_name = {one.model: (one.score, one.low, one.high) for one in found.standings}
    for place, name in enumerate(("old", "new", "third")):
        assert by_name[name] == pytest.approx((expected.score[place], expected.low[place], expected.high[place]))


def test_a_small_difference_can_be_a_tie_and_lower_can_be_better(workspace: Path) -> None:
    run = scored_run({"step_alignment.edits": {"old": [3.0, 4.0, 5.0, 2.0], "new": [2.0, 4.5, 3.0, 3.0]}})
    fewer, lenient = (head_to_head(run, "step_alignment", "edits", tie=tie) for tie in (0.0, 1.0))
    assert (fewer.outcomes["new", "old"], lenient.outcomes["new", "old"]) == ((2, 0, 2), (1, 3, 0))
    assert (fewer.added, lenient.added) == (False, True), "old never wins"
    assert lenient.standings[0].model == "new"


def test_models_that_never_met_have_neither_scores_nor_ranks(workspace: Path) -> None:
    """Two pairs on cases of their own: an even match with an average model would have ranked all four."""
    nothing = [None] * 4
    values = {
        "a": [*OLD[:4], *nothing],
        "b": [*NEW[:4], *nothing],
        "c": [*nothing, *OLD[4:]],
        "d": [*nothing, *NEW[4:]],
    }
    found = head_to_head(scored_run({"rouge.rougeL": values}), "rouge", "rougeL")
    assert (found.groups, found.is_comparable, found.apart) == ((("a", "b"), ("c", "d")), False, ())
    assert {(one.score, one.low, one.best_rank, one.worst_rank) for one in found.standings} == {(None,) * 4}
    assert (found.standings[1].wins, found.outcomes["b", "a"]) == (2, (2, 1, 1))
    assert more_matches(found) is None
    said = "a and b never met c and d, nor a model that links them, so their strengths are not comparable."
    assert said in matches_sentence(found, "ROUGE-L")
    table = ranking_frame([("quality", "people", found)])
    assert (table["best_rank"].isna().all(), said in table["note"][0]) == (True, True)
    values["e"] = [None, 0.0, None, None, None, 1.0, None, None]
    linked = head_to_head(scored_run({"rouge.rougeL": values}), "rouge", "rougeL")
    assert (linked.is_comparable, linked.added) == (True, True)
    assert matches_sentence(linked, "ROUGE-L").endswith(ADDED)


def test_nothing_to_rank(workspace: Path) -> None:
    alone = scored_run({"rouge.rougeL": {"old": OLD, "new": [None] * 8}})
    assert head_to_head(alone, "rouge", "rougeL") is None
    assert head_to_head(scored_run({"rouge.rougeL": {"old": [1.0], "new": [0.0]}}), "rouge", "rougeL") is None
    assert head_to_head(scored_run({"no_answer": {"old": OLD, "new": NEW}}), "no_answer", "no_answer") is None
