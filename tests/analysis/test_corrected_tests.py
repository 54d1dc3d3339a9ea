"""The list of what was tested: its counts are those of the tests and corrections that made the numbers."""

import re
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from metrics.analysis import (
    compare,
    comparison_of_columns,
    flip_rates,
    head_to_head,
    leaderboard,
    primary_columns,
    trend,
)
from metrics.analysis.corrected_tests import (
    CorrectedTests,
    corrected_tests,
    of_comparison,
    of_matches,
    of_ranks,
    of_searches,
    of_trend,
)
from metrics.analysis.slices.find_slices import FoundSlice, find_slices, significant_slices
from metrics.core.array_types import Floats
from metrics.presentation.questions import is_it_better
from metrics.presentation.questions.what_was_tested import caution, what_was_tested
from metrics.stats import corrections, slice_search
from metrics.store import Run, Workspace
from tests.analysis.findings.variants import perturbed_run
from tests.analysis.scored import scored_run
from tests.engine.engine_scenes import dated, finished, text_outputs, text_suite


@pytest.fixture
def run(workspace: object) -> Run:
    """Three models with three metrics of thirty cases; `best` and `same` are equal everywhere."""
    graded = {"best": [0.9, 0.8, 0.3] * 10, "next": [0.4, 0.3, 0.4] * 10, "same": [0.9, 0.8, 0.3] * 10}
    names = ("context_recall", "answer_correctness", "faithfulness")
    return scored_run(dict.fromkeys(names, graded))


