"""The report's sections on differences, perturbations and standards, and its overview of the leaderboard."""

from dataclasses import replace
from pathlib import Path

import pytest

from metrics.analysis import leaderboard
from metrics.core.evidence import Evidence
from metrics.presentation.blocks import Radar
from metrics.reports.renderers.plots import Inks, plot
from metrics.reports.sections import worst_cases
from metrics.reports.sections.section_charts import overview
from metrics.store import Run, Workspace
from tests.analysis.findings.variants import perturbed_run
from tests.analysis.scored import scored_run
from tests.engine.engine_scenes import finished, text_outputs, text_suite
from tests.presentation.asked import ask

NAMES = ("context_recall", "answer_correctness", "faithfulness", "hallucination_claims")


@pytest.fixture(scope="module")
def run(module_workspace: Path) -> Run:
    """`best` beats `next` in yes-or-no and in graded metrics; `same` equals it everywhere."""
    graded = {"best": [0.9, 0.8] * 15, "next": [0.5, 0.4] * 15, "same": [0.9, 0.8] * 15}
    passes = {"best": [1.0] * 30, "next": [1.0, 0.0] * 15, "same": [1.0] * 30}
    return scored_run(dict.fromkeys(NAMES[:3], graded) | {"pii_leakage.passes": passes})


def test_the_difference_names_test_and_correction_in_words(run: Run) -> None:
    found = ask("is_it_better", run)
    (table,) = found.tables
    assert table.title == "best against next"
    results = {(row[0], row[1]): row[-1] for row in table.rows}
    assert results["Faithfulness\u00a0↑", "next"] == "best is better"
    assert results["PII leakage: Passes\u00a0↑", "next"] == "best is better"
    assert found.notes[0] == (
        "Paired on 30 shared cases, by McNemar's test for metrics that are right or wrong on a case and by a paired t "
        "test for many. “Better” = significant after Holm correction (8 tests, 5 %): all metrics and pairs of "
        "models of the run together, as in the ranks. No significant difference does not mean that two models are "
        "equal."
    )


def test_equal_models_need_no_test(workspace: Path) -> None:
    run = scored_run({"faithfulness": {"one": [0.5] * 5, "two": [0.5] * 5}})
    assert ask("is_it_better", run).notes[0].endswith("so there is nothing to test.")


def test_flips_stand_beside_the_copies(workspace: Path) -> None:
    run = perturbed_run({"steady": (), "shaky": [f"c{index}-typo" for index in range(8)]})
    found = ask("do_small_changes_matter", run)
    first = found.tables[0].rows[0]
    assert first[:6] == ("shaky", "Text matching: Passes", "typo", "8 of 12", "0.667", "0.391–0.862")
    assert first[7:10] == ("0 of 12", "more than copies", "0.004")
    assert {row[8] for row in found.tables[0].rows[-2:]} == {"the control"}
    assert "Holm correction" in found.notes[0]
    assert ask("do_small_changes_matter", finished(Workspace(), text_suite(), text_outputs(), "rouge")) is None


def test_standards_say_what_is_evidence_and_what_is_missing(run: Run) -> None:
    found = ask("what_is_evidence_for_standards", run)
    (table,) = found.tables
    assert tuple(head.title for head in table.heads) == ("Evaluator", "Standards", "Threshold", "best", "next", "same")
    (privacy,) = [row for row in table.rows if row[0] == "PII leakage: Passes\u00a0↑"]
    assert privacy[1].startswith("NIST AI RMF: safe, secure and resilient, privacy enhanced; SR 11-7: ")
    assert "OWASP LLM Top 10: LLM02 sensitive information disclosure" in privacy[1]
    assert privacy[2:4] == ("≥ 0.5", "✓ 1.00 (0.886–1.00), n 30")
    assert privacy[4].startswith("(✓) 0.500 ")
    assert found.notes[0].startswith("This is evidence, not certification")
    missing = [note for note in found.notes if note.startswith("Not measured, ")]
    assert len(missing) == 3, "a sentence a framework"
    assert "explainable and interpretable" in missing[0]
    assert "accountable and transparent (evaluators: " in missing[0]


def test_the_overview_has_a_radar_of_the_primary_metrics(run: Run) -> None:
    (group,) = overview(replace(leaderboard(run), models=("best", "same", "next")))
    (radar,) = group.charts
    assert isinstance(radar, Radar)
    assert radar.spokes == (
        "Context recall\u00a0↑", "Answer correctness\u00a0↑", "Faithfulness\u00a0↑", "PII leakage: Passes\u00a0↑",
    )  # fmt: skip
    assert (radar.models, radar.values[0]) == (("best", "same", "next"), pytest.approx((0.85, 0.85, 0.85, 1.0)))


def test_a_radar_leaves_out_what_has_no_value() -> None:
    inks = Inks("#000", "#555", "#ddd", "#fff", "#0f0", "#f00", {"one": "#123456"})
    whole = plot(Radar("t", ("a", "b", "c"), ("one",), ((0.5, 1.0, 0.2),)), inks)
    gap = plot(Radar("t", ("a", "b", "c"), ("one",), ((0.5, None, 0.2),)), inks)
    assert whole.shapes.count("#123456;stroke-width:1.6") == 3 + 1, "three lines and the legend"
    assert gap.shapes.count("#123456;stroke-width:1.6") == 1 + 1
    assert {label.text for label in whole.labels} >= {"a", "b", "c", "one"}


def test_what_a_finding_does_not_tell_is_left_out() -> None:
    evidence = Evidence({}, {"found": [{"kind": "email", "issuer": None, "start": 3, "dummy": False}], "failures": 1})
    assert list(worst_cases._evidence(evidence)) == [("", "failures: 1"), ("", "kind: email · start: 3")]
