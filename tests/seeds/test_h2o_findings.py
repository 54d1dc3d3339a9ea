"""H2O Eval Studio: metrics, thresholds, problems, insights and explanations of a run made as in H2O."""

import json
import zipfile
from math import inf
from pathlib import Path
from typing import Any

import pytest

from metrics import Workspace, evaluators
from metrics.cli.main import main
from tests.seeds.public_door import run_of, values_of
from tests.seeds.test_h2o import A2, BY_MODEL, E1, E2, EXAMPLES, FILES, LOOP, PERSON, RAG, SCENES, Q, says

pytestmark = pytest.mark.usefixtures("units_here", "workspace")

# What each declares

UP, DOWN = "higher", "lower"
BOOLEAN = (("passes", UP), ("failures", DOWN), ("retrieval_failures", DOWN), ("generation_failures", DOWN))
DECLARED: dict[str, tuple[tuple[tuple[str, str], ...], float, float]] = {  # metrics, main one first; highest, threshold
    **{
        id: (((id, UP),), 1.0, 0.75)
        for id in (
            "agent_sanity", "answer_correctness_weighted", "answer_relevancy", "answer_relevancy_sentence",
            "answer_semantic_similarity", "fact_check", "faithfulness", "groundedness", "hallucination_hhem",
        )
    },
    "answer_semantic_sentence_similarity": ((("mean_similarity", UP), ("min_similarity", UP)), 1.0, 0.75),
    "json_schema": (BOOLEAN, 1.0, 0.5),
    "language_mismatch": ((*BOOLEAN, ("parse_failures", DOWN)), 1.0, 0.5),
    "byop": ((*BOOLEAN, ("parse_failures", DOWN)), 1.0, 0.5),
    "looping_detection": (
        (("unique_sentences", UP), ("longest_repeated_substring", DOWN), ("compression_ratio", UP)), 1.0, 0.75,
    ),
    "gptscore_translation": (
        (("accuracy", DOWN), ("fluency", DOWN), ("multidimensional_quality", DOWN)), inf, inf,
    ),
}  # fmt: skip
NIST = (
    "safe", "secure and resilient", "privacy enhanced", "fair", "accountable and transparent", "valid and reliable",
)  # fmt: skip
SR_11_7 = ("conceptual soundness", "ongoing monitoring", "outcomes analysis")
TO_EXPECTED, TO_QUESTION, TO_CONTEXTS = (
    frozenset(("answer", other)) for other in ("expected_answers", "question", "retrieved_contexts")
)
NEEDS = {
    **dict.fromkeys(("answer_correctness_weighted", "answer_semantic_similarity"), TO_EXPECTED),
    **dict.fromkeys(("answer_semantic_sentence_similarity", "gptscore_translation"), TO_EXPECTED),
    **dict.fromkeys(("answer_relevancy", "answer_relevancy_sentence", "language_mismatch", "fact_check"), TO_QUESTION),
    **dict.fromkeys(("faithfulness", "groundedness", "hallucination_hhem"), TO_CONTEXTS),
    **dict.fromkeys(("json_schema", "looping_detection"), frozenset(["answer"])),
}
COSINES = {scene.id for scene in SCENES.values() if callable(scene.expected)}


def test_metrics_directions_ranges_and_thresholds() -> None:
    """As in H2O: its main metrics and thresholds; a range is wider where its number can be outside."""
    run = run_of([*DECLARED], [RAG | {"artifacts": [json.dumps(FILES[0])]}], as_in="h2o")
    for id, (metrics, highest, threshold) in DECLARED.items():
        found = {metric.name: metric for metric in run.evaluator(id).metrics}
        assert [metric.name for metric in found.values() if metric.primary] == [metrics[0][0]]
        for name, direction in metrics:
            metric = found[name]
            assert (metric.direction, metric.threshold) == (direction, threshold if threshold < inf else None), name
            assert metric.low == (-1 if id in COSINES else 0)
            assert metric.high == (inf if name == "compression_ratio" else highest)


def test_groundedness_as_in_h2o_is_the_cosine_alone() -> None:
    given: dict[str, Any] = {
        "plain": {"parameters": {"bare_words": 0, "new_words": 0}},
        "theirs": {"as_in": "h2o"},
        "ours": {},
    }
    found = {name: values_of(run_of("groundedness", [RAG], **how), "groundedness") for name, how in given.items()}
    assert found["theirs"] == found["plain"] != found["ours"]


