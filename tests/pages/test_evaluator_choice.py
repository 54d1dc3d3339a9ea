"""Evaluate, the choice of evaluators: presets, families, search, parameters; a tick draws the chooser alone."""

import json
import re
import threading
from functools import partial
from typing import Any

import pytest
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.testing.v1 import AppTest, local_script_runner

from components.data import run_estimates
from metrics import Workspace, read_outputs, read_suite
from metrics.core.registry import evaluators
from metrics.library.evaluator_choice import runnable
from metrics.store import Run
from tests.engine.engine_scenes import finished
from tests.pages.conftest import Open, Went
from tests.pages.reading import words
from tests.pages.test_evaluate import drawer, offer, rest, start

SUITE = "id,user_input,reference\n1,What is 1 + 1?,two\n2,Who am I?,nobody\n3,Where?,here\n"
OUTPUTS = (
    "id,model,response,retrieved_contexts\n1,small,two,\"['One and one make two.']\"\n2,small,you,\"['Nobody.']\"\n"
)
PRESENT = {"question", "expected_answers", "answer", "retrieved_contexts", "short_answers", "worded_answers"}


@pytest.fixture
def page(evaluate_with: Open) -> AppTest:
    """The page with a suite of questions and answers with contexts; no judge is set up."""
    return evaluate_with(("s.csv", SUITE), ("o.csv", OUTPUTS))


def questions(page: AppTest) -> Any:
    return next(group for group in page.get("button_group") if (group.proto.label or "") == "Questions")


def ask(page: AppTest, *presets: str) -> AppTest:
    """The page with these questions ticked."""
    questions(page).set_value(list(presets)).run()
    assert not page.exception
    return page


def press(page: AppTest, key: str) -> AppTest:
    next(button for button in page.button if button.key == key).click().run()
    assert not page.exception
    return page


def test_the_questions_are_ticked_by_what_the_data_has(page: AppTest) -> None:
    options = [option.content for option in questions(page).proto.options]
    assert options[:4] == ["Grounded?", "Right?", "Retrieval?", "Claim by claim · needs a judge"]
    assert "My criterion · needs a judge" in options
    assert "Good summaries?" not in options, "there is no source text"
    assert questions(page).value == ["grounded", "right", "retrieval"]
    assert "6 evaluators: Groundedness (likeness), Exact match, Token F1" in words(page)
    assert "preset" not in page.query_params


def test_the_page_chooses_what_the_command_does(page: AppTest, started: list[Run]) -> None:
    start(page).click().run()
    [run] = started
    assert list(run.evaluators) == runnable(run.suite, run.outputs)


def test_ticks_choose_evaluators_and_take_them_away(page: AppTest, started: list[Run]) -> None:
    ask(page, "right", "style")
    assert page.query_params["preset"] == ["right", "style"]
    assert offer(page, "readability").value
    assert not offer(page, "groundedness").value
    offer(page, "rouge").uncheck().run()
    assert questions(page).value == ["style"], "it is not asked in full"
    ask(page)
    assert "3 evaluators: Exact match, Token F1, Answer semantic similarity" in words(page), "these were left"


@pytest.mark.parametrize("named", [["h2o", "right"], ["right,h2o"]], ids=["twice", "as the command does"])
def test_an_address_names_presets_of_other_systems(page: AppTest, named: list[str]) -> None:
    """They are offered where they are asked for, until they are not any more."""
    assert "As H2O Eval Studio" not in [option.content for option in questions(page).proto.options]
    page.query_params["preset"] = named
    page.run()
    assert set(questions(page).value) == {"h2o", "right"}
    assert "As H2O Eval Studio" in [option.content for option in questions(page).proto.options]
    assert offer(page, "bleu").value
    ask(page, "right")
    assert "As H2O Eval Studio" not in [option.content for option in questions(page.run()).proto.options]
    assert not offer(page, "bleu").value


def test_nothing_ticked_is_nothing_chosen(page: AppTest) -> None:
    ask(page)
    assert "Choose at least one evaluator." in words(page)
    assert start(page).disabled


def test_a_question_that_needs_a_judge_opens_its_set_up_and_stays_chosen(page: AppTest, went: Went) -> None:
    ask(page, "right", "claims")
    assert went[-1]["page"] == "judge"
    back = went[-1]["back"]
    assert "preset=right&preset=claims" in back
    assert "file=" in back
    assert "Claim by claim: no judge is set up yet, so it is left out." in words(page.run())
    assert not start(page).disabled


