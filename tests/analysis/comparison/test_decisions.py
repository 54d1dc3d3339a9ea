"""Whether one model may replace another within a margin: verdicts, sentences, and what they rest on."""

import math
from pathlib import Path

import numpy as np
import pytest

from metrics.analysis import Comparison, Decision, compare, comparison_of_columns, decisions
from metrics.analysis.comparison.decisions import answer
from metrics.stats.sequential import anytime_interval, anytime_p
from tests.analysis.comparison import test_paired_bootstrap as pets
from tests.analysis.scored import scored_run

SIZE = 400
PASSES, ROUGE, LOOPS = "text_matching/passes", "rouge/rougeL", "step_alignment/edits"


def compared(wins: int, losses: int, size: int = SIZE, lower: float = 0.0) -> Comparison:
    """Two models of which b is right where a is not on `wins` cases, and the other way on `losses`."""
    a, b = np.ones((2, size))
    a[:wins], b[wins : wins + losses] = 0.0, 0.0
    rng = np.random.default_rng(0)
    texts = rng.random(size) / 2
    change = rng.normal(lower, 0.05, size)
    run = scored_run({
        "text_matching.passes": {"old": a.tolist(), "new": b.tolist()},
        "rouge.rougeL": {"old": texts.tolist(), "new": (texts + change).clip(0, 1).tolist()},
        "step_alignment.edits": {"old": [1.0] * size, "new": [1.0] * size},
    })  # fmt: skip
    return compare(run, "old", "new")


def decided(found: Comparison, margin: float, key: str = PASSES) -> Decision:
    [one] = decisions(found, {key: margin})
    return one


@pytest.mark.parametrize(("wins", "losses", "margin", "verdict", "told"), [
    pytest.param(
        40, 10, 0.01, "better",
        "B may replace A: {} is better, 7.5 points higher (95 %: 4.13 to 11.1 points higher).", id="better",
    ),
    pytest.param(
        10, 12, 0.03, "equivalent",
        "B may replace A: {} is equivalent, 2.98 points lower to 1.94 points higher (95 %), within the 3 points "
        "that you allow.", id="equivalent",
    ),
    pytest.param(
        14, 8, 0.02, "not_worse",
        "B may replace A: {} is at worst 0.89 points lower (95 %), within the 2 points that you allow.", id="not worse",
    ),
    pytest.param(
        10, 40, 0.01, "worse",
        "B may not replace A: {} is worse, 7.5 points lower (95 %: 4.13 to 11.1 points lower), more than the 1 "
        "point that you allow.", id="worse",
    ),
    pytest.param(
        10, 40, 0.08, "worse",
        "B may not replace A: {} is worse, 7.5 points lower (95 %: 4.13 to 11.1 points lower), perhaps more than "
        "the 8 points that you allow.", id="worse, perhaps within the margin",
    ),
    pytest.param(
        10, 12, 0.01, "open",
        "Not enough cases to let B replace A: {} may be 2.98 points lower (95 %), more than the 1 point that you "
        "allow; about 17,000 more cases needed.", id="open",
    ),
])  # fmt: skip
def test_verdict_and_sentence(wins: int, losses: int, margin: float, verdict: str, told: str, workspace: Path) -> None:
    one = decided(compared(wins, losses), margin)
    assert (one.verdict, one.sentence()) == (verdict, told.format("Passes of Text matching"))
    assert one.allows == (told.startswith("B may replace A"))


def test_a_metric_that_is_better_when_lower(workspace: Path) -> None:
    rng = np.random.default_rng(1)
    old = rng.integers(2, 6, 300).astype(float)
    new = old + rng.choice([-1.0, 0.0, 1.0], 300, p=[0.1, 0.8, 0.1])
    run = scored_run({"step_alignment.edits": {"old": old.tolist(), "new": new.tolist()}})
    found = compare(run, "old", "new")
    [row] = found.rows
    assert row.high is not None
    assert row.low is not None
    one = decided(found, 0.1, LOOPS)
    assert (one.verdict, one.worst, one.best) == ("equivalent", -row.high, -row.low)
    assert "higher to" in one.sentence()
    assert "point" not in one.sentence()


def test_equal_on_every_case_is_no_proof(workspace: Path) -> None:
    """Up to 1 − .025^(1/n) of cases may be lost, each by the metric's range, or where that is open by a's mean."""
    few, many = compared(0, 0, 20), compared(0, 0, 400)
    assert decided(few, 0.01).verdict == decided(few, 0.01, LOOPS).verdict == "open"
    assert decided(few, 0.01, LOOPS).worst == pytest.approx(-(1 - 0.025 ** (1 / 20)))
    assert (decided(many, 0.02, LOOPS).verdict, decided(few, 0.01, LOOPS).more) == ("equivalent", 368 - 20)


