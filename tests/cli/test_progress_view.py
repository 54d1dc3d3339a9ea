"""Progress: bars on a terminal, a few lines in a pipe, events in JSON."""

import json
import re
from argparse import Namespace

import pytest

from metrics.cli import progress_view
from metrics.cli.main import main
from metrics.cli.progress_view import count, follow
from metrics.store import Progress, Workspace
from metrics.store.run_progress import EvaluatorProgress

BOTH = "case_id,question,expected_answer,model,answer\n1,q,yes,m,yes\n2,r,no,m,yes\n"


@pytest.fixture
def clock(monkeypatch):
    """The seconds that the view reads; the test sets them."""
    now = [0.0]
    monkeypatch.setattr(progress_view.time, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def read_errors(capsys):
    return lambda: capsys.readouterr().err.splitlines()


def progress(done: int, message: str = "evaluating", failed: int = 0) -> Progress:
    left = 8.0 if done else None
    return Progress((EvaluatorProgress("rouge", "ROUGE", done, 200, failed),), 2.0, left, message)


def options(**more: object) -> Namespace:
    return Namespace(**{"quiet": False, "log_format": "text"} | more)


def test_lines_in_a_pipe(clock, read_errors):
    with follow(options()) as listen:
        assert listen is not None
        for _ in range(5):
            listen(progress(0, "starting"))
        assert read_errors() == ["starting …"], "not 0 %, and once"
        listen(progress(1))
        for done in range(2, 20):
            listen(progress(done))
        assert read_errors() == ["evaluating 0 %, about 8.0 s left: 1 of 200 done"]
        listen(progress(21, failed=3))
        listen(progress(22))
        assert read_errors() == ["evaluating 10 %, about 8.0 s left: 21 of 200 done, 3 failed"]
        clock[0] = progress_view.LINE_EVERY
        listen(progress(23))
        listen(progress(24))
        assert read_errors() == ["evaluating 12 %, about 8.0 s left: 23 of 200 done"]
        listen(progress(200, "finished", 3))
    assert read_errors() == ["finished, about 8.0 s left: 200 of 200 done, 3 failed, 2.0 s"]


def test_parts_of_a_job(clock, read_errors):
    with follow(options()) as listen:
        for what in ("Writing", "Checking"):
            for done in range(31):
                count(listen, what, done, 30)
    lines = read_errors()
    assert (lines[0], lines[-1]) == ("Writing 0 %: 0 of 30 done", "Checking 100 %: 30 of 30 done")
    assert len(lines) == 2 * 11


def test_events(workspace, tmp_path, read_errors):
    """Law: with --log-format json each line of standard error is an object with the event and its time."""
    (tmp_path / "both.csv").write_text(BOTH)
    arguments = ["evaluate", str(tmp_path / "both.csv"), "--log-format", "json"]
    gates = ["--fail-under", "rougeL=2", "--fail-under", "rougeL=0"]
    assert main([*arguments, "--evaluators", "rouge,bleu,perplexity", *gates]) == 1
    events = [json.loads(line) for line in read_errors()]
    assert all(re.match(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00", one["time"]) for one in events)
    receipt, *events = events
    assert (receipt["event"], receipt["text"]) == ("note", "both.csv: 2 rows, 5 parts used")
    names = [one["event"] for one in events]
    assert names[:3] == ["note", "start", "progress"], "perplexity has no model"
    assert names[-3:] == ["gate", "gate", "finish"]
    run = Workspace().run("latest")
    assert (events[1]["run"], events[1]["models"], events[1]["cases"]) == (run.id, ["m"], 2)
    assert {one["evaluator"]: one["done"] for one in events if one["event"] == "evaluator"} == {
        "rouge": 2, "bleu": 2, "perplexity": 2,
    }  # fmt: skip
    assert [one["passed"] for one in events if one["event"] == "gate"] == [False, True]
    last = [one for one in events if one["event"] == "progress"][-1]
    assert (last["message"], last["done"], last["total"]) == ("finished", 6, 6)
    assert (events[-1]["state"], events[-1]["exit_code"]) == ("finished", 1)
    assert main([*arguments, "--evaluators", "nope"]) == 2
    *_, error = [json.loads(line) for line in read_errors()]
    assert (error["event"], error["problems"][0]["found"]) == ("error", "'nope'")


def test_bars_on_a_terminal(tmp_path, workspace, on_terminal):
    (tmp_path / "both.csv").write_text(BOTH)
    text = on_terminal(tmp_path, ["evaluate", "both.csv", "--evaluators", "rouge,bleu"])
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    assert "starting …" in shown
    assert re.search(r"ROUGE\s.*2/2", shown)
    assert re.search(r"BLEU\s.*2/2", shown)