def test_criteria_in_ones_own_words_are_a_metric_each(page, workspace, started):
    judge_set_up(workspace)
    ask(page, "right", "criteria")
    box = next(box for box in page.text_area if box.key == "criteria")
    box.set_value("Answers politely.\n\nNames a source").run()
    assert not page.exception
    start(page).click().run()
    [run] = started
    own = run.evaluators["g_eval"]
    assert own["criteria"] == ["Answers politely.", "Names a source"]
    assert own["shown"] == ["question", "contexts"]
    assert [metric.name for metric in run.evaluator("g_eval").metrics] == ["answers_politely", "names_a_source"]


def judge_set_up(workspace, **more):
    setting = {"model": "scripted", "base_url": "http://127.0.0.1:9/v1", **more}
    (workspace / "judge.json").write_text(json.dumps(setting))


def test_a_criterion_that_is_not_written_yet_is_asked_for(page, workspace):
    judge_set_up(workspace)
    ask(page, "right", "criteria")
    assert "Write your criterion, or untick My criterion." in words(page)
    assert start(page).disabled


def test_a_family_is_chosen_or_left_as_a_whole(page: AppTest) -> None:
    offer(page, "rouge")
    press(page, "none-text")
    assert not offer(page, "rouge").value
    press(page, "all-text")
    assert offer(page, "json_schema").value
    assert "14 of 14 chosen" in "\n".join(caption.value for caption in page.caption)


def test_families_are_folded_until_opened(page: AppTest) -> None:
    assert not [box for box in page.checkbox if (box.key or "").startswith("offer-")]
    page.session_state["all-evaluators"] = True
    page.run()
    assert not [box for box in page.checkbox if (box.key or "").startswith("offer-")]
    press(page, "open-safety")
    assert {box.key for box in page.checkbox if (box.key or "").startswith("offer-")} == {
        "offer-encoding_guardrail", "offer-pii_leakage", "offer-sensitive_data_leakage",
    }  # fmt: skip
    press(page, "open-safety")
    assert not [box for box in page.checkbox if (box.key or "").startswith("offer-")]


@pytest.mark.parametrize(("wanted", "shown", "said"), [
    ("rouge", {"offer-rouge", "offer-consistency_rouge"}, "2 evaluators found"),
    ("bleu2", {"offer-bleu"}, "1 evaluator found"), ("graded separately", set(), "1 evaluator found"),
    ("zebra", set(), "No evaluator has these words."),
], ids=["a name", "a metric", "one that needs a judge", "nothing"])  # fmt: skip
def test_search_shows_what_it_finds(page: AppTest, wanted: str, shown: set[str], said: str) -> None:
    page.session_state["all-evaluators"] = True
    page.run()
    next(box for box in page.text_input if box.key == "evaluator-search").set_value(wanted).run()
    assert said in words(page)
    assert {box.key for box in page.checkbox if (box.key or "").startswith("offer-")} == shown
    assert ("A judge: UMBRELA" in rest(page)) is (wanted == "graded separately")


def test_what_the_rest_lacks_is_under_one_line(page: AppTest) -> None:
    rest(page)
    (line,) = [box.label for box in page.expander if "columns you don't have" in box.label]
    present = {*PRESENT, "source_text"}  # the question is read as the source
    lacking = sum(
        "text" in entry.tasks and bool(entry.lacking(present.__contains__)) for entry in evaluators().values()
    )
    assert line.startswith(f"{lacking} evaluators need columns you don't have; ")
    told = rest(page)
    assert "Tool calls: needs" in told
    assert "Summary coherence: needs source text" not in told
    assert "Perplexity: no language model is chosen" in told


