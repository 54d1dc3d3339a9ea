"""Judge: who judges what no formula can, how far is it to be trusted, and what does it cost?"""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from components.data import judge_settings
from components.views.judge import machine_models
from metrics.core.prompt import wording
from metrics.core.suite import Outputs, Suite
from metrics.engine import execute
from metrics.judge.local import other_models
from metrics.judge.local.other_models import ModelServer
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished
from tests.judge.server import Fault, JudgeServer
from tests.pages.conftest import PROJECT, Look, Open, Went
from tests.pages.page_scenes import HOSTILE, judged_run
from tests.pages.reading import labelled

CANARY = "sk-CANARY0123456789abcdef"
SUITE = "case_id,question,expected_answers\ngate,When did it open?,In 1937.\n"
OUTPUTS = "case_id,model,answer,retrieved_contexts\ngate,small,In 1937.,\"['It opened in 1937.']\"\n"


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer() as running:
        yield running


@pytest.fixture
def run(look_at: Look) -> Run:
    return look_at(judged_run)


def words(page: AppTest) -> str:
    """Everything that the page says."""
    assert not page.exception
    parts = [page.text, page.subheader, page.code, page.caption, page.markdown, page.text_input, page.text_area]
    return "\n".join(str(element.value) for part in parts for element in part)


def field(page: AppTest, label: str) -> AppTest:
    return next(entry for entry in [*page.text_input, *page.text_area] if entry.label == label)


def button(page: AppTest, label: str) -> AppTest:
    return labelled(page.button, label)


def choose(workspace: Path, url: str) -> None:
    """Make a server the workspace's judge."""
    (workspace / "judge.json").write_text(json.dumps({"model": "scripted", "base_url": url}))


def test_without_a_judge_the_page_teaches(workspace: Path, open_page: Open) -> None:
    page = open_page("judge")
    assert "No judge set up" in words(page)
    assert "python -m metrics judge install" in words(page)
    assert button(page, "Test call").disabled
    assert button(page, "Save").disabled


@pytest.mark.parametrize(("value", "said"), [("", "✗ not set"), (CANARY, "✓ set")], ids=["no key", "a key"])
def test_the_key_is_looked_for_and_never_shown(workspace, open_page, monkeypatch, value, said):
    monkeypatch.setenv("ANTHROPIC_API_KEY", value)
    page = open_page("judge")
    field(page, "Model").input("anthropic/claude-3-5-haiku-latest").run()
    assert f"ANTHROPIC_API_KEY: {said}" in words(page)
    assert CANARY not in words(page)
    button(page, "Save").click().run()
    assert json.loads((workspace / "judge.json").read_text()) == {"model": "anthropic/claude-3-5-haiku-latest"}


def test_what_looks_like_a_key_is_refused(workspace: Path, open_page: Open) -> None:
    page = open_page("judge")
    field(page, "Model").input(CANARY).run()
    assert "model: no key: put it into the environment" in words(page)
    assert button(page, "Save").disabled


def test_a_server_is_tried_saved_and_forgotten(workspace: Path, open_page: Open, server: JudgeServer) -> None:
    page = open_page("judge", way="server")
    field(page, "Base URL").input(server.url).run()
    field(page, "Model").input("scripted").run()
    button(page, "Test call").click().run()
    assert "✓ The reply has the right form and is correct." in words(page)
    assert "tokens · price unknown" in words(page)
    assert '"verdict": "yes"' in words(page)
    button(page, "Save").click().run()
    assert json.loads((workspace / "judge.json").read_text()) == {"model": "scripted", "base_url": server.url}
    again = open_page("judge")
    assert "Judge of this workspace" in words(again)
    assert field(again, "Base URL").value == server.url
    button(again, "Remove").click().run()
    assert "No judge set up" in words(again)


