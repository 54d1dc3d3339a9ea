"""Which models are dominated, by the tests of the leaderboard."""

from pathlib import Path

import pytest

from metrics.analysis import leaderboard, objectives, pareto_front
from metrics.core.errors import InputError
from metrics.presentation.ranking_words import front_sentence
from metrics.store import Run, Workspace
from tests.analysis.scored import scored_run

PASSES, EDITS = "text_matching/passes", "step_alignment/edits"
N = 60


def ones(right: int, shift: int = 0) -> list[float]:
    """`right` of N cases right, from place `shift` on."""
    return [float((place - shift) % N < right) for place in range(N)]


@pytest.fixture(scope="module")
def run(shelf: Workspace) -> Run:
    """By passes ↑ good ≫ level = cheap ≈ near; by edits ↓ cheap ≪ good = level = near; seconds as edits."""
    edits = {"good": [2.0] * N, "level": [2.0] * N, "near": [2.0] * N, "cheap": [1.0 + n % 2 / 2 for n in range(N)]}
    passes = {"good": ones(54), "level": ones(30), "near": ones(29, 2), "cheap": ones(30, 20)}
    taken = {model: {"duration_s": values} for model, values in edits.items()}
    return scored_run({"text_matching.passes": passes, "step_alignment.edits": edits}, None, taken, workspace=shelf)


def test_dominated_is_significantly_worse_in_one_and_equal_or_worse_in_the_rest(run: Run) -> None:
    found = pareto_front(run, [PASSES, EDITS])
    placed = {one.model: one for one in found.placings}
    assert [one.model for one in found.placings[:2]] == ["good", "cheap"]
    assert placed["good"].on_front
    assert placed["cheap"].on_front, "the best by edits, which is lower"
    assert (placed["level"].dominated_by, placed["near"].dominated_by) == (("good", "cheap"), ("good",))
    assert placed["near"].perhaps_by == ("cheap",), "its passes are lower, but not significantly"
    assert front_sentence(found) == (
        "By Text matching: Passes and Step alignment: Edits, good and cheap are on the Pareto front; level is "
        "dominated by good and cheap; near is dominated by good."
    )


def test_what_the_answers_took_counts_like_a_metric(run: Run) -> None:
    by_time, by_edits = pareto_front(run, [PASSES, "duration_s"]), pareto_front(run, [PASSES, EDITS])
    assert by_time.placings == by_edits.placings
    by_median, by_mean = objectives(run)["duration_s"].ranks, leaderboard(run).ranks[EDITS]
    assert by_median.ranges == by_mean.ranges


def test_better_by_value_alone_is_on_the_front(workspace: Path) -> None:
    given = {
        "text_matching.passes": {"good": ones(54), "other": ones(20)},
        "faithfulness": {"good": [0.5] * N, "other": [0.553 - place % 2 / 10 for place in range(N)]},
    }
    found = pareto_front(scored_run(given), [PASSES, "faithfulness/faithfulness"])
    assert all(one.on_front for one in found.placings)
    assert front_sentence(found) == (
        "No model is dominated by another in Text matching: Passes and Faithfulness: all are on the Pareto front."
    )


def test_a_model_without_a_number_has_no_place(workspace: Path) -> None:
    given = {"text_matching.passes": {"a": ones(54), "b": ones(20)}, "faithfulness": {"a": [0.5] * N, "b": [None] * N}}
    found = pareto_front(scored_run(given), [PASSES, "faithfulness/faithfulness"])
    assert (found.unplaced, len(found.placings)) == (("b",), 1)
    assert "none is dominated" in front_sentence(found)


def test_what_there_is_not_is_refused(run: Run) -> None:
    with pytest.raises(InputError, match=r"nothing/here.*one of"):
        pareto_front(run, [PASSES, "nothing/here"])
    with pytest.raises(InputError, match="at least one with a better end"):
        pareto_front(run, [])
