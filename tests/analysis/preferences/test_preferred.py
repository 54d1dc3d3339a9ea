"""Rankings by preferences, position bias, agreement of judge and people, and how many more matches it takes."""

from itertools import combinations
from shutil import rmtree

import numpy as np
import pytest

from metrics.analysis.preferences.matches import decided, preference_criteria
from metrics.analysis.preferences.pairs import pair_cases, pair_queue
from metrics.analysis.preferences.preferred import first_share, judge_and_people, more_matches, position_bias, preferred
from metrics.analysis.preferences.style import style_control
from metrics.core.schema import preference
from metrics.core.suite import Outputs, Suite
from metrics.presentation.ranking_words import agreed_sentence, bias_sentence, left_sentence, preference_lines
from metrics.stats.bradley_terry import bradley_terry
from metrics.stats.intervals import wilson
from metrics.store import Run, Workspace
from metrics.store.rating_sets import Preferences
from tests.engine.engine_scenes import finished
from tests.preferences import MODELS, compared_run, judgement, vote

PAIRS = list(combinations(MODELS, 2))


@pytest.fixture(scope="module")
def compared(shelf: Workspace) -> Run:
    return compared_run(shelf, 30)


@pytest.fixture
def run(compared: Run) -> Run:
    rmtree(Preferences(compared).folder, ignore_errors=True)
    return compared


@pytest.mark.parametrize(
    ("votes", "outcome"),
    [
        ([], None), ([1.0], 1.0), ([1.0, 0.0], 0.5), ([1.0, 0.5], 1.0), ([0.5, 0.0], 0.0), ([1.0, 0.5, 0.5], 0.5),
        ([1.0, 0.5, 0.0], 0.5), ([1.0, 1.0, 0.0], 1.0), ([1.0, 1.0, 0.0, 0.0, 0.5], 0.5),
    ],
)  # fmt: skip
def test_most_votes_decide_else_the_side_of_their_mean(votes: list[float], outcome: float | None) -> None:
    assert decided(votes) == outcome


def test_each_compared_case_is_one_match_of_bradley_and_terry(run: Run) -> None:
    """Three raters count as one match; strengths are those of the matches, cases as clusters."""
    chance = np.random.default_rng(5)
    played = list[tuple[int, int, float, int]]()
    for index in range(30):
        for one, other in PAIRS:
            said = float(chance.choice((0.0, 0.5, 1.0), p=(0.2, 0.2, 0.6)))
            for rater in ("ann", "bo", "cy") if index < 5 else ("ann",):
                vote(run, index, one, other, said, rater)
            played.append((MODELS.index(one), MODELS.index(other), said, index))
    first, second, outcome, cases = map(np.array, zip(*played, strict=True))
    found = preferred(run, "people", "quality")
    expected = bradley_terry(first, second, outcome, 3, clusters=cases)
    assert (found.cases, found.clusters, sum(map(sum, found.outcomes.values()))) == (30, 30, 180)
    assert [one.model for one in found.standings] == ["amber", "birch", "cedar"]
    for standing in found.standings:
        place = MODELS.index(standing.model)
        assert (standing.score, standing.low, standing.high) == pytest.approx(
            (expected.score[place], expected.low[place], expected.high[place])
        )
    i, j = (MODELS.index(standing.model) for standing in found.standings[:2])
    own = expected.covariance
    error = np.sqrt(own[i, i] + own[j, j] - 2 * own[i, j])
    assert found.apart[0] == pytest.approx(abs(expected.log[i] - expected.log[j]) / error)
    assert (preferred(run, "people", "quality", "even").cases, preferred(run, "judge", "quality")) == (15, None)


