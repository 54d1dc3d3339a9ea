"""One metric over several suites: what is comparable, what is left out, and all suites together."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from metrics.analysis import leaderboard, several_suites
from metrics.analysis.ranking.several_suites import UNRANKED
from metrics.core.errors import InputError
from metrics.core.files import write_json
from metrics.presentation.ranking_words import suites_lines, suites_sentence
from metrics.store import Run
from tests.analysis.comparison import test_paired_bootstrap as pets
from tests.analysis.scored import scored_run, with_resources

KEY = "faithfulness/faithfulness"
STRENGTH = {"a": 0.7, "b": 0.6, "c": 0.4}


def suite_run(name: str, models: Sequence[str], cases: int = 40, level: float = 0.0, seed: int = 0) -> Run:
    """A run of a suite of its own, in which every case is as hard for all models."""
    rng = np.random.default_rng([seed, cases])
    hard = rng.normal(0, 0.05, cases)
    given = {
        model: np.clip(STRENGTH[model] + level + hard + rng.normal(0, 0.05, cases), 0, 1).tolist() for model in models
    }
    run = scored_run({KEY.replace("/", "."): given}, design={"question": [f"{name} {n}?" for n in range(cases)]})
    write_json(
        run.folder / "spec.json", run.spec.stored | {"name": name, "suite": run.spec.stored["suite"] | {"name": name}}
    )
    return Run(run.folder)


def changed(run: Run, **parameters: object) -> Run:
    listed = [one | {"parameters": one["parameters"] | parameters} for one in run.spec.stored["evaluators"]]
    write_json(run.folder / "spec.json", run.spec.stored | {"evaluators": listed})
    return Run(run.folder)


def test_models_of_different_suites_are_compared_through_those_of_both(workspace: Path) -> None:
    """`a` and `c` never met: their own means would put `c`, of the easy suite, first."""
    first, second = suite_run("Hard", ["a", "b"], 40, -0.3), suite_run("Easy", ["b", "c"], 60, 0.2)
    found = several_suites([first, second], KEY)
    assert [suite.name for suite in found.suites] == ["Hard", "Easy"]
    assert [suite.paired for suite in found.suites] == [40, 60]
    assert [one.model for one in found.overall] == ["a", "b", "c"]
    assert [one.suites for one in found.overall] == [1, 2, 1]
    easy, hard = found.suites[1].fingerprint, found.suites[0].fingerprint
    assert found.cells["c", easy].cell == leaderboard(second).cells["c", KEY]
    assert found.cells["c", easy].cell.value > found.cells["a", hard].cell.value
    assert (found.cells["c", hard].cell, found.cells["c", hard].reason) == (None, "not evaluated")
    a, b, c = found.overall
    difference = found.cells["a", hard].cell.value - found.cells["b", hard].cell.value
    assert (a.value - b.value, a.mean, c.mean) == (pytest.approx(difference), None, None)
    means = [found.cells["b", suite].cell.value for suite in (hard, easy)]
    assert (b.mean, b.value) == (pytest.approx(np.mean(means)), pytest.approx(b.mean))
    assert all(one.low < one.value < one.high for one in found.overall)
    assert (found.leaders, found.freedom, found.p) == ((), 0, None)
    assert suites_sentence(found).startswith("Over 2 suites in Faithfulness, no model is ranked: a 0.")
    assert UNRANKED in found.notes
    assert a.best_rank is None
    third = suite_run("Third", ["a", "b", "c"], 50)
    ranked = several_suites([first, second, third], KEY)
    assert (ranked.leaders[0], UNRANKED in ranked.notes) == ("a", False)


def test_suites_weigh_by_how_precisely_they_show_a_difference(workspace: Path) -> None:
    """With equal errors per case, a suite of 160 cases has four times the weight of one of 40."""
    found = several_suites([suite_run("Small", ["a", "b"], 40), suite_run("Large", ["a", "b"], 160)], KEY)
    apart = []
    for suite in found.suites:
        values = [found.cells[model, suite.fingerprint].cell.value for model in ("a", "b")]
        apart.append(values[0] - values[1])
    by_model = {one.model: one for one in found.overall}
    weight = (by_model["a"].value - by_model["b"].value - apart[1]) / (apart[0] - apart[1])
    assert (found.tau, weight) == (0, pytest.approx(0.2, abs=0.06))
    assert any("as alike as cases of one suite would make them: Q " in line for line in suites_lines(found))


def test_differences_that_depend_on_the_suite_are_told(workspace: Path) -> None:
    runs = [
        suite_run("One", ["a", "b", "c"]), suite_run("Two", ["a", "b", "c"], 50), suite_run("Other", ["b", "c"], 60),
    ]  # fmt: skip
    STRENGTH["c"], before = 0.8, STRENGTH["c"]
    try:
        runs.append(suite_run("Odd", list("abc"), 70))
    finally:
        STRENGTH["c"] = before
    found = several_suites(runs, KEY)
    assert found.p < 0.001
    assert next(iter(suites_lines(found))).startswith("Which model is better, or by how much, depends on the suite: Q ")
    one = found.overall[0]
    assert one.high - one.low > 2 * (one.common_high - one.common_low)


def test_only_what_was_computed_alike_is_one_metric(workspace: Path) -> None:
    first = suite_run("One", ["a", "b"])
    judged = with_resources(suite_run("Judged", ["a", "b"], 50), judge={"model": "another"})
    strict = changed(suite_run("Strict", ["a", "b"], 60), thresholds={"faithfulness": 0.9})
    other = scored_run({"text_matching.passes": {"a": [1.0, 0.0]}})
    found = several_suites([first, judged, strict, other], KEY)
    assert [suite.name for suite in found.suites] == ["One"]
    assert found.notes[1:] == (
        "Strict is left out: evaluated with other parameters.", "Scored is left out: it has no such metric.",
    )  # fmt: skip
    assert found.notes[0].startswith("Judged is left out: evaluated with another judge")
    assert found.overall[0].value is None
    with pytest.raises(InputError, match="no metric 'no/thing'"):
        several_suites([first], "no/thing")


def test_the_newest_number_of_a_suite_counts_and_shared_cases_are_told(workspace: Path) -> None:
    old = suite_run("One", ["a", "b"], 40, 0.0, 1)
    new = suite_run("One", ["b"], 40, 0.1, 2)
    found = several_suites([old, new, suite_run("Two", ["a", "b"], 50)], KEY)
    one = found.suites[0]
    assert one.runs == (old.id, new.id)
    assert (found.cells["a", one.fingerprint].run, found.cells["b", one.fingerprint].run) == (old.id, new.id)
    longer = suite_run("One", ["a", "b"], 45)
    told = "Suites share cases, which count in each, so that intervals are too narrow: One and One 40."
    assert told in several_suites([old, longer], KEY).notes


def test_suites_without_a_common_model(workspace: Path) -> None:
    runs = [suite_run("One", ["a"]), suite_run("Two", ["b"], 50)]
    found = several_suites(runs, KEY)
    assert all(one.value is None for one in found.overall)
    assert (
        "No chain of suites connects all models, so some cannot be compared: leave models or runs out." in found.notes
    )
    assert several_suites(runs, KEY, ["a"]).overall[0].model == "a"


def test_models_that_are_equal_on_every_case_are_not_equal_for_certain(workspace: Path) -> None:
    given: Mapping[str, list[float]] = {model: [1.0] * 15 + [0.0] * 5 for model in ("a", "b")}
    runs = [
        scored_run({"text_matching.passes": given}, design={"question": [f"{name} {n}?" for n in range(20)]})
        for name in ("x", "y", "z")
    ]
    found = several_suites(runs, "text_matching/passes")
    assert found.overall[0].value == pytest.approx(0.75)
    assert (found.overall[0].best_rank, found.overall[0].worst_rank) == (1, 2)


def test_numbers_of_a_data_set_are_paired_on_resamples(workspace: Path) -> None:
    first = pets.evaluated(pets.outputs(), "coco_summary")
    second = pets.evaluated(pets.outputs(), "coco_summary", of=pets.suite(tags=True))
    key = next(column.key for column in leaderboard(first).columns if column.metric == "AP")
    found = several_suites([first, second], key)
    assert ([one.model for one in found.overall], found.leaders) == (["B", "A"], ())
    assert [suite.paired for suite in found.suites] == [0, 0]
