"""The first page: it agrees with the leaderboard and the comparison, and its steps follow from findings."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from metrics import analysis
from metrics.analysis.cases.case_table import case_table
from metrics.analysis.findings.insights import COLUMNS
from metrics.core.errors import InputError
from metrics.core.suite import Outputs
from metrics.presentation.phrases import metric_title, with_interval
from metrics.presentation.questions.what_stands_out import grouped_insights
from metrics.presentation.questions.what_went_wrong import Problem, problem_groups
from metrics.reports.build import build
from metrics.reports.renderers.html import html
from metrics.reports.report import Report
from metrics.reports.section_names import ON_REQUEST, SECTIONS
from metrics.store import Run, Workspace
from tests.analysis.leaderboard.noise_scenes import noisy_run
from tests.analysis.scored import scored_run
from tests.engine.engine_scenes import finished, text_outputs, text_suite

GRADED, RIGHT, WRONG = [0.9, 0.8] * 15, [1.0] * 30, [1.0] * 10 + [0.0] * 20
SCENES = {
    "one leads": {
        "faithfulness": {"best": GRADED, "next": [0.5, 0.4] * 15}, "pii_leakage.passes": {"best": RIGHT, "next": WRONG},
    },
    "none differs": {
        "faithfulness": {"best": GRADED, "next": [0.8, 0.9] * 15}, "pii_leakage.passes": {"best": RIGHT, "next": RIGHT},
    },
    "each leads in one": {
        "faithfulness": {"best": GRADED, "next": [0.5, 0.4] * 15}, "pii_leakage.passes": {"best": WRONG, "next": RIGHT},
    },
    "the leader fails": {"pii_leakage.passes": {"best": WRONG, "next": [0.0] * 30}},
    "alone and good": {"pii_leakage.passes": {"solo": RIGHT}}, "alone and bad": {"pii_leakage.passes": {"solo": WRONG}},
}  # fmt: skip
FIRST_STEPS = {
    "one leads": "Choose best.", "none differs": "Do not choose by these metrics alone.",
    "each leads in one": "Do not choose by these metrics alone.",
    "the leader fails": "Choose best once it meets its threshold in PII leakage: Passes.",
    "alone and good": "Use solo.", "alone and bad": "Use solo once it meets its threshold in PII leakage: Passes.",
}  # fmt: skip


@pytest.mark.parametrize("scene", SCENES)
def test_it_says_what_the_leaderboard_says(workspace: Path, scene: str) -> None:
    """Law: headline, values, p and choice are those of the leaderboard."""
    run = scored_run(SCENES[scene])
    board = analysis.leaderboard(run)
    report, head = build(run, ["summary"]), analysis.headline(board)
    assert report.headline == head.sentence
    assert report.summary.steps[0].startswith(FIRST_STEPS[scene])
    chosen = [model for model in board.models if f"Choose {model}" in report.summary.steps[0]]
    assert chosen == ([head.leader] if head.leader and len(board.models) > 1 else [])
    columns = {metric_title(column): column for column in analysis.primary_columns(board)}
    assert [row[0] for row in report.summary.table.rows] == list(columns)
    for row in report.summary.table.rows:
        heads = [head.title for head in report.summary.table.heads]
        for model in set(heads) & set(board.models):
            cell = board.cells[model, columns[row[0]].key]
            assert row[heads.index(model)] == with_interval(cell.value, cell.low, cell.high)


def test_failures_and_cases_without_a_value_are_told(workspace: Path) -> None:
    run = scored_run({"pii_leakage.passes": {"best": [*WRONG[:-3], None, None, None], "next": [0.0] * 30}})
    summary = build(run, ["summary"]).summary
    assert any(line.startswith("3 of 60 scores of the primary metrics have no value") for line in summary.sure)
    assert summary.fails[0].startswith("PII leakage: Passes ≥ 0.5 is missed by every model, ")
    assert any(
        step.startswith("Read the 17 cases of best that miss PII leakage: Passes ≥ 0.5") for step in summary.steps
    )


def test_the_noise_of_repeats_is_told_for_a_manager(workspace: Path) -> None:
    shares = r"In ROUGE-L, (\d+) % of the noise is between cases, (\d+) % between repeats: more cases help most\."
    report = build(noisy_run(Workspace()), ["summary"])
    (found,) = [match for line in report.summary.sure if (match := re.fullmatch(shares, line))]
    assert int(found[1]) + int(found[2]) == 100
    assert found[0] in html(report).decode()
    single = build(noisy_run(Workspace(), repeats=1), ["summary"]).summary
    assert not any("of the noise" in line for line in single.sure)


def problem(model: str, value: float, severity: str = "high", title: str = "passes") -> Problem:
    return Problem(model, "pii", "PII", title, value, value - 0.1, value + 0.1, 0.5, "higher", 30, severity, "", 9)


@pytest.mark.parametrize(("problems", "among", "sentence"), [
    ([problem("a", 0.2)], 3, "PII: Passes ≥ 0.5 is missed by a: 0.200 (0.100–0.300), significant."),
    (
        [problem("a", 0.45, "low"), problem("b", 0.2)], 3,
        "PII: Passes ≥ 0.5 is missed by 2 of 3 models, significantly by 1; the most by b: 0.200 (0.100–0.300).",
    ),
    (
        [problem("a", 0.3), problem("b", 0.2)], 2,
        "PII: Passes ≥ 0.5 is missed by every model, significantly; the most by b: 0.200 (0.100–0.300).",
    ),
    (
        [problem("solo", 0.2)], 1,
        "PII: Passes ≥ 0.5 is missed: 0.200 (0.100–0.300), significant; 9 cases on the wrong side.",
    ),
], ids=["one", "some", "all", "alone"])  # fmt: skip
def test_a_threshold_missed_by_many_is_one_sentence(problems: list[Problem], among: int, sentence: str) -> None:
    (group,) = problem_groups(problems, among)
    assert group.sentence == sentence


def test_findings_that_repeat_share_a_sentence() -> None:
    base = dict.fromkeys(COLUMNS)
    rows = [
        base | {"kind": "leading_model", "message": "a leads."},
        base | {"kind": "no_difference", "evaluator": "rouge", "metric": "rougeL", "message": "rougeL: …"},
        base | {"kind": "no_difference", "evaluator": "bleu", "metric": "bleu4", "message": "bleu4: …"},
        base | {"kind": "best_model", "evaluator": "rouge", "metric": "rougeL", "model": "a", "value": 0.5},
        base | {"kind": "best_model", "evaluator": "bleu", "metric": "bleu4", "model": "a", "value": 0.25},
        base | {"kind": "retrieval_cause", "model": "a", "affected": 9, "value": 0.9, "evidence": "why"},
        base | {"kind": "retrieval_cause", "model": "b", "affected": 4, "value": 0.5, "evidence": "why"},
        base | {"kind": "fastest_model", "model": "a", "message": "a is the fastest", "evidence": "n = 9"},
        base | {"kind": "worst_model", "evaluator": "rouge", "metric": "rougeL", "model": "b", "message": "as it is"},
    ]
    found = grouped_insights(pd.DataFrame(rows))
    assert [(one.message, one.evidence) for one in found] == [
        ("No significant difference between the models in 2 metrics: ROUGE-L, BLEU-4", ""),
        ("a is best at ROUGE-L (0.500), BLEU-4 (0.250)", ""),
        ("Failing answers whose contexts fail too: a 9 of 10 and b 4 of 8", "why"),
        ("a is the fastest", "n = 9"),
        ("as it is", ""),
    ]


# The choice of sections


@pytest.fixture(scope="module")
def run(module_workspace: Path) -> Run:
    return scored_run(SCENES["one leads"])


def parts(report: Report) -> list[str]:
    held = {
        "summary": report.summary,
        "charts": report.charts, "worst-cases": report.worst, "methods": report.methods, "data": report.facts,
    }  # fmt: skip
    held |= {section.name: section for section in (*report.sections, *report.appendices)}
    assert set(held) <= set(SECTIONS)
    return [name for name in SECTIONS if held.get(name)]


def test_only_what_was_chosen_is_there(run: Run) -> None:
    whole = parts(build(run))
    assert {"summary", "leaderboard", "comparison", "problems", "methods", "data"} <= set(whole)
    assert not ON_REQUEST & set(whole)
    for name in [*whole, "compliance"]:
        assert parts(build(run, [name])) == [name]


@pytest.mark.parametrize(("names", "found"), [(["summary", "heatmap"], "'heatmap'"), ([], "none")])
def test_an_unknown_section_is_named(run: Run, names: list[str], found: str) -> None:
    with pytest.raises(InputError, match=f"found {found}; expected some of summary, leaderboard, comparison"):
        build(run, names)


# The first page of several models


def test_the_values_of_up_to_five_models_stand_in_the_boards_order(workspace: Path) -> None:
    """Law: every model's value and interval in each primary metric, not the difference of two."""
    levels = {f"m{place}": [place / 10, place / 10 + 0.05] * 15 for place in (3, 9, 1, 7, 5, 2)}
    run = scored_run({"faithfulness": levels, "answer_correctness": levels})
    report, board = build(run), analysis.leaderboard(run)
    table = report.summary.table
    assert tuple(head.title for head in table.heads) == ("Metric", *report.models[:5])
    assert (report.models[0], report.heatmap.models) == ("m9", report.models)
    assert table.title == "Values with 95 % intervals, the first 5 of 6 models"
    for row, column in zip(table.rows, analysis.primary_columns(board), strict=True):
        for model, text in zip(report.models[:5], row[1:], strict=True):
            cell = board.cells[model, column.key]
            assert text == with_interval(cell.value, cell.low, cell.high)


