"""Whom agreement speaks of: outputs labelled at random stand for all, picked ones for none but themselves."""

from pathlib import Path

import numpy as np
import pytest

from metrics.analysis.labels.corrected_means import corrected_means
from metrics.analysis.labels.human_labels import draw_order, human_labels
from metrics.analysis.labels.judge_agreement import Agreement, agreement_slices, agreements
from metrics.analysis.labels.label_queue import keep_draw_sizes, queue
from metrics.analysis.labels.raters import rater_agreement
from metrics.core.schema import Sampling
from metrics.store import Run
from metrics.store.rating_sets import DrawSizes
from tests.analysis.labels import few_labels
from tests.analysis.labels.queued_labels import CUT, POPULATIONS, STATISTICS, Population, simulate, statistics
from tests.analysis.scored import scored_run
from tests.labels import add_labels
from tests.random_seeds import LONG, seeds

ROUGE = ("rouge", "rouge1")
NEAR = POPULATIONS[0]


def add(run: Run, places: list[tuple[str, str, Sampling]], passed: dict[tuple[str, str], bool], rater: str) -> None:
    for kind in dict.fromkeys(sampling for *_, sampling in places):
        own = [(case, model, rater, float(passed[case, model])) for case, model, how in places if how == kind]
        add_labels(run, own, sampling=kind, low=0.0, high=1.0)


def judged(size: int = 400, models: tuple[str, ...] = ("m",), seed: int = 4) -> tuple[Run, dict[tuple[str, str], bool]]:
    """A run of `size` cases, and what people would say of each output."""
    rng = np.random.default_rng(seed)
    drawn = {model: NEAR.draw(rng, size) for model in models}
    run = scored_run({".".join(ROUGE): {model: score.tolist() for model, (score, _) in drawn.items()}})
    people = {(f"c{i}", model): bool(passed[i]) for model, (_, passed) in drawn.items() for i in range(size)}
    return run, people


def of_all(run: Run, people: dict[tuple[str, str], bool]) -> dict[str, float]:
    rows = run.scores
    keys = list(zip(rows["case_id"], rows["model"], strict=True))
    return statistics(rows["value"].to_numpy(), np.array([people[key] for key in keys]))


def found(run: Run, **choice: str) -> Agreement:
    (one,) = agreements(run, "good", only=ROUGE, threshold=CUT, **choice)
    return one


def test_120_labels_of_the_queue_tell_what_people_say_of_all_400(workspace: Path) -> None:
    """With picked labels counted like the others a κ of .66 was shown as .48 (.31–.64)."""
    run, people = judged()
    assert keep_draw_sizes(run, "good", ROUGE, CUT)
    assert not keep_draw_sizes(run, "good", ("rouge", "rougeL")), "only one metric's scores give the chances"
    asked = [
        (one.case_id, one.model, one.sampling) for one in queue(run, "good", "ann", ROUGE, None, CUT, most=120).next
    ]
    add(run, asked, people, "ann")
    truth, one = of_all(run, people), found(run)
    assert (one.sample, one.n + one.picked) == ("outputs", 120)
    assert 60 <= one.n <= 120, "those drawn, and weighted ones that the drawing has passed"
    for name in STATISTICS:
        stat = getattr(one, name)
        assert stat.low < truth[name] < stat.high
    weighted = {(case_id, model) for case_id, model, sampling in asked if sampling == "weighted"}
    assert np.mean([people[key] for key in weighted]) == pytest.approx(0.5, abs=0.15), "near the threshold"
    (mean,) = corrected_means(run, "good", ROUGE)
    assert mean.n == 120, "all labels enter corrected means, by their chances"
    assert mean.corrected.low < np.mean(list(people.values())) < mean.corrected.high
    DrawSizes(run, "good").path.unlink()
    add(run, [("c0", "m", "seen")], people, "bo")  # read again
    assert corrected_means(run, "good", ROUGE)[0].n == one.n, "without the stored chances, random labels alone"


@pytest.mark.parametrize("population", POPULATIONS[:: 1 if LONG else 3], ids=lambda one: one.name)
def test_neither_bias_nor_false_certainty(population: Population) -> None:
    for outcome in simulate(population, len(seeds(30, 60))).values():
        assert abs(outcome.bias) < 0.01 + 3 * outcome.noise
        assert outcome.covered >= 0.89


def test_with_15_labels_intervals_hold() -> None:
    """Percentiles of resamples held .88 of true κs that were far from 1, and .77 of all of these."""
    for name, (ours, resamples) in few_labels.coverages(15, len(seeds(20, 30))).items():
        assert ours.mean() >= 0.92, name
        assert np.nanmean(resamples) < ours.mean()


def test_a_judge_that_knows_nothing_agrees_no_better_than_chance_at_the_threshold_that_ten_labels_suggest() -> None:
    own, shown, truth, covered = few_labels.suggested(10, len(seeds(100, 300)))
    assert own > 0.2
    assert abs(shown) < 0.06
    assert abs(truth) < 0.03
    assert covered > 0.9