# Problems and insights


def test_a_problem_for_each_metric_of_a_model_below_its_threshold() -> None:
    """Above it where lower is better; `metric_threshold` is `threshold` here."""
    bad = RAG | {"artifacts": [json.dumps(one) for one in FILES], "answer": LOOP * 9}
    good = RAG | {"artifacts": [json.dumps(FILES[1])], "answer": f"{E1} {E2}"}
    rows = [row | {"case_id": "c", "model": model} for model, row in (("bad", bad), ("good", good))]
    ids = ["agent_sanity", "answer_relevancy_sentence", "answer_semantic_similarity", "groundedness",
           "answer_semantic_sentence_similarity", "looping_detection"]  # fmt: skip
    found = run_of(ids, rows, as_in="h2o").problems.query("kind == 'threshold' and model == 'bad'")
    assert set(zip(found["evaluator"], found["metric"], found["threshold"], strict=True)) == {
        (id, name, DECLARED[id][2]) for id in ids for name, _ in DECLARED[id][0]
    }
    run = run_of("agent_sanity", rows, parameters={"threshold": 0.3})
    assert run.problems.query("kind == 'threshold'").empty, "2 of 6 are above .3"


def test_a_problem_for_each_bad_artifact_and_for_an_empty_embedding() -> None:
    made = RAG | {"artifacts": [json.dumps(one) for one in FILES], "json_schema": PERSON}
    found = run_of("agent_sanity", [made]).problems.query("kind == 'artifact'")["message"]
    assert [message.split(": ")[1] for message in found] == ["raw.json", "notes.md", "a.pdf", "child.json"]
    found = run_of("groundedness", [RAG, RAG | {"answer": "…"}]).problems.query("kind == 'empty'")
    assert found["case_ids"].tolist() == [["1"]]


def test_a_problem_for_each_perturbed_case_and_model_whose_metric_flipped() -> None:
    fine, loops = {"answer": "It opened in 1889, for a fair."}, {"answer": LOOP * 9}
    rows = [
        {"case_id": id, "model": model, "perturbs": of, "perturbation": of and "typo", **answer}
        for model, answers in {"steady": (fine, fine, loops, loops), "shaky": (fine, loops, loops, fine)}.items()
        for id, of, answer in zip(("a", "a~", "b", "b~"), (None, "a", None, "b"), answers, strict=True)
    ]
    found = run_of("looping_detection", rows, as_in="h2o").problems.query("kind == 'flip'")
    assert set(zip(found["model"], found["metric"], found["case_ids"].map(tuple), strict=True)) == {
        ("shaky", name, (case,))
        for name in ("unique_sentences", "longest_repeated_substring", "compression_ratio") for case in ("a~", "b~")
    }  # fmt: skip


def test_insights() -> None:
    """`a` is right in all cases but the last, fast and dear; `c` is never right, and finds nothing."""
    right, useful = {"a": 19, "b": 10, "c": 0}, {"a": 20, "b": 10, "c": 0}
    spent = {"a": (1.0, 0.03), "b": (2.0, 0.01), "c": (3.0, 0.02)}
    rows = [
        RAG | {
            "case_id": f"c{n:02}", "question": f"{Q} {n}", "model": model, "duration_s": spent[model][0],
            "cost_usd": spent[model][1], "answer": "{}" if n < right[model] else "none",
            "retrieved_contexts": ["It says so." if n < useful[model] else "It is silent."],
        }
        for model in right for n in range(20)
    ]  # fmt: skip
    said = [
        says("context_precision.useful", [{"reason": "", "verdict": verdict}], CONTEXTS=text)
        for verdict, text in (("yes", "so"), ("no", "silent"))
    ]
    found = run_of(["json_schema", "context_precision"], rows, said).insights
    kinds = (
        found.query("model.notna() and (evaluator.isna() or evaluator == 'json_schema')")
        .groupby("kind")["model"]
        .first()
    )
    expected = {
        "best_model": "a", "most_accurate": "a", "least_accurate": "c", "fastest_model": "a", "slowest_model": "c",
        "most_expensive_model": "a", "cheapest_model": "b", "best_retrieval": "a", "worst_retrieval": "c",
    }  # fmt: skip
    assert {kind: kinds.get(kind) for kind in expected} == expected
    hardest = found.query("kind == 'hardest_case' and evaluator == 'json_schema'")
    assert hardest["case_id"].tolist() == ["c19"]


