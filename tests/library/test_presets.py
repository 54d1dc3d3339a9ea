"""Presets: what each holds, which suit which data, what the command makes of them."""

import json
from typing import get_args

import pytest

from metrics.cli.main import main
from metrics.core.errors import InputError
from metrics.core.registry import evaluators
from metrics.core.suite import Task
from metrics.library.presets import PRESETS, chosen_by, default, suitable
from metrics.store import Workspace

TASKS: tuple[Task, ...] = get_args(Task)
ANSWERED = {"question", "answer"}
RAG = ANSWERED | {"expected_answers", "worded_answers", "retrieved_contexts"}
BOXES = {"annotations", "predictions"}


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_a_preset_holds_registered_evaluators_for_each_of_its_tasks(preset):
    known = evaluators()
    families = {entry.family for entry in known.values()}
    assert set(preset.families) <= families
    assert {*preset.also, *preset.omitted} <= set(known)
    assert preset.summary.endswith(".")
    for task in preset.tasks:
        held = preset.evaluators(task)
        assert held, task
        assert all(task in entry.tasks for entry in held)
        assert not {entry.id for entry in held} & set(preset.omitted)
        for name in {name for entry in held if entry.id not in preset.also for name in entry.needs}:
            assert preset.models or not name


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_main_evaluator_of_a_task_comes_first(task):
    first, *others = (entry.id for entry in default(task).evaluators(task))
    assert first == task
    assert others == [entry.id for entry in evaluators().values() if entry.id in others], "in the registry's order"


@pytest.mark.parametrize("task", TASKS)
def test_what_runs_unasked_needs_neither_judge_nor_model(task):
    held = default(task).evaluators(task)
    assert held
    assert not [entry.id for entry in held if entry.needs]


@pytest.mark.parametrize(("task", "present", "offered"), [
    ("text", ANSWERED, ["quick", "answers", "safety"]),
    ("text", RAG, ["quick", "rag", "rag_judge", "retrieval", "answers", "translation", "safety"]),
    ("text", ANSWERED | {"source_text"}, ["quick", "answers", "safety", "summaries"]),
    ("text", ANSWERED | {"repeats"}, ["quick", "answers", "safety", "consistency"]),
    ("agent", ANSWERED | {"trace"}, ["quick", "safety", "agent", "conversations"]),
    ("agent", ANSWERED, ["safety", "agent"]),
    ("text", ANSWERED | {"trace"}, ["quick", "answers", "safety", "conversations"]),
    ("classification", {"label", "predictions"}, ["classification"]),
    ("detection", BOXES, ["detection"]), ("detection", {"annotations"}, []), ("segmentation", BOXES, ["segmentation"]),
])  # fmt: skip
def test_presets_are_offered_where_they_suit_the_data(task, present, offered):
    assert [preset.id for preset in suitable(task, present)] == offered


@pytest.mark.parametrize(("name", "present", "within", "outside"), [
    ("rag", RAG, ["groundedness", "rouge"], ["faithfulness"]),
    ("rag", RAG - {"expected_answers", "worded_answers"}, ["groundedness"], ["rouge"]),
    ("rag_judge", RAG, ["faithfulness", "context_recall"], ["groundedness", "ragas", "byop"]),
    ("retrieval", RAG, ["context_mrr", "umbrela"], ["faithfulness"]),
    ("quick", ANSWERED, ["pii_leakage"], ["json_schema", "consistency_rouge", "rouge"]),
])  # fmt: skip
def test_a_preset_takes_what_the_data_can_feed(name, present, within, outside):
    chosen = chosen_by(name, "text", present)
    assert set(within) <= set(chosen)
    assert not set(outside) & set(chosen)


@pytest.mark.parametrize(("name", "task", "said"), [
    ("RAG", "text", "found 'RAG'.*did you mean 'rag'"),
    ("rag", "text", "rag for data of the task text without retrieved contexts.*quick, answers, safety"),
    ("detection", "text", "detection for data of the task text.*quick, answers, safety"),
])  # fmt: skip
def test_a_preset_that_cannot_be_taken_says_which_can(name, task, said):
    with pytest.raises(InputError, match=said):
        chosen_by(name, task, ANSWERED)


@pytest.mark.usefixtures("units_here")
def test_the_command_runs_a_preset_and_what_is_named_beside_it(workspace, tmp_path):
    rows = [{"case_id": "1", "question": "Who?", "expected_answers": ["Ada"], "model": "small", "answer": "Ada"}]
    (tmp_path / "all.json").write_text(json.dumps(rows))
    assert main(["evaluate", str(tmp_path / "all.json"), "--preset", "quick", "--evaluators", "rouge"]) == 0
    run = Workspace().run("latest")
    assert {"rouge", "bleu", "pii_leakage"} <= set(run.evaluators)
    present = {*ANSWERED, "expected_answers", "short_answers", "worded_answers"}
    assert len(run.evaluators) == len(chosen_by("quick", "text", present))


def test_the_command_lists_the_presets(capsys):
    main(["evaluators", "--presets"])
    printed = capsys.readouterr().out
    assert all(preset.title in printed for preset in PRESETS.values())
    main(["evaluators", "--presets", "--json"])
    listed = {each["id"]: each for each in json.loads(capsys.readouterr().out)}
    assert list(listed) == list(PRESETS)
    assert "groundedness" in listed["rag"]["evaluators"]