@pytest.mark.attack("browser", "an address typed into the page gets the judge's key", "a person has to allow its host")
def test_a_server_gets_the_key_once_a_person_allows_it(workspace, open_page, server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    monkeypatch.setenv("ASSAY_TARGET_KEYS", "")
    page = open_page("judge", way="server")
    field(page, "Base URL").input(server.url).run()
    field(page, "Model").input("scripted").run()
    assert "OPENAI_API_KEY: ✓ set" in words(page)
    assert "OPENAI_API_KEY is not sent to 127.0.0.1." in words(page)
    button(page, "Test call").click().run()
    assert {call.headers["authorization"] for call in server.calls} == {"Bearer none"}
    page.button(key="leave-OPENAI_API_KEY-127.0.0.1").click().run()
    assert "is not sent to" not in words(page)
    button(page, "Test call").click().run()
    assert server.calls[-1].headers["authorization"] == f"Bearer {CANARY}"
    button(page, "Save").click().run()
    assert CANARY not in words(page)
    files = [path for path in workspace.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if CANARY.encode() in path.read_bytes()]


@pytest.mark.parametrize(("fault", "said"), [
    (Fault(401), "✗ No reply."),
    (Fault(text="certainly!"), "✗ The reply does not have the requested form"),
    (Fault(text='{"reason": "", "verdict": "no"}'), "– The reply has the right form, but is wrong"),
], ids=["refused", "no JSON", "wrong"])  # fmt: skip
def test_a_test_call_that_fails(workspace: Path, open_page: Open, server: JudgeServer, fault: Fault, said: str) -> None:
    choose(workspace, server.url)
    server.fail(fault)
    page = open_page("judge")
    button(page, "Test call").click().run()
    assert said in words(page)


def test_settings_that_cannot_be_read(workspace: Path, open_page: Open) -> None:
    (workspace / "judge.json").write_text("{")
    assert "✗ The judge of this workspace cannot be read: judge.json: found something else than JSON" in words(
        open_page("judge")
    )


def test_the_cache(run: Run, open_page: Open) -> None:
    page = open_page("cache")
    kept = {metric.label: metric.value for metric in page.metric}
    steps = page.dataframe[0].value
    assert kept["Replies kept"] == str(steps["Replies"].sum())
    assert set(steps["Step"]) == {"Claims", "Entailment"}
    assert button(page, "Clear").disabled


def test_a_part_of_the_cache_is_cleared_once_confirmed(look_at_copy: Look, open_page: Open) -> None:
    look_at_copy(judged_run)
    page = open_page("cache")
    before = page.dataframe[0].value.set_index("Step")["Replies"]
    next(box for box in page.selectbox if box.key == "clear-step").select("claims").run()
    page.checkbox[0].check().run()
    button(page, "Clear").click().run()
    assert f"✓ {before.Claims} replies removed" in words(page)
    assert page.dataframe[0].value["Step"].tolist() == ["Entailment"]


def test_a_cache_is_taken_along(run: Run, tmp_path: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    exported = judge_settings.export_cache()
    monkeypatch.setenv("ASSAY_WORKSPACE", str(tmp_path / "another"))
    page = open_page("cache")
    page.file_uploader[0].set_value(("replies.jsonl.gz", b"nothing", "application/gzip")).run()
    assert "✗ Not added: replies.jsonl.gz, row 1: found something else; expected a line of an exported cache" in words(
        page
    )
    page.file_uploader[0].set_value(("replies.jsonl.gz", exported, "application/gzip")).run()
    assert "replies added" in words(page)


def test_a_prompt_is_checked_kept_and_tried(look_at_copy: Look, open_page: Open, server: JudgeServer) -> None:
    judged = look_at_copy(judged_run).workspace.path
    choose(judged, server.url)
    server.say("byop", lambda request: {"reason": "So it is.", "verdict": "steel" in request.text})
    page = open_page("criteria")
    field(page, "Prompt").input("Is {answer} polite?").run()
    assert "✗ prompt, column prompt: found 'Is {answer} polite?'; expected one or more of the placeholders" in words(
        page
    )
    field(page, "Prompt").input("Is {actual_answer} polite?").run()
    assert button(page, "Save").disabled
    button(page, "Try it").click().run()
    tried = page.dataframe[-1].value.set_index("Case")
    assert tried["Verdict"].to_dict() == {"gate": "✗", "arch": "✓"}
    assert set(tried["Reason"]) == {"So it is."}
    field(page, "Title").input("Politeness").run()
    field(page, "Id").input("polite").run()
    button(page, "Save").click().run()
    assert json.loads((judged / "prompts" / "polite.json").read_text())["version"] == 1


FILES = (("bridges.csv", SUITE), ("answers.csv", OUTPUTS))


def test_without_a_judge_its_evaluators_cannot_be_chosen(evaluate_with: Open) -> None:
    page = evaluate_with(*FILES, evaluator="faithfulness")
    assert not [box for box in page.checkbox if box.key == "offer-faithfulness"]
    page.session_state["all-evaluators"] = page.session_state["rest"] = True
    page.run()
    (line,) = [text.value for text in page.text if text.value.startswith("A judge: ")]
    assert "Faithfulness" in line
    assert "Choose at least one evaluator." in words(page)


def test_with_a_judge_the_run_is_estimated_and_takes_budget_and_prompts_along(
    workspace: Path, evaluate_with: Open, server: JudgeServer, started: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("components.data.run_estimates.PATIENCE", None)  # a page in a browser asks again
    choose(workspace, server.url)
    page = evaluate_with(*FILES, evaluator="faithfulness")
    assert "About 2 judge calls" in words(page)
    assert "price unknown" in words(page)
    next(box for box in page.number_input if box.key == "run-budget.calls").set_value(7).run()
    next(box for box in page.text_area if box.key == "prompt-claims").input("List every claim of TEXT.").run()
    assert f"claims · Faithfulness · ✎ your own, sha256 {wording('List every claim of TEXT.')}" in words(page)
    next(box for box in page.text_area if box.key == "prompt-entailment").input("Judge {passage}.").run()
    assert (
        "✗ Not used: it needs no other placeholders than {claims}, {contexts}, {context}, {context_list}, {statements}."
        in words(page)
    )
    next(box for box in page.text_area if box.key == "prompt-entailment").input("Judge {claims}.").run()
    assert "Not used" not in words(page)
    button(page, "Start").click().run()
    judge = started[0].spec.judge
    assert judge["budget"]["calls"] == 7
    assert judge["prompts"] == {"claims": "List every claim of TEXT.", "entailment": "Judge {claims}."}
    assert not server.calls


def test_a_budget_below_the_estimate_warns_before_the_start(workspace, evaluate_with, server, monkeypatch):
    monkeypatch.setattr("components.data.run_estimates.PATIENCE", None)
    choose(workspace, server.url)
    page = evaluate_with(*FILES, evaluator="faithfulness", budget='{"calls": 1}')
    (warning,) = page.warning
    assert "The budget of 1 calls is below the estimated 2 calls: enough for about 50 %" in warning.value


def test_a_key_for_the_session_is_written_nowhere(workspace, open_page, monkeypatch, server, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", "")
    secret = "sk-" + "session0only1key2" * 2
    page = open_page("judge", way="hosted")
    field(page, "Model").input("gpt-4o-mini").run()
    assert "OPENAI_API_KEY: ✗ not set" in words(page)
    field(page, "OPENAI_API_KEY, for this session").input(secret).run()
    assert "OPENAI_API_KEY: ✓ set" in words(page)
    assert os.environ["OPENAI_API_KEY"] == secret
    button(page, "Save").click().run()
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
    assert secret not in str(page.query_params)


def test_the_way_back_to_the_evaluation_keeps_its_choices(workspace, open_page, went, server):
    choose(workspace, server.url)
    page = open_page("judge", way="server", back="suite=abc.csv&preset=right&preset=claims")
    button(page, "Back to the evaluation").click().run()
    assert went == [{"page": "evaluate", "suite": ["abc.csv"], "preset": ["right", "claims"]}]


def test_the_evidence_of_a_judged_score(run: Run, open_page: Open) -> None:
    page = open_page("case", run=run.id, case="gate", evaluator="faithfulness", metric="faithfulness")
    said = words(page)
    assert "⚠ Suspected injection" in said
    assert "retrieved context 3" in said
    assert "Judged by scripted at 127.0.0.1" in said
    assert "the judge's reply is not JSON" in said
    assert "List them." not in said
    page.toggle[0].set_value(True).run()
    assert f"claims, wording of your own (sha256 {wording('List them.')})" in words(page)
    assert "List them." in words(page)
    assert not [entry.value for entry in (*page.markdown, *page.caption) if "127.0.0.1:9" in entry.value]
    assert any(HOSTILE in code.value.replace('\\"', '"') for code in page.code)


def test_what_each_judge_of_a_panel_says(workspace: Path, open_page: Open) -> None:
    run = judged_run(workspace, panel=True)
    page = open_page("case", run=run.id, case="gate", evaluator="faithfulness", metric="faithfulness")
    assert ", second at 127.0.0.1" in words(page)
    tables = [frame.value for frame in page.dataframe if "judge" in frame.value.columns]
    assert tables[0]["judge"].str.partition(" ")[0].tolist() == ["scripted", "second"]
    assert tables[0]["faithfulness"].tolist() == ["0.500", "0.500"]


def test_the_judge_stands_beside_its_numbers(run: Run, open_page: Open) -> None:
    line = words(open_page("leaderboard", run=run.id))
    assert "Judged by scripted at 127.0.0.1" in line
    assert "2 replies unreadable" in line
    assert "⚠ 2 of 4 judge scores are missing. 2 × the judge's reply is not JSON" in line
    assert "Retry" not in [entry.label for entry in open_page("leaderboard", run=run.id).button], "they are recorded"
    cases = words(open_page("cases", run=run.id, evaluator="faithfulness", metric="faithfulness", model="rude"))
    assert "reply unreadable: 2 · judged by scripted at" in cases
    assert "judged by" not in words(open_page("cases", run=run.id, evaluator="rouge", metric="rougeL", model="rude"))


def test_retry_repeats_a_run_and_asks_only_what_failed(workspace, open_page, went, started, server) -> None:
    """A judge that answers one of two questions and then fails for good; on the second run it answers."""
    cases = [{"case_id": name, "question": f"Who built {name}?", "expected_answers": ["Ann."]} for name in ("a", "b")]
    outputs = [
        {"case_id": name, "model": "m", "answer": f"Ann built {name}.", "retrieved_contexts": ["Ann built both."]}
        for name in ("a", "b")
    ]
    server.say("claims", {"claims": ["Ann built it."]})
    server.say("entailment", [{"reason": "So it says.", "supported_by": [1]}])
    server.fail_by(lambda request: Fault(500) if "built b." in request.text else None)
    run = finished(
        Workspace(workspace), Suite.from_rows("builders", "text", cases), Outputs.from_rows(outputs), "faithfulness",
        resources={"judge": {"model": "scripted", "base_url": server.url, "tries": 1}},
    )  # fmt: skip
    page = open_page("leaderboard", run=run.id)
    assert "⚠ 1 of 2 judge scores are missing" in words(page)
    assert "Retry makes a new run with the same choices. Replies in the cache cost nothing" in words(page)
    button(page, "Retry").click().run()
    (again,) = started
    assert went[-1] == {"page": "leaderboard", "run": again.id}
    assert again.spec.request == run.spec.request
    server.fail_by(None)
    server.clear()
    values = [
        row["value"] for row in execute(again).table("scores").to_dict("records") if row["metric"] == "faithfulness"
    ]
    assert (values, server.steps) == ([1.0, 1.0], ["claims"]), "the claims of b; their verdict is that of a"


def test_what_is_recorded_is_not_asked_again_but_the_judge_changed(run, open_page, monkeypatch) -> None:
    trouble = judge_settings.JudgeTrouble(2, 4, "the reply is no JSON", 2, 2)
    monkeypatch.setattr("components.data.judge_settings.judge_trouble", lambda _: trouble)
    page = open_page("leaderboard", run=run.id)
    assert "Choose another judge or other settings" in words(page)
    assert "Retry" not in [entry.label for entry in page.button]


def test_a_run_whose_judge_is_down_says_what_to_do(look_at_copy: Look, open_page: Open) -> None:
    run = look_at_copy(judged_run)
    stopped = Workspace(run.workspace.path).create_run(run.spec.stored)
    (stopped.folder / "failure.txt").write_text("JudgeDown: the judge does not answer")
    page = open_page("runs")
    assert "Continue asks only for the missing ones" in words(page)
    assert button(page, "Continue")
    page = open_page("leaderboard", run=stopped.id)
    assert "✗ JudgeDown: the judge does not answer" in words(page)
    assert button(page, "Continue")


def test_the_local_judge_says_how_far_it_can_be_trusted(workspace: Path, open_page: Open, monkeypatch) -> None:
    monkeypatch.setenv("ASSAY_MODELS", str(workspace / "none"))
    page = open_page("judge", way="local")
    assert labelled(page.selectbox, "Model").value is None, "what is not here is not chosen unasked"
    assert button(page, "Save").disabled
    labelled(page.selectbox, "Model").set_value("local").run()
    assert "It is a small model" in words(page)
    (table,) = (one.value for one in page.dataframe)
    row, least = table[table["labels"].str.startswith("BEGIN")].to_dict("records")
    assert (row["evaluator"], row["threshold"]) == ("Faithfulness", "0.671")
    assert (least["evaluator"], least["threshold"]) == ("Least supported claim", "0.500")
    labelled(page.number_input, "Temperature").set_value(0.7).run()
    assert "measured with its default settings, not with these" in words(page)
    assert not page.dataframe
    assert not open_page("judge", way="hosted").dataframe


def test_a_rubric_is_imported_checked_saved_and_chosen(workspace: Path, open_page: Open) -> None:
    page = open_page("criteria", view="rubrics")
    assert "Weights: Factual accuracy 30 %" in words(page)
    content = b"tone: {weight: 1, description: Kind., levels: {kind: 1, rude: 0}}"
    page.file_uploader[0].set_value(("support.yaml", content, "text/yaml")).run()
    assert "\u2713 imported; save it to keep it in this workspace" in words(page)
    assert "\u2713 1 dimension, 1 with levels of their own" in words(page)
    field(page, "Title").set_value("").run()
    assert "\u2717 title: String should have at least 1 character" in words(page)
    assert button(page, "Save").disabled
    field(page, "Title").set_value("Support").run()
    button(page, "Save").click().run()
    assert json.loads((workspace / "rubrics" / "support.json").read_text())["title"] == "Support"
    page.file_uploader[0].set_value(("bad.yaml", b"- 1", "text/yaml")).run()
    assert "\u2717 bad.yaml: found a list; expected JSON or YAML with the dimensions of a rubric" in words(page)


class TestModelsOfThisMachine:
    def used(self, page: AppTest, went: Went) -> AppTest:
        """The judge's form, opened with the first model that is offered."""
        button(page, "Use").click().run()
        form = AppTest.from_file(str(PROJECT / "pages" / "judge.py"), default_timeout=300)
        assert went[-1].pop("page") == "judge"
        form.query_params["way"] = went[-1]["way"]
        form.session_state[machine_models.OFFER] = page.session_state[machine_models.OFFER]
        return form.run()

    def test_nothing_found(self, workspace: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ASSAY_MODELS", str(workspace / "none"))
        page = open_page("local_models")
        assert "all-MiniLM-L6-v2, 91.6 MB\n✓ here" in words(page)
        assert "unitary/toxic-bert, about 440 MB\n– not on this machine\nFor Toxicity" in words(page)
        assert "python -m metrics models check NAME --download gets one from the hub" in words(page)
        assert "1.1 GB" in words(page)
        assert "No GGUF file found. Put one into the folder models of this workspace" in words(page)
        assert not [entry for entry in page.button if entry.label == "Use"]

    def test_a_file_fills_in_the_form_and_is_saved(self, workspace: Path, open_page: Open, went: Went) -> None:
        file = workspace / "models" / "mine.gguf"
        file.parent.mkdir()
        file.write_bytes(b"GGUF".ljust(3000, b"\0"))
        page = open_page("local_models")
        assert "mine" in words(page)
        assert "3 kB" in words(page)
        page = self.used(page, went)
        assert labelled(page.selectbox, "Model").value == f"local:{file}"
        assert "Its agreement with human verdicts is not measured" in words(page)
        button(page, "Save").click().run()
        assert json.loads((workspace / "judge.json").read_text()) == {"model": f"local:{file}"}
        again = open_page("judge")
        assert "Judge of this workspace" in words(again), "the file is still chosen when the page is opened again"
        file.unlink()
        gone = open_page("judge")
        assert "there is no file" in words(gone)

    def test_a_server_is_looked_for_on_request_only(self, workspace, open_page, server, monkeypatch, went):
        asked: list[Mapping[str, int]] = []
        here = ModelServer("Ollama", server.url, ("scripted", "second"))

        def answer() -> list[ModelServer]:
            asked.append(other_models.USUAL)
            return [here, ModelServer("vLLM", "http://127.0.0.1:8000/v1", locked=True)]

        monkeypatch.setattr(other_models, "running_servers", answer)
        choose(workspace, "http://127.0.0.1:9/v1")
        page = open_page("local_models")
        assert not asked
        button(page, "Look for servers").click().run()
        assert len(asked) == 1
        assert "vLLM at http://127.0.0.1:8000/v1 asks for a key" in words(page)
        page = self.used(page, went)
        assert (field(page, "Base URL").value, field(page, "Model").value) == (server.url, "scripted")
        button(page, "Test call").click().run()
        assert "✓ The reply has the right form and is correct." in words(page)
        button(page, "Save").click().run()
        assert json.loads((workspace / "judge.json").read_text()) == {"model": "scripted", "base_url": server.url}
        assert len(asked) == 1

    def test_no_server_answers(self, workspace: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(other_models, "running_servers", list)
        page = open_page("local_models")
        button(page, "Look for servers").click().run()
        assert "No server answers on the usual ports." in words(page)