def test_not_worse_in_all_is_not_corrected_and_better_in_any_is(workspace: Path) -> None:
    """After a correction what was better is only not worse; the interval that decides so is the same."""
    found = compared(15, 5)
    plain, holm = (
        decisions(comparison_of_columns(found, correction=correction), {PASSES: 0.01})[0]
        for correction in ("none", "holm")
    )
    assert (plain.verdict, holm.verdict, plain.worst) == ("better", "not_worse", holm.worst)
    assert (holm.row.significance, plain.row.significance) == ("leaning", "better")


def test_of_metrics_of_the_whole_data_set(workspace: Path) -> None:
    found = compare(pets.evaluated(pets.outputs()), "B", "A")
    row = pets.metric(found.resampled, "AP")
    assert row.error == pytest.approx((row.high - row.low) / 3.92, rel=0.15) if row.low and row.high else False
    assert row.clusters == pets.IMAGES
    wide, tight = (decided(found, margin, row.column.key) for margin in (0.5, 0.01))
    assert (wide.verdict, tight.verdict) == ("equivalent", "worse")


def test_without_a_pair_or_a_better_end_there_is_no_answer(workspace: Path) -> None:
    run = scored_run({"text_matching.passes": {"old": [1.0, None], "new": [None, 1.0]}})
    [one] = decisions(compare(run, "old", "new"), {PASSES: 0.1, "text_matching/gone": 0.1})
    assert (one.verdict, one.allows) == ("none", False)
    assert one.sentence() == "No answer: no case has a value of Passes of Text matching of both models."
    assert answer([one]) == "No answer whether B may replace A: no case has values of both in 1 of 1 metric"
    run = scored_run({"text_matching.passes": {"old": [1.0], "new": [1.0]}})
    [one] = decisions(compare(run, "old", "new"), {PASSES: 0.1})
    assert (one.verdict, one.more) == ("open", 36 - 1), "0 of 36 leave 9.7 %"


def test_the_answer_over_all_metrics(workspace: Path) -> None:
    found = compared(14, 8)
    every = decisions(found, {PASSES: 0.02, ROUGE: 0.02})
    assert answer(every) == "B may replace A: not worse than you allow in all 2 metrics"
    assert answer(every[:1], "old", "new") == "new may replace old: not worse than you allow in this metric"
    strict = decisions(found, {PASSES: 0.001, ROUGE: 0.02})
    assert answer(strict).startswith("Not enough cases to let B replace A in 1 of 2 metrics: about ")
    worse = decisions(compared(10, 40), {PASSES: 0.01, ROUGE: 0.0001})
    assert (answer(worse), answer(())) == ("B may not replace A: worse in 1 of 2 metrics", "")


def test_at_every_look_intervals_are_wider_and_p_larger(workspace: Path) -> None:
    found = compared(16, 5)
    always = comparison_of_columns(found, anytime=True)
    for once, each in zip(found.rows, always.rows, strict=True):
        assert once.difference is not None
        if once.low is None or once.high is None:  # equal on every case, and no range says how far others may be
            assert (once.ties, once.column.high, each.low) == (SIZE, math.inf, None)
            continue
        low, high = anytime_interval(once.difference, once.low, once.high, SIZE)
        assert each.low == pytest.approx(min(low, once.difference - once.below.reach(anytime=True)))
        assert each.high == pytest.approx(max(high, once.difference + once.above.reach(anytime=True)))
        against = once.below if once.difference > 0 else once.above
        unseen = against.anytime_p(abs(once.difference))
        assert each.p == (None if once.p is None else max(anytime_p(once.p, SIZE), unseen))
    assert (decided(found, 0.02).verdict, decided(always, 0.02).verdict) == ("better", "not_worse")
    tight = compared(10, 12)
    assert (
        (decided(comparison_of_columns(tight, anytime=True), 0.02).more or 0)
        > 1.5 * (decided(tight, 0.02).more or 0)
        > 0
    )
    few = decided(comparison_of_columns(compared(0, 2, 20), anytime=True), 0.5)
    assert (few.verdict, few.worst) == ("open", -1.0)
    assert (few.more or 0) >= 10, "nothing is said of fewer than 30 cases"
