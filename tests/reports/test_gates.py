"""Gates: limits on values and bounds, and differences to a baseline, with what they say."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from metrics.analysis import compare, comparison_of_columns, leaderboard
from metrics.core.errors import InputError, RunNotFound
from metrics.core.suite import Outputs
from metrics.reports.archives.write import write_file
from metrics.reports.baseline import differences, open_baseline, require_comparable, require_metrics, worse
from metrics.reports.gates import Gate, check, require_known
from metrics.stats.corrections import holm
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished, text_outputs, text_suite

EVALUATORS = ("rouge", "bleu", "looping_detection")


def answered(share: float, size: int = 24, model: str = "m") -> Outputs:
    """Outputs of one model: the expected answers, cut to this share of their words; every fourth is whole."""
    suite = text_suite(size).cases.to_pylist()
    cut = [row["expected_answers"][0].split() for row in suite]
    return Outputs.from_rows(
        [
            {
                "case_id": row["case_id"],
                "model": model,
                "answer": " ".join(words if number % 4 == 0 else words[: int(share * len(words))]),
            }
            for number, (row, words) in enumerate(zip(suite, cut, strict=True))
        ]
    )


def made(share: float, **more: str) -> Run:
    return finished(Workspace(), text_suite(24), answered(share, **more), *EVALUATORS)


@pytest.fixture(scope="module")
def half(module_workspace: Path) -> Run:
    return made(0.5)


@pytest.fixture(scope="module")
def whole(module_workspace: Path) -> Run:
    return made(1.0)


@pytest.mark.parametrize(("text", "gate"), [
    ("rougeL=0.5", Gate("rougeL", 0.5)),
    ("rouge.rougeL=.5", Gate("rougeL", 0.5, "rouge")),
    ("rougeL.lower=0.5", Gate("rougeL", 0.5, None, "lower")),
    ("looping_detection.looping.upper=1e-1", Gate("looping", 0.1, "looping_detection", "upper")),
    ("lower=1", Gate("lower", 1.0)),
])  # fmt: skip
def test_parse(text: str, gate: Gate) -> None:
    assert Gate.parse(text) == gate


@pytest.mark.parametrize("text", ["rougeL", "rougeL=", "rougeL=high", "=1", "rougeL=nan", "rougeL=inf"])
def test_what_is_no_gate(text: str) -> None:
    with pytest.raises(InputError, match=r"--fail-under: found .*; expected METRIC=NUMBER"):
        Gate.parse(text)


def test_a_bound_on_the_better_side_is_refused() -> None:
    gates = [Gate.parse(text) for text in ("rougeL.upper=1", "looping.lower=0", "ruogeL=1", "rougeL.lower=.2")]
    with pytest.raises(InputError) as failure:
        require_known(gates, EVALUATORS)
    told = str(failure.value).splitlines()
    assert len(told) == 3
    assert "found 'rougeL.upper'; expected rouge.rougeL.lower: higher is better, so its lower bound" in told[0]
    assert "expected looping_detection.looping.upper: lower is better, so its upper bound" in told[1]
    assert "did you mean 'rouge.rougeL'" in told[2]


def test_a_bound_is_compared_in_place_of_the_value(half: Run) -> None:
    run, cell = half, leaderboard(half).cells["m", "rouge/rougeL"]
    assert cell.low is not None
    limit = (cell.value + cell.low) / 2
    value, bound = check(run, [Gate("rougeL", limit), Gate("rougeL", limit, bound="lower")])
    assert (value.passed, bound.passed) == (True, False)
    assert f"with lower bound {cell.low:.4g}" in bound.found
    assert bound.gate == f"rouge.rougeL.lower={limit:g}"
    [looping] = check(run, [Gate("looping", 0.01, bound="upper")])
    assert (looping.passed, looping.wanted) == (False, "upper 95 % bound at most 0.01"), "0 of 24 may be 14 %"


def test_a_metric_without_a_number_does_not_pass(half: Run) -> None:
    [outcome] = check(half, [Gate("nowhere", 0.0)])
    assert (outcome.passed, outcome.found) == (False, "no value")


def test_worse_than_the_baseline(whole: Run, half: Run) -> None:
    """Law: the numbers are Compare's, with the same correction, over the primary metrics."""
    before, after = whole, half
    [each] = differences(after, before)
    outcomes = worse([each])
    assert {one.metric: one.passed for one in outcomes} == {
        "rouge.rougeL": False, "bleu.bleu4": False, "looping_detection.looping": True,
    }  # fmt: skip
    keys = [row.column.key for row in each.tested.rows]
    assert each.tested == comparison_of_columns(compare(before, "m", "m", other=after), keys)
    raw = np.array([row.p for row in each.tested.rows if row.p is not None])
    assert [row.adjusted for row in each.tested.rows if row.p is not None] == pytest.approx(holm(raw).tolist())
    assert all(one.passed for one in worse(differences(before, after))), "better is not worse"


