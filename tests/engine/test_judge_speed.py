"""How long a judge takes, by what its questions took in earlier runs."""

import shutil
import sys

import pytest

from metrics import engine
from metrics.engine.estimate import JudgeTime, judge_time
from metrics.judge.local import completer
from metrics.judge.settings import JudgeSettings
from metrics.presentation.judge_notes import time_text
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished, resealed
from tests.judge.judge_scenes import rag
from tests.judge.test_local import Likelihoods

CASES = 6


@pytest.fixture(scope="module")
def judge(tmp_path_factory):
    """A local judge whose replies come at once."""
    own = Likelihoods(tmp_path_factory.mktemp("judge") / "own.gguf", [])
    own.path.write_bytes(b"GGUF")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(completer, "_loaded", lambda path: own)
        yield JudgeSettings(model=f"local:{own.path}").with_weights()


@pytest.fixture(scope="module")
def judged(judge, tmp_path_factory):
    """A run of its faithfulness, of which each test has a copy."""
    folder, resources = tmp_path_factory.mktemp("judged"), {"judge": {"model": judge.model}}
    return finished(Workspace(folder), *rag(CASES), "faithfulness", resources=resources)


@pytest.fixture
def run(judged, workspace):
    shutil.copytree(judged.workspace.path, workspace, dirs_exist_ok=True)
    return Workspace(workspace).run(judged.id)


def timed(run: Run, seconds: float, whole: float) -> None:
    """Make every reply of a run take so many seconds, and the run `whole`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = run.table_path("judgements")
    assert path is not None
    table = pq.read_table(path)
    place = table.column_names.index("seconds")
    pq.write_table(table.set_column(place, "seconds", pa.array([seconds] * len(table))), path)
    resealed(run, seconds=whole)


def test_each_step_takes_its_mean_in_the_newest_run(workspace, judge, run):
    steps = set(run.judgements["step"])
    asked = run.judgements[~run.judgements["cached"]]
    timed(run, 2.0, 2.0 * len(asked))
    calls = {(judge.name, step): 10.0 for step in steps}
    assert judge_time(workspace, calls) == JudgeTime(20.0 * len(steps), (run.id,))
    more = calls | {(judge.name, "other"): 7.0}
    found = judge_time(workspace, more)
    assert found == JudgeTime(20.0 * len(steps), (run.id,), 7)
    assert time_text(found).startswith("at least about 40 s with the local judge, at the speed of run 2")
    assert time_text(found).endswith("; 7 calls are of a kind that no run has measured")


@pytest.mark.parametrize("spoiled", ["another judge", "too few", "longer than the run", "lost", "unfinished"])
def test_unknown(workspace, judge, run, monkeypatch, spoiled):
    calls = {(judge.name, step): 10.0 for step in set(run.judgements["step"])}
    timed(run, 2.0, 10.0 if spoiled == "longer than the run" else 1000.0)
    if spoiled == "another judge":
        calls = {("local:another", step): number for (_, step), number in calls.items()}
    elif spoiled == "too few":
        monkeypatch.setattr(sys.modules["metrics.engine.estimate"], "ENOUGH", 100)
    elif spoiled == "lost":
        path = run.table_path("judgements")
        path.unlink()
    elif spoiled == "unfinished":
        (run.folder / "manifest.json").unlink()
    found = judge_time(workspace, calls)
    assert (found.seconds, found.runs) == (0.0, ())
    assert time_text(found) == "the local judge's time is unknown: no run in this workspace has measured it"


def test_an_estimate_has_it(workspace, judge, run):
    timed(run, 3.0, 1000.0)
    suite, outputs = rag(3 * CASES)
    resources = {"judge": {"model": judge.model}}
    found = engine.estimate(suite, outputs, ["faithfulness"], {}, resources, workspace)
    assert found.local.seconds == pytest.approx(3.0 * found.calls)
    assert found.local.runs == (run.id,)
    assert found.calls
    server = {"judge": {"model": "m", "base_url": "http://127.0.0.1:9/v1"}}
    other = engine.estimate(suite, outputs, ["faithfulness"], {}, server, workspace)
    assert other.local is None, "only a local judge's requests come one after the other"
    assert other.hosted == JudgeTime(0.0, (), other.calls)
    assert time_text(other.hosted, "the judge").startswith("the judge's time is unknown")


def test_requests_in_flight_together_share_the_time(workspace, judge, run):
    asked = run.judgements[~run.judgements["cached"]]
    timed(run, 2.0, len(asked) / 2)  # four at once: a quarter of the replies' own seconds
    calls = {(judge.name, run.judgements["step"][0]): 10.0}
    assert judge_time(workspace, calls, at_once=4) == JudgeTime(5.0, (run.id,))
    assert judge_time(workspace, calls).runs == (), "one after the other they would have taken longer than the run"
