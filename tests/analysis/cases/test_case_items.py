"""Cases by difficulty and discrimination, suspect labels, and the fewest cases that keep the ranking."""

from pathlib import Path

import numpy as np
import pytest

from metrics.analysis import case_items, short_suites
from metrics.core.array_types import Floats
from metrics.presentation.case_words import suspects
from metrics.store import Run
from tests.analysis.scored import scored_run
from tests.stats.test_item_response import drawn
from tests.stats.test_model_families import drawn_families

METRIC = ("text_matching", "passes")


def ran(right: Floats, key: str = "text_matching.passes", **more: object) -> Run:
    """A run of models m0 … with these values [cases, models]; NaN is no value."""
    given = {f"m{model}": [None if np.isnan(one) else one for one in column] for model, column in enumerate(right.T)}
    return scored_run({key: given}, **more)


def test_reversed_labels_are_suspect_and_come_first(workspace: Path) -> None:
    """Of 120 cases of 24 models three are right for the weaker half alone, and one for none."""
    right = drawn(0, 120, 24, 0.3)[0]
    right[:3] = right.mean(axis=0) < np.median(right.mean(axis=0))
    right[7] = 0.0
    found = case_items(ran(right), *METRIC)
    assert found.fitted
    names = {row.case_id for row in found.of("suspect")}
    assert names == {"c0", "c1", "c2"}
    assert [row.verdict for row in found.rows[:4]] != ["suspect"] * 4
    assert {row.case_id for row in found.rows[:3]} == names
    assert "c7" in {row.case_id for row in found.of("all wrong")}
    assert found.by_chance == pytest.approx(1.2)
    first = found.rows[0]
    assert first.p < 0.01
    assert first.correlation < 0
    shares = dict(zip([f"m{place}" for place in range(24)], right.mean(axis=0), strict=True))
    assert shares[found.models[0]] > 0.6 > 0.4 > shares[found.models[-1]]
    plain = [row.discrimination for row in found.rows if not row.verdict]
    assert plain == sorted(plain, reverse=True)


def test_models_of_a_few_families_judge_no_label(workspace: Path) -> None:
    """Twelve models in three families count as three: difficulties, but neither p nor suspects, and the reason."""
    found = case_items(ran(drawn_families(0, 12, 3, 0.9)[0]), *METRIC)
    assert (found.fitted, found.are_labels_checked, len(found.families)) == (True, False, 3)
    assert {len(own) for own in found.families} == {4}
    assert {(row.p, row.verdict in ("suspect", "unusual")) for row in found.rows} == {(None, False)}
    assert all(row.difficulty is not None for row in found.rows)
    said = suspects(found)
    assert said.startswith(
        "These 12 models count as 3, since some share mistakes: m0, m3, m6 and m9; m1, m4, m7 and m10;"
    )
    assert "Labels are not checked: it takes 8 that answer independently." in said


def test_fewer_than_eight_models_have_shares_and_correlations_alone(workspace: Path) -> None:
    right = drawn(1, 30, 5)[0]
    right[0] = 0.0
    found = case_items(ran(right), *METRIC)
    assert (found.needs_models, found.needs_cases, found.fitted) == (3, 0, False)
    known = [row.correlation for row in found.rows if row.correlation is not None]
    assert known == sorted(known)
    assert len(known) > 20
    assert all(row.difficulty is None and row.p is None for row in found.rows)
    assert ([row.case_id for row in found.of("all wrong")][:1], short_suites(ran(right), *METRIC)) == (["c0"], None)
    three = case_items(ran(right[:, :3]), *METRIC)
    assert all(row.correlation is None for row in three.rows), "three models are too few for a correlation"
    few = case_items(ran(drawn(1, 12, 9)[0]), *METRIC)
    assert (few.needs_models, few.needs_cases) == (0, 8)


def test_a_threshold_says_what_is_right_and_lower_may_be_better(workspace: Path) -> None:
    values = np.tile([0.2, 0.74, 0.75, 0.9], (20, 1))
    found = case_items(ran(values, "faithfulness"), "faithfulness", "faithfulness")
    assert (found.threshold, {row.right for row in found.rows}) == (0.75, {0.5})
    assert found.models[0] in ("m2", "m3")
    lower = ran(values, "hallucination_claims")
    assert case_items(lower, "hallucination_claims", "hallucination_claims").models[0] == "m0"


def test_nothing_to_say(workspace: Path) -> None:
    """Neither end better, a single model, and models that answered less than half."""
    right = drawn(2, 20, 3)[0]
    right[8:, 1:] = np.nan
    assert case_items(ran(right), *METRIC) is None
    assert case_items(ran(right, "no_answer"), "no_answer", "no_answer") is None
    assert short_suites(ran(right), *METRIC) is None


def test_a_short_suite_has_the_cases_that_tell_most(workspace: Path) -> None:
    run = ran(drawn(3, 60, 10)[0])
    found, items = short_suites(run, *METRIC), case_items(run, *METRIC)
    assert ([size.cases for size in found.sizes], len(set(found.case_ids))) == ([10, 15, 20, 30, 40], 40)
    steep = {row.case_id: row.discrimination or 0.0 for row in items.rows}
    chosen = [steep[name] for name in found.case_ids[:10]]
    assert np.mean(chosen) > np.mean(list(steep.values()))
    assert all(size.pairs <= 45 for size in found.sizes)
