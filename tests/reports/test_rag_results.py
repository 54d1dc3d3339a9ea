"""A run as Open RAG Eval's result CSV, and that CSV read back."""
# ruff: noqa: E501 - a table reads better with one line a case

import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from metrics import engine, evaluate
from metrics.analysis import leaderboard
from metrics.cli.main import main
from metrics.core.errors import InputError
from metrics.core.metric_names import column_name
from metrics.ingest import read_combined
from metrics.ingest.formats.open_rag_eval import EVALUATORS, SCALARS, read_rag_results
from metrics.library.evaluator_choice import runnable
from metrics.library.own_score_columns import score_columns
from metrics.presentation.blocks import ScorePanel
from metrics.reports.exchange.exporters import EXPORTS, export
from metrics.reports.renderers.rag_results import empty_columns, rag_results
from metrics.reports.sections.section_charts import chart_groups
from metrics.store import Run, Workspace
from metrics.store.table_files import write as write_table
from tests.engine.engine_scenes import finished, one_thread, text_outputs, text_suite
from tests.ingest.files import write
from tests.judge.server import JudgeServer, Request

ANSWERS = (
    "query_id,query,query_run,passage_id,passage,generated_answer\n"
    "q1,How many moons?,1,[2],Seven planets have a moon.,Seven [2]\n"
    "q1,How many moons?,1,[3],Earth has a moon.,\n"
    "q1,How many moons?,2,[2],Seven planets have a moon.,Seven [2] and Earth [3]\n"
    "q1,How many moons?,2,[3],Earth has a moon.,\n"
    "q1,How many moons?,3,[2],Seven planets have a moon.,I do not know.\n"
    "q1,How many moons?,3,[3],Earth has a moon.,\n"
    "q2,Who?,1,[2],Nobody.,NO_ANSWER\n"
)
NUGGETS = [{"reason": "", "importance": "vital"}, {"reason": "", "importance": "okay"}]


def graded(request: Request) -> dict[str, object]:
    grade = 3 if "Seven" in request.data["PASSAGE"] else 1
    return {"intent": "a number", "match": grade, "trust": 2, "grade": grade}


def assigned(request: Request) -> list[dict[str, str]]:
    knows = "not know" not in request.data["ANSWER"]
    return [{"reason": "", "assignment": "support" if knows else "not_support"}] * 2


def supported(request: Request) -> dict[str, str]:
    return {"reason": "", "support": "full" if "Seven" in request.data["STATEMENT"] else "partial"}