def test_a_judge_that_always_prefers_what_stands_first_ranks_nobody(run: Run) -> None:
    for index in range(20):
        judgement(run, index, "amber", "birch", 1.0, 0.0)
    found = preferred(run, "judge", "quality")
    assert (found.outcomes["amber", "birch"], found.standings[0].score) == ((0, 20, 0), pytest.approx(0.5))
    (bias,) = position_bias(run, "judge", "quality")
    assert (bias.of, bias.share.value, bias.n, bias.contradictory) == ("j", 1.0, 20, 20)
    assert (bias.share.low, bias.share.high) == pytest.approx(wilson(20, 20))
    assert bias.p < 0.001
    assert "swayed towards the first. 20 matches are contradictory" in bias_sentence(bias)


def test_a_fair_judge_has_no_bias_and_one_order_alone_does_not_count(run: Run) -> None:
    for index in range(20):
        judgement(run, index, "amber", "birch", float(index % 4 > 0), float(index % 4 > 0))
    judgement(run, 20, "amber", "birch", 0.0, None)
    assert preferred(run, "judge", "quality").outcomes["amber", "birch"] == (15, 0, 5)
    (bias,) = position_bias(run, "judge", "quality")
    assert (bias.share.value, bias.p, bias.contradictory, bias.half) == (0.5, 1.0, 0, 1)
    assert "swayed" not in bias_sentence(bias)


def test_the_interval_of_position_bias_holds_its_level() -> None:
    """60 matches of which most are ties, as both orders together give: neither too wide nor too narrow."""
    rng, inside, widths = np.random.default_rng(3), 0, []
    for _ in range(200):
        found, p = first_share(rng.choice((0.25, 0.5, 1.0), p=(0.2, 0.6, 0.2), size=60), np.arange(60))
        assert (p > 0.05) == (found.low <= 0.5 <= found.high)
        inside += found.low <= 0.55 <= found.high
        widths.append(found.high - found.low)
    assert 182 <= inside <= 197
    assert np.mean(widths) == pytest.approx(4 * np.sqrt(0.0600 / 60), rel=0.1), "Wilson's would be twice as wide"


def test_peoples_bias_counts_preferences_with_a_known_side(run: Run) -> None:
    for index in range(30):
        vote(run, index, "amber", "birch", float(index < 24), shown_first="amber" if index < 29 else None)
    (bias,) = position_bias(run, "people", "quality")
    assert (bias.n, bias.share.value, bias.lopsided) == (29, pytest.approx(24 / 29), (("amber", "birch"),))
    assert "One model nearly always stood first in amber – birch" in bias_sentence(bias)


def test_judge_and_people_agree_beyond_chance(run: Run) -> None:
    """Ten wins and six losses alike, two ties of people that the judge decides, two opposite ones: κ by hand."""
    for index in range(20):
        people = 0.5 if 16 <= index < 18 else float(index < 10 or index == 18)
        judge = float(index < 10 or index in (16, 17, 19))
        vote(run, index, "amber", "birch", people)
        judgement(run, index, "amber", "birch", judge, judge)
    found = judge_and_people(run, "quality")
    assert found.table == ((6, 0, 1), (0, 0, 2), (1, 0, 10))
    chance = 7 / 20 * 7 / 20 + 11 / 20 * 13 / 20
    assert found.kappa.value == pytest.approx((0.8 - chance) / (1 - chance))
    assert found.kappa.low < (0.8 - chance) / (1 - chance)
    assert (found.n, found.accuracy.value, found.decided.value) == (20, 0.8, pytest.approx(16 / 18))
    assert (found.accuracy.low, found.accuracy.high) == pytest.approx(wilson(16, 20))
    assert "Judge and people prefer the same in 0.800" in agreed_sentence(found)
    assert preferred(run, "both", "quality").outcomes["amber", "birch"] == (12, 2, 6)
    rows, total = pair_cases(run, "birch", "amber", "both", "quality")
    assert (total, rows[0].people, rows[0].judge, rows[-1].judge) == (20, 1.0, 1.0, 0.0)
    assert sum(row.people != row.judge for row in rows) == 4


