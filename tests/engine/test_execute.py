"""A run from its plan to its seal, and everything that can happen on the way."""

import errno
import gc
import os
import time
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import Any

import psutil
import pytest

from metrics import engine
from metrics.core.errors import InputError, RunBusy, RunError, RunSealed
from metrics.core.suite import Outputs
from metrics.engine import parts as keeping, run_control
from metrics.engine.plan import plan
from metrics.engine.unit_work import Job, failed_unit, perform
from metrics.store import Run, Workspace
from metrics.store.run_check import verify
from tests.engine.engine_scenes import AtOnce, finished, one_thread, text_outputs, text_suite

STATISTICS = "consistency_statistics"


@pytest.fixture(scope="module")
def sealed(tmp_path_factory):
    """ROUGE and BLEU of `good` and `poor` on six cases."""
    return finished(Workspace(tmp_path_factory.mktemp("sealed")), text_suite(), text_outputs(), "rouge", "bleu")


def whole(run: Run, model: str, slice: str | None = None) -> Any:
    """The ROUGE-L of a model, over all cases or in a slice."""
    rows = run.aggregates.query(f"model == '{model}' and metric == 'rougeL'")
    return rows[rows.slice.isna() if slice is None else rows.slice == slice].iloc[0]


def test_a_run_is_sealed_with_a_value_or_a_reason_for_every_case(sealed):
    assert sealed.state == "finished"
    scores = sealed.scores
    assert len(scores) == 6 * 2 * (4 + 4)
    assert scores.loc[(scores.model == "good") & (scores.metric == "rougeL"), "value"].tolist() == [1.0] * 6
    assert (scores["value"].notna() == (scores["status"] == "ok")).all()
    verify(sealed)
    assert not (sealed.folder / "parts").exists()


def test_cases_without_an_output_are_unscored_with_the_reason_and_an_empty_answer_is_scored(workspace):
    silent = {"case_id": "c0", "model": "silent", "answer": None}
    rows = [*text_outputs(4, ("good",)).outputs.to_pylist(), silent]
    run = finished(Workspace(), text_suite(6), Outputs.from_rows(rows), "rouge")
    row = whole(run, "good")
    assert (row.n, row.unscored, row.skipped, row.value) == (4, 2, 2, 1.0)
    missing = run.scores[run.scores.case_id == "c5"]
    assert set(missing["reason"]) == {"the model has no output for this case"}
    assert run.scores.query("model == 'silent' and case_id == 'c0'")["value"].tolist() == [0.0] * 4


def test_repeats_count_once_a_case(workspace, sealed):
    run = finished(Workspace(), text_suite(), text_outputs(repeats=3), "rouge")
    assert (whole(run, "poor").n, whole(run, "poor").value) == (18, pytest.approx(whole(sealed, "poor").value))


def test_garbage_is_not_looked_for_while_a_slice_is_scored(workspace):
    suite, outputs = text_suite(600), text_outputs(600, ("good",))
    run = engine.create(Workspace(), suite, outputs, ["looping_detection"])
    job = Job.of(run, plan(run)[0]).carry()
    perform(job)
    looked = []
    gc.callbacks.append(lambda phase, _: looked.append(phase))
    try:
        perform(job)
    finally:
        gc.callbacks.pop()
    assert len(looked) <= 2, "once, or never"


class TestBadAsks:
    def test_everything_wrong_is_said_at_once_and_nothing_written(self, workspace):
        stranger = Outputs.from_rows([{"case_id": "nowhere", "model": "m", "answer": "x"}])
        with pytest.raises(InputError) as failure:
            engine.create(Workspace(), text_suite(), stranger, ["coco_summary"])
        assert "evaluators for text" in str(failure.value)
        assert "'nowhere'" in str(failure.value)
        assert not any(workspace.iterdir())
        with pytest.raises(InputError) as failure:
            engine.create(Workspace(), text_suite(), text_outputs(), ["rouge", "roug"], {"rouge": {"stem": 1}})
        assert [problem.found for problem in failure.value.problems] == ["'roug'", "1"]
        assert failure.value.problems[1].column == "rouge.stem"


