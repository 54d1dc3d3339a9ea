"""A model without scores on its hardest cases: bounds of its value, its lead, its differences and its gates."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import metrics
from metrics import analysis
from metrics.analysis import Column
from metrics.analysis.comparison.case_values import CaseValues
from metrics.analysis.comparison.unpaired import OneSided
from metrics.core.evaluator import MISSING, Status
from metrics.core.suite import Outputs, Suite
from metrics.reports.baseline import differences, non_inferior, worse
from metrics.reports.gates import Gate, check
from metrics.store import Run
from metrics.testing import assert_metric

CASES, ANSWERED = 200, 124
KEY = "exact_match/exact_match"
RANGE = Column(
    key="e/m", evaluator="e", evaluator_title="E", family="text", metric="m", title="m", description="",
    direction="higher", low=0.0, high=1.0, threshold=None, unit="", primary=True, minor=False,
)  # fmt: skip
Lose = Callable[[int], dict[str, Any] | None]  # what becomes of the output of a case that is hard; None: no output


def suite() -> list[dict[str, Any]]:
    return [{"case_id": f"c{n:03}", "question": f"What is {n}?", "expected_answers": ["yes"]} for n in range(CASES)]


def answers(lose: Lose, right: Callable[[int], bool] = lambda n: n % 2 == 1 or n < 40) -> list[dict[str, Any]]:
    """`full` answers every second case right; `part` some more, and loses those from ANSWERED on."""
    rows = [{"case_id": f"c{n:03}", "model": "full", "answer": "yes" if n % 2 else "no"} for n in range(CASES)]
    for n in range(CASES):
        row: dict[str, Any] | None = {"case_id": f"c{n:03}", "model": "part", "answer": "yes" if right(n) else "no"}
        if n >= ANSWERED:
            lost = lose(n)
            row = None if lost is None else {**(row or {}), **lost}
        rows += [] if row is None else [row]
    return rows


def run_of(tmp_path: Path, lose: Lose) -> Run:
    found: Run = metrics.evaluate(suite(), answers(lose), ["exact_match"], workspace=tmp_path)
    return found


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_of(tmp_path_factory.mktemp("unscored"), lambda _: None)


@pytest.mark.parametrize(
    ("lose", "status"),
    [(lambda _: None, "skipped"), (lambda _: {"error": "HTTP 503"}, "error")],
    ids=["no output", "error"],
)
def test_bounds_take_every_missing_case_at_the_ends(tmp_path: Path, lose: Lose, status: str) -> None:
    board = analysis.leaderboard(run_of(tmp_path, lose))
    cell = board.cells["part", KEY]
    assert (cell.n, cell.missing, cell.counts) == (ANSWERED, CASES - ANSWERED, {status: CASES - ANSWERED})
    right = (ANSWERED - 40) // 2 + 40
    assert cell.value == pytest.approx(right / ANSWERED)
    assert cell.bounds == pytest.approx((right / CASES, (right + CASES - ANSWERED) / CASES))
    assert cell.missing_share == pytest.approx(0.38)


def test_a_lead_that_the_missing_cases_may_undo_is_not_named(run: Run) -> None:
    board = analysis.leaderboard(run)
    assert board.cells["part", KEY].best
    assert not board.cells["full", KEY].best
    assert board.overtaking == {("part", KEY): ("full",)}
    assert analysis.headline(board).sentence == (
        "No leader is named: part is ahead of full in Exact match on the scored cases, but with the unscored ones "
        "(part 38 %, full 0 %) the lead may not hold."
    )
    found = analysis.insights(run).set_index("kind").loc["unscored"]
    assert found["message"] == (
        "part has no score of 38 % of its cases in Exact match: 0.410–0.790 with them; its lead over full may not hold"
    )
    assert (found["severity"], found["affected"]) == ("high", CASES - ANSWERED)


def test_a_lead_that_the_missing_cases_cannot_undo_stays(tmp_path: Path) -> None:
    rows = answers(lambda n: None if n >= 190 else {}, right=lambda _: True)
    run = metrics.evaluate(suite(), rows, ["exact_match"], workspace=tmp_path)
    board = analysis.leaderboard(run)
    assert board.cells["part", KEY].is_partial
    assert board.overtaking == {}
    assert analysis.headline(board).sentence == "part leads: best in Exact match."
    assert analysis.insights(run).set_index("kind").loc["unscored", "severity"] == "low"


def test_few_missing_cases_change_nothing(tmp_path: Path) -> None:
    run = metrics.evaluate(suite(), answers(lambda n: None if n >= 196 else {}), ["exact_match"], workspace=tmp_path)
    cell = analysis.leaderboard(run).cells["part", KEY]
    assert (cell.missing, cell.is_partial) == (4, False)
    assert check(run, [Gate.parse(f"exact_match={cell.value}")], "part")[0].passed
    assert "unscored" not in set(analysis.insights(run)["kind"])


@pytest.mark.parametrize(
    ("gate", "allowed", "passed", "found"),
    [
        ("exact_match=0.42", False, False, "0.41 (at worst, with 38 % of the cases unscored; 0.661 of the others)"),
        ("exact_match=0.40", False, True, "0.41 (at worst, with 38 % of the cases unscored; 0.661 of the others)"),
        ("exact_match=0.42", True, True, "0.6613"),
        ("exact_match.lower=0.40", False, False,
         "0.41 (at worst, with 38 % of the cases unscored; 0.661 of the others) with lower bound 0.3442 "
         "(0.344–0.479, n 200)"),
        ("exact_match.lower=0.40", True, True, "0.6613 with lower bound 0.5743 (0.574–0.739, n 124)"),
    ],
)  # fmt: skip
def test_gates_take_the_worst_case(run: Run, gate: str, allowed: bool, passed: bool, found: str) -> None:
    outcome = check(run, [Gate.parse(gate)], "part", allow_unscored=allowed)[0]
    assert (outcome.passed, outcome.found) == (passed, found)
    bound = gate.partition("=")[0].endswith("lower")
    limit = float(gate.partition("=")[2])
    if passed:
        assert_metric(run, "exact_match", at_least=limit, lower_bound=bound, model="part", allow_unscored=allowed)
    else:
        with pytest.raises(AssertionError, match="at worst"):
            assert_metric(run, "exact_match", at_least=limit, lower_bound=bound, model="part")


def test_a_gate_on_a_range_without_an_end_fails_with_the_reason(tmp_path: Path) -> None:
    cases = [{"case_id": str(n), "true_value": float(n)} for n in range(50)]
    rows = [
        {"case_id": str(n), "model": model, "predicted_value": n + 1.0}
        for model, answered in (("full", 50), ("part", 30))
        for n in range(answered)
    ]
    given = Suite.from_rows("s", "regression", cases), Outputs.from_rows(rows)
    run = metrics.evaluate(*given, ["regression"], workspace=tmp_path)
    gate = Gate.parse("mae=2")
    full, part = check(run, [gate])
    assert (part.passed, part.found) == (
        False, "no value (40 % of the cases unscored and no worst case: the range has no end)",
    )  # fmt: skip
    assert full.passed
    assert check(run, [gate], "part", allow_unscored=True)[0].passed
    assert "nothing bounds its value" in str(analysis.insights(run).set_index("kind").loc["unscored", "message"])


def test_differences_to_a_baseline_count_the_missing_cases_as_the_worst(run: Run, tmp_path: Path) -> None:
    before = [row for row in answers(lambda _: {}) if row["model"] == "part"]
    after = [row for row in answers(lambda _: None) if row["model"] == "part"]
    old, new = (metrics.evaluate(suite(), rows, ["exact_match"], workspace=tmp_path) for rows in (before, after))
    names = {allowed: differences(new, old, ["exact_match"], {"exact_match": 0.05}, allow_unscored=allowed)
             for allowed in (False, True)}  # fmt: skip
    assert [worse(names[allowed], ["exact_match"])[0].passed for allowed in (False, True)] == [False, True]
    assert worse(names[False], ["exact_match"])[0].found.endswith("worse; 76 unscored cases at worst")
    assert [non_inferior(names[allowed], {"exact_match": 0.05})[0].passed for allowed in (False, True)] == [False, True]


def test_a_comparison_says_what_the_difference_may_be(run: Run) -> None:
    told = analysis.compare(run, "full", "part").notes
    assert told[-1] == (
        "Exact match: only one model has a score of 76 of 200 cases; with these the worst or the best for either, the "
        "difference is between −0.090 and 0.290."
    )


def test_what_an_evaluator_does_not_apply_to_is_not_missing(tmp_path: Path) -> None:
    rows = suite()
    for row in rows[:100]:
        row["expected_answers"] = []
    run = metrics.evaluate(rows, answers(lambda _: {}), ["exact_match"], workspace=tmp_path)
    cell = analysis.leaderboard(run).cells["full", KEY]
    assert (cell.unscored, cell.missing, cell.bounds, cell.is_partial) == (100, 0, None, False)
    assert Status.NOT_APPLICABLE not in MISSING


def test_bounds_of_accuracy_are_weighted_and_f1_has_none(tmp_path: Path) -> None:
    cases = [{"case_id": str(n), "label": "ab"[n % 2], "weight": 1.0 + n % 3} for n in range(60)]
    kept = [n for n in range(60) if n < 42]
    outputs = [{"case_id": str(n), "model": "m"} for n in kept]
    labels = [{"case_id": str(n), "model": "m", "label": "ab"[(n // 3) % 2], "score": 0.8} for n in kept]
    given = Suite.from_rows("s", "classification", cases), Outputs.from_rows(outputs, labels)
    with pytest.warns(UserWarning, match="No prediction for 18 of 60 cases"):
        run = metrics.evaluate(*given, ["classification"], workspace=tmp_path)
    weights = np.array([case["weight"] for case in cases])
    right = np.array([n < 42 and (n // 3) % 2 == n % 2 for n in range(60)])
    lost = np.arange(60) >= 42
    board = analysis.leaderboard(run)
    accuracy, f1 = (board.cells["m", f"classification/{name}"] for name in ("accuracy", "f1?average=macro"))
    assert accuracy.bounds == pytest.approx((weights[right].sum() / 120, weights[right | lost].sum() / 120))
    assert (f1.missing, f1.bounds, f1.is_partial) == (18, None, True)
    found = check(run, [Gate.parse("f1=0.1")])[0].found
    assert found == "no value (30 % of the cases unscored and no worst case: no mean over cases)"


def test_difference_bounds_hold_whatever_the_missing_values_are() -> None:
    """Against every assignment of the ends to the missing values of small samples."""
    rng = np.random.default_rng(5)
    for _ in range(50):
        a, b = rng.random((2, 6)).round(2)
        lacks_a, lacks_b = rng.random((2, 6)) < 0.3
        weights = rng.integers(1, 4, 6).astype(float)
        given_a, given_b = np.where(lacks_a, np.nan, a), np.where(lacks_b, np.nan, b)
        either = ~(lacks_a & lacks_b)
        if not either.any():
            continue
        lacking = OneSided(lacks_a & ~lacks_b, lacks_b & ~lacks_a, 0.5)
        both = [CaseValues(values, single=True) for values in (given_a, given_b)]
        pairs = [lacking.completed(RANGE, *both, worst) for worst in (True, False)]
        found = [np.average((y.values - x.values)[either], weights=weights[either]) for x, y in pairs]
        ends = [
            np.average((np.where(lacks_b, y, b) - np.where(lacks_a, x, a))[either], weights=weights[either])
            for x, y in ((0, 0), (0, 1), (1, 0), (1, 1))
        ]
        assert found == pytest.approx((min(ends), max(ends)))
