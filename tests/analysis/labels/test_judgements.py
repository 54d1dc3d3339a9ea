"""What a run's judge was asked and said, read back; a try-out without a run; and what a report says of it."""

import re
from pathlib import Path

import pytest

from metrics import analysis, engine
from metrics.analysis.labels.judge_agreement import agreement_slices, agreements
from metrics.core.errors import MissingResource
from metrics.core.evaluator import Status
from metrics.engine.live_scorer import first_cases, try_out
from metrics.reports.build import build
from metrics.store import Run, Workspace
from metrics.store.rating_sets import Labels
from tests.engine.engine_scenes import finished, text_outputs, text_suite
from tests.judge.server import JudgeServer
from tests.pages.page_scenes import judged_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return judged_run(tmp_path_factory.mktemp("judged"))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return finished(Workspace(tmp_path_factory.mktemp("plain")), text_suite(), text_outputs(), "bleu")


def test_who_judged_what(run: Run, plain: Run) -> None:
    [name] = analysis.judge_names(run)
    assert name.startswith("scripted at 127.0.0.1:")
    assert analysis.judged_evaluators(run) == ("faithfulness",)
    assert (analysis.judge_names(plain), analysis.judged_evaluators(plain), analysis.judging(plain)) == ((), (), {})
    assert analysis.judgements(plain, "c0").empty


def test_a_local_judge_is_named_with_its_measured_agreement(workspace: Path) -> None:
    judge = {"model": "local", "panel": [{"model": "m"}, {"model": "local:mine.gguf", "weights": "a" * 64}]}
    ids = ["faithfulness", "context_recall"]
    run = engine.create(Workspace(workspace), text_suite(), text_outputs(), ids, resources={"judge": judge})
    said = analysis.judged_by(run)
    assert re.search(r"\(AUC 0\.\d\d \[0\.\d\d, 0\.\d\d\], n \d+, .*BEGIN.*\), m, ", said["faithfulness"])
    assert said["faithfulness"].endswith("(unmeasured with this judge)")  # other weights
    assert said["context_recall"].count("(unmeasured with this judge)") == 2
    measured = analysis.local_agreement(run)
    assert measured["context_recall"] == "unmeasured with this judge"
    assert f"({measured['faithfulness']})" in said["faithfulness"]


def test_the_replies_of_a_case(run: Run) -> None:
    rows = analysis.judgements(run, "gate")
    mine = rows[rows["model"] == "small"]
    assert mine["step"].tolist() == ["claims", "entailment"]
    assert "supported_by" in mine["reply"].tolist()[1]
    assert set(rows["case_id"]) == {"gate"}


def test_the_prompts_as_the_run_used_them(run: Run) -> None:
    used = analysis.prompts_asked(run)
    assert used["claims"] == analysis.Asked("List them.", True)
    assert not used["entailment"].edited
    assert used["entailment"].text
    assert used["claims"].wording != used["entailment"].wording


def test_what_it_cost(run: Run) -> None:
    cost = analysis.judging(run)["faithfulness"]
    assert cost["steps"] == cost["sent"] + cost["cached"]
    assert cost["failed"] == 4  # two unreadable cases, each with its repair
    assert cost["tokens"] > 0
    assert cost["usd"] is None


def test_the_report_names_the_judge_its_cost_and_the_claims(run: Run, plain: Run) -> None:
    report = build(run)
    facts = {fact.name: fact.value for group in report.facts if group.title == "Judge" for fact in group.facts}
    assert facts["Judge"].startswith("scripted at 127.0.0.1")
    assert "price unknown" in facts["Spent"]
    assert re.fullmatch(r"claims \(sha256 [0-9a-f]{12}\)", facts["Edited prompts"])
    assert "failed or unreadable" in facts["Faithfulness"]
    assert (
        "2 judged scores without a value because the judge's reply could not be read."
        in report.section("leaderboard").notes
    )
    lines = [line for case in report.worst for line in case.evidence]
    assert ("✓", "It opened in 1937. · supported · context 2 · Context 2 has it.") in lines
    assert any(glyph == "✗" and "Eiffel" in text for glyph, text in lines)
    assert not any("scripted" in text for _, text in lines)
    assert "Judge" not in [group.title for group in build(plain).facts]


def test_a_try_out_asks_about_a_few_cases(run: Run, tmp_path: Path) -> None:
    cases = first_cases(run, "small", 5)
    assert [(case.case_id, case.model) for case in cases] == [("gate", "small"), ("arch", "small")]
    with JudgeServer() as server:
        server.say("byop", lambda request: {"reason": "So.", "verdict": "steel" in request.text})
        resources = {"judge": {"model": "scripted", "base_url": server.url}}
        parameters = {"prompt": "Is {actual_answer} short?"}
        judged = try_out("byop", parameters, cases, resources, tmp_path)
        asked = len(server.calls)
        again = try_out("byop", parameters, cases, resources, tmp_path)
    assert [one.score.values["passes"] for one in judged] == [0.0, 1.0]
    assert [one.score.status for one in again] == [Status.OK, Status.OK]
    assert asked == len(server.calls) == 3  # two answers, and the contexts that they share
    with pytest.raises(MissingResource, match="no judge is chosen"):
        try_out("byop", parameters, cases, {}, tmp_path)


@pytest.mark.parametrize(
    ("name", "metric", "judged"), [("faithfulness", "faithfulness", True), ("rouge", "rougeL", False)]
)
def test_agreement_knows_which_scores_are_a_judges(run: Run, name: str, metric: str, judged: bool) -> None:
    Labels(run).give("gate", "small", "ann", "good", 1.0, "random")
    [whole] = agreements(run, "good", only=(name, metric))
    parts = agreement_slices(run, "good", (name, metric))
    assert {found.judged for found in (whole, *parts.values())} == {judged}