def test_every_model_has_worst_cases(workspace: Path) -> None:
    """One that fails everywhere does not take the place of the others."""
    run = scored_run({"faithfulness": {"poor": [0.0] * 30, "fair": [0.9] * 30, "good": [1.0] * 29 + [0.5]}})
    shown = [case.model for case in build(run, ["worst-cases"]).worst]
    assert sorted(shown) == ["fair", "fair", "good", "poor", "poor"]
    assert len({case.case_id for case in build(run, ["worst-cases"]).worst}) == 5


def test_the_case_that_the_page_puts_first_is_shown_and_the_counts_are_true(workspace: Path) -> None:
    """Of seven cases that `a` finds equally bad the page puts the one first that `b` fails, too."""
    values = {"a": [0.1] * 7 + [1.0] * 23, "b": [0.9] * 5 + [0.1, 0.9] + [1.0] * 23}
    run = scored_run({"faithfulness": values})
    report = build(run, ["worst-cases"])
    first = case_table(run, "faithfulness", "faithfulness", limit=1).cases[0]["case_id"]
    assert report.worst[0].case_id == first
    assert "6 bad cases shown, at most 3 of a model; the studio lists all." in report.remarks
    assert Counter(case.model for case in report.worst) == {"a": 3, "b": 3}


def test_skipped_rows_and_empty_answers_are_on_the_first_page(workspace: Path) -> None:
    suite = replace(text_suite(), left_out=2)
    outputs = text_outputs()
    rows = outputs.outputs.to_pylist()
    for row in rows[:3]:
        row["answer"] = ("", " ", None)[rows.index(row) % 3]
    run = finished(Workspace(), suite, Outputs.from_rows(rows), "rouge")
    sure = build(run, ["summary"]).summary.sure
    assert sure[0] == "2 invalid rows skipped: 2 of the suite"
    assert sure[1].startswith("3 answers are empty: ")
