"""Models by a weighted mean of several metrics: worked numbers, what is refused, and what the interval covers."""

from pathlib import Path

import numpy as np
import pytest

from metrics.analysis import leaderboard, weighted_scores
from metrics.analysis.leaderboard.replicates import replicates
from metrics.core.errors import InputError
from metrics.presentation.ranking_words import robustness_lines, weighted_sentence
from metrics.stats.intervals import mean_intervals
from metrics.stats.paired_intervals import resample_interval
from tests.analysis.comparison import test_paired_bootstrap as pets
from tests.analysis.scored import scored_run

PASSES, FAITHFUL, EDITS, HALL = (
    "text_matching/passes", "faithfulness/faithfulness", "step_alignment/edits",
    "hallucination_claims/hallucination_claims",
)  # fmt: skip


def scores(n: int = 40) -> dict[str, dict[str, list[float | None]]]:
    rng = np.random.default_rng(3)
    return {
        "text_matching.passes": {m: (rng.random(n) < p).astype(float).tolist() for m, p in (("a", 0.9), ("b", 0.5))},
        "hallucination_claims": {m: rng.random(n).tolist() for m in ("a", "b")},
        "step_alignment.edits": {m: rng.integers(0, 12, n).astype(float).tolist() for m in ("a", "b")},
    }


def test_a_score_is_the_weighted_mean_of_scaled_values(workspace: Path) -> None:
    given = scores()
    found = weighted_scores(scored_run(given), {PASSES: 2, HALL: 1, EDITS: 1}, {EDITS: (10, 0)})
    for one in found.scores:
        passes, hall, edits = (np.array(values[one.model], float) for values in given.values())
        cases = 0.5 * passes + 0.25 * (1 - hall) + 0.25 * (1 - np.minimum(edits, 10) / 10)
        low, high, _ = mean_intervals(cases[:, None], low=0.0, high=1.0)
        assert (one.value, one.low, one.high, one.n) == (
            pytest.approx(cases.mean()), pytest.approx(low[0]), pytest.approx(high[0]), 40,
        )  # fmt: skip
        assert one.parts == pytest.approx((passes.mean(), 1 - hall.mean(), 1 - np.minimum(edits, 10).mean() / 10))
    assert [part.weight for part in found.parts] == [0.5, 0.25, 0.25]
    outside = sum(value > 10 for values in given["step_alignment.edits"].values() for value in values if value)
    assert [part.clipped for part in found.parts] == [0, 0, outside]
    assert sum(one.first for one in found.scores) == pytest.approx(1)
    assert f"{outside} values of Step alignment: Edits outside the scale count as its nearer end." in robustness_lines(
        found
    )


def test_one_metric_alone_is_the_leaderboards(workspace: Path) -> None:
    run = scored_run(scores())
    board, found = leaderboard(run), weighted_scores(run, {PASSES: 3})
    for one in found.scores:
        cell = board.cells[one.model, PASSES]
        assert (one.value, one.low, one.high, one.best_rank, one.worst_rank) == (
            cell.value, cell.low, cell.high, cell.rank, cell.last_rank,
        )  # fmt: skip
    assert found.turn is None


def test_cases_without_every_metric_are_left_out_and_counted(workspace: Path) -> None:
    given = scores(10)
    given["hallucination_claims"]["a"][:3] = [None] * 3
    found = weighted_scores(scored_run(given), {PASSES: 1, HALL: 1})
    assert {one.model: (one.n, one.lacking) for one in found.scores} == {"a": (7, 3), "b": (10, 0)}
    assert "Cases left out because they lack one of the metrics: a 3." in robustness_lines(found)


def test_groups_and_weights_of_the_suite_count(workspace: Path) -> None:
    given, groups = scores(12), [f"g{n // 3}" for n in range(12)]
    weights = [1.0 + n % 2 for n in range(12)]
    run = scored_run(given, design={"group": groups, "weight": weights})
    found = weighted_scores(run, {PASSES: 1, HALL: 1})
    one = next(one for one in found.scores if one.model == "b")
    passes, hall, _ = (np.array(values["b"], float) for values in given.values())
    cases = (passes + 1 - hall) / 2
    low, _, _ = mean_intervals(cases[:, None], np.array(weights), np.arange(12) // 3, 0, 0.0, 1.0)
    assert (one.value, one.low) == (pytest.approx(np.average(cases, weights=weights)), pytest.approx(low[0]))


def test_the_sentence_names_the_weights(workspace: Path) -> None:
    n = 40
    given = {
        "text_matching.passes": {"a": [1.0] * 36 + [0.0] * 4, "b": [1.0] * 12 + [0.0] * 28},
        "hallucination_claims": {"a": [0.6] * n, "b": [0.1] * n},
    }
    found = weighted_scores(scored_run(given), {PASSES: 7, HALL: 3})
    assert weighted_sentence(found).startswith(
        "With Text matching: Passes 0.7 and Hallucination (claims) 0.3, a leads: a 0.750 (0."
    )
    lines = list(robustness_lines(found))
    # 0.6·x = 0.5·(1 − x) at x = 0.4545
    assert lines[0].startswith("First in all possible weightings: a 5")
    assert lines[1] == (
        "b becomes first where the weight of Text matching: Passes goes from 0.7 to 0.45, the others in proportion."
    )


def test_numbers_of_a_data_set_are_carried_by_their_resamples(workspace: Path) -> None:
    run = pets.evaluated(pets.outputs(), "coco_summary", "average_precision")
    board, stored = leaderboard(run), replicates(run)
    first, second = (column.key for column in board.columns if column.metric in ("AP", "AP75"))
    found = weighted_scores(run, {first: 3, second: 1})
    assert found.resampled
    assert [one.model for one in found.scores] == ["B", "A"]
    for one in found.scores:
        values, samples = (
            0.75 * np.array(stored[one.model, first][at]) + 0.25 * np.array(stored[one.model, second][at])
            for at in (0, 2)
        )
        assert one.value == pytest.approx(values)
        assert (one.low, one.high) == pytest.approx(np.clip(resample_interval(float(values), samples), 0, 1))
    assert found.leaders == ("B",)
    other = next(column.key for column in board.columns if column.evaluator == "average_precision")
    with pytest.raises(InputError, match="a number of the whole data set"):
        weighted_scores(run, {first: 1, other: 1})


@pytest.mark.parametrize(("weights", "scales", "said"), [
    ({}, {}, "none above 0"),
    ({PASSES: 0}, {}, "none above 0"),
    ({PASSES: -1}, {}, "a finite number of 0 or more"),
    ({"passes": 1}, {}, "expected one of text_matching/passes"),
    ({EDITS: 1}, {}, "a range without end cannot be scaled"),
    ({EDITS: 1}, {EDITS: (0, 10)}, "the best below the worst"),
    ({PASSES: 1}, {PASSES: (1, 1)}, "two different numbers"),
])  # fmt: skip
def test_what_cannot_be_weighed_is_refused(workspace, weights, scales, said) -> None:
    with pytest.raises(InputError, match=said):
        weighted_scores(scored_run(scores(4)), weights, scales)