class TestStates:
    def test_queued_cancelled_resumed_finished(self, workspace):
        run = engine.create(Workspace(), text_suite(), text_outputs(), ["rouge"])
        assert run.state == "queued"
        with pytest.raises(RunError, match="its tables are there once it is finished"):
            _ = run.scores
        engine.cancel(run)
        assert run.state == "cancelled"
        (run.folder / "cancel").unlink()
        engine.execute(run, one_thread)
        assert run.state == "finished"
        for ask in (engine.cancel, engine.start):
            with pytest.raises(RunSealed):
                ask(run)

    def test_a_start_is_claimed_by_the_process_that_it_made(self, workspace, monkeypatch):
        made: list[int] = []  # the lock that the process would inherit
        monkeypatch.setattr(run_control, "start_module", lambda *of: made.append(os.dup(of[-1])))
        run = engine.create(Workspace(), text_suite(), text_outputs(), ["rouge"])
        engine.start(run)
        assert run.state == "starting"
        with pytest.raises(RunBusy):
            engine.start(run)
        engine.cancel(run)
        assert run.state == "cancelled"
        monkeypatch.setenv(run_control.STARTED, str(made.pop()))
        engine.execute(run, one_thread)
        assert run.state == "cancelled", "cancelled while it was starting"
        engine.start(run)
        assert run.state == "starting"
        os.close(made.pop())
        assert run.state == "interrupted", "the process has died"

    def test_one_process_works_on_a_run_and_a_cancelled_one_keeps_what_is_done(self, workspace):
        run = engine.create(Workspace(), text_suite(), text_outputs(), ["rouge"])
        with run.locked():
            assert run.state == "running"
            with pytest.raises(RunBusy):
                engine.execute(run, one_thread)
        run = engine.create(Workspace(), text_suite(), text_outputs(), ["rouge", "bleu"])
        engine.execute(run, one_thread, lambda progress: engine.cancel(run) if progress.message == "starting" else None)
        assert (run.state, len(list((run.folder / "parts").glob("*.unit")))) == ("cancelled", 1)
        (run.folder / "cancel").unlink()
        engine.execute(run, one_thread)
        assert run.state == "finished"

    def test_a_full_disk_is_a_failure_with_words_and_the_run_goes_on_later(self, workspace, monkeypatch):
        run = engine.create(Workspace(), text_suite(), text_outputs(), ["rouge"])

        def full(*_: object) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with monkeypatch.context() as patch, pytest.raises(OSError, match="No space left"):
            patch.setattr(keeping, "write_bytes", full)
            engine.execute(run, one_thread)
        assert run.state == "failed"
        assert "No space left" in (run.failure or "")
        engine.execute(run, one_thread)
        assert run.state == "finished"


class Dying(Executor):
    """An executor whose process dies on one unit, every time or the first few times."""

    lives = 0

    def __init__(self, victim: str, deaths: int):
        self.victim, self.deaths, self.broken = victim, deaths, False

    def submit(self, function, job: Job, /, *_: object, **__: object) -> Future:  # type: ignore[no-untyped-def,type-arg,override]
        future: Future = Future()  # type: ignore[type-arg]
        if job.unit.name == self.victim and Dying.lives < self.deaths:
            Dying.lives += 1
            self.broken = True
        if self.broken:
            future.set_exception(BrokenExecutor("a process in the pool was terminated abruptly"))
        else:
            future.set_result(perform(job))
        return future


@pytest.mark.parametrize(("deaths", "errors"),
    [pytest.param(1, 0, id="once-then-well"), pytest.param(99, 6, id="always")])  # fmt: skip
def test_a_dying_worker_costs_at_most_its_own_unit(workspace, deaths, errors):
    run = engine.create(Workspace(), text_suite(), text_outputs(), ["rouge", "bleu"])
    victim = plan(run)[1]
    Dying.lives = 0
    engine.execute(run, lambda: Dying(victim.name, deaths))
    assert run.state == "finished"
    lost = run.scores[run.scores.status == "error"]
    assert lost["case_id"].nunique() == errors
    assert set(lost["evaluator"]) <= {victim.evaluator}
    assert set(lost["model"]) <= {victim.model}


def test_a_part_that_is_half_written_is_not_there(workspace):
    run = engine.create(Workspace(), text_suite(), text_outputs(), ["rouge"])
    file = keeping.Parts(run.folder).file(plan(run)[0].name)
    file.parent.mkdir()
    file.with_name(f".{file.name}.77.part").write_bytes(b'{"tables": {"scores": 17}, "fai')
    engine.execute(run, one_thread)
    assert run.state == "finished"
    assert (run.scores["status"] == "ok").all()


def test_killed_by_minus_9_it_is_resumed_and_ends_with_the_same_bytes(workspace):
    """When two parts are stored; some of what is left follows the scores of others."""
    inputs = Workspace(), text_suite(400), text_outputs(400, repeats=2), ["rouge", "bleu", STATISTICS]
    undisturbed = engine.execute(engine.create(*inputs), one_thread)
    run = engine.create(*inputs)
    process = engine.start(run)
    while len(list((run.folder / "parts").glob("*.unit"))) < 2:
        assert process.poll() is None
        time.sleep(0.01)
    workers = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    psutil.wait_procs(workers, timeout=120)  # workers notice that their parent is gone
    assert run.state in ("interrupted", "finished"), "finished where this process was not given its turn in time"
    process = engine.resume(run)
    assert run.state in ("starting", "running", "finished")
    process.wait()
    assert run.state == "finished", run.failure
    digests = [
        {name: facts["sha256"] for name, facts in (one.manifest or {})["tables"].items()} for one in (run, undisturbed)
    ]
    assert digests[0] == digests[1]
    verify(run)


def test_formulas_are_scored_before_what_needs_a_local_model(workspace):
    asked: list[str] = []

    class Noting(AtOnce):
        def submit(self, function, job: Job, /, *_: object, **__: object) -> Future:  # type: ignore[no-untyped-def,type-arg,override]
            asked.append(job.unit.evaluator)
            return super().submit(failed_unit, job, "no model is asked")

    chosen = ["answer_semantic_similarity", "bleu", "rouge"]
    engine.execute(engine.create(Workspace(), text_suite(), text_outputs(models=("good",)), chosen), Noting)
    assert asked == ["bleu", "rouge", "answer_semantic_similarity"]