@pytest.fixture
def corrected(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many p went into each of Holm's corrections, by the code that corrects."""
    sizes: list[int] = []

    def holm(p: Floats, weights: Floats | None = None) -> Floats:
        sizes.append(len(p))
        return corrections.holm(p, weights)

    for place in ("stats.model_ranking", "analysis.findings.flips", "analysis.leaderboard.family"):
        monkeypatch.setattr(sys.modules[f"metrics.{place}"], "holm", holm)
    return sizes


def test_the_weights_that_are_stated_give_the_adjusted_p_that_are_shown(workspace: object) -> None:
    """Law: p, the weights in the list of what was tested, and the steps on hover make every adjusted p."""
    rng = np.random.default_rng(4)
    hard = rng.normal(0.5, 0.1, 40)
    names = ("rouge.rouge1", "rouge.rouge2", "rouge.rougeL", "token_f1.token_f1", "bleu.bleu1")
    run = scored_run({
        name: {"a": (hard + rng.normal(0.03, 0.1, 40)).tolist(), "b": hard.tolist()} for name in names
    })  # fmt: skip
    board = leaderboard(run)
    stated = re.search(
        r"weight 1 for the (\d+) of main metrics, ([\d.]+) for the (\d+) others", of_ranks(board).correction
    )
    assert stated is not None
    main, others = int(stated[1]), int(stated[3])
    assert main + others == board.tests == 5
    assert float(stated[2]) == pytest.approx(main / others / 4, abs=0.001)
    heavy = {column.key for column in primary_columns(board)}
    assert len(heavy) == main
    rows = compare(run, "b", "a").rows
    weight = {row.column.key: 1.0 if row.column.key in heavy else main / others / 4 for row in rows}
    left, before = sum(weight.values()), 0.0
    for row in sorted(rows, key=lambda row: row.p / weight[row.column.key]):
        before = max(before, min(1.0, row.p / weight[row.column.key] * left))
        assert row.adjusted == pytest.approx(before)
        left -= weight[row.column.key]
    words = f"main metrics ({main} tests) have 4/5 of the 5 %, others ({others} tests) 1/5"
    assert words in is_it_better.method(compare(run, "b", "a"))


def test_ranks_comparison_and_matches_count_what_holm_corrects(run: Run, corrected: list[int]) -> None:
    own = of_ranks(leaderboard(run))
    # of the three pairs of a metric best and same are equal on every case, so that nothing could come of their test
    assert (own.tests, own.families, own.found) == (corrected[-1], 1, 6) == (6, 1, 6)
    found = compare(run, "next", "best")
    assert (of_comparison(found), found.tested) == ([], own.tests)  # among those of the ranks
    [looks] = of_comparison(comparison_of_columns(found, anytime=True))
    assert looks == CorrectedTests("Is best better than next?", 6, 1, "Holm, over all metrics and pairs of models", 3)
    corrected.clear()
    matches = head_to_head(run, "faithfulness", "faithfulness")
    assert matches is not None
    assert [of_matches(matches, "Faithfulness").tests] == corrected == [3]


def test_without_a_correction_every_test_stands_alone(run: Run) -> None:
    [own] = of_comparison(comparison_of_columns(compare(run, "next", "best"), correction="none"))
    assert (own.tests, own.families, own.correction) == (3, 3, "none")


def test_flips_count_what_holm_corrects(workspace: object, corrected: list[int]) -> None:
    run = perturbed_run({"m": [f"c{index}-typo" for index in range(10)]})
    found = next(one for one in corrected_tests(run) if "perturbations" in one.question)
    assert found.tests in corrected
    assert found.found == int(flip_rates(run)["exceeds"].eq(True).sum())


def test_slices_count_every_candidate(workspace: object, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    search = slice_search.search

    def counted(*args: object, **more: object) -> object:
        found = search(*args, **more)
        sizes.append(len(found.p))
        return found

    monkeypatch.setattr("metrics.stats.slice_search.search", counted)
    run = finished(Workspace(), text_suite(40), text_outputs(40), "rouge")
    model = run.models[0]
    own = of_searches([find_slices(run, model, "rouge", "rouge1")])
    assert [own.tests] == sizes
    assert own.question.startswith(f"Where is {model} worse in ")


def test_several_searches_find_what_the_report_shows(workspace: object) -> None:
    """Of ten searches with p .004 and .02 each, a slice is significant where ten times p is at most .05."""
    search = find_slices(finished(Workspace(), text_suite(40), text_outputs(40), "rouge"), "poor", "rouge", "rouge1")
    value: Any = None
    several = [replace(search, slices=tuple(FoundSlice(value, p, "") for p in (0.004, 0.02)))] * 10
    own = of_searches(several)
    assert (own.found, own.families) == (len(significant_slices(several)), 1) == (10, 1)
    assert {p for p, *_ in significant_slices(several)} == {0.04}
    assert own.correction.endswith("times 10 searches")


def test_a_trend_counts_its_changes(workspace: object) -> None:
    for day in (1, 2):
        dated(finished(Workspace(), text_suite(12), text_outputs(12), "rouge", name=f"v{day}"), day)
    found = trend(Workspace().runs(), "rouge/rouge1")
    changes = [stop.change for stop in found.stops if stop.change is not None]
    assert len(changes) == 2
    assert of_trend(found).tests == found.tested == sum(change.p is not None for change in changes)


def test_the_report_lists_them_and_says_what_no_correction_covers(run: Run) -> None:
    sentence, table = what_was_tested(run, ["tests"])
    assert table.rows == (
        ("Which models are better in a metric?", "6", "Holm, over all metrics and pairs of models", "6"),
    )
    assert sentence.text == "6 tests in all, corrected together: a false finding in at most 5 % of evaluations."


def test_one_family_is_corrected_as_a_whole() -> None:
    rows = [CorrectedTests("Is b better than a?", 4, 1, "Holm, over the metrics shown", 0)]
    assert caution(rows) == "4 tests in all, corrected together: a false finding in at most 5 % of evaluations."


def test_several_families_say_what_they_leave_open() -> None:
    rows = [CorrectedTests(f"Where is {model} worse?", 3, 1, "permutation", 0) for model in "abc"]
    assert caution(rows).startswith(
        "9 tests in all. Each correction holds within its own question or metric, 3 of them here, not across them: if "
        "there were nothing to find, up to 15 % of such evaluations would still find something."
    )


def test_the_share_of_false_findings_over_families_is_what_the_list_says() -> None:
    """Three metrics of three equal models, each corrected by itself: 14 % of evaluations find something, at most 15."""
    rng, false = np.random.default_rng(0), 0
    for _ in range(2_000):
        false += any((corrections.holm(rng.random(3)) <= 0.05).any() for _ in range(3))
    assert 0.11 < false / 2_000 <= 0.15