def test_labels_whose_sampling_is_not_known_speak_for_themselves(workspace: Path) -> None:
    run, people = judged(40)
    add(run, [(f"c{i}", "m", "unknown") for i in range(20)], people, "file")
    one = found(run)
    assert (one.sample, one.n, one.picked) == ("labelled", 20, 0)
    (mean,) = corrected_means(run, "good", ROUGE)
    assert (mean.n, mean.needs, mean.corrected) == (0, 10, None)
    add(run, [(f"c{i}", "m", "picked") for i in range(20, 40)], people, "rest")
    whole = found(run)
    assert (whole.sample, whole.n) == ("outputs", 40), "all outputs are labelled: nothing was chosen"
    assert whole.kappa.value == pytest.approx(of_all(run, people)["kappa"])


def test_a_model_counts_by_its_outputs_not_by_its_labels(workspace: Path) -> None:
    run, people = judged(60, ("a", "b"))
    places: list[tuple[str, str, Sampling]] = [(f"c{i}", "a", "random") for i in range(50)]
    add(run, [*places, *((f"c{i}", "b", "random") for i in range(15))], people, "file")
    parts = [found(run, model=model).accuracy.value for model in ("a", "b")]
    assert found(run).accuracy.value == pytest.approx(np.mean(parts))
    slices = agreement_slices(run, "good", ROUGE, threshold=CUT)
    assert [slices["model", model].accuracy.value for model in ("a", "b")] == parts


def test_a_verdict_given_beside_the_judges_counts_for_its_output_alone(workspace: Path) -> None:
    run, people = judged(40)
    wrong = {key: not value for key, value in people.items()}
    add(run, [(f"c{i}", "m", "seen") for i in range(12)], wrong, "ann")
    assert found(run).sample == "labelled"
    first = queue(run, "good", "ann", None, most=40)
    assert (first.done, len(first.next)) == (0, 40), "asked for again, blind"
    order = np.argsort(draw_order(run))
    add(run, [(f"c{i}", "m", "drawn") for i in order[:20]], people, "bo")
    one, labels = found(run), human_labels(run, "good")
    assert (one.sample, one.n, one.picked) == ("outputs", 20, len(set(range(12)) - set(order[:20].tolist())))
    assert all(labels.means[i] == people[f"c{i}", "m"] for i in order[:20]), "the blind label is the one that counts"


def test_raters_are_compared_on_outputs_labelled_at_random(workspace: Path) -> None:
    run, people = judged(40)
    places: list[tuple[str, str, Sampling]] = [(f"c{i}", "m", "random" if i < 20 else "picked") for i in range(36)]
    add(run, places, people, "ann")
    add(run, places, {key: value == (int(key[0][1:]) < 20) for key, value in people.items()}, "bo")
    together, pair = rater_agreement(run, "good")
    assert (together.n, pair.n, pair.sample, pair.equal.value) == (20, 20, "outputs", 1.0)


def test_a_judge_of_yes_and_no_leaves_the_draws_as_they_are(workspace: Path) -> None:
    run = scored_run({".".join(ROUGE): {"m": [float(i % 3 > 0) for i in range(40)]}})
    asked = queue(run, "good", "ann", ROUGE, threshold=0.5, most=20).next
    order = draw_order(run)
    assert [order[int(one.case_id[1:])] for one in asked] == list(range(20))


def test_a_model_with_few_labels_has_an_accuracy_drawn_towards_that_of_the_others(workspace: Path) -> None:
    """Of five models four have 40 labels and one has 4, all of them judged rightly."""
    names = ("a", "b", "c", "d", "few")
    run, people = judged(60, names)
    values = run.scores.set_index(["case_id", "model"])["value"]
    agree = {key: (values[key] >= CUT) == passed for key, passed in people.items()}
    own = [f"c{i}" for i in range(60) if agree[f"c{i}", "few"]][:4]
    many = [(f"c{i}", model, "random") for model in names[:4] for i in range(40)]
    add(run, [*many, *((case_id, "few", "random") for case_id in own)], people, "ann")
    slices = agreement_slices(run, "good", ROUGE, threshold=CUT)
    few = slices["model", "few"]
    assert (few.n, few.accuracy.value, few.accuracy.needs) == (4, None, 6)
    others = [slices["model", name] for name in names[:4]]
    shares = [np.mean([agree[f"c{i}", name] for i in range(40)]) for name in names[:4]]
    assert [one.accuracy.value for one in others] == pytest.approx(shares)
    assert np.mean(shares) - 0.02 < few.pooled.value < 1.0, "between theirs and its own"
    assert few.pooled.low < few.pooled.value
    for one, share in zip(others, shares, strict=True):
        assert one.pooled.value == pytest.approx(share, abs=0.08)