def test_named_metrics_are_the_only_ones_tested(whole: Run, half: Run) -> None:
    [each] = differences(half, whole, ["rouge.rougeL"])
    assert [(row.column.metric, row.adjusted == row.p) for row in each.tested.rows] == [("rougeL", True)]
    assert {row.column.metric for row in each.other.rows} == {"bleu4", "looping"}
    assert [one.metric for one in worse([each], ["rouge.rougeL"])] == ["rouge.rougeL"]


def test_what_cannot_be_tested_does_not_pass(whole: Run) -> None:
    before = finished(Workspace(), text_suite(24), answered(1.0), "rouge")
    outcomes = worse(differences(whole, before, ["bleu4"]), ["bleu4"])
    assert [(one.metric, one.passed) for one in outcomes] == [("bleu4", False)]
    assert "cannot be tested" in outcomes[0].found
    other = finished(Workspace(), text_suite(24), answered(1.0), "bleu")
    assert [one.passed for one in worse(differences(other, before))] == [False], "nothing in common"


def test_lost_values_do_not_pass(whole: Run) -> None:
    silent = Outputs.from_rows(
        [{"case_id": f"c{number}", "model": "m", "answer": None, "error": "down"} for number in range(24)]
    )
    outcomes = worse(differences(finished(Workspace(), text_suite(24), silent, *EVALUATORS), whole))
    assert outcomes
    assert not any(one.passed for one in outcomes)


def test_models_are_paired_by_name_or_if_alone(workspace: Path) -> None:
    before, after = made(1.0, model="old"), made(0.5, model="new")
    assert [(each.model, each.tested.model_a) for each in differences(after, before)] == [("new", "old")]
    both = finished(Workspace(), text_suite(24), text_outputs(24), "rouge")
    with pytest.raises(InputError, match="only the models good, poor; expected a model that the baseline has"):
        require_comparable(before, both.suite, both.models)


def test_a_suite_that_shares_no_case_is_refused(whole: Run) -> None:
    suite = text_suite(6)
    renamed = pa.array([f"other {number}" for number in range(6)])
    other = replace(suite, cases=suite.cases.set_column(0, "case_id", renamed))
    with pytest.raises(InputError, match="a run of a suite that shares no case; expected a run with cases of the same"):
        require_comparable(whole, other, ["m"])
    require_comparable(whole, suite, ["m"])


def test_metrics_are_known_and_have_a_better_end() -> None:
    require_metrics(["rougeL", "bleu.bleu4"], EVALUATORS)
    with pytest.raises(InputError, match=r"--fail-if-worse: found 'rougel'.*did you mean 'rouge.rougeL'"):
        require_metrics(["rougel"], EVALUATORS)


def test_the_baseline_is_a_run_or_an_archive(workspace: Path, tmp_path: Path) -> None:
    run = made(1.0)
    assert open_baseline("latest", Workspace()) == (run, None)
    write_file(run, tmp_path / "run.zip", True, True)
    elsewhere, _ = open_baseline(str(tmp_path / "run.zip"), Workspace(tmp_path / "elsewhere"))
    assert (elsewhere.id, elsewhere.workspace.path) == (run.id, tmp_path / "elsewhere")
    with pytest.raises(InputError, match=r"--baseline: found no file 'gone\.zip'"):
        open_baseline("gone.zip", Workspace())
    with pytest.raises(RunNotFound):
        open_baseline("gone", Workspace())
