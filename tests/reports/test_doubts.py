"""No sentence about who leads is silent on a main metric in which the leader may be worse."""

from collections.abc import Callable
from pathlib import Path

import pytest

from metrics import analysis
from metrics.analysis import headline
from metrics.analysis.findings.insights import insights
from metrics.core.rounding import EQUAL
from metrics.presentation.questions.is_it_better import leader_against_next
from metrics.reports.build import build
from metrics.reports.renderers.markdown import markdown
from metrics.store import Run
from tests.analysis.scored import scored_run
from tests.presentation.asked import ask

FEWER, MORE = [1.0] * 20 + [0.0] * 10, [1.0] * 19 + [0.0] + [1.0] * 7 + [0.0] * 3  # 7 against 1: p = 0.039
RENDERED: dict[str, Callable[[Run], str]] = {
    "headline": lambda run: headline(analysis.leaderboard(run)).sentence,
    "overview": lambda run: ask("which_leads", run).sentences[0].text,
    "pair": lambda run: ask("is_it_better", run).sentences[0].text,
    "report": lambda run: build(run, ["summary"]).headline,
    "sure": lambda run: next(line for line in build(run, ["summary"]).summary.sure if "Paired on" in line),
    "step": lambda run: build(run, ["summary"]).summary.steps[0],
    "finding": lambda run: insights(run).set_index("kind").at["leading_model", "message"],
    "pull request": lambda run: markdown(run).splitlines()[2],
}


@pytest.fixture(scope="module")
def doubted(module_workspace: Path) -> Run:
    """`best` is better in one metric, may be worse in one, and is as good in one."""
    return scored_run(
        {
            "faithfulness": {"best": [0.9, 0.8] * 15, "next": [0.5, 0.4] * 15},
            "pii_leakage.passes": {"best": FEWER, "next": MORE},
            "answer_correctness": {"best": [0.9, 0.8] * 15, "next": [0.8, 0.9] * 15},
        }
    )


def is_silent(text: str) -> bool:
    return "may be" not in text.lower() or "in none" in text or text.startswith(("Yes", "No:", "Choose"))


@pytest.mark.parametrize("told", RENDERED)
def test_every_sentence_names_it(doubted: Run, told: str) -> None:
    text = RENDERED[told](doubted)
    assert not is_silent(text), text
    assert "Passes" in text
    assert "by 0.200" in text
    assert "uncorrected" in text


def test_the_choice_is_weighed(doubted: Run) -> None:
    assert RENDERED["step"](doubted) == (
        "May be worse in PII leakage · Passes (by 0.200, uncorrected); unless that decides, choose best."
    )


def test_ranks_and_comparison_have_one_fact(doubted: Run) -> None:
    """Law: what may be better in the ranks, and by how much, is what the comparison of the pair says."""
    ranks, (pair,) = analysis.leaderboard(doubted).ranks, leader_against_next(doubted)
    rows = {row.column.key: row for row in pair.rows if abs(row.difference or 0.0) > EQUAL}
    assert {row.significance for row in rows.values()} == {"better", "leaning"}
    for key, row in rows.items():
        models = (pair.model_b, pair.model_a) if row.tendency == "better" else (pair.model_a, pair.model_b)
        assert ranks[key].gaps[models] == pytest.approx(abs(row.difference or 0.0))
        assert (models in ranks[key].leaning) is (row.significance == "leaning")
