"""H2O's explanations: its columns, every value one of the run's, and what a case that fails is counted as."""

import io
import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from metrics import evaluate
from metrics.analysis import leaderboard, problems
from metrics.cli.main import main
from metrics.core.suite import Outputs, Suite
from metrics.reports.exchange.exporters import EXPORTS, export
from metrics.reports.exchange.h2o import NAMES, bool_leaderboard, eval_results, heatmap_leaderboard, save_llm_results
from metrics.store import Run, Workspace
from metrics.store.run_check import verify
from tests.engine.engine_scenes import finished

DATASET = [  # of H2O's LLM data set, of those that a run of ours has
    "key", "input", "corpus", "context", "categories", "relationships", "output_condition", "expected_output",
    "actual_output", "actual_duration", "cost", "model_key",
]  # fmt: skip
CASES = [
    {"case_id": "p", "question": "Capital of France?", "expected_answers": ["Paris"], "conditions": '"Paris"',
     "tags": ["eu"]},
    {"case_id": "n", "question": "Of Norway?", "expected_answers": ["Oslo", "Kristiania"], "conditions": '"Oslo"'},
    {"case_id": "p-typo", "question": "Captial of France?", "conditions": '"Paris"', "perturbs": "p",
     "perturbation": "typo"},
]  # fmt: skip
ANSWERS = [
    {"case_id": "p", "model": "a", "answer": "Paris", "retrieved_contexts": ["Paris is it."], "duration_s": 0.5},
    {"case_id": "n", "model": "a", "answer": "Oslo", "retrieved_contexts": ["Bergen."]},
    {"case_id": "p-typo", "model": "a", "answer": "Rome", "retrieved_contexts": ["Paris is it."]},
    {"case_id": "p", "model": "b", "answer": "Paris", "cost_usd": 0.25},
    {"case_id": "n", "model": "b", "answer": "Bergen", "retrieved_contexts": ["Bergen."]},
    {"case_id": "p-typo", "model": "b", "answer": "Lyon", "retrieved_contexts": ["Lyon."]},
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    suite, outputs = Suite.from_rows("capitals", "text", CASES), Outputs.from_rows(ANSWERS)
    return finished(Workspace(tmp_path_factory.mktemp("w")), suite, outputs, "text_matching", "rouge")


def test_results_have_the_data_set_and_every_score(run: Run) -> None:
    found = eval_results(run)
    assert found.columns.tolist()[: len(DATASET)] == DATASET
    first, second, third, *_ = found.to_dict("records")
    assert (first["expected_output"], second["expected_output"]) == ("Paris", '["Oslo", "Kristiania"]')
    assert (first["context"], first["categories"], first["actual_duration"]) == (["Paris is it."], ["eu"], 0.5)
    assert json.loads(third["relationships"]) == [{"type": "perturbation_source", "target": "p"}]
    assert third["result_error_message"], "ROUGE has no reference there"
    scores = run.scores.set_index(["case_id", "model", "evaluator", "metric"])["value"].sort_index()
    for row in found.to_dict("records"):
        for (evaluator, metric), value in scores.xs((row["key"], row["model_key"])).items():
            assert row[f"{evaluator}.{metric}"] == value or (pd.isna(value) and pd.isna(row[f"{evaluator}.{metric}"]))


def test_failures_of_models_and_prompts_by_hand(run: Run) -> None:
    """a: one of three fails, by generation; b: two of three, both by retrieval, which its first answer does without."""
    rows = bool_leaderboard(run)
    assert rows["evaluator"].unique().tolist() == ["text_matching"]
    models = rows[rows["leaderboard"].eq("models")].set_index("model_key")
    assert models.index.tolist() == ["a", "b"], "who passes most comes first"
    assert models.loc["a", "model_passes"] == pytest.approx(2 / 3)
    assert models.loc["b", ["model_passes", "model_failures"]].tolist() == pytest.approx([1 / 3, 2 / 3])
    assert models["model_generation_failures"].tolist() == pytest.approx([1 / 3, 0])
    assert models["model_retrieval_failures"].tolist() == pytest.approx([1 / 3, 1])
    prompts = rows[rows["leaderboard"].eq("prompts")]
    assert prompts["key"].tolist() == ["p-typo", "n", "p"], "the most problematic comes first"
    assert prompts["model_failures"].tolist() == [1.0, 0.5, 0.0]
    assert prompts["input"].tolist() == ["Captial of France?", "Of Norway?", "Capital of France?"]
    assert set(NAMES.values()) < set(rows)


def test_the_other_metrics_are_those_of_the_leaderboard(run: Run) -> None:
    rows, board = heatmap_leaderboard(run), leaderboard(run)
    models = rows[rows["leaderboard"].eq("models")]
    found = {
        (one.model_key, f"{one.evaluator}/{one.metric}"): (one.value, one.low, one.n) for one in models.itertuples()
    }
    cells = {key: cell for key, cell in board.cells.items() if key[1].startswith("rouge/")}
    assert found == {key: (cell.value, cell.low, cell.n) for key, cell in cells.items()}
    prompts = rows[rows["leaderboard"].eq("prompts") & rows["metric"].eq("rouge1")].set_index("key")
    assert (prompts.loc["p", "value"], prompts.loc["n", "value"]) == (1.0, 0.5)
    assert (prompts.index[-1], prompts.loc["p-typo", "unscored"]) == ("p-typo", 2)


def test_a_run_without_a_boolean_metric_has_no_failure_leaderboard(workspace: Path) -> None:
    run = finished(Workspace(workspace), Suite.from_rows("s", "text", CASES), Outputs.from_rows(ANSWERS), "rouge")
    assert not EXPORTS["llm-bool-leaderboard"].fits(run)
    assert export(run, "llm-bool-leaderboard") == b"[]\n"
    with zipfile.ZipFile(io.BytesIO(export(run, "work-dir-archive"))) as archive:
        assert not [name for name in archive.namelist() if "bool" in name]


def test_the_archive_has_a_folder_for_each_evaluator(run: Run) -> None:
    content = export(run, "work-dir-archive")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    assert {name.partition("/")[0] for name in files} - {"log.txt"} == {"text_matching", "rouge", "report.md"}
    rows = json.loads(files["rouge/llm-eval-results.json"])
    assert (len(rows), rows[0]["rouge1"]) == (len(ANSWERS), 1.0)
    assert "passes" not in rows[0]
    told = json.loads(files["text_matching/problems_and_actions.json"])
    assert len(told) == problems(run)["evaluator"].eq("text_matching").sum() > 0
    assert {"text_matching/llm-bool-leaderboard.json", "rouge/llm-heatmap-leaderboard.csv"} <= set(files)
    assert export(run, "work-dir-archive") == content


def test_the_llm_result_is_saved_beside_the_run(run: Run) -> None:
    save_llm_results(run)
    saved = {path.name: json.loads(path.read_text()) for path in (run.folder / "llm_result").iterdir()}
    assert set(saved) == {"text_matching.json", "rouge.json"}
    assert [row["passes"] for row in saved["text_matching.json"]] == [1.0, 1.0, 0.0, 1.0, 0.0, 0.0]
    assert [row["actual_output"] for row in saved["rouge.json"]] == [one["answer"] for one in ANSWERS]
    verify(run)


def test_the_llm_result_comes_with_a_run_that_is_asked_for_it(workspace: Path, tmp_path: Path) -> None:
    """By the command, and in Python and the studio, which have the same done by a process of its own."""
    cases = "1,Capital of Peru?,Lima\n2,Of Chile?,Santiago\n"
    (tmp_path / "suite.csv").write_text("case_id,question,expected_answer\n" + cases)
    (tmp_path / "out.csv").write_text("case_id,model,answer\n1,m,Lima\n2,m,Santiago\n")
    files = [str(tmp_path / name) for name in ("suite.csv", "out.csv")]
    assert main(["evaluate", *files, "--evaluators", "rouge", "--save-llm-result", "--quiet"]) == 0
    by_command = Workspace(workspace).run("latest")
    in_python = evaluate(*files, evaluators=["rouge"], save_llm_result=True)
    shards = [str(tmp_path / f"shard{place}") for place in (1, 2)]
    for place, shard in enumerate(shards, 1):
        asked = ["--evaluators", "rouge", "--save-llm-result", "--quiet", "--shard", f"{place}/2"]
        assert main(["evaluate", *files, *asked, "--workspace", shard]) == 0
        assert not list(Path(shard).rglob("llm_result")), "of the whole run alone"
    assert main(["merge", *shards]) == 0
    for made in (by_command, in_python, Workspace(workspace).run("latest")):
        assert json.loads((made.folder / "llm_result" / "rouge.json").read_text())[0]["rouge1"] == 1.0
    assert not (evaluate(*files, evaluators=["rouge"]).folder / "llm_result").exists()
