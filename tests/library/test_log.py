"""log(): cases, outputs and scores of one's own, one by one, become a sealed run."""

import os
import signal
import subprocess
import sys
import threading

import pytest

import metrics as assay
from metrics import Metric, Workspace, analysis
from metrics.core.errors import InputError, RunBusy, RunError
from metrics.store.logged_rows import LoggedRows

TONE = Metric("tone", "Tone, from 1 to 5.", 1, 5, threshold=3)


@pytest.fixture(autouse=True)
def _units_here(units_here):
    """No workers: they are tested in tests/engine."""


def test_a_logged_run_has_the_scores_that_were_added(workspace):
    with assay.log("nightly", metrics=[TONE], evaluators=["rouge"]) as log:
        for model, answers in {"a": ("yes", "no"), "b": ("no", "no")}.items():
            for place, answer in enumerate(answers):
                case = {"case_id": f"c{place}", "question": "?", "expected_answers": [answers[0]], "tags": ["t"]}
                log.add(case if model == "a" else {"case_id": f"c{place}"}, answer, model=model,
                        scores={"tone": 2 + place, "polite": answer == "yes", "length": 10.5 * len(answer),
                                "p": None if place else 0.25}, reasons={"tone": "so it sounds"})  # fmt: skip
    run = log.result
    assert run.state == "finished"
    assert run.models == ("a", "b")
    assert list(run.evaluators) == ["own_scores", "rouge"]
    scores = run.scores.query("evaluator == 'own_scores' and model == 'a'").set_index(["case_id", "metric"])
    assert scores["value"].loc["c0"].to_dict() == {"tone": 2.0, "polite": 1.0, "length": 31.5, "p": 0.25}
    assert scores.loc[("c1", "p"), "status"] == "not_applicable"
    assert scores.loc[("c1", "p"), "reason"] == "no p came with the output"
    board = analysis.leaderboard(run)
    ranges = {column.metric: (column.low, column.high, column.binary, column.threshold) for column in board.columns
              if column.evaluator == "own_scores"}  # fmt: skip
    assert ranges == {
        "tone": (1.0, 5.0, False, 3.0), "polite": (0.0, 1.0, True, None),
        "length": (0.0, float("inf"), False, None), "p": (0.0, 1.0, False, None),
    }  # fmt: skip
    cell = board.cells["a", "own_scores/tone"]
    assert (cell.value, cell.goodness, cell.problem, cell.n) == (2.5, 0.375, True, 2)
    assert "✗ tone · 2 · so it sounds" in repr(run.show("c0", "own_scores", "a"))
    assert not any((workspace / "logs").iterdir())


def test_a_case_is_known_by_its_content_and_repeats_are_counted(workspace):
    with assay.log("repeats", model="m") as log:
        for score in (0.0, 0.5, 1.0):
            log.add("What is it?", "x", {"s": score})
        log.add(assay.Case(question="Another?", tags=("t",)), {"answer": "y", "duration_s": 2.5}, {"s": 1})
    outputs = log.result.outputs.outputs.to_pylist()
    assert [row["run"] for row in outputs] == [1, 2, 3, 1]
    assert outputs[3]["duration_s"] == 2.5
    assert log.result.suite.cases["question"].to_pylist() == ["What is it?", "Another?"]
    assert log.result.suite.cases["tags"].to_pylist() == [None, ["t"]]


def test_every_fault_of_a_row_is_told_and_nothing_is_added(workspace):
    with assay.log("faults", metrics=[TONE]) as log:
        log.add({"case_id": "1", "question": "?"}, "x", {"tone": 1})
        with pytest.raises(InputError) as refused:
            log.add({"question": "?", "weight": "much"}, {"answer": "x", "tokens": 1.5}, reasons={"other": "y"},
                    scores={"two words": 1, "n": float("nan"), "tone": 9, "text": "x"})  # fmt: skip
        assert len(refused.value.problems) == 7
        with pytest.raises(InputError, match="case '1' with other values than before"):
            log.add({"case_id": "1", "question": "else?"}, "x")
        assert log.count == 1
    assert log.result.outputs.outputs.num_rows == 1


def test_an_exception_keeps_what_was_added(workspace):
    with pytest.raises(ZeroDivisionError) as failed, assay.log("broken", metrics=[TONE]) as log:
        log.add("a?", "x", {"tone": 4})
        log.add("b?", "x", {"tone": 1 / 0})
    assert "What was added to the log 'broken' is kept (1 output)" in failed.value.__notes__[0]
    assert Workspace().runs() == []
    with pytest.raises(RunError, match="not a run before the end"):
        log.result  # noqa: B018 - reading it fails
    with pytest.raises(InputError, match="an unfinished log called 'broken'"):
        assay.log("broken")
    with assay.log("broken", resume=True) as log:
        log.add("b?", "x", {"tone": 2})
    assert log.result.scores["value"].tolist() == [4.0, 2.0]
    assert log.result.evaluators["own_scores"]["scores"]["tone"]["high"] == 5


def test_logs_that_cannot_be_opened_or_closed_say_why(workspace):
    with pytest.raises(InputError, match="no unfinished log called 'never'"):
        assay.log("never", resume=True)
    with pytest.raises(InputError, match="the metric 'two words'"):
        assay.log("bad", metrics=[Metric("two words", "…")])
    with pytest.raises(InputError, match="nothing added"), assay.log("empty"):
        pass
    assert not LoggedRows(workspace, "empty").exists
    with assay.log("busy") as log:
        log.add("a?", "x", {"s": 1})
        with pytest.raises(RunBusy, match="'busy' is being written by another process"):
            assay.log("busy", resume=True).__enter__()
    with pytest.raises(RunBusy, match="is closed"):
        log.add("b?", "x", {"s": 1})


def test_threads_add_to_one_log(workspace):
    with assay.log("threads") as log:

        def work(worker: int) -> None:
            for place in range(50):
                log.add({"case_id": f"c{place}", "question": "?"}, "x", {"s": place / 50}, model=f"m{worker}")

        workers = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
        for one in workers:
            one.start()
        for one in workers:
            one.join()
    counts = log.result.scores.groupby("model")["value"].agg(["size", "mean"])
    assert counts["size"].tolist() == [50] * 4
    assert counts["mean"].tolist() == pytest.approx([0.49] * 4)


KILLED = """
import os, sys
sys.path.insert(0, sys.argv[1])
import metrics
with metrics.log("killed") as log:
    for place in range(1000):
        log.add({"case_id": str(place), "question": "?"}, "x", {"s": place})
        if place == 24:
            print("ready", flush=True)
            sys.stdin.readline()
"""


def test_a_killed_process_loses_nothing_and_a_torn_row_is_left_out(workspace, project):
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(project)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        os.kill(process.pid, signal.SIGKILL)
    stored = LoggedRows(workspace, "killed")
    with (stored.folder / "rows.jsonl").open("ab") as file:
        file.write(b'{"case": {"case_id": "torn')
    with assay.log("killed", resume=True) as log:
        assert log.count == 25
        log.add({"case_id": "25", "question": "?"}, "x", {"s": 25})
    assert log.result.scores["value"].tolist() == [float(place) for place in range(26)]
