"""`python -m metrics monitor`: from the command line to the numbers it prints."""

import io
import json
import os
import subprocess
import sys

import pytest

from metrics.cli.main import main
from metrics.monitoring import monitor
from metrics.store import Workspace
from tests.conftest import PROJECT
from tests.monitoring.monitor_scenes import line, write


def test_a_file(workspace, tmp_path, capsys):
    lines = [line(index, passes=index % 5 > 1) for index in range(100)]
    path = write(tmp_path / "a.jsonl", [*lines, b"oops"])
    command = ["monitor", str(path), "--name", "chat", "--rate", "1", "--evaluators", "pii_leakage"]
    assert main([*command, "--quiet"]) == 0
    out, told = capsys.readouterr()
    assert out.splitlines() == [
        "101 lines read, 100 sampled, 0 of them unscored, 0 sampled before, 1 bad",
        "all metrics: warning, 0.600 (0.422–0.760) pass, n 100; latest window: 60 of 100 judged pass, 0 unscored",
        "  pii_leakage.passes: warning, 0.600 (0.422–0.760) pass, n 100; latest window: 60 of 100 judged pass, "
        "mean 0.600 (0.502–0.691), 0 unscored",
        "The pass rate is below 0.85, with at most 5 % risk of a false alarm, however often you look.",
        "warning",
    ]
    assert told.startswith("a.jsonl, row 101: found JSON is malformed: invalid character")
    assert main(["monitor", str(path), "--name", "chat"]) == 0  # the settings are known
    assert capsys.readouterr().out == out
    assert main(["monitor", str(path), "--name", "chat", "--plain"]) == 0
    assert capsys.readouterr().out.splitlines()[-3] == (
        "By plain thresholds: critical, 0.600 of all 100 judged samples pass, average score 0.600; each look may be a "
        "false alarm."
    )


def test_the_settings_are_kept(workspace, tmp_path, capsys):
    path = write(tmp_path / "a.jsonl", [{"uid": "1", "when": 1_763_700_000, "reply": "x", "id": "other"}])
    options = "--rate 1 --seed 3 --window 30m --minimum 5 --id uid --time when --session chat --quiet".split()
    options += "--map answer=reply --evaluators pii_leakage,text_matching --param pii_leakage.threshold=0.9".split()
    assert main(["monitor", str(path), "--name", "chat", *options]) == 0
    found = monitor(Workspace(), "chat")
    spec = found.spec
    assert (spec.rate, spec.seed, spec.window, spec.minimum, spec.id, spec.time, spec.session) == (
        1, 3, "30m", 5, "uid", "when", "chat",
    )  # fmt: skip
    assert (spec.evaluators["pii_leakage"]["threshold"], spec.mapping) == (0.9, {"answer": "reply"})
    assert found.query("SELECT id, answer FROM samples").values.tolist() == [["1", "x"]]
    assert main(["monitor", str(path), "--name", "chat", *options]) == 0
    assert main(["monitor", str(path), "--name", "chat", "--seed", "4", "--window", "1h"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "--seed: found 4; expected 3, which the monitor was created with; or another --name",
        "--window: found '1h'; expected '30m', which the monitor was created with; or another --name",
    ]


def test_evaluators_are_chosen_for_a_file_alone(workspace, tmp_path, capsys):
    path = write(tmp_path / "a.jsonl", [line(index, expected="A mill.") for index in range(3)])
    assert main(["monitor", str(path), "--name", "chat", "--rate", "1", "--quiet"]) == 0
    assert {"rouge", "pii_leakage"} <= set(monitor(Workspace(), "chat").spec.evaluators)
    capsys.readouterr()
    assert main(["monitor", "-", "--name", "piped"]) == 2
    assert capsys.readouterr().err == (
        "--evaluators: found none; expected the evaluators, where the input is no file\n"
    )
    assert not (workspace / "monitors" / "piped").exists()


@pytest.mark.parametrize(("options", "expected"), [
    (["no.jsonl"], "no.jsonl: found No such file or directory; expected a file of JSON lines, or - for"),
    (["."], ".: found a folder; expected a file of JSON lines, or - for standard input"),
    (["-", "--evaluators", "nope"], "evaluators: found 'nope'; expected one of"),
    (["-", "--evaluators", "pii_leakage", "--rate", "0"], "--rate: found 0; expected a share above 0, at most 1"),
    (["-", "--evaluators", "pii_leakage", "--reference", "latest"], "there is no finished run in"),
    (["-", "--evaluators", "rubric"], "--evaluators: found rubric, which cannot be used; expected no judge"),
    (["-", "--param", "a.b=1"], "--param: found values, but no --evaluators; expected --evaluators beside --param"),
    (
        ["-", "--evaluators", "pii_leakage", "--param", "rouge.use_stemmer=true"],
        "--param: found values for rouge; expected values only for evaluators that are chosen",
    ),
    (["-", "--evaluators", "pii_leakage", "--on-alert", "'"], "expected a command with its arguments"),
    (["-", "--evaluators", "pii_leakage", "--judge-budget", "usd=1"], "expected --judge MODEL or --judge local"),
])  # fmt: skip
def test_bad_input_is_reported_and_nothing_is_created(options, expected, workspace, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    assert main(["monitor", *options, "--name", "chat"]) == 2
    assert expected in capsys.readouterr().err
    assert not (workspace / "monitors").exists()


def test_standard_input(workspace):
    """Lines from a pipe: those that come are judged within seconds, though the pipe stays open; then its end."""
    hurried = "from metrics.monitoring import runner; runner.WAIT_SECONDS = 0.0; "
    command = [
        sys.executable, "-c", hurried + "from metrics.cli.main import main; raise SystemExit(main())", "monitor",
        "--name", "chat", "--rate", "1", "--evaluators", "pii_leakage",
    ]  # fmt: skip
    with subprocess.Popen(
        command, cwd=PROJECT, env=os.environ | {"ASSAY_WORKSPACE": str(workspace)}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write("".join(json.dumps(line(index)) + "\n" for index in range(3)))
        process.stdin.flush()
        seen = ""
        while "3 lines read, 3 sampled" not in seen:
            seen = process.stderr.readline()
            assert seen
        assert monitor(Workspace(), "chat").state.sampled == 3
        process.stdin.write(json.dumps(line(1)) + "\n" + json.dumps(line(9))[:-1])
        process.stdin.close()
        out = process.stdout.read()
    assert process.returncode == 0
    assert out.splitlines()[0] == "5 lines read, 3 sampled, 0 of them unscored, 1 sampled before, 1 bad"
    assert out.splitlines()[-1] == "insufficient_data"
