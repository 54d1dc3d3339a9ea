"""`complete`, and `evaluate --target`: from a suite and something that answers to outputs and a leaderboard."""

import json
from collections import Counter

import pytest

from metrics.cli.main import main
from metrics.ingest import read_outputs
from metrics.store.table_files import table_bytes
from tests.targets.conftest import bot, twenty

__all__ = ["bot", "twenty"]


@pytest.fixture
def suite(twenty, tmp_path):
    file = tmp_path / "suite.jsonl"
    file.write_bytes(table_bytes(twenty.cases, "jsonl"))
    return str(file)


@pytest.mark.parametrize("ending", ["jsonl", "parquet", "csv"])
def test_answers_are_written_and_read_back(ending, suite, twenty, bot, workspace, tmp_path, capsys):
    bot.trouble["q3"] = "400"
    file = tmp_path / f"out.{ending}"
    assert main(["complete", suite, "--target", f"bot={bot.url}", "--repeats", "2", "-o", str(file)]) == 0
    said = capsys.readouterr()
    assert said.out == f"38 answers, 2 failed in {file}\n"
    assert "bot, without an answer: HTTP 400: scripted (cases c3)\n" in said.err
    outputs = read_outputs([file], suite=twenty)
    assert outputs.models == ("bot",)
    assert outputs.outputs["answer"].to_pylist()[:3] == ["A q0", "A q1", "A q2"]
    assert outputs.outputs["run"].to_pylist() == [1] * 20 + [2] * 20


def test_evaluate_asks_and_the_second_time_reads(suite, bot, workspace, capsys):
    command = ["evaluate", suite, "--target", f"bot={bot.url}", "--evaluators", "rouge", "--fail-under", "rougeL=0.9"]
    assert (main([*command, "--dry-run"]), capsys.readouterr().out) == (0, "bot: 20 calls, 0 recorded\n")
    assert (main(command), main([*command, "--quiet"]), set(bot.asked.values())) == (0, 0, {1})
    assert "bot    1.00 (0.839–1.00)  n 20" in capsys.readouterr().out


def test_flags_make_a_grid(suite, workspace, tmp_path, capsys):
    (tmp_path / "long.txt").write_text("Think step by step. {question}")
    command = ["complete", suite, "--target", "gpt-4o", "--target", "gpt-4o-mini", "--dry-run"]
    prompts = ["--target-prompt", "short={question}", "--target-prompt", f"long=@{tmp_path / 'long.txt'}"]
    assert main([*command, *prompts]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in said] == [
        "gpt-4o · short", "gpt-4o · long", "gpt-4o-mini · short", "gpt-4o-mini · long",
    ]  # fmt: skip


@pytest.mark.parametrize(("arguments", "message"), [
    (["complete"], "SUITE: found nothing; expected a file with test cases\n--target: found nothing"),
    (["complete", "{suite}", "--target", "http://h/", "-o", "x.txt"], "x.txt: found the ending 'txt'"),
    (["complete", "{suite}", "--target", "m", "--target-prompt", "{nope}"], "the placeholder {nope}"),
    (["complete", "{suite}", "--target", "m", "--target-budget", "x=1"], "--target-budget: found 'x=1'"),
    (["complete", "{suite}", "--target", "m", "--target-prompt", "@no.txt"], "expected a text file in UTF-8"),
    (["evaluate", "{suite}", "{suite}", "--target", "m"], "expected outputs or targets"),
])  # fmt: skip
def test_what_is_wrong(arguments, message, suite, workspace, capsys):
    assert main([argument.replace("{suite}", suite) for argument in arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_file_that_describes_targets(suite, bot, workspace, tmp_path):
    file = tmp_path / "targets.json"
    file.write_text(json.dumps([{"name": "a", "url": bot.url}, {"name": "b", "url": bot.url + "/b"}]))
    assert main(["complete", suite, "--target", str(file), "--quiet"]) == 0
    assert bot.asked == Counter({f"q{n}": 2 for n in range(20)})