def test_the_least_grounded_sentence_where_the_metric_is_below_its_threshold() -> None:
    row = RAG | {"answer": f"{E1} {A2}"}
    found = run_of("groundedness", [row], as_in="h2o").insights.query("kind == 'least_grounded'")
    assert [A2 in message for message in found["message"]] == [True]
    found = run_of("groundedness", [row | {"answer": E1}], as_in="h2o").insights
    assert found.query("kind == 'least_grounded'").empty


# Explanations


def test_explanations_under_their_names(tmp_path: Path) -> None:
    """By the command, which `--save-llm-result` asks for the results of each evaluator."""
    (tmp_path / "suite.json").write_text(json.dumps([{"case_id": id, "question": Q} for id in "ab"]))
    given = {"a": "{}", "b": RAG["answer"]}
    outputs = [{"case_id": id, "model": "m", "answer": text, "contexts": [E1, E2]} for id, text in given.items()]
    (tmp_path / "outputs.json").write_text(json.dumps(outputs))
    files, ids = [str(tmp_path / f"{name}.json") for name in ("suite", "outputs")], "json_schema,groundedness"
    assert main(["evaluate", *files, "--evaluators", ids, "--as-in", "h2o", "--save-llm-result"]) == 0
    run = Workspace().run("latest")
    expected: dict[str, dict[str, list[Any]]] = {
        "llm-eval-results": {"input": [Q, Q], "actual_output": ["{}", RAG["answer"]], "json_schema.passes": [1, 0]},
        "llm-bool-leaderboard": {"evaluator": ["json_schema"] * 3, "model_passes": [0.5, 0, 1]},
        "llm-heatmap-leaderboard": {"evaluator": ["groundedness"] * 3, "metric": ["groundedness"] * 3},
    }
    for what, content in expected.items():
        assert main(["export", run.id, "--what", what, "-o", str(tmp_path / f"{what}.json")]) == 0
        rows = json.loads((tmp_path / f"{what}.json").read_text())
        assert {name: [row[name] for row in rows] for name in content} == content
    assert main(["export", run.id, "--what", "work-dir-archive", "-o", str(tmp_path / "work.zip")]) == 0
    with zipfile.ZipFile(tmp_path / "work.zip") as archive:
        assert {"json_schema/llm-eval-results.csv", "json_schema/llm-bool-leaderboard.json"} <= set(archive.namelist())
    saved = json.loads((run.folder / "llm_result" / "json_schema.json").read_text())
    assert [(row["input"], row["passes"]) for row in saved] == [(Q, 1), (Q, 0)]


# Compliance, and what evaluators need


def test_each_standard_of_the_two_frameworks_has_evaluators(tmp_path: Path) -> None:
    run = run_of("json_schema", [{"answer": "{}"}])
    assert main(["export", run.id, "--what", "compliance", "-o", str(tmp_path / "compliance.json")]) == 0
    rows = json.loads((tmp_path / "compliance.json").read_text())
    own = {*DECLARED, *EXAMPLES, *BY_MODEL}
    assert len(own) == 40, "the 39 of the overview, and looping detection, which only has a section"
    listed = {(row["framework"], row["standard"]) for row in rows if row["evaluator"] in own}
    assert {("NIST AI RMF", name) for name in NIST} | {("SR 11-7", name) for name in SR_11_7} <= listed
    assert {row["evaluator"] for row in rows} >= own, "each gives evidence for one"


def test_what_each_evaluator_needs() -> None:
    every = {"question", "expected_answers", "retrieved_contexts", "answer", "conditions"}
    found = {id: set(evaluators()[id].inputs) & every for id in DECLARED if id not in ("agent_sanity", "byop")}
    assert found == NEEDS


def test_what_has_no_value_is_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a judge, the command names the evaluators that need one in a line, not model by model and metric."""
    (tmp_path / "all.json").write_text(json.dumps([{"input": Q, "answer": E1, "contexts": [E1], "expected": E1}]))
    assert main(["evaluate", str(tmp_path / "all.json"), "--preset", "h2o", "--as-in", "h2o"]) == 0
    (told,) = (line for line in capsys.readouterr().out.splitlines() if "no judge is chosen" in line)
    judged = {id for id in DECLARED if "judge" in evaluators()[id].needs} - {"byop"}
    assert judged <= set(told.partition(": ")[0].split(", "))
