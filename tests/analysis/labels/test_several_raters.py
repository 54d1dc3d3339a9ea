"""Raters who differ or are unsure: no output is left out, so that the numbers speak of all, easy and hard."""

import random

import numpy as np
import pytest

from metrics.analysis.labels.corrected_means import corrected_means
from metrics.analysis.labels.human_labels import human_labels
from metrics.analysis.labels.judge_agreement import agreement_slices, agreements
from metrics.analysis.labels.labelled_scores import labelled_scores
from metrics.analysis.labels.pass_rates import acceptances
from metrics.presentation.agreement_words import agreement_frame, basis
from metrics.presentation.questions.can_the_judge_be_trusted import corrected_table
from metrics.store import Run, Workspace
from tests.analysis.labels.several_raters import simulate
from tests.labels import MODELS, add_labels, labelled_run, passes
from tests.random_seeds import least_covered, seeds

ROUGE = ("rouge", "rouge1")
NONE = np.nan


def test_numbers_hold_for_all_outputs_easy_and_hard() -> None:
    """Of outputs on which two raters agree the mean was .795 of .742, the accuracy .91 of .79."""
    draws = len(seeds(60, 400))
    found = simulate(draws, seed=7)
    least = least_covered(draws)
    assert sum(one.held for one in found) >= least
    assert sum(one.accuracy_held for one in found) >= least
    assert sum(one.broken for one in found) <= 0.05 * draws + 3 * (draws * 0.05 * 0.95) ** 0.5
    assert any(one.promised for one in found)


@pytest.fixture
def run(workspace) -> Run:
    return labelled_run(Workspace(), 30)


def rows() -> list[tuple[str, str, str, float]]:
    """What ann knows, and bo, who passes all, of 30 cases and two models."""
    return [
        (f"c{place}", model, rater, passes(place, model) if rater == "ann" else 1.0)
        for place in range(30) for model in MODELS for rater in ("ann", "bo")
    ]  # fmt: skip


def test_which_label_counts_does_not_depend_on_the_order_of_the_file(run: Run) -> None:
    add_labels(run, rows(), "good")
    shuffled = rows()
    random.Random(1).shuffle(shuffled)
    add_labels(run, shuffled, "again")
    first, again = human_labels(run, "good").draw_labels(), human_labels(run, "again").draw_labels()
    np.testing.assert_array_equal(first, again)
    split = human_labels(run, "good").split
    assert 0.2 < first[split].mean() < 0.8, "each rater's label counts about as often"


def test_an_unsure_label_is_neither_left_unsaid_nor_promised_as_right(run: Run) -> None:
    labels = [(case, model, rater, None if int(case[1:]) < 6 and rater == "ann" else value)
              for case, model, rater, value in rows() if rater == "ann" or int(case[1:]) % 2]  # fmt: skip
    add_labels(run, labels, "good")
    people = human_labels(run, "good")
    alone = [place for place in range(60) if place % 30 in (0, 2, 4)]  # ann alone, who is unsure
    assert np.flatnonzero(people.unsure).tolist() == alone
    assert np.isnan(people.means[alone]).all()
    assert people.means_with(0.0)[[0, 1]].tolist() == [0.0, 0.5]
    assert people.means_with(1.0)[[0, 1]].tolist() == [1.0, 1.0]
    assert people.random.all()
    (found,) = agreements(run, "good", only=ROUGE)
    assert (found.n, found.unsure, found.sample) == (54, 6, "outputs")
    assert basis(found).startswith(
        "54 outputs labelled at random speak for those that raters are sure of, 90 % of all. On "
    )
    assert agreement_slices(run, "good", ROUGE)["model", "long"].unsure == 3
    frame = agreement_frame([("good", found)])
    assert set(zip(frame["split"], frame["unsure"], strict=True)) == {(found.split, 6)}
    strict = labelled_scores(run, *ROUGE, "good", unsure=True)
    assert len(strict.score) == 60
    assert not strict.passed[np.isin(strict.place, alone)].any()
    assert [one.n for one in acceptances(run, "good", ROUGE)] == [30, 30, 30]
    corrected = corrected_means(run, "good", ROUGE)
    for one in corrected:
        assert one.unsure[0] < one.corrected.value < one.unsure[1]
        assert one.n == 27
    assert "If unsure" in [head.title for head in corrected_table([("", "good", one) for one in corrected]).heads]


@pytest.mark.parametrize(("people", "others"), [(3, False), (6, True)])
def test_intervals_allow_for_other_raters_where_there_are_five(run: Run, people: int, others: bool) -> None:
    """Every third rater passes all; each output has one label."""
    given = [
        (f"c{place}", model, f"r{place % people}", 1.0 if place % people % 3 == 0 else passes(place, model))
        for place in range(30) for model in MODELS
    ]  # fmt: skip
    add_labels(run, given)
    add_labels(run, [(case, model, "ann", value) for case, model, _, value in given], "alone")
    (found,), (alone,) = (agreements(run, name, only=ROUGE, threshold=0.6) for name in ("good", "alone"))
    assert (found.raters, found.others, alone.raters) == (people, others, 1)
    assert found.accuracy.value == alone.accuracy.value
    wider = (found.accuracy.high - found.accuracy.low) / (alone.accuracy.high - alone.accuracy.low)
    said = f"allow for other raters like these {people}" if others else f"hold for these {people} raters alone"
    assert said in basis(found)
    assert "raters" not in basis(alone)
    means, by_one = corrected_means(run, "good", ROUGE), corrected_means(run, "alone", ROUGE)
    for name in ("labels", "corrected", "gap"):
        pairs = [(getattr(one, name), getattr(other, name)) for one, other in zip(means, by_one, strict=True)]
        assert all(one.value == other.value for one, other in pairs)
        assert any((one.low < other.low) is others for one, other in pairs)
        assert all(one.low >= 0 and one.high <= 1 for one, _ in pairs if name != "gap")
    assert [one.others for one in means] == [others] * 2
    assert wider > 1.2 if others else wider == 1


def test_without_unsure_labels_nothing_is_said_of_them(run: Run) -> None:
    add_labels(run, rows(), "good")
    (found,) = agreements(run, "good", only=ROUGE)
    assert (found.unsure, {one.unsure for one in corrected_means(run, "good", ROUGE)}) == (0, {None})
    assert "sure" not in basis(found)
