"""The judge on the command line, from the options to the exported judgements, and from Python."""

import csv
import json
from xml.etree import ElementTree

import pytest

from metrics.cli.main import main
from metrics.store import Workspace
from tests.judge.judge_scenes import rag
from tests.judge.server import Fault, JudgeServer


@pytest.fixture
def files(workspace, tmp_path):
    """A suite and the outputs of one model, three cases."""
    suite, outputs = rag(3)
    cases = [
        {
            "case_id": row["case_id"],
            "question": row["question"],
            "expected_answers": json.dumps(row["expected_answers"]),
        }
        for row in suite.cases.to_pylist()
    ]
    answers = [
        {name: row[name] for name in ("case_id", "model", "answer")}
        | {"retrieved_contexts": json.dumps(row["retrieved_contexts"])}
        for row in outputs.outputs.to_pylist()
    ]
    for name, rows in (("suite.csv", cases), ("outputs.csv", answers)):
        with (tmp_path / name).open("w", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    return [str(tmp_path / "suite.csv"), str(tmp_path / "outputs.csv")]


def judging(files: list[str], server: JudgeServer, *more: str) -> list[str]:
    judge = ["--judge", "scripted", "--judge-base-url", server.url, "--quiet"]
    return ["evaluate", *files, "--evaluators", "faithfulness", *judge, *more]


def test_evaluate_export_replay(files, judge_server, workspace, tmp_path, capsys):
    assert main([*judging(files, judge_server, "--judge-concurrency", "2"), "--judge-budget", "calls=100"]) == 0
    run = Workspace(workspace).run("latest")
    assert run.scores["status"].eq("ok").all()
    assert run.spec.judge == {
        "model": "scripted", "base_url": judge_server.url, "concurrency": 2, "budget": {"calls": 100},
    }  # fmt: skip
    capsys.readouterr()
    assert main(["export", "latest", "--what", "judgements"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == 6
    assert {row["step"] for row in rows} == {"claims", "entailment"}
    entailment = next(row for row in rows if row["step"] == "entailment")
    assert json.loads(entailment["verdict"])[0]["id"] == 1
    assert entailment["reason"].startswith("a sentence")
    assert (entailment["cached"], entailment["cost_usd"]) == (False, None)

    assert main(["cache", "stats"]) == 0
    assert capsys.readouterr().out.startswith("6 replies, ")
    file = str(tmp_path / "replies.jsonl")
    assert main(["cache", "export", file, "--run", "latest"]) == 0
    assert (main(["cache", "clear", "--step", "claims"]), main(["cache", "clear"])) == (0, 0)
    assert main(["cache", "import", file]) == 0
    told = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in told] == ["6", "3", "3", "6"]

    elsewhere = str(tmp_path / "elsewhere")
    judge_server.clear()
    assert main(judging(files, judge_server, "--replay", file, "--workspace", elsewhere)) == 0
    assert not judge_server.calls
    again = Workspace(elsewhere).run("latest")
    assert again.table_path("scores").read_bytes() == run.table_path("scores").read_bytes()


def test_a_dry_run_makes_no_call(files, judge_server, workspace, capsys):
    assert main(judging(files, judge_server, "--dry-run")) == 0
    told = capsys.readouterr().out
    assert told.startswith("about 6 calls to scripted at 127.0.0.1")
    assert "price unknown; 0 more are answered by the cache" in told
    assert not judge_server.calls
    assert not Workspace(workspace).runs()
    assert main(["evaluate", *files, "--evaluators", "rouge", "--dry-run"]) == 0
    assert capsys.readouterr().out.startswith("no judge calls: no judge is chosen")


@pytest.mark.parametrize(("options", "complaint"), [
    (["--judge-base-url", "http://x/v1"], "--judge: found no judge, but options for one; expected --judge MODEL"),
    (["--judge", "m", "--judge-budget", "pounds=3"], "--judge-budget: found 'pounds=3'; expected usd=N, calls=N"),
    (["--judge", "m", "--judge-budget", "calls=many"], "found 'calls=many'"),
    (["--judge", "m", "--judge-concurrency", "0"], "judge, column concurrency: found 0"),
    (["--judge", "m", "--judge-base-url", "ftp://x"], "a base_url like"),
])  # fmt: skip
def test_options_that_cannot_be(files, options, complaint, capsys):
    assert main(["evaluate", *files, "--evaluators", "faithfulness", "--quiet", *options]) == 2
    assert complaint in capsys.readouterr().err


def test_a_judge_that_is_down_is_reported_and_the_run_can_be_resumed(files, workspace, capsys):
    with JudgeServer() as server:
        pass
    assert main([*judging(files, server), "--judge-budget", "calls=1"]) == 3, "one try in vain, then nothing is asked"
    capsys.readouterr()
    assert Workspace(workspace).run("latest").scores["status"].eq("skipped").any()


def test_options_of_the_judge_reach_the_server_and_the_specification(files, judge_server, workspace, capsys):
    options = ("--judge-option", "seed=42", "--judge-option", "temperature=0.5")
    assert main(judging(files, judge_server, *options)) == 0
    assert all((request.body["seed"], request.body["temperature"]) == (42, 0.5) for request in judge_server.calls)
    judge = Workspace(workspace).run("latest").spec.judge
    assert (judge["seed"], judge["temperature"]) == (42, 0.5)
    assert main(judging(files, judge_server, "--judge-option", "sed=1", "--judge-option", "seed")) == 2
    assert (
        "'sed=1'; expected NAME=VALUE or 2:NAME=VALUE, with one of temperature, max_tokens, window"
        in capsys.readouterr().err
    )
    assert main(judging(files, judge_server, "--judge-option", "top_p=2")) == 2
    assert "judge, column top_p: found '2'" in capsys.readouterr().err


class TestNoValue:
    """A run in which no case has a value does not succeed, and is no failed gate either."""

    @pytest.mark.parametrize("gate", [(), ("--fail-under", "faithfulness=0.5")])
    def test_a_judge_that_refuses(self, files, judge_server, gate, tmp_path, capsys):
        judge_server.say(lambda _: True, "I'm sorry, but I can't help with that.")
        assert main(judging(files, judge_server, *gate, "--junit", str(tmp_path / "gates.xml"))) == 3
        told = capsys.readouterr().err.strip().splitlines()
        assert told[-1].startswith(
            "no case has a value (reply unreadable: 3; a new run asks the judge again); 3 times: the judge refused to "
            "answer; it said \"I'm sorry, but"
        )
        root = ElementTree.parse(tmp_path / "gates.xml").getroot()
        assert (root.attrib["errors"], root.attrib["failures"]) == ("1", str(len(gate) // 2))
        [error] = root.iter("error")
        assert error.text == told[-1]

    def test_a_judge_that_was_mended(self, files, judge_server, workspace, tmp_path, capsys):
        judge_server.fail_by(lambda _: Fault(text="Certainly!"))
        assert main(judging(files, judge_server)) == 3
        assert main(["cache", "export", str(tmp_path / "replies.jsonl")]) == 0
        judge_server.fail_by(None)
        assert main(judging(files, judge_server)) == 0
        assert Workspace(workspace).run("latest").judgements["error"].isna().all()
        asked = len(judge_server.calls)
        capsys.readouterr()
        assert main(judging(files, judge_server, "--replay", str(tmp_path / "replies.jsonl"))) == 3
        assert "(reply unreadable: 3); 3 times" in capsys.readouterr().err, "which no new replay asks again"
        assert len(judge_server.calls) == asked

    def test_one_case_with_a_value_is_enough(self, files, judge_server):
        judge_server.fail_by(lambda request: None if "1501" in request.text else Fault(400, body="{}"))
        assert main(judging(files, judge_server)) == 0

    def test_a_resumed_run(self, files, judge_server, workspace, capsys):
        judge_server.fail_by(lambda _: Fault(401))
        assert main(judging(files, judge_server)) == 2, "the judge is down"
        judge_server.fail_by(None)
        judge_server.say(lambda _: True, "Certainly!")
        capsys.readouterr()
        assert main(["resume", "latest", "--quiet"]) == 3
        assert "reply unreadable: 3" in capsys.readouterr().err
        assert Workspace(workspace).run("latest").state == "finished"

    def test_without_a_judge(self, files, capsys):
        assert main(["evaluate", *files, "--evaluators", "faithfulness", "--quiet"]) == 3
        assert "no case has a value (skipped: 3); 3 times: no judge is chosen" in capsys.readouterr().err
