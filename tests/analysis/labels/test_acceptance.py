"""Answers accepted without a person: worked numbers, what is refused, and the guarantee by simulation."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from metrics.analysis.labels.labelled_scores import LabelledScores
from metrics.analysis.labels.pass_rates import acceptance, independent
from metrics.presentation.guarantee_words import accept_line
from tests.analysis.labels.accepted import simulated
from tests.analysis.labels.queued_labels import labelled
from tests.random_seeds import seeds

SCORES = np.linspace(0.0, 1.0, 400)  # of all outputs


def of(n: int, wrong: int = 0, level: float = 0.8) -> LabelledScores:
    return labelled(np.full(n, level), np.arange(n) >= wrong)


def test_fifty_nine_labels_without_an_error_are_enough() -> None:
    found = acceptance(of(59), SCORES, "sonnet")
    assert (found.threshold, found.answered, found.wrong, found.n) == (0.8, 59, 0, 59)
    assert found.accepted == pytest.approx(0.2)
    assert accept_line(found) == (
        "sonnet: accept an answer without a person when the score is ≥ 0.8: then at most 5 % of the accepted answers "
        "are wrong by people's labels, with 95 % confidence; 20 % of all answers are accepted."
    )


@pytest.mark.parametrize(("both", "grouped", "line"), [
    (of(40), False, "too few: at least 19 more random labels needed."),
    (of(0), False, "too few: at least 59 more random labels needed."),
    (of(200, 4), False,
     "200 labels show no score from which on at most 5 % of the answers are wrong; some 200 more may."),
    (of(200, 100), False, "200 labels show no score from which on at most 5 % of the answers are wrong."),
    (replace(of(99), random=np.zeros(99, bool)), False,
     "nothing can be guaranteed: no label is of an output drawn at random."),
    (of(99), True, "nothing can be guaranteed: the cases are in groups, so their labels are not independent."),
], ids=["too few", "none", "nearly", "never", "picked", "groups"])  # fmt: skip
def test_where_nothing_is_guaranteed_it_says_why(both: LabelledScores, grouped: bool, line: str) -> None:
    found = acceptance(both, SCORES, None, grouped)
    assert (found.threshold, accept_line(found)) == (None, f"All models together, mixed as the labels are: {line}")


def test_where_lower_is_better_scores_up_to_the_threshold_are_accepted() -> None:
    found = acceptance(replace(of(59, level=0.3), sign=-1, column=SimpleNamespace(direction="lower")), SCORES)
    assert (found.threshold, found.accepted) == (0.3, pytest.approx(0.3))
    assert "when the score is ≤ 0.3:" in accept_line(found)


def test_picked_labels_do_not_count() -> None:
    both = of(100, wrong=41)
    assert acceptance(replace(both, random=both.passed), SCORES).n == 59


def test_of_several_models_one_label_a_case_counts() -> None:
    both = of(120)
    both = replace(both, clusters=np.arange(120) % 60, model=np.arange(120) // 60)
    rows = independent(both)
    assert sorted(both.clusters[rows].tolist()) == list(range(60))
    assert 10 < np.count_nonzero(both.model[rows]) < 50
    assert acceptance(both, SCORES).n == 60


@pytest.mark.parametrize(("models", "levels"), [(1, 0), (1, 4), (3, 0)], ids=["scores", "levels", "three models"])
def test_the_guarantee_holds(models: int, levels: int) -> None:
    draws = len(seeds(100, 300))
    assert simulated(models, levels, draws) <= 0.05 + 3 * (0.05 * 0.95 / draws) ** 0.5
