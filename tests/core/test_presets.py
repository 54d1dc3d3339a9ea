"""Presets: what each holds, which suit which data, what the command makes of them."""

import json
from typing import get_args

import pytest

from metrics.cli.main import main
from metrics.core.errors import InputError
from metrics.core.presets import MAX_UNASKED, PRESETS, QUESTIONS, TOGETHER, chosen_by, computable, suitable, unasked
from metrics.core.registry import evaluators
from metrics.core.suite import Outputs, Suite, Task
from metrics.library.evaluator_choice import available_inputs, runnable, unused_inputs
from metrics.store import Workspace
from metrics.suites.samples import samples

TASKS: tuple[Task, ...] = get_args(Task)
ANSWERED = {"question", "answer", "few_outputs"}
RAG = ANSWERED | {"expected_answers", "worded_answers", "retrieved_contexts"}
BOXES = {"annotations", "predictions"}
CLASSES = {"label", "predictions"}


def unasked_ids(task: str, present: set[str], *missing: str) -> list[str]:
    """Return the evaluators that run unasked where no classifier is here, nor the models of those `missing`."""
    unavailable = {"hallucination_hhem", *missing}.__contains__
    return [
        id for preset in unasked(task, present, unavailable) for id in computable(preset, task, present, unavailable)
    ]


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_a_preset_holds_registered_evaluators_for_each_of_its_tasks(preset):
    assert set(preset.answered_by) <= set(evaluators())
    assert preset.summary.endswith(".")
    assert all(preset.evaluators(task) for task in preset.tasks)
    assert not preset.evaluators("no such task")
    if preset.unasked is not None:
        assert not [id for id in preset.answered_by if "judge" in evaluators()[id].needs], "runs unasked"


BY_THEMSELVES = {  # evaluators of texts and agents that answer none of the questions
    "autonuggetizer", "byop", "fact_check", "g_eval", "gptscore_qa", "gptscore_summary", "gptscore_summary_reference",
    "gptscore_translation", "irrelevant_noise_sensitivity", "no_answer", "own_scores", "perplexity", "ragas",
    "relevant_noise_sensitivity", "sentiment",
}  # fmt: skip


def test_every_evaluator_of_texts_answers_a_question_or_counts_by_itself() -> None:
    """Law: of each new evaluator somebody decided which question it answers in the headline."""
    of_texts = {id for id, entry in evaluators().items() if {"text", "agent"} & set(entry.tasks)}
    assert QUESTIONS.keys() | BY_THEMSELVES == of_texts
    assert not QUESTIONS.keys() & BY_THEMSELVES
    assert set(QUESTIONS.values()) <= {preset.title for preset in PRESETS.values()}
    likeness = ("token_f1", "rouge", "bleu", "chrf", "answer_correctness", "meteor")
    assert {QUESTIONS[id] for id in likeness} == {"Right?"}
    assert (QUESTIONS["faithfulness"], QUESTIONS["language_mismatch"]) == ("Grounded?", "Well written?")


def test_names_for_several_presets_are_of_presets() -> None:
    assert {id for ids in TOGETHER.values() for id in ids} <= set(PRESETS)
    assert not set(TOGETHER) & set(PRESETS)


@pytest.mark.parametrize(("task", "present", "offered"), [
    ("text", ANSWERED, ["claims", "safety", "criteria", "topic", "style"]),
    ("text", RAG, ["grounded", "right", "retrieval", "claims", "safety", "criteria", "topic", "translation", "style"]),
    ("agent", ANSWERED | {"trace"}, ["safety", "criteria", "spending", "goals", "conversations", "style"]),
    ("classification", CLASSES | {"scored_predictions", "single_truths"}, ["accuracy", "mistakes", "calibrated"]),
    ("classification", CLASSES, ["accuracy"]),
    ("detection", BOXES | {"scored_predictions", "single_truths"}, ["accuracy", "mistakes", "cutoffs", "calibrated"]),
    ("detection", {"annotations"}, []), ("segmentation", BOXES, ["accuracy"]),
])  # fmt: skip
def test_presets_are_offered_where_they_suit_the_data(task, present, offered):
    assert [preset.id for preset in suitable(task, present)] == offered


