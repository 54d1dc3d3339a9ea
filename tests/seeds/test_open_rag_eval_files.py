"""Open RAG Eval: its configurations, result files and plots, by the command, as its users write them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from metrics import Workspace
from metrics.cli.main import main
from metrics.core.evaluator import ScriptedReply
from metrics.models.embedder import bundled_folder
from tests.models import tiny
from tests.seeds.public_door import judge_saying

pytestmark = pytest.mark.usefixtures("units_here", "workspace")

QUERY = "What did Marie Curie win?"
CONFIGURED = """
input_results: answers.csv
eval_results_file: results.csv
evaluator:
  name: "trecrag"
  model: {name: scripted}
  options:
    k_values: [1, 3, 5]
    run_consistency: %s
    metrics_to_run_consistency: []
"""
ROWS = [  # query, its passages with their grades, its answers: one a run
    (
        "q1",
        {"[1]": ("Two Nobel Prizes.", 3), "[2]": ("Physics in 1903.", 2)},
        ["Two [1].", "In 1903 [2].", "Yes [1]."],
    ),
    ("q2", {"[1]": ("Warsaw is in Poland.", 0)}, ["Too little is known.", "It does not say.", "No."]),
]


def answered(folder: Path, runs: int) -> Path:
    """The answers and the configuration of so many runs, and the folder of what comes of them."""
    rows = [
        {
            "query_id": query, "query": QUERY, "query_run": run, "passage_id": passage, "passage": text,
            "generated_answer": answers[run - 1],
        }
        for query, passages, answers in ROWS
        for run in range(1, runs + 1)
        for passage, (text, _) in passages.items()
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv(folder / "answers.csv", index=False)
    (folder / "config.yaml").write_text(CONFIGURED % str(runs > 1).lower())
    return folder / "results.csv"


JUDGED = [
    *(
        ScriptedReply("umbrela.grade", {"intent": "", "match": 3, "trust": 3, "grade": grade}, {"PASSAGE": text})
        for _, passages, _ in ROWS for text, grade in passages.values()
    ),
    ScriptedReply("autonuggetizer.nuggets", {"nuggets": ["two prizes", "physics 1903"]}),
    ScriptedReply("autonuggetizer.importance", [{"reason": "", "importance": "vital"}] * 2),
    ScriptedReply(
        "autonuggetizer.assignment",
        [{"reason": "", "assignment": "support"}, {"reason": "", "assignment": "partial_support"}], {"NUGGETS": "[2]"},
    ),
    ScriptedReply("autonuggetizer.assignment", [{"reason": "", "assignment": "not_support"}]),  # "not enough …"
    ScriptedReply("citation.support", {"reason": "", "quote": "", "support": "partial"}),
    *(
        ScriptedReply("no_answer", {"reason": "", "attempted": verdict}, {"ANSWER": answer})
        for (*_, answers), verdict in zip(ROWS, ("yes", "no"), strict=True)
        for answer in answers
    ),
]  # fmt: skip
COLUMNS = {  # of its text, and their values of the two queries
    "query_id": ["q1", "q2"], "query": [QUERY, QUERY],
    "retrieval_score_umbrela_scores": [{"[1]": 3, "[2]": 2}, {"[1]": 0}],
    "retrieval_score_mean_umbrela_score": [2.5, 0], "generation_score_vital_nuggetizer_score": [0.75, 0],
    "generation_score_citation_f1_score": [0.5, 0],
    "generation_score_no_answer_score": [{"query_answered": "yes"}, {"query_answered": "no"}],
}  # fmt: skip
HHEM = "generation_score_hallucination_score"


def evaluated(folder: Path, runs: int) -> pd.DataFrame:
    """The result file of `evaluate --config`."""
    results = answered(folder, runs)
    model = str(tiny.hhem(folder / "hhem"))
    with judge_saying(JUDGED) as server:
        judge = ["--judge", "scripted", "--judge-base-url", server.url]
        given = ["--config", str(folder / "config.yaml"), *judge, "--param", f"hallucination_hhem.classifier={model}"]
        assert main(["evaluate", *given]) == 0
    return pd.read_csv(results)


def cell(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) and value.startswith("{") else value


@pytest.mark.parametrize("runs", [1, 3])
def test_a_configuration_makes_its_result_file(runs: int, tmp_path: Path) -> None:
    found = evaluated(tmp_path, runs)
    for run in range(1, runs + 1):
        prefix = f"run_{run}_" if runs > 1 else ""
        for name, values in COLUMNS.items():
            own = found[name if name.startswith("query") else prefix + name]
            assert [cell(value) for value in own] == values, name
        assert found[prefix + HHEM].between(0, 1).all()
        precision = cell(found[prefix + "retrieval_score_precision_metrics"][0])
        assert precision == {
            "precision@": {"1": 1, "3": pytest.approx(2 / 3), "5": 0.4}, "AP@": {"1": 1, "3": 1, "5": 1}, "MRR": 1,
        }  # fmt: skip
    assert ("consistency_mean_umbrela_score" in found) == (runs > 1)


CONSISTENCY = """
input_results: answers.csv
eval_results_file: results.csv
evaluator:
  name: "consistency"
  options:
    metrics:
      - bert_score:
          model_type: %s
          lang: "en"
          rescale_with_baseline: false
      - rouge_score: {}
"""


def test_a_configuration_of_consistency(tmp_path: Path) -> None:
    """Every pair of the three answers to a query is compared; xlm-roberta-large is too large for a test."""
    results = answered(tmp_path, 3)
    model = bundled_folder()
    (tmp_path / "config.yaml").write_text(CONSISTENCY % model)
    assert main(["eval", "--config", str(tmp_path / "config.yaml")]) == 0
    found = pd.read_csv(results)
    for name in ("consistency_bert_score", "consistency_rouge_score"):
        assert [len(cell(value)["values"]) for value in found[name]] == [3, 3], name
    given = Workspace().run("latest").evaluators["consistency_bertscore"]
    wanted = {"token_encoder": str(model), "lang": "en", "rescale_with_baseline": False}
    assert {name: given[name] for name in wanted} == wanted


PLOTS = {
    "one": (["results.csv", "--evaluator", "trec"], "metrics_comparison.png"),
    "several": (
        ["results.csv", "results2.csv", "--evaluator", "trec", "--output-file", "comparison.png"], "comparison.png",
    ),
    "consistency": (["results.csv", "--evaluator", "consistency"], "metrics_comparison.png"),
    "chosen": (
        ["results.csv", "--evaluator", "trec", "--metrics-to-plot", "generation_score_citation_f1_score"],
        "metrics_comparison.png",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("words", "file"), PLOTS.values(), ids=PLOTS)
def test_its_plots(words: list[str], file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def results(name: str, scores: Sequence[float]) -> None:
        frame = pd.DataFrame({"query_id": range(len(scores)), "generation_score_citation_f1_score": scores})
        frame["generation_score_no_answer_score"] = json.dumps({"query_answered": "yes"})
        frame["consistency_citation_f1_score"] = json.dumps({"stats": {"consistency_adjusted_index": 0.5}})
        frame.to_csv(tmp_path / name, index=False)

    results("results.csv", (0.25, 0.5, 1))
    results("results2.csv", (0, 0.5, 0.5))
    monkeypatch.chdir(tmp_path)
    assert main(["plot", *words]) == 0
    assert (tmp_path / file).read_bytes().startswith(b"\x89PNG")
    assert Workspace().runs() == []
