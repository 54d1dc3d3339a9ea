"""A metric over runs whose every number is known: order, pairs, correction, and what else differed."""

import json
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from metrics.analysis import Difference, Resampled, compare, leaderboard, same_suite, trend
from metrics.analysis.comparison.shared_cases import changed_settings
from metrics.analysis.comparison.significance import ADJUST
from metrics.core.errors import InputError
from metrics.core.files import write_table
from metrics.core.suite import Outputs
from metrics.stats.paired_tests import mcnemar_mid_p
from metrics.store import Run, Workspace
from tests.analysis.comparison import test_paired_bootstrap as pets
from tests.analysis.comparison.test_compare import outputs, suite
from tests.analysis.scored import scored_run, with_resources
from tests.engine.engine_scenes import dated, finished, resealed, text_outputs, text_suite

PASSES = "text_matching/passes"
AP = "coco_summary/AP?area=all&max_dets=100"


def evaluated(day: int, right: dict[str, set[int]], name: str = "", **parameters: bool) -> Run:
    """A run of that day in which the models are right in these cases of twenty."""
    given = {"text_matching": parameters} if parameters else {}
    run = finished(Workspace(), suite(), outputs(right), "text_matching", name=name, parameters=given)
    return dated(run, day)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """Three runs, made in another order than they are dated: `a` 6, 16, 16 right of 20; `b` in the outer two only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_WORKSPACE", str(tmp_path_factory.mktemp("trend")))
        last = evaluated(9, {"a": set(range(16)), "b": set(range(4, 20))}, "third")
        first = evaluated(2, {"a": set(range(6)), "b": set(range(10))}, "first")
        middle = evaluated(5, {"a": set(range(4, 20))}, "second")
    return [middle, last, first]


def test_every_stop_is_held_against_the_models_run_before(runs: list[Run]) -> None:
    found = trend(runs, PASSES)
    assert [(stop.name, stop.model) for stop in found.stops] == [
        ("first", "a"), ("first", "b"), ("second", "a"), ("third", "a"), ("third", "b"),
    ]  # fmt: skip
    assert found.models == ("a", "b")
    first, of_b, second, third, last_of_b = found.stops
    assert (first.before, first.change, first.words) == (None, None, "first")
    assert (second.before, third.before, last_of_b.before) == (first.run, second.run, of_b.run)
    assert [stop.cell.value for stop in found.stops] == pytest.approx([0.3, 0.5, 0.8, 0.8, 0.8])
    assert isinstance(second.change, Difference)
    assert (second.change.wins, second.change.losses, second.change.ties) == (14, 4, 2)
    assert (second.change.difference, third.words) == (pytest.approx(0.5), "no significant change")
    assert not found.clustered


def test_a_stop_says_what_a_comparison_of_the_two_runs_says(runs: list[Run]) -> None:
    middle, last, first = runs
    stops = {(stop.name, stop.model): stop.change for stop in trend(runs, PASSES, correction="none").stops}
    for a, b, key in ((first, middle, ("second", "a")), (middle, last, ("third", "a")), (first, last, ("third", "b"))):
        [row] = [row for row in compare(a, key[1], key[1], other=b).rows if row.column.key == PASSES]
        change = stops[key]
        assert change is not None
        for name in ("difference", "low", "high", "p", "n", "wins", "losses", "ties", "detectable"):
            assert getattr(change, name) == getattr(row, name), name


@pytest.mark.parametrize("correction", ["holm", "benjamini_hochberg", "none"])
def test_p_is_adjusted_over_all_changes_shown(runs: list[Run], correction: str) -> None:
    found = trend(runs, PASSES, correction=correction)
    changes = [stop.change for stop in found.stops if stop.change]
    assert found.tested == len(changes) == 3
    p = [mcnemar_mid_p(change.wins, change.losses) for change in changes if isinstance(change, Difference)]
    assert [change.p for change in changes] == p
    assert [change.adjusted for change in changes] == ADJUST[correction](np.array(p)).tolist()
    only = trend(runs, PASSES, ["b"], correction=correction)
    assert (only.models, only.tested, only.stops[-1].change.adjusted) == (("b",), 1, only.stops[-1].change.p)


def test_only_common_cases_are_paired(workspace: Path) -> None:
    first = evaluated(1, {"a": set(range(5))})
    some = outputs({"a": set(range(20))}, without={"a": set(range(8))})
    second = dated(finished(Workspace(), suite(), some, "text_matching"), 2)
    change = trend([first, second], PASSES).stops[1].change
    assert isinstance(change, Difference)
    assert (change.n, change.only_a, change.wins) == (12, 8, 12)


def test_what_else_differs_is_said(workspace: Path) -> None:
    runs = [evaluated(day, {"a": {1}}, case_sensitive=day == 1) for day in (1, 2, 3)]
    spec = json.loads((runs[2].folder / "spec.json").read_text())
    spec["evaluators"][0]["version"] = 7
    (runs[2].folder / "spec.json").write_text(json.dumps(spec))
    resealed(runs[2])
    stops = trend([Run(run.folder) for run in runs], PASSES).stops
    assert [stop.settings for stop in stops] == [
        (), ("other parameters",), ("version 7 of the evaluator after version 2",)
    ]  # fmt: skip


def test_a_metric_with_a_calibrated_threshold_is_followed(workspace: Path) -> None:
    runs = [
        dated(finished(Workspace(), text_suite(), text_outputs(), "answer_semantic_similarity"), day) for day in (1, 2)
    ]
    found = trend(runs, "answer_semantic_similarity/answer_semantic_similarity")
    assert found.column.calibration is not None
    assert {stop.change and stop.change.difference for stop in found.stops} == {None, 0.0}


def test_metrics_of_the_data_set_are_paired_over_resamples(workspace: Path) -> None:
    recalls = [(0.5, 0.7), (0.95, 0.7)]
    runs = [dated(pets.evaluated(pets.outputs({"m": recall})), day) for day, recall in enumerate(recalls, 1)]
    found = trend(runs, AP)
    change = found.stops[1].change
    assert isinstance(change, Resampled)
    assert (change.b, found.stops[1].words) == (leaderboard(runs[1]).cells["m", AP].value, "better")
    again = [dated(pets.evaluated(pets.outputs({"m": recalls[0]})), day) for day in (7, 8)]
    assert trend(again, AP).stops[1].words == "equal in every resample"


def test_what_can_be_neither_paired_nor_resampled_says_so(workspace: Path) -> None:
    given = [pets.outputs({"m": (recall, 0.7)}) for recall in (0.5, 0.9)]
    first = dated(pets.evaluated(given[0], seed=1), 1)
    stop = trend([first, dated(pets.evaluated(given[1], seed=2), 2)], AP).stops[1]
    assert (stop.before, stop.change, stop.words) == (first.id, None, "cannot be paired")
    assert stop.settings == ("other parameters",)


def test_a_run_without_values_per_case_cannot_be_paired(workspace: Path) -> None:
    first, second = (evaluated(day, {"a": set(range(right))}) for day, right in ((1, 5), (2, 15)))
    path = second.table_path("scores")
    assert path is not None
    rows = pq.read_table(path)
    write_table(path, rows.filter(pc.not_equal(rows["metric"], "passes")))
    found = trend([first, resealed(second)], PASSES).stops
    assert [stop.cell.value for stop in found] == [0.25, 0.75]
    assert (found[1].change, found[1].words) == (None, "cannot be paired")


def test_same_suite_is_in_time_order_and_leaves_the_others_out(runs: list[Run]) -> None:
    middle, last, first = runs
    other = finished(Workspace(first.workspace.path), text_suite(6), text_outputs(6), "rouge")
    assert [run.id for run in same_suite(last)] == [first.id, middle.id, last.id]
    assert [run.id for run in same_suite(other)] == [other.id]


def test_refusals_say_what_was_found(runs: list[Run]) -> None:
    other = finished(Workspace(runs[0].workspace.path), text_suite(6), text_outputs(6), "rouge")
    with pytest.raises(InputError, match="different suites; a metric can only be followed within one suite"):
        trend([*runs, other], PASSES)
    with pytest.raises(InputError, match="no run has the metric 'rouge/rouge1'; there are text_matching/failures"):
        trend(runs, "rouge/rouge1")


def test_a_model_without_a_number_in_a_run_is_left_out_of_it(workspace: Path) -> None:
    silent = Outputs.from_rows([{"case_id": f"c{index}", "model": "good", "answer": ""} for index in range(6)])
    given = [text_outputs(6, ("good",)), silent, text_outputs(6, ("good",))]
    runs = [
        dated(finished(Workspace(), text_suite(6), each, "looping_detection"), n) for n, each in enumerate(given, 1)
    ]
    found = trend(runs, "looping_detection/looping")
    assert ([stop.run for stop in found.stops], found.stops[1].before) == ([runs[0].id, runs[2].id], runs[0].id)


def test_another_model_behind_a_metric_is_said(workspace: Path) -> None:
    runs = [
        with_resources(scored_run({"groundedness": {"m": [0.5] * 5}}), embedder=embedder)
        for embedder in ("small", "large")
    ]
    assert changed_settings(*runs, "groundedness") == ("another embedder",)
    assert changed_settings(runs[0], runs[0], "groundedness") == ()