@pytest.mark.parametrize(("task", "present", "missing", "chosen"), [
    ("text", RAG, (), ["groundedness", "rouge", "answer_semantic_similarity"]),
    ("text", RAG | {"own_contexts"}, ("groundedness",), ["rouge", "answer_semantic_similarity", "context_mrr"]),
    ("text", RAG | {"own_contexts", "repeats", "short_answers"}, (),
     ["groundedness", "exact_match", "token_f1", "rouge", "answer_semantic_similarity", "context_mrr"]),
    ("text", RAG - {"few_outputs"}, (), ["rouge"]),
    ("text", RAG | {"cited_passages"}, (), ["groundedness", "rouge", "answer_semantic_similarity"]),
    ("text", ANSWERED, (), ["answer_relevancy_sentence"]),
    ("text", ANSWERED, ("answer_relevancy_sentence",), ["readability", "language_mismatch", "looping_detection"]),
    ("text", ANSWERED | {"json_schema"}, (), ["json_schema"]),
    ("text", RAG | {"trace", "expected_calls"}, (),
     ["tool_calls", "groundedness", "rouge", "answer_semantic_similarity"]),
    ("text", RAG | {"tokens", "set_budgets"}, ("groundedness",),
     ["agent_budget", "rouge", "answer_semantic_similarity"]),
    ("classification", {"labels", "predictions", "scored_predictions"}, (), ["multilabel"]),
    ("classification", CLASSES, (), ["classification"]), ("regression", {"true_value", "predicted_value"}, (),
                                                          ["regression"]),
], ids=["rag", "contexts of each model", "six at most", "many rows", "citations wait for a judge", "answers alone",
        "answers alone without a model", "a schema", "expected calls", "set limits", "lists of labels", "labels",
        "numbers"])  # fmt: skip
def test_what_runs_unasked_follows_from_the_data(task, present, missing, chosen):
    assert unasked_ids(task, set(present), *missing) == chosen


def test_what_no_chosen_evaluator_uses_is_named():
    calls = [{"name": "add", "arguments": {}}]
    suite = Suite.from_rows(
        "s", "text", [{"case_id": "1", "question": "?", "expected_answers": ["1"], "expected_calls": json.dumps(calls)}]
    )
    outputs = Outputs.from_rows([{"case_id": "1", "model": "m", "answer": "1", "trace": "[]"}])
    assert unused_inputs(suite, outputs, ["exact_match"]) == ["expected_calls (tool_calls)"]
    assert unused_inputs(suite, outputs, ["exact_match", "tool_calls"]) == []


@pytest.mark.parametrize("sample", samples(), ids=lambda sample: sample.id)
def test_what_runs_unasked_is_little_and_asks_no_judge(sample):
    suite, outputs = sample.read()
    chosen = runnable(suite, outputs)
    assert 0 < len(chosen) <= MAX_UNASKED
    assert not [id for id in chosen if "judge" in evaluators()[id].needs]
    assert chosen == unasked_ids(suite.task, available_inputs(suite, outputs))


@pytest.mark.parametrize(("name", "present", "within", "outside"), [
    ("rag", RAG, ["groundedness", "rouge"], ["faithfulness"]),
    ("rag", RAG - {"expected_answers", "worded_answers"}, ["groundedness"], ["rouge"]),
    ("rag_judge", RAG, ["faithfulness", "context_recall"], ["groundedness", "citation"]),
    ("claims", RAG | {"cited_passages"}, ["citation"], []),
    ("grounded, style", RAG, ["groundedness", "readability"], ["rouge"]),
])  # fmt: skip
def test_a_preset_takes_what_the_data_can_feed(name, present, within, outside):
    chosen = chosen_by(name, "text", present)
    assert set(within) <= set(chosen)
    assert not set(outside) & set(chosen)


@pytest.mark.parametrize(("name", "task", "said"), [
    ("RAG", "text", "found 'RAG'.*did you mean 'rag'"),
    ("rag", "text", "rag for data of the task text without retrieved contexts.*claims, safety"),
    ("detection", "text", "detection for data of the task text.*claims, safety"),
])  # fmt: skip
def test_a_preset_that_cannot_be_taken_says_which_can(name, task, said):
    with pytest.raises(InputError, match=said):
        chosen_by(name, task, ANSWERED)


@pytest.mark.usefixtures("units_here")
def test_the_command_runs_a_preset_and_what_is_named_beside_it(workspace, tmp_path):
    rows = [{"case_id": "1", "question": "Who?", "expected_answers": ["Ada"], "model": "small", "answer": "Ada"}]
    (tmp_path / "all.json").write_text(json.dumps(rows))
    assert main(["evaluate", str(tmp_path / "all.json"), "--preset", "right", "--evaluators", "bleu"]) == 0
    run = Workspace().run("latest")
    assert list(run.evaluators) == ["exact_match", "token_f1", "rouge", "answer_semantic_similarity", "bleu"]


def test_the_command_lists_the_presets(capsys):
    main(["evaluators", "--presets"])
    printed = capsys.readouterr().out
    assert all(preset.title in printed for preset in PRESETS.values())
    main(["evaluators", "--presets", "--json"])
    listed = {each["id"]: each for each in json.loads(capsys.readouterr().out)}
    assert list(listed) == list(PRESETS)
    assert "groundedness" in listed["grounded"]["evaluators"]


def test_detailed_curves_are_computed_only_where_they_are_asked_for() -> None:
    """As in Valor: `DetailedPrecisionRecallCurve` is not returned by default."""
    detailed = {id for id in evaluators() if id.endswith("_detailed")}
    assert len(detailed) == 2
    assert not detailed & {id for preset in PRESETS.values() for id in preset.answered_by}
