"""The progress of a run: its time left, from judged cases and other units apart."""

import os
import time
from types import SimpleNamespace
from typing import Any

import pytest

from metrics import engine
from metrics.core.files import hold_lock
from metrics.engine.plan import Unit
from metrics.engine.progress import Tracker
from metrics.engine.run_control import STARTED, claim_start
from metrics.store import Progress, Workspace
from metrics.store.run_files import STARTING
from tests.engine.engine_scenes import finished, one_thread, stopped, text_outputs, text_suite
from tests.judge.judge_scenes import rag

DONE: Any = SimpleNamespace(failed=0)  # the result of a unit, as far as it is counted


def units(evaluator: str, number: int, rows: int) -> list[Unit]:
    return [Unit(f"{evaluator}-{one}", evaluator, "m", one * rows, (one + 1) * rows) for one in range(number)]


class TestTimeLeft:
    @pytest.fixture
    def tracked(self, tmp_path, monkeypatch):
        """A tracker of 10 units of ROUGE and 2 × 100 judged cases, whose clock the test sets, and what it told."""
        told: list[Progress] = []
        monkeypatch.setattr(Tracker, "seconds", lambda _: 0.0)
        run: Any = SimpleNamespace(folder=tmp_path, evaluators={"rouge": {}, "faithfulness": {}})
        tracker = Tracker(run, [*units("rouge", 10, 500), *units("faithfulness", 2, 100)], told.append)
        tracker.say("starting")
        return tracker, told

    def at(self, tracker: Tracker, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(tracker, "seconds", lambda: seconds)

    def test_units_that_are_fast_say_nothing_of_the_judge(self, tracked, monkeypatch):
        tracker, told = tracked
        assert told[-1].seconds_left is None
        self.at(tracker, 2.0, monkeypatch)
        for unit in units("rouge", 8, 500):
            tracker.done(unit, DONE)
        tracker.tick({}, 4, 0)
        tracker.say("evaluating")
        assert told[-1].seconds_left is None, "nothing is judged yet"
        self.at(tracker, 40.0, monkeypatch)
        tracker.tick({"faithfulness-0": 10}, 40, 10)
        tracker.say("evaluating")
        assert told[-1].seconds_left == pytest.approx(40 / 10 * 190)
        self.at(tracker, 400.0, monkeypatch)
        tracker.done(units("faithfulness", 1, 100)[0], DONE)
        tracker.tick({"faithfulness-0": 100, "faithfulness-1": 0}, 400, 100)
        tracker.say("evaluating")
        assert told[-1].seconds_left == pytest.approx(400)

    def test_the_other_units_when_the_judge_has_done(self, tracked, monkeypatch):
        tracker, told = tracked
        self.at(tracker, 10.0, monkeypatch)
        for unit in units("faithfulness", 2, 100):
            tracker.done(unit, DONE)
        tracker.tick({}, 200, 200)
        tracker.say("evaluating")
        assert told[-1].seconds_left is None, "no other unit is done yet"
        tracker.done(units("rouge", 1, 500)[0], DONE)
        tracker.say("evaluating")
        assert told[-1].seconds_left == pytest.approx(90)

    def test_formulas_say_nothing_of_local_models(self, tmp_path, monkeypatch):
        told: list[Progress] = []
        monkeypatch.setattr(Tracker, "seconds", lambda _: 2.0)
        run: Any = SimpleNamespace(folder=tmp_path, evaluators={"rouge": {}, "answer_semantic_similarity": {}})
        slow = units("answer_semantic_similarity", 3, 500)
        tracker = Tracker(run, [*units("rouge", 10, 500), *slow], told.append)
        for unit in units("rouge", 9, 500):
            tracker.done(unit, DONE)
        tracker.say("evaluating")
        assert told[-1].seconds_left is None
        self.at(tracker, 30.0, monkeypatch)
        tracker.done(slow[0], DONE)
        tracker.say("evaluating")
        assert told[-1].seconds_left == pytest.approx(60)


def test_a_resumed_run_begins_with_what_it_had_done(workspace):
    run = stopped(engine.create(Workspace(), text_suite(), text_outputs(), ["rouge", "bleu"]), 2)
    told: list[Progress] = []
    (run.folder / "cancel").unlink()
    engine.execute(run, one_thread, told.append)
    assert told[0].message == "starting"
    assert sum(evaluator.done for evaluator in told[0].evaluators) == 12, "two of four units of six cases"


class TestElapsed:
    def test_counts_every_session(self, workspace, monkeypatch):
        monkeypatch.setattr(Tracker, "seconds", lambda _: 5.0)
        run = engine.create(Workspace(), text_suite(), text_outputs(), ["rouge", "bleu"])
        assert stopped(run, 3).progress().seconds_spent == 15.0
        (run.folder / "cancel").unlink()
        engine.execute(run, one_thread)
        assert (run.progress().seconds_spent, (run.manifest or {})["seconds"]) == (20.0, 20.0)

    def test_goes_on_while_the_process_says_nothing(self, workspace):
        run = stopped(engine.create(Workspace(), text_suite(), text_outputs(), ["rouge", "bleu"]), 1)
        stands = run.progress().seconds_spent
        an_hour_ago = time.time() - 3600
        with run.locked():
            for name in ("progress.json", "lock"):
                os.utime(run.folder / name, (an_hour_ago, an_hour_ago))
            assert run.progress().seconds_spent >= stands + 3600
        assert run.progress().seconds_spent == stands

    def test_goes_on_from_the_start_once_the_process_works(self, workspace, monkeypatch):
        run = engine.create(Workspace(), text_suite(), text_outputs(), ["rouge"])
        an_hour_ago = time.time() - 3600
        with hold_lock(run.folder / STARTING, "held") as lock:
            os.utime(run.folder / STARTING, (an_hour_ago, an_hour_ago))
            monkeypatch.setenv(STARTED, str(os.dup(lock)))
            with run.locked():
                assert claim_start(run) >= 3600
                assert run.progress().seconds_spent >= 3600


def test_cases_that_took_a_request_are_counted(workspace, judge_server, monkeypatch):
    judge = {"judge": {"model": "scripted", "base_url": judge_server.url}}
    finished(Workspace(workspace), *rag(4), "faithfulness", resources=judge)
    before = len(judge_server.calls)
    ticks = []
    tick = Tracker.tick

    def noted(self: Tracker, in_progress: Any, calls: int, asked: int, message: str) -> None:
        ticks.append((sum(in_progress.values()), calls, asked))
        tick(self, in_progress, calls, asked, message)

    monkeypatch.setattr(Tracker, "tick", noted)
    run = engine.create(Workspace(workspace), *rag(10), ["faithfulness", "rouge"], resources=judge)
    engine.execute(run, one_thread)
    assert ticks[-1] == (10, len(judge_server.calls) - before, 6), "four of ten cases are in the cache"
