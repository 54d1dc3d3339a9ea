"""Defects of single cases: each broken file is a problem, and so is an answer that leaves nothing to embed."""

import json
from pathlib import Path

import pytest

from metrics.analysis import problems
from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished, resealed, text_outputs, text_suite
from tests.models.word_vectors import WordVectors
from tests.presentation.asked import ask

FILES = {
    "a": [{"name": "report.json", "content": '{"total": 3,}'}, {"name": "data.csv", "content": "id\n1\n"}],
    "b": [{"name": "<b>notes</b>.md", "content": " "}],
}


def agents() -> Run:
    suite = Suite.from_rows("agents", "agent", [{"case_id": name, "question": "Make it."} for name in "ab"])
    rows = [
        {"case_id": case, "model": "agent", "artifacts": [json.dumps(one) for one in made]}
        for case, made in FILES.items()
    ]
    parameters = {"agent_sanity": {"expected": ["data.csv"]}}
    return finished(Workspace(), suite, Outputs.from_rows(rows), "agent_sanity", parameters=parameters)


def test_each_broken_or_missing_file_is_a_problem(workspace: Path) -> None:
    run = agents()
    found = problems(run).query("kind == 'artifact'")
    assert found["message"].iloc[0].startswith("agent, case a: report.json: not JSON: ")
    assert found["message"].tolist()[1:] == [
        "agent, case b: <b>notes</b>.md: it is empty",
        "agent, case b: data.csv: expected, but the agent did not make it",
    ]
    assert (found["case_ids"].tolist(), set(found["severity"])) == ([["a"], ["b"], ["b"]], {"high"})
    assert found["standards"].map(len).gt(0).all()
    section = ask("what_is_broken", run)
    assert [row[4] for row in section.tables[0].rows] == ["1", "1", "1"]


def test_an_answer_that_leaves_nothing_to_embed_is_a_problem(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metrics.engine.load_resources.Resources.models", lambda *_: {"embedder": WordVectors()})
    cases = [
        {"case_id": f"c{place}", "question": "Which river?", "expected_answers": ["The Seine."]} for place in range(3)
    ]
    suite = Suite.from_rows("short", "text", cases)
    rows = [
        {"case_id": f"c{place}", "model": model, "answer": answer, "retrieved_contexts": ["The Seine is a river."]}
        for model, answers in {"terse": ["…", "", "The Seine."], "whole": ["The Seine."] * 3}.items()
        for place, answer in enumerate(answers)
    ]
    names = ("groundedness", "answer_relevancy_sentence", "answer_semantic_similarity")
    found = problems(finished(Workspace(), suite, Outputs.from_rows(rows), *names)).query("kind == 'empty'")
    assert dict(zip(found["evaluator"], found["case_ids"], strict=True)) == {
        "groundedness": ["c0"], "answer_relevancy_sentence": ["c0"],
    }  # fmt: skip
    assert (
        found["message"].iloc[0]
        == "terse: 1 answer is too short for Groundedness (likeness): no sentence is left to embed"
    )
    assert set(found["model"]) == {"terse"}


def test_empty_answers_are_counted_whatever_the_evaluators(workspace: Path) -> None:
    """Blank or absent; neither a failed call nor a short answer is one."""
    answers = {"m": ["", " \n", None, "…", "The Seine."], "whole": ["The Seine."] * 5, "cut": [None, "", *["a"] * 3]}
    cases = [{"case_id": f"c{place}", "question": "Which?", "expected_answers": ["The Seine."]} for place in range(5)]
    rows = [
        {"case_id": f"c{place}", "model": model, "answer": answer}
        | ({"error": "timeout"} if model == "cut" and answer is None else {})
        for model, own in answers.items()
        for place, answer in enumerate(own)
    ]
    run = finished(Workspace(), Suite.from_rows("s", "text", cases), Outputs.from_rows(rows), "exact_match")
    found = problems(run).query("kind == 'blank'")
    assert found["message"].tolist() == ["m: 3 of 5 answers are empty", "cut: 1 of 4 answers is empty"]
    assert found["case_ids"].tolist() == [["c0", "c1", "c2"], ["c1"]]
    [first, _] = ask("what_is_broken", run).tables[0].rows
    assert first[:3] == ("Empty answers", "m", "")


@pytest.mark.parametrize(("answers", "expected", "parameters", "message"), [
    (["Step 1: 5", "Step 1: 6", "Step 1: 7"], ["5", "6", "7"], {"extract": "Step ([0-9])"},
     "m: the extract finds the same, '1', in all 3 answers, though the expected answers differ"),
    (["It is 5", "It is 6", "It is 7"], ["5", "6", "7"], {"boxed": True},
     "m: the extract finds no answer in all 3 answers, though the expected answers differ"),
    (["It is 5", "It is 6", "It is 7"], ["5", "6", "7"], {"extract": "[0-9]"}, None),
    (["It is 5", "It is 5", "It is 5"], ["5", "5", "5"], {"extract": "[0-9]"}, None),
    (["It is 5", "It is 5", "It is"], ["5", "6", "7"], {"extract": "[0-9]"}, None),
])  # fmt: skip
def test_an_extract_that_tells_nothing_is_a_problem(
    workspace: Path, answers: list[str], expected: list[str], parameters: dict[str, object], message: str | None
) -> None:
    cases = [{"case_id": f"c{place}", "expected_answers": [one]} for place, one in enumerate(expected)]
    rows = [{"case_id": f"c{place}", "model": "m", "answer": answer} for place, answer in enumerate(answers)]
    outputs = Outputs.from_rows(rows)
    suite = Suite.from_rows("s", "text", cases)
    run = finished(Workspace(), suite, outputs, "exact_match", parameters={"exact_match": parameters})
    found = problems(run).query("kind == 'extract'")
    assert found["message"].tolist() == ([message] if message else [])


def test_a_run_without_defects_has_no_section(workspace: Path) -> None:
    assert ask("what_is_broken", finished(Workspace(), text_suite(), text_outputs(), "rouge")) is None


def test_an_evaluator_that_is_gone_leaves_the_others_defects(workspace: Path) -> None:
    run = agents()
    spec = json.loads((run.folder / "spec.json").read_text())
    spec["evaluators"].append({"id": "of_a_plugin_that_is_gone", "version": 1, "parameters": {}})
    (run.folder / "spec.json").write_text(json.dumps(spec))
    assert "artifact" in set(problems(resealed(run))["kind"])


def test_so_many_files_are_listed(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metrics.analysis.findings.problems.MOST", 2)
    assert problems(agents()).query("kind == 'artifact'")["case_ids"].tolist() == [["a"], ["b"]]
