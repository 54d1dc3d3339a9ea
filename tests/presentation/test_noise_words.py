"""Where the noise comes from, in words."""

import pytest

from metrics.analysis import ModelNoise, Noise
from metrics.analysis.leaderboard.noise import NoiseShare
from metrics.presentation.noise_words import (
    GROUPED,
    LEARN_DRAWS,
    LEARN_REPEATS,
    cost_words,
    lessons,
    noise_sentence,
    plan_words,
)
from metrics.stats.variance_components import Components, Plan

HALF = NoiseShare(0.5, 0.4, 0.6)


def of(case: float, repeat: float | None, draw: float | None, several: int = 20) -> ModelNoise:
    shares = {"cases": HALF} | ({} if repeat is None else {"repeats": HALF}) | ({} if draw is None else {"draws": HALF})
    counts = {"repeats": 0 if repeat is None else several, "draws": 0 if draw is None else several}
    found = Components(case, repeat, draw, 30)
    return ModelNoise("m", found, 30.0, 30, counts, shares, 0.01)


@pytest.mark.parametrize(("one", "sentence"), [
    (of(0.71, 0.29, None), "In F1, 71 % of the noise is between cases, 29 % between repeats: more cases help most."),
    (
        of(0.2, None, 0.8),
        "In F1, 20 % of the noise is between cases, 80 % between replies of the judge: twice as many cases narrow "
        "the interval by 29 %, twice as many replies of the judge by 23 %.",
    ),
    (
        of(0.2, 0.7, 0.1),
        "In F1, 20 % of the noise is between cases, 70 % between repeats, 10 % between replies of the judge: "
        "twice as many cases narrow the interval by 29 %, twice as many answers of each case by 19 %.",
    ),
    (of(1.0, None, None), ""),
    (of(0.0, 0.0, None), ""),
    (of(0.71, 0.29, None, several=4), ""),
], ids=["cases", "judge", "repeats", "nothing repeated", "no noise", "too few"])  # fmt: skip
def test_the_sentence_says_what_helps(one, sentence):
    assert noise_sentence(Noise((one,), True, False), "F1") == sentence


def test_what_is_not_known_can_be_learned():
    assert lessons(Noise((of(1.0, None, None),), True, True)) == [LEARN_REPEATS, LEARN_DRAWS, GROUPED]
    assert lessons(Noise((of(1.0, None, None),), False, False)) == [LEARN_REPEATS]
    (few,) = lessons(Noise((of(0.5, 0.5, None, several=4),), False, False))
    assert few == "Too few cases are repeated to tell shares: 16 more cases with repeats."


def test_a_plan_names_only_what_is_known():
    plan = Plan(400, 2, 1, 12.4)
    assert plan_words(plan, of(1.0, 1.0, None)) == "400 cases × 2 repeats"
    assert plan_words(plan, of(1.0, 1.0, 1.0)) == "400 cases × 2 repeats × 1 draw"
    assert cost_words(plan, of(1.0, 1.0, None)) == "$12.40"