@pytest.fixture(scope="module")
def judged(module_workspace: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    with JudgeServer() as server:
        return judged_by(server, tmp_path_factory.mktemp("answers"))


def judged_by(judge_server: JudgeServer, folder: Path) -> Run:
    judge_server.say("umbrela.grade", graded)
    judge_server.say("autonuggetizer.nuggets", {"nuggets": ["seven planets", "Earth's moon"]})
    judge_server.say("autonuggetizer.importance", NUGGETS)
    judge_server.say("autonuggetizer.assignment", assigned)
    judge_server.say("citation.support", supported)
    judge_server.say(
        "no_answer", lambda request: {"attempted": "no" if "not know" in request.data["ANSWER"] else "yes"}
    )
    suite, outputs = read_combined(write(folder, "bot.csv", ANSWERS))
    evaluators = ("umbrela", "autonuggetizer", "citation", "no_answer", "consistency_rouge")
    judge = {"model": "scripted", "base_url": judge_server.url}
    return engine.execute(
        engine.create(Workspace(), suite, outputs, evaluators, resources={"judge": judge}), one_thread
    )


def test_the_columns_of_the_tool(judged: Run) -> None:
    table = rag_results(judged)
    first, second = table.to_dict("records")
    assert list(table.columns[:4]) == ["query_id", "query", "run_1_retrieved_passages", "run_1_generated_answer"]
    assert (first["query_id"], first["query"]) == ("q1", "How many moons?")
    assert json.loads(first["run_1_retrieval_score_umbrela_scores"]) == {"[2]": 3, "[3]": 1}
    assert first["run_1_retrieval_score_mean_umbrela_score"] == 2.0
    assert json.loads(first["run_1_retrieval_score_precision_metrics"]) == {
        "precision@": {"1": 1.0, "3": 0.333333333333333, "5": 0.2}, "AP@": {"1": 1.0, "3": 1.0, "5": 1.0}, "MRR": 1.0,
    }  # fmt: skip
    assert json.loads(first["run_2_generated_answer"]) == [
        {"text": "Seven", "citations": ["[2]"]}, {"text": "and Earth", "citations": ["[3]"]},
    ]  # fmt: skip
    assert json.loads(first["run_2_generation_score_citation_scores"]) == {
        "citation_score_[2]": 1.0, "citation_score_[3]": 0.5, "part_score_1": 1.0, "part_score_2": 0.5,
        "weighted_precision": 0.75, "weighted_recall": 0.75, "f1": 0.75,
    }  # fmt: skip
    nuggets = json.loads(first["run_3_generation_score_autonugget_scores"])
    assert (nuggets["labels"], nuggets["assignments"]) == (["vital", "okay"], ["not_support", "not_support"])
    assert nuggets["nuggetizer_scores"]["Vital"] == 0.0
    answered = [json.loads(first[f"run_{repeat}_generation_score_no_answer_score"]) for repeat in (1, 2, 3)]
    assert answered == [{"query_answered": "yes"}, {"query_answered": "yes"}, {"query_answered": "no"}]
    assert json.loads(second["run_1_generation_score_no_answer_score"]) == {"query_answered": "no"}
    assert pd.isna(second["run_2_retrieval_score_mean_umbrela_score"])
    vital = json.loads(first["consistency_vital_nuggetizer_score"])
    assert vital["values"] == [1.0, 1.0, 0.0]
    assert vital["stats"]["consistency_adjusted_index"] == pytest.approx((2 / 3) / (1 + (2 / 9) ** 0.5))
    assert len(json.loads(first["consistency_rouge_score"])["values"]) == 3


def test_export_then_import_gives_the_scores(judged: Run, tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    assert main(["export", "latest", "--what", "open_rag_eval", "--format", "csv", "-o", str(path)]) == 0
    assert EXPORTS["open_rag_eval"].fits(judged), "so it is a download on Report, run_1_ … where there are repeats"
    assert export(judged, "open_rag_eval", "csv") == path.read_bytes()
    found = re.findall(r"\d\.\d+", path.read_text())
    assert found == [repr(float(f"{float(one):.15g}")) for one in found], "numbers have 15 significant digits"
    back = read_rag_results(path).to_pandas()
    stored = judged.scores
    kept = stored[stored["evaluator"].isin(EVALUATORS) & stored["value"].notna()]
    names = ["case_id", "run", "evaluator", "metric"]
    ours = back[~back["evaluator"].str.startswith("consistency_")].astype({"run": "int64"})
    pd.testing.assert_series_equal(
        kept.set_index(names)["value"].sort_index(), ours.set_index(names)["value"].sort_index(), check_index_type=False
    )
    spread = back[back["evaluator"].eq("consistency_rouge_score") & back["metric"].eq("mean")]
    assert spread["run"].isna().all()
    assert spread["value"].iloc[0] == pytest.approx(
        stored.query("metric == 'rougeL_f1' and case_id == 'q1'")["value"].iloc[0]
    )


def test_scores_of_a_file_are_exported(judged: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "baseline.csv"
    path.write_bytes(write_table(rag_results(judged), "csv"))
    assert main(["export", str(path), "--what", "scores"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows[0]["model"] == "baseline"
    assert {"case_id": "q1", "run": 1, "evaluator": "umbrela", "metric": "umbrela", "value": 2.0}.items() <= next(
        row for row in rows if row["metric"] == "umbrela"
    ).items()
    assert main(["export", str(path), "--what", "aggregates"]) == 2
    assert "a file, and --what aggregates; expected --what scores" in capsys.readouterr().err


def test_a_reason_is_told_once_for_all_columns_that_it_empties(workspace: Path) -> None:
    given = [{"question": "q", "answer": "a [1].", "retrieved_contexts": ["a"], "model": "m"}]
    (told,) = empty_columns(evaluate(given, evaluators=["umbrela", "readability"], workspace=workspace))
    columns, reason = told.split(" are empty: ")
    of_umbrela = ("umbrela_scores", "precision_metrics", "mean_umbrela_score")
    assert columns.split(", ") == [f"retrieval_score_{name}" for name in of_umbrela]
    assert reason.startswith("no judge is chosen")


def test_which_model(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = finished(Workspace(workspace), text_suite(), text_outputs(), "rouge")
    for arguments, said in {
        (): "--model: found 2 models; expected one of good, poor",
        ("--model", "x"): "--model: found 'x'; expected one of good, poor",
        ("--model", "good"): f"{run.id}: found no score of Open RAG Eval; expected one of umbrela, autonuggetizer",
    }.items():
        assert main(["export", run.id, "--what", "open_rag_eval", *arguments]) == 2
        assert said in capsys.readouterr().err


THEIRS = {  # as the tool's versions write them; in the order of SCALARS
    "one repeat, without prefix": ("", "generation_score_hallucination_score"),
    "prefixed": ("run_1_", "generation_score_hallucination_score"),
    "an older name": ("", "generation_score_hallucination_scores"),
}


@pytest.mark.parametrize(("prefix", "hallucination"), THEIRS.values(), ids=THEIRS.keys())
def test_files_of_the_tool(tmp_path: Path, prefix: str, hallucination: str) -> None:
    names = [hallucination if "hallucination" in name else name for name in SCALARS]
    frame = pd.DataFrame({prefix + name: [0.25, None] for name in names})
    frame.insert(0, "query_id", ["a", "b"])
    frame[prefix + "generation_score_no_answer_score"] = ['{"query_answered": "yes"}', '{"query_answered": "no"}']
    frame[prefix + "generation_score_autonugget_scores"] = ["{}", None]
    frame[prefix + "generation_score_semantic_similarity"] = [0.5, float("nan")]
    frame[prefix + "generated_answer"] = ["x", "=y"]
    buffer = io.StringIO()
    frame.to_csv(buffer, index=False)
    rows = read_rag_results(write(tmp_path, "r.csv", buffer.getvalue())).to_pylist()
    found = {(row["case_id"], row["run"], row["evaluator"], row["metric"]): row["value"] for row in rows}
    assert found == {
        **{("a", 1, *key): 0.25 for key in SCALARS.values()},
        ("a", 1, "no_answer", "no_answer"): 1.0, ("b", 1, "no_answer", "no_answer"): 0.0,
        ("a", 1, "generation_score_semantic_similarity", "value"): 0.5,
    }  # fmt: skip


BAD = {
    "no number": ("query_id,retrieval_score_mean_umbrela_score\na,1\nb,high\n", "row 3, column retrieval_score_mean_umbrela_score: found 'high'; expected a number"),
    "no JSON": ("query_id,generation_score_no_answer_score\na,yes\n", "row 2, column generation_score_no_answer_score: found 'yes'; expected a JSON object with the numbers of this column"),
    "an unknown word": ('query_id,generation_score_no_answer_score\na,"{""query_answered"": ""maybe""}"\n', "row 2, column generation_score_no_answer_score: found '{\"query_answered\":\"maybe\"}'; expected a JSON object with the numbers of this column"),
    "another file": ("case_id,answer\na,1\n", "row 1: found no column query_id; expected a result CSV of Open RAG Eval"),
    "no scores": ("query_id,query\na,b\n", "row 1: found no column with scores; expected columns such as retrieval_score_mean_umbrela_score, generation_score_mean_nugget_assignment_score"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "said"), BAD.values(), ids=BAD.keys())
def test_problems(tmp_path: Path, content: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read_rag_results(write(tmp_path, "r.csv", content))
    assert [str(problem) for problem in caught.value.problems] == [f"r.csv, {said}"]


def test_a_report_draws_the_grades_as_boxes(judged: Run) -> None:
    charts = {answer.title: answer.blocks for answer in chart_groups(judged, judged.models)}
    panels = [chart for chart in charts["Grades"] if isinstance(chart, ScorePanel)]
    assert [panel.title.split("\u00a0")[0] for panel in panels[:2]] == ["UMBRELA", "AutoNuggetizer: Weighted"]
    assert all(not panel.share and panel.boxes[0].spread is not None for panel in panels)
    assert all("no_answer" not in panel.title.lower() for panel in panels), "yes or no is no grade"


def test_two_result_files_become_two_models(judged: Run, tmp_path: Path) -> None:
    """Every score of the run comes back from its result CSV, beside those of another configuration."""
    frame = rag_results(judged)
    frame.to_csv(tmp_path / "before.csv", index=False)
    frame["run_1_retrieval_score_mean_umbrela_score"] += 0.5
    frame.to_csv(tmp_path / "after.csv", index=False)
    files = [str(tmp_path / name) for name in ("before.csv", "after.csv")]
    run = evaluate(files[0], files, evaluators=["own_scores"], workspace=tmp_path)
    assert run.models == ("after", "before")
    keys = ["case_id", "run", "metric"]
    stored = judged.scores[judged.scores["evaluator"].isin(EVALUATORS) & judged.scores["value"].notna()]
    names = [m if m.startswith(e) else f"{e}_{m}" for e, m in zip(stored["evaluator"], stored["metric"], strict=True)]
    expected = stored.assign(metric=names).set_index(keys)["value"].sort_index()
    own = run.scores[run.scores["value"].notna() & ~run.scores["metric"].str.startswith("consistency_")]
    pd.testing.assert_series_equal(own[own["model"] == "before"].set_index(keys)["value"].sort_index(), expected)
    first = own.query("metric == 'umbrela' and run == 1").set_index(["model", "case_id"])["value"]
    assert (first["after"] - first["before"]).tolist() == [0.5, 0.5]
    grade, answered = run.metric("own_scores", "umbrela"), run.metric("own_scores", "no_answer")
    assert (grade.high, grade.primary, grade.threshold, answered.binary) == (3.0, True, None, True)
    column = next(each for each in leaderboard(run).columns if each.metric == "no_answer")
    assert column_name(column) == "Questions answered", "1 is: it was answered"
    own_words = replace(column, description="no_answer, as it was logged.")
    assert column_name(own_words) == "No answer", "a score of one's own means what it says"
    answer = run.outputs.outputs.to_pylist()[1]
    assert (answer["answer"], answer["context_ids"]) == ("Seven [2] and Earth [3]", ["2", "3"])
    assert answer["retrieved_contexts"] == ["Seven planets have a moon.", "Earth has a moon."]
    evidence = run.scores.query("model == 'before' and metric == 'umbrela' and case_id == 'q1' and run == 1")
    assert '{\\"[2]\\":3,\\"[3]\\":1}' in evidence["evidence"].iloc[0]


def test_scores_that_came_with_files_are_chosen_unasked(judged: Run, tmp_path: Path) -> None:
    rag_results(judged).to_csv(tmp_path / "results.csv", index=False)
    suite, outputs = read_combined(tmp_path / "results.csv")
    assert "own_scores" in runnable(suite, outputs)
    ours = write(tmp_path, "mine.csv", "case_id,question,answer,score.tone,score.note\n1,q,a,4,kind\n2,r,b,6,\n")
    _, mine = read_combined(ours)
    assert score_columns(mine) == {"tone": {"low": 0.0, "high": None, "column": "score.tone"}}