def test_parameters_are_kept_marked_and_reset(page: AppTest, started: list[Run]) -> None:
    offer(page, "rouge")
    drawer(page, "rouge")
    assert any("[Striveworks Valor](https" in caption.value for caption in page.caption)
    next(box for box in page.toggle if box.key == "parameter-rouge.use_stemmer").set_value(True).run()
    assert "Changed from the default: 1" in words(page)
    assert "Use stemmer: yes (default no)" in words(page)
    ask(page, "right", "grounded")
    press(page, "open-text")  # its parameters are not drawn then
    press(page, "open-text")
    assert "1 changed" in offer(page, "rouge").label
    drawer(page, "rouge")
    press(page, "reset-rouge")
    assert "parameters" not in page.query_params
    drawer(page, "rouge")
    assert not next(box for box in page.toggle if box.key == "parameter-rouge-1.use_stemmer").value
    assert "changed" not in offer(page, "rouge").label
    next(box for box in page.number_input if box.key == "parameter-rouge-1.threshold").set_value(0.3).run()
    start(page).click().run()
    assert started[0].evaluators["rouge"] == evaluators()["rouge"].parameters(threshold=0.3).model_dump(mode="json")


def test_a_tick_draws_the_chooser_alone(page: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    box = offer(page, "rouge")
    (chooser,) = page._fragment_storage._fragments
    # as the browser asks for it after a tick
    monkeypatch.setattr(local_script_runner, "RerunData", partial(RerunData, fragment_id_queue=[chooser]))
    reads: list[str] = []
    forms: list[str] = []
    monkeypatch.setattr("components.data.evaluation_inputs.read_inputs", lambda *_: reads.append("read"))
    monkeypatch.setattr("components.data.inspected_files.previews", lambda *_: reads.append("previewed"))
    monkeypatch.setattr("components.views.setup.evaluator_drawer.parameter_form", lambda *_: forms.append("form"))
    box.uncheck().run()
    assert not page.exception
    assert json.dumps(page.query_params["evaluator"]).count("rouge") == 0
    assert not reads, "the page above the chooser ran again"
    assert not forms, "a form was drawn that is not open"


def test_the_estimate_is_of_what_is_run_as_in_a_system(page, workspace, monkeypatch):
    """As in H2O, a judge tells the language of answers: Assay's own evaluator asks none."""
    judge_set_up(workspace)
    monkeypatch.setattr(run_estimates, "PATIENCE", None)
    ask(page, "style")
    assert "No judge calls" in words(page)
    next(box for box in page.selectbox if box.key == "setting.as_in").select("h2o").run()
    assert not page.exception
    assert "No judge calls" not in words(page)
    assert "judge calls" in words(page)


def test_the_judge_calls_are_estimated_while_evaluators_are_chosen(page, workspace, monkeypatch):
    judge_set_up(workspace)
    asked = threading.Event()
    work = run_estimates._estimate
    monkeypatch.setattr(run_estimates, "PATIENCE", 0)
    monkeypatch.setattr(run_estimates, "_estimate", lambda *rest: work(*rest) if asked.wait(300) else None)
    ask(page, "claims")
    assert "Estimating the judge calls …" in words(page)
    assert not start(page).disabled
    asked.set()
    monkeypatch.setattr(run_estimates, "PATIENCE", None)
    told = words(page.run())
    assert "judge calls" in told.replace("Estimating the judge calls", "")
    assert "Estimating" not in told


def test_what_earlier_runs_of_the_suite_were_asked_is_offered(evaluate_with, workspace, tmp_path, started, monkeypatch):
    monkeypatch.setattr(run_estimates, "PATIENCE", None)
    files = [tmp_path / "s.csv", tmp_path / "o.csv"]
    for file, text in zip(files, (SUITE, OUTPUTS), strict=True):
        file.write_text(text)
    suite = read_suite(files[0])
    outputs = read_outputs(files[1], suite=suite)
    finished(Workspace(workspace), suite, outputs, "chrf", parameters={"chrf": {"beta": 3}})
    finished(Workspace(workspace), suite, outputs, "rouge")
    page = evaluate_with(("s.csv", SUITE), ("o.csv", OUTPUTS))
    offered = next(button.label for button in page.button if button.key == "as-before")
    assert offered == "As in earlier runs of this suite: chrF, ROUGE, with their parameters"
    press(page, "as-before")
    assert "as-before" not in [button.key for button in page.button], "it is chosen"
    assert "No judge calls" in words(page)
    for evaluator in ("chrf", "rouge"):
        assert re.search(rf"2 of 2 cases are reused from \S+ of [\d-]+ \({evaluator}\); 0 cases are new\.", words(page))
    start(page).click().run()
    assert set(started[0].evaluators) == {"chrf", "rouge"}
    assert started[0].evaluators["chrf"]["beta"] == 3