def test_how_many_more_matches_separate_the_models(run: Run) -> None:
    for index in range(30):
        vote(run, index, "amber", "birch", float(index % 3 > 0))
    found = preferred(run, "people", "quality")
    assert found.apart[0] == pytest.approx(1.76, abs=0.02)
    more = more_matches(found)
    assert more is not None
    assert more == pytest.approx(30 * ((2.045 / found.apart[0]) ** 2 - 1), abs=1)
    assert left_sentence(more).startswith("About 1")
    for index in range(30):
        vote(run, index, "amber", "birch", float(index % 2))
    even = preferred(run, "people", "quality")
    assert even is not None
    assert more_matches(even) is None
    for index in range(30):
        vote(run, index, "amber", "birch", float(index % 10 > 0))
    clear = preferred(run, "people", "quality")
    assert clear is not None
    assert (more_matches(clear), left_sentence(0)) == (0, "Every model has a rank of its own.")


def test_pairs_least_compared_come_first_with_sides_and_cases_drawn_at_random(run: Run) -> None:
    seen, lefts = [], 0
    for _ in range(90):
        (pair,) = pair_queue(run, "quality", "ann").next
        seen.append((pair.case_id, *pair.models))
        lefts += pair.left == pair.models[0]
        vote(run, int(pair.case_id[1:]), pair.left, pair.right, 1.0, shown_first=pair.left)
    assert len(set(seen)) == 90
    for start in range(0, 90, 3):
        assert {one[1:] for one in seen[start : start + 3]} == set(PAIRS)
    assert [one[0] for one in seen[:30:3]] != sorted(one[0] for one in seen[:30:3])
    assert 30 <= lefts <= 60
    assert (pair_queue(run, "quality", "ann").next, pair_queue(run, "quality", "ann").done) == ((), 90)
    assert pair_queue(run, "tone", "ann").done == 0
    assert pair_queue(run, "quality", "bo").next


def test_a_skipped_pair_comes_last(run: Run) -> None:
    (first,) = pair_queue(run, "quality", "ann").next
    (second,) = pair_queue(run, "quality", "ann", [(first.case_id, *first.models)]).next
    assert second != first


def test_who_is_preferred_at_equal_style(shelf: Workspace) -> None:
    """Of three equal models that are long or short at random a judge likes the longer answer."""
    rng, cases = np.random.default_rng(3), [{"case_id": f"c{at}", "question": f"Why {at}?"} for at in range(60)]
    long = {(f"c{at}", model): int(rng.integers(1, 9)) for at in range(60) for model in MODELS}
    rows = [{"case_id": case, "model": model, "answer": "word " * size} for (case, model), size in long.items()]
    run = finished(shelf, Suite.from_rows("styled", "text", cases), Outputs.from_rows(rows), "rouge")
    rows = []
    for index in range(60):
        for one, other in PAIRS:
            longer = long[f"c{index}", one] > long[f"c{index}", other]
            said = float(longer if rng.random() < 0.85 else rng.random() < 0.5)
            rows.append(preference(f"c{index}", one, other, said, rater="j", by="judge"))
    Preferences(run).judged(rows, "j")
    found = style_control(run, "judge", "quality")
    (length,) = found.effects
    assert (length.style, length.low > 0, length.p < 0.001, found.n) == ("length", True, True, 180)
    assert {one.model for one in found.standings} == set(MODELS)
    assert any("One standard deviation more adds to the log-odds of a win: length +" in line
               for line in preference_lines(run))  # fmt: skip
    assert style_control(run, "judge", "quality", "no such tag") is None


def test_criteria_and_lines(run: Run) -> None:
    assert list(preference_lines(run)) == []
    for index in range(12):
        vote(run, index, "amber", "birch", float(index % 2))
        vote(run, index, "amber", "birch", 1.0, criterion="tone")
    vote(run, 13, "amber", "cedar", 1.0)
    assert preference_criteria(run) == {"quality": {"people": 13}, "tone": {"people": 12}}
    (line,) = preference_lines(run)
    assert line.startswith("By matches in people's preferences (quality), no model is significantly stronger")
    Preferences(run).remove(Preferences(run).sets()[0].id)
    assert list(preference_lines(run, "quality")) == []
