"""Compliance: every standard, what was measured for it, what was not; evidence, never a certificate."""

from dataclasses import replace
from pathlib import Path

import pytest

from metrics.analysis.findings.compliance import GLYPHS, compliance, compliance_table, outcome
from metrics.analysis.leaderboard.leaderboard import leaderboard
from metrics.core.registry import evaluators
from metrics.core.standards import FRAMEWORKS
from metrics.store import Run, Workspace
from tests.analysis.leaderboard.test_headline import cell, column
from tests.analysis.scored import scored_run
from tests.engine.engine_scenes import finished, text_outputs, text_suite


@pytest.fixture(scope="module")
def run(shelf: Workspace) -> Run:
    return finished(shelf, text_suite(), text_outputs(), "rouge", "looping_detection", "pii_leakage")


def test_every_standard_that_evaluators_declare_has_its_place(run: Run) -> None:
    declared = {standard for entry in evaluators().values() for standard in entry.standards}
    known = {f"{framework}: {name}" for framework, names in FRAMEWORKS.items() for name in names}
    assert declared <= known
    assert [(one.framework, one.name) for one in compliance(run).standards] == [
        (framework, name) for framework, names in FRAMEWORKS.items() for name in names
    ]


def test_what_was_measured_and_what_was_not(run: Run) -> None:
    found = compliance(run)
    assert found.models == ("good", "poor")
    board = leaderboard(run)
    privacy = next(one for one in found.standards if one.name == "privacy enhanced")
    (evidence,) = privacy.evidence
    assert evidence.column.evaluator == "pii_leakage"
    assert evidence.cells == tuple(board.cells[model, evidence.column.key] for model in found.models)
    assert "pii_leakage" not in {one.evaluator for one in privacy.unmeasured}
    assert {"sensitive_data_leakage", "contact_information"} <= {one.evaluator for one in privacy.unmeasured}
    assert "judge" in next(one for one in privacy.unmeasured if one.evaluator == "contact_information").needs
    explainable = next(one for one in found.standards if one.name.startswith("explainable"))
    assert (explainable.evidence, explainable.unmeasured) == ((), ())


def test_owasp_lists_ten_risks_and_what_measures_them(run: Run) -> None:
    risks = {one.name[:5]: one for one in compliance(run).standards if one.framework == "OWASP LLM Top 10"}
    assert list(risks) == [f"LLM{number:02}" for number in range(1, 11)]
    assert [one.column.evaluator for one in risks["LLM10"].evidence] == ["looping_detection"]
    assert [one.column.evaluator for one in risks["LLM02"].evidence] == ["pii_leakage"]
    assert {"groundedness", "faithfulness", "fact_check"} <= {one.evaluator for one in risks["LLM09"].unmeasured}
    assert (risks["LLM03"].evidence, risks["LLM03"].unmeasured) == ((), ()), "nothing measured can show a supply chain"
    table = compliance_table(run)
    assert (table["framework"] == "OWASP LLM Top 10").sum() > 0


@pytest.mark.parametrize(("values", "expected"), [
    pytest.param([1.0] * 40, "passed", id="passed"),
    pytest.param([1.0] * 8 + [0.0], "passed_unsure", id="passed, the interval reaches over"),
    pytest.param([0.0] * 40, "failed", id="failed"),
    pytest.param([1.0] * 6 + [0.0] * 3, "failed_unsure", id="failed, the interval reaches back"),
    pytest.param([1.0], "passed_only", id="passed without interval"),
    pytest.param([0.0], "failed_only", id="failed without interval"),
    pytest.param([None], "unmeasured", id="no value"),
])  # fmt: skip
def test_outcomes(workspace: Path, values: list[float | None], expected: str) -> None:
    (evidence,) = compliance(scored_run({"context_recall": {"one": values}})).standards[0].evidence
    assert evidence.outcomes == (expected,)
    assert expected in GLYPHS


@pytest.mark.parametrize(("direction", "ends", "problem", "expected"), [
    pytest.param("higher", (0.75, 0.9), False, "passed", id="the low end on the threshold"),
    pytest.param("higher", (0.74, 0.9), False, "passed_unsure", id="the low end below"),
    pytest.param("higher", (0.1, 0.75), True, "failed_unsure", id="the high end on the threshold"),
    pytest.param("higher", (0.1, 0.74), True, "failed", id="the high end below"),
    pytest.param("lower", (0.1, 0.75), False, "passed", id="low is better: the high end on the threshold"),
    pytest.param("lower", (0.1, 0.76), False, "passed_unsure", id="low is better: the high end above"),
    pytest.param("lower", (0.76, 0.9), True, "failed", id="low is better: the low end above"),
    pytest.param("none", (0.1, 0.2), False, "measured", id="neither end is better"),
])  # fmt: skip
def test_an_interval_that_ends_on_the_threshold(direction, ends, problem, expected) -> None:
    of = column("e/m", direction=direction, threshold=0.75)
    assert outcome(of, replace(cell(best=True), low=ends[0], high=ends[1], problem=problem)) == expected
    assert outcome(replace(of, threshold=None), cell(best=True)) == "measured"


def test_the_table_is_flat(run: Run) -> None:
    rows = compliance_table(run)
    measured = rows[rows["evaluator"].eq("pii_leakage") & rows["standard"].eq("privacy enhanced")]
    assert (measured["model"].tolist(), measured["value"].tolist()) == (["good", "poor"], [1.0, 1.0])
    assert measured["n"].tolist() == [6, 6]
    assert rows.loc[rows["evaluator"].eq("contact_information"), "outcome"].eq("not run").all()
