"""Feeding a monitor: what is judged, counted, kept, redacted; the hook, drift, a judge."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from metrics.core.errors import InputError, RunNotFound
from metrics.core.suite import Outputs, Suite
from metrics.monitoring import (
    Spec,
    check,
    create,
    drifts,
    failure_count,
    failures,
    feed,
    fitting,
    monitor,
    reference_of,
    sample_scores,
    trend,
)
from metrics.monitoring.drift_checks import Cut
from metrics.monitoring.monitor_store import Monitor
from metrics.store import Workspace
from tests.engine.engine_scenes import finished
from tests.judge.server import Fault, JudgeServer, Request, items_of
from tests.monitoring.monitor_scenes import begun, line, write
from tests.processes import alive


def test_what_is_read_is_sampled_judged_and_counted(workspace: Path, tmp_path: Path) -> None:
    lines = [line(index, passes=index % 4 != 0, timestamp=f"2026-11-21T10:{index:02d}:00Z") for index in range(40)]
    found = begun(workspace, window="20")
    state = feed(found, write(tmp_path / "a.jsonl", lines))
    assert (state.read, state.sampled, state.unscored, state.bad, state.duplicates) == (40, 40, 0, 0, 0)
    assert (state.health, state.lately, state.changes) == ("insufficient_data", 20, [])
    windows = trend(found)
    assert (windows["passed"].tolist(), windows["judged"].tolist()) == ([15, 15], [20, 20])
    assert windows["begins"].iloc[1].isoformat() == "2026-11-21T10:20:00+00:00"
    assert windows["rate"].tolist() == [0.75, 0.75]
    overall = state.standings[0]
    assert (overall["rate"], overall["units"], overall["since"]) == (0.75, 40, 0)
    assert windows[["low", "high"]].iloc[1].tolist() == [overall["low"], overall["high"]] == [
        pytest.approx(0.470, abs=1e-3), pytest.approx(0.928, abs=1e-3),
    ]  # fmt: skip
    assert windows["low"].iloc[0] < overall["low"]
    assert windows["high"].iloc[0] > overall["high"]
    assert trend(found, ("pii_leakage", "passes"))["rate"].tolist() == [0.75, 0.75]
    last = failures(found)
    assert len(last) == 10
    assert last.iloc[0][["id", "source", "line", "model"]].tolist() == ["r-00036", "a.jsonl", 37, "production"]
    assert (list(last["failed"].iloc[0]), list(last["values"].iloc[0])) == (["pii_leakage"], [0.0])
    assert (failure_count(found), failure_count(found, window=0), failure_count(found, window=9)) == (10, 5, 0)
    judged = sample_scores(found, 36).set_index("metric").loc["passes", ["evaluator", "value", "passed"]]
    assert judged.tolist() == ["pii_leakage", 0, False]
    assert not len(sample_scores(found, 99))
    assert failures(found, window=0)["number"].max() == 16


def test_windows_of_time_are_the_lines_own(workspace: Path, tmp_path: Path) -> None:
    lines = [line(index, ts=1_763_700_000 + 60 * index) for index in range(120)]
    found = begun(workspace, window="1h")
    assert feed(found, write(tmp_path / "a.jsonl", lines)).lately == 60
    windows = trend(found)
    assert windows["sampled"].tolist() == [20, 60, 40]
    assert windows["begins"].iloc[0].isoformat() == "2025-11-21T04:00:00+00:00"


def test_lines_of_many_shapes_keep_their_own_scores(workspace: Path, tmp_path: Path) -> None:
    """Every third line leaks, whatever fields it has; each verdict belongs to its own line."""
    shapes: list[dict[str, Any]] = [{}, {"model": "a"}, {"contexts": ["x"]}, {"model": None}, {"tags": "t"}]
    lines = [line(index, passes=index % 3 > 0, **shapes[index % 5]) for index in range(40)]
    found = begun(workspace)
    feed(found, write(tmp_path / "a.jsonl", lines))
    kept = found.query(
        """SELECT line, samples.passed, value, model FROM samples JOIN scores USING (number)
           WHERE metric = 'passes' ORDER BY number"""
    )
    assert kept["line"].tolist() == list(range(1, 41))
    assert kept["passed"].tolist() == [index % 3 > 0 for index in range(40)]
    assert kept["value"].tolist() == [float(index % 3 > 0) for index in range(40)]
    assert kept["model"].tolist() == ["a" if index % 5 == 1 else "production" for index in range(40)]


def test_hostile_lines_take_no_other_with_them(workspace: Path, tmp_path: Path) -> None:
    lines = [
        line(0), b"{", line(1), {"id": "no answer", "question": "?"}, line(2, context="whose?"), line(3, model=None),
        {"id": "deep", "answer": {"a": {"b": {"c": {"d": [1]}}}}}, {"id": "x" * 5_000, "answer": "y", "CaseID": "z"},
        {"id": "nul", "answer": "a\x00b"}, b'{"id": "long", "answer": "' + b"x" * 9_000_000 + b'"}', line(4), line(4),
    ]  # fmt: skip
    state = feed(begun(workspace), write(tmp_path / "a.jsonl", lines))
    bad = {entry["row"]: entry["found"] for entry in state.bad_lines}
    assert (state.read, state.duplicates, state.bad, bad[2]) == (12, 1, len(bad), "Input data was truncated")
    assert bad[4] == "no column with the model's answers, only the columns case_id, id, question"
    assert bad[5].startswith("context: a name that means different things")
    assert (bad[10], state.sampled) == ("9,000,028 bytes", 12 - 1 - len(bad))
    kept = monitor(Workspace(workspace), "chat").query("SELECT id, answer FROM samples ORDER BY number")
    assert {"r-00000", "r-00001", "r-00003", "r-00004", "nul"} <= set(kept["id"])
    found = monitor(Workspace(workspace), "chat")
    scored = found.query("SELECT number, count(*) AS rows FROM scores GROUP BY number ORDER BY number")
    assert (scored["number"].tolist(), scored["rows"].nunique()) == (list(range(state.sampled)), 1)
    assert (kept["id"].str.len().max(), kept.set_index("id")["answer"]["nul"]) == (200, "a\ufffdb")


def test_only_so_many_bad_lines_are_listed(workspace: Path, tmp_path: Path) -> None:
    state = feed(begun(workspace), write(tmp_path / "a.jsonl", [b"#%d" % index for index in range(500)]))
    assert (state.bad, state.read, len(state.bad_lines), state.bad_lines[-1]["row"]) == (500, 500, 50, 500)
    assert state.health == "insufficient_data"


def test_texts_are_cut_and_secrets_redacted(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACME_API_KEY", "wonderful-key-1234")
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    answer = "x" * 185 + " " + token + " wonderful-key-1234"
    feed(
        begun(workspace),
        write(tmp_path / "a.jsonl", [{"id": "1", "question": "wonderful-key-1234?", "answer": answer}]),
    )
    kept = monitor(Workspace(workspace), "chat").query("SELECT question, answer FROM samples").iloc[0]
    assert (kept["question"], len(kept["answer"])) == ("[key]?", 200)
    everything = b"".join(file.read_bytes() for file in (workspace / "monitors").rglob("*.json"))
    assert b"wonderful-key" not in everything
    assert token[:8] not in kept["answer"]


def test_the_folder_is_its_owners_alone(workspace: Path, tmp_path: Path) -> None:
    assert begun(workspace).folder.stat().st_mode & 0o777 == 0o700


HOOK = "import json, sys; open(sys.argv[1], 'a').write(json.dumps(json.load(sys.stdin)) + chr(10))"


class TestTheHook:
    def test_it_is_told_of_each_change_once(self, workspace: Path, tmp_path: Path) -> None:
        told = tmp_path / "told.jsonl"
        hook = [sys.executable, "-c", HOOK, str(told)]
        found = begun(workspace, window="20")
        rates = [True] * 60 + [False] * 20 + [True] * 80
        path = write(tmp_path / "a.jsonl", [line(index, passes) for index, passes in enumerate(rates)])
        state = feed(found, path, hook=hook)
        feed(found, path, hook=hook)
        messages = [json.loads(text) for text in told.read_text().splitlines()]
        assert [(message["previous"], message["status"]) for message in messages] == [
            ("insufficient_data", "healthy"), ("healthy", "warning"), ("warning", "critical"), ("critical", "warning"),
            ("warning", "healthy"),
        ]  # fmt: skip
        assert [message["sequence"] for message in messages] == [1, 2, 3, 4, 5]
        assert [change["sampled"] for change in state.changes] == [50, 70, 80, 110, 150]
        assert (messages[1]["overall"]["rate"], messages[1]["overall"]["since"]) == (0.0, 60)
        assert messages[1]["metrics"][0]["evaluator"] == "pii_leakage"
        assert (messages[1]["monitor"], messages[1]["window"]) == ("chat", "20 sampled cases")
        assert all(change["told"] for change in state.changes)

    @pytest.mark.attack(
        "suite author", "a log's text in an alert runs as a command", "no shell; JSON on standard input"
    )
    def test_texts_of_the_log_are_data(self, workspace: Path, tmp_path: Path) -> None:
        told, bad = tmp_path / "told.jsonl", f"$(touch {tmp_path}/run); `touch {tmp_path}/run`"
        records = [line(index, id=f"{index}{bad}", answer=bad, model=bad, question=bad) for index in range(60)]
        feed(begun(workspace), write(tmp_path / "a.jsonl", records), hook=[sys.executable, "-c", HOOK, str(told)])
        assert told.exists()
        assert not (tmp_path / "run").exists()

    def test_what_it_leaves_running_is_not_waited_for(self) -> None:
        from metrics.monitoring import alerts

        leaves = (
            "import subprocess, sys; subprocess.Popen(['sleep', '1000']); print('left', file=sys.stderr); sys.exit(3)"
        )
        assert alerts.call([sys.executable, "-c", leaves], {}) == f"the alert hook {sys.executable} ended with 3: left"

    @pytest.mark.attack("worker", "an alert hook and its children never end", "the whole group is stopped after 30 s")
    def test_its_children_are_stopped_with_it(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from metrics.monitoring import alerts

        child, waited = tmp_path / "child", subprocess.Popen.wait

        def wait(hook: subprocess.Popen[bytes], timeout: float | None = None) -> int:
            if timeout is None:
                return waited(hook)
            while not (child.exists() and child.read_text().endswith("\n")):
                time.sleep(0.01)
            raise subprocess.TimeoutExpired(hook.args, timeout)

        monkeypatch.setattr(subprocess.Popen, "wait", wait)
        told = alerts.call(["sh", "-c", f"sleep 1000 & echo $! > {child}; wait"], {})
        assert told == "the alert hook sh took longer than 30 s and was stopped"
        while alive(int(child.read_text())):  # a killed process ends when the system gets to it
            time.sleep(0.01)

    def test_no_shell_sees_its_words(self, workspace: Path, tmp_path: Path) -> None:
        from metrics.monitoring.alerts import words_of

        assert words_of("notify 'a b' $(touch x); rm") == ["notify", "a b", "$(touch", "x);", "rm"]
        for command, found in (("notify 'a", "(No closing quotation)"), ("  ", "'  '")):
            with pytest.raises(InputError) as caught:
                words_of(command)
            assert found in str(caught.value)
            assert "expected a command with its arguments" in str(caught.value)

    @pytest.mark.parametrize(("hook", "expected"), [
        (["/no/such/hook"], "the alert hook /no/such/hook could not be started: No such file or directory"),
        ([sys.executable, "-c", "raise SystemExit('out of paper')"], "ended with 1: out of paper"),
    ])  # fmt: skip
    def test_its_failure_is_told_and_not_fatal(self, hook, expected, workspace, tmp_path) -> None:
        warned: list[str] = []
        path = write(tmp_path / "a.jsonl", [line(index) for index in range(50)])
        state = feed(begun(workspace), path, hook=hook, warn=warned.append)
        assert (state.sampled, state.health) == (50, "healthy")
        assert expected in warned[0]
        assert [expected in failure for failure in state.hook_failures] == [True]

    def test_a_change_that_was_not_told_is_told_the_next_time(self, workspace: Path, tmp_path: Path) -> None:
        path = write(tmp_path / "a.jsonl", [line(index) for index in range(50)])
        found = begun(workspace)
        state = feed(found, path)
        assert state.changes[0]["told"] is None  # no hook then, so none waits for one
        state.changes[0]["told"] = False  # as a process killed before the call leaves it
        found.commit(state)
        told = tmp_path / "told.jsonl"
        feed(found, path, hook=[sys.executable, "-c", HOOK, str(told)])
        assert json.loads(told.read_text())["sequence"] == 1


class TestWhatItJudgesBy:
    def test_evaluators_it_cannot_use_are_refused_at_once(self) -> None:
        with pytest.raises(InputError) as caught:
            check(Spec(evaluators={"roc_auc": {}, "consistency_rouge": {}, "rubric": {}}, rate=2.0))
        text = str(caught.value)
        assert "--evaluators: found roc_auc; expected evaluators that score each case by itself" in text
        assert "--evaluators: found rubric, which cannot be used; expected no judge is chosen" in text
        assert "--rate: found 2; expected a share above 0, at most 1" in text

    def test_one_of_them_must_have_a_threshold(self) -> None:
        with pytest.raises(InputError, match="expected one whose primary metric has a threshold"):
            check(Spec(evaluators={"gptscore_qa": {"language_model": "x"}}).model_copy(update={"evaluators": {}}))

    def test_it_stays_as_it_was_begun(self, workspace: Path) -> None:
        found = begun(workspace, rate=0.5)
        assert found.spec.differs({"rate": 0.5, "evaluators": {"pii_leakage": {}}, "window": "100"}) == []
        problems = found.spec.differs({"rate": 0.1, "evaluators": {"pii_leakage": {"threshold": 0.9}}})
        expected = "0.5, which the monitor was created with; or another --name"
        assert (str(problems[0]), problems[1].file) == (f"--rate: found 0.1; expected {expected}", "--evaluators")

    def test_the_judges_pace_may_change_and_the_judge_may_not(self) -> None:
        spec = Spec(evaluators={"rubric": {}}, resources={"judge": {"model": "m"}})
        assert spec.differs({"resources": {"judge": {"model": "m", "concurrency": 2, "budget": {"calls": 5}}}}) == []
        assert len(spec.differs({"resources": {"judge": {"model": "n"}}})) == 1

    def test_those_that_fit_are_chosen_by_the_first_lines(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.jsonl", [line(index, expected="A mill.") for index in range(5)])
        found = fitting(path, Spec(evaluators={}, rate=1.0))
        assert {"rouge", "bleu", "pii_leakage", "looping_detection"} <= set(found)
        assert "groundedness" not in found
        check(Spec(evaluators={id: {} for id in found}))

    def test_without_a_good_line_none_can_be_chosen(self, tmp_path: Path) -> None:
        with pytest.raises(InputError) as caught:
            fitting(write(tmp_path / "a.jsonl", [b"nothing"]), Spec(evaluators={}, rate=1.0))
        assert "a.jsonl, row 1: found JSON is malformed" in str(caught.value)
        assert "expected --evaluators whose inputs they have" in str(caught.value)

    def test_no_such_monitor(self, workspace: Path) -> None:
        with pytest.raises(RunNotFound, match="there is no monitor 'none' in"):
            monitor(Workspace(workspace), "none")

    @pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "x" * 65])
    def test_a_name_is_no_path(self, name: str, workspace: Path) -> None:
        with pytest.raises(InputError, match="--name: found"):
            create(Workspace(workspace), name, Spec(evaluators={"pii_leakage": {}}))


class TestDrift:
    def reference(self, workspace: Path, passes: int, parameters: dict[str, Any] | None = None) -> dict[str, str]:
        rows = [line(index, index < passes) for index in range(100)]
        suite = Suite.from_rows("before", "text", [{"case_id": row["id"], "question": row["question"]} for row in rows])
        outputs = Outputs.from_rows([{"case_id": row["id"], "model": "m", "answer": row["answer"]} for row in rows])
        chosen = ["pii_leakage"]
        run = finished(Workspace(workspace), suite, outputs, *chosen, parameters={"pii_leakage": parameters or {}})
        return reference_of(Workspace(workspace), run.id)

    @pytest.mark.parametrize(("passes", "drifted"), [(95, True), (62, False)])
    @pytest.mark.parametrize("window", ["100", "100m"])
    def test_of_late_against_a_run(self, passes, drifted, window, workspace, tmp_path) -> None:
        found = begun(workspace, window=window)
        rows = [line(index, index % 5 > 1, ts=1_763_700_000 + 60 * index) for index in range(300)]
        feed(found, write(tmp_path / "a.jsonl", rows), reference=self.reference(workspace, passes))
        row = next(row for row in drifts(found) if row.metric == "passes")
        assert (row.n, row.n_reference, row.mean, row.mean_reference) == (100, 100, 0.6, passes / 100)
        assert row.ks == pytest.approx(abs(0.6 - passes / 100))
        assert row.drifted is drifted
        if row.shift is not None:
            shift = row.shift
            assert (shift.cut, shift.since, shift.units, shift.share) == (Cut(1.0, inside=False), 0, 300, 0.4)
            assert shift.reference_low < shift.reference == 0.05 < shift.reference_high < shift.low < 0.4 < shift.high

    def test_other_parameters_are_no_reference(self, workspace: Path, tmp_path: Path) -> None:
        found = begun(workspace)
        reference = self.reference(workspace, 90, {"threshold": 0.9})
        feed(found, write(tmp_path / "a.jsonl", [line(index) for index in range(30)]), reference=reference)
        assert {row.reason for row in drifts(found)} == {"the reference run used other parameters"}

    def test_a_run_of_several_models_needs_one_named(self, workspace: Path) -> None:
        suite = Suite.from_rows("s", "text", [{"case_id": "1"}])
        outputs = Outputs.from_rows([{"case_id": "1", "model": model, "answer": "x"} for model in ("a", "b")])
        run = finished(Workspace(workspace), suite, outputs, "pii_leakage")
        assert reference_of(Workspace(workspace), "latest", "b") == {"run": run.id, "model": "b"}
        with pytest.raises(InputError, match=f"expected one of the models of run {run.id}: a, b"):
            reference_of(Workspace(workspace), "latest")
        with pytest.raises(InputError, match="--reference-model: found 'c'; expected one of a, b"):
            reference_of(Workspace(workspace), "latest", "c")


def levels(request: Request) -> list[dict[str, str]]:
    return [{"reason": "", "level": "good"}] * items_of(request, "DIMENSIONS")


class TestAJudge:
    def rubric(self, workspace: Path, server: JudgeServer, **judge: Any) -> Monitor:
        settings = {"model": "scripted", "base_url": server.url, "backoff": 0.01, **judge}
        chosen = {"rubric": {"zero_if_missing": False}}
        return begun(workspace, evaluators=chosen, resources={"judge": settings}, minimum=5)

    def test_its_budget_is_the_monitors_whole_life_long(self, workspace, tmp_path, judge_server) -> None:
        judge_server.say("rubric.levels", levels)
        found = self.rubric(workspace, judge_server, budget={"calls": 4}, concurrency=1)
        feed(found, write(tmp_path / "a.jsonl", [line(index) for index in range(3)]))
        state = feed(found, write(tmp_path / "b.jsonl", [line(index) for index in range(3, 10)]))
        assert (state.spend["calls"], state.sampled, state.unscored) == (4, 10, 6)
        assert state.health == "insufficient_data"
        reasons = found.query("SELECT DISTINCT status, reason FROM scores WHERE value IS NULL AND status = 'skipped'")
        assert "budget" in reasons["reason"].iloc[0]

    def test_one_that_is_down_costs_its_cases_their_verdict_and_nothing_else(self, workspace, tmp_path, judge_server):
        judge_server.say("rubric.levels", levels)
        found = self.rubric(workspace, judge_server, tries=1)
        judge_server.fail_by(lambda _: Fault(drop=True))
        state = feed(found, write(tmp_path / "a.jsonl", [line(index) for index in range(6)]))
        assert (state.sampled, state.unscored, state.health) == (6, 6, "insufficient_data")
        assert found.query("SELECT DISTINCT status FROM scores")["status"].tolist() == ["skipped"]
        judge_server.fail_by(None)
        state = feed(found, write(tmp_path / "b.jsonl", [line(index) for index in range(10, 16)]))
        assert (state.sampled, state.unscored, state.standings[0]["passed"]) == (12, 6, 6)
