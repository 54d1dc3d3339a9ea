"""What is done to a workspace, one by one: how it begins, what is done, and what it has made.

`act` is what a person, or the same command again, would do: after a failure it is called once more on what is there.
"""

import hashlib
import importlib
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow.parquet as pq

from metrics import engine
from metrics.cli.report_command import write_report
from metrics.core.suite import Outputs, Suite
from metrics.engine import progress
from metrics.engine.merge import merge
from metrics.engine.plan import Shard, make_shard
from metrics.monitoring import feed
from metrics.monitoring.monitor_store import Monitor
from metrics.perturbations import perturb
from metrics.reports.archives.read import read_archive
from metrics.reports.archives.write import write_file
from metrics.store import Run, Workspace, manifest, own_files
from metrics.store.logged_rows import LoggedRows
from metrics.store.rating_sets import Labels
from metrics.store.remote import transfer
from metrics.store.run_check import verify
from metrics.store.table_files import write_suite
from metrics.store.threshold_profiles import ThresholdProfiles
from metrics.targets import complete
from metrics.targets.description import FunctionTarget
from metrics.targets.recording import folder_of, read_entries
from tests.engine.engine_scenes import AtOnce, text_outputs, text_suite
from tests.evaluators.detected import outputs_of, suite_of
from tests.ingest.files import picture
from tests.judge.judge_scenes import asked
from tests.judge.server import JudgeServer
from tests.monitoring.monitor_scenes import begun, line, write

executing = importlib.import_module("metrics.engine.execute")  # which a function of that name hides
Seen = Any  # plain data that says what is there


@dataclass(frozen=True)
class Operation:
    """One thing that is done in a folder; `seen` says what is there, None where it is as before.

    most: of a fault so many points are tried, evenly spread: where one takes a second, and nearly all are reads.
    """

    name: str
    prepare: Callable[[Path], None]
    act: Callable[[Path], None]
    seen: Callable[[Path], Seen]
    most: int = 1_000_000


@contextmanager
def steady() -> Iterator[None]:
    """Make the number and the order of file operations the same each time.

    No progress by the clock, one thread, and no file is old enough to be known by its times.
    """
    with (
        patch.object(manifest, "SETTLED", math.inf),
        patch.object(own_files, "SETTLED", math.inf),
        patch.object(progress, "EVERY", 1e9),
        patch.object(executing, "EVERY", 60),
        patch.object(transfer, "AT_ONCE", 1),
    ):
        yield


def _tables(run: Run) -> Seen:
    verify(run)
    return {name: facts["sha256"] for name, facts in sorted((run.manifest or {})["tables"].items())}


def _sealed(folder: Path) -> Seen:
    """The tables of the newest sealed run, each read, with suite and outputs as they were stored."""
    workspace = Workspace(folder / "w")
    assert workspace.damaged_runs() == {}
    runs = [run for run in workspace.runs() if run.state == "finished"]
    if not runs:
        return None
    found = runs[0]
    assert len(found.suite) == found.spec.suite.cases
    return [_tables(found), found.suite.fingerprint, found.outputs.fingerprint]


def _evaluate(suite: Suite, outputs: Outputs, *evaluators: str) -> Callable[[Path], None]:
    """Resume the run that is there, or make one, and execute it."""

    def act(folder: Path) -> None:
        workspace = Workspace(folder / "w")
        run = next(iter(_runs(folder)), None) or engine.create(workspace, suite, outputs, evaluators)
        engine.execute(run, AtOnce)

    return act


def _nothing(_: Path) -> None:
    return None


BOXES = (("a", "cat", 1, 1, 8, 8), ("b", "dog", 2, 2, 6, 6), ("c", "cat", 0, 0, 5, 5))
FOUND = tuple((*box, 0.9 - 0.1 * place) for place, box in enumerate(BOXES))


def _judged(folder: Path) -> None:
    """A run whose every question is answered in the workspace's cache."""
    with JudgeServer() as server:
        engine.execute(asked(folder / "w", server.url, "faithfulness", cases=2), AtOnce)
        run = asked(folder / "w", server.url, "faithfulness", cases=2)
    (done,) = [one for one in Workspace(folder / "w").runs() if one.id != run.id]
    Workspace(folder / "w").delete_run(done.id)
    Workspace(folder / "w").bin.empty()


def _resume(folder: Path) -> None:
    (run,) = _runs(folder)
    engine.execute(run, AtOnce)


def _begin_monitor(folder: Path) -> None:
    begun(folder / "w")
    write(folder / "log.jsonl", [line(number, number % 3 != 0) for number in range(6)])


def _monitor(folder: Path) -> None:
    feed(Monitor(folder / "w" / "monitors" / "chat"), folder / "log.jsonl", batch=10)


def _monitored(folder: Path) -> Seen:
    monitor = Monitor(folder / "w" / "monitors" / "chat")
    state = monitor.state
    rows = monitor.query("SELECT * FROM samples JOIN scores USING (number) ORDER BY number, metric")
    facts = [state.read, state.sampled, state.bad, state.duplicates, state.standings]
    return [facts, rows.astype(str).to_numpy().tolist()] if state.read else None


def _one_run(folder: Path) -> None:
    engine.execute(engine.create(Workspace(folder / "w"), text_suite(3), text_outputs(3), ["rouge"]), AtOnce)


def _runs(folder: Path) -> list[Run]:
    """The runs that were begun, each opened by its id: a list of runs leaves out one that cannot be read."""
    workspace = Workspace(folder / "w")
    return [workspace.run(spec.parent.name) for spec in sorted((folder / "w" / "runs").glob("*/spec.json"))]


def _run(folder: Path) -> Run:
    return _runs(folder)[0]


def _label(folder: Path) -> None:
    Labels(_run(folder)).give("c1", "good", "ann", "rouge", 1.0, "chosen")


def _labelled(folder: Path) -> Seen:
    return Labels(_run(folder)).table().drop_columns(["given"]).to_pylist() or None


def _some_labels(folder: Path) -> None:
    _one_run(folder)
    Labels(_run(folder)).give("c0", "good", "ann", "rouge", 0.0, "chosen")


def _file(name: str) -> Callable[[Path], Seen]:
    """The bytes of a file that is made."""

    def seen(folder: Path) -> Seen:
        path = folder / name
        return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None

    return seen


def _archived(folder: Path) -> None:
    _one_run(folder)
    write_file(_run(folder), folder / "run.zip")
    (folder / "w").rename(folder / "elsewhere")


def _pushed(folder: Path) -> None:
    _one_run(folder)
    Workspace(folder / "w").push(_run(folder), (folder / "remote").as_uri())
    (folder / "w").rename(folder / "elsewhere")


def _listed(folder: Path) -> Seen:
    """The runs at the remote place, each whole: another workspace can pull them."""
    with transfer.opened((folder / "remote").as_uri()) as place:
        ids = transfer.listed_ids(place)
    for run_id in ids:
        Workspace(folder / "check").pull((folder / "remote").as_uri(), run_id)
        _tables(Workspace(folder / "check").run(run_id))
    return ids or None


def _pictures(folder: Path) -> None:
    (folder / "media").mkdir()
    for number in range(3):
        (folder / "media" / f"{number}.png").write_bytes(picture())


def _suite(folder: Path) -> Suite:
    suite = suite_of(*BOXES)
    return replace(suite, media=folder / "media")


def _save_suite(folder: Path) -> None:
    Workspace(folder / "w").save_suite(_suite(folder))


def _saved_suite(folder: Path) -> Seen:
    workspace, fingerprint = Workspace(folder / "w"), _suite(folder).fingerprint
    home = folder / "w" / "suites" / fingerprint
    if not (home / "suite.json").exists():
        return None
    for path in (folder / "media").iterdir():
        assert (home / "media" / path.name).read_bytes() == path.read_bytes()
    assert workspace.suite(fingerprint).fingerprint == fingerprint
    return [fingerprint, pq.read_table(home / "cases.parquet").to_pylist()]


def _perturb(folder: Path) -> None:
    write_suite(perturb(text_suite(3)).suite, folder / "variants.jsonl")


def _shards(folder: Path) -> None:
    for index in (1, 2):
        run = engine.create(Workspace(folder / f"shard{index}"), text_suite(3), text_outputs(3), ["rouge"])
        make_shard(run, Shard(index, 2))
        engine.execute(run, AtOnce)


def _merge(folder: Path) -> None:
    with patch.object(executing, "WorkerPool", AtOnce):
        merge([folder / "shard1", folder / "shard2"], Workspace(folder / "w"))


def _describe(folder: Path) -> None:
    _run(folder).describe(name="Nightly", notes="as agreed", tags=("a",))


def _about(folder: Path) -> Seen:
    about = _run(folder).about
    return [about.name, about.notes, about.tags] if about.name else None


def _delete(folder: Path) -> None:
    for run in _runs(folder):
        Workspace(folder / "w").delete_run(run.id)


def _restore(folder: Path) -> None:
    workspace = Workspace(folder / "w")
    for run_id in workspace.bin.ids():
        workspace.bin.restore(run_id)


def _deleted_run(folder: Path) -> None:
    _one_run(folder)
    _delete(folder)


def _in_bin(folder: Path) -> Seen:
    """Where the run is: at one place, whole."""
    workspace = Workspace(folder / "w")
    runs, gone = workspace.runs(), workspace.bin.runs()
    (run,) = [*runs, *gone]
    _tables(run)
    return "in the bin" if gone else None


def _out_of_bin(folder: Path) -> Seen:
    return None if _in_bin(folder) else "there again"


def _threshold(folder: Path) -> None:
    profiles = ThresholdProfiles(folder / "w")
    profiles.use("strict")
    profiles.put({("rouge", "rougeL"): 0.8})


def _thresholds(folder: Path) -> Seen:
    found = ThresholdProfiles(folder / "w").thresholds("strict")
    return {name: dict(own) for name, own in found.items()} or None


def _log(folder: Path) -> None:
    log = LoggedRows(folder / "w", "chat")
    log.open({"evaluators": ["rouge"]})
    try:
        for number in range(len(list(log.rows())), 4):
            log.append({"number": number})
    finally:
        log.close()


def _logged(folder: Path) -> Seen:
    rows = list(LoggedRows(folder / "w", "chat").rows())
    assert rows == [{"number": number} for number in range(len(rows))]
    return rows if len(rows) == 4 else None


def shout(question: str) -> str:
    """A target that answers at once."""
    return question.upper()


ECHO = FunctionTarget.around(shout, concurrency=1)


def _ask(folder: Path) -> None:
    complete(text_suite(3), ECHO, workspace=folder / "w")


def _answered(folder: Path) -> Seen:
    """The answers that are recorded, all of them whole; None before the last one is."""
    known = read_entries(folder_of(folder / "w", ECHO))
    found = {entry["case_id"]: entry["answer"] for entry in known.values()}
    cases = text_suite(3).cases.to_pylist()
    assert found.items() <= {case["case_id"]: case["question"].upper() for case in cases}.items()
    return found if len(found) == len(cases) else None


def _report(ending: str) -> Callable[[Path], None]:
    def act(folder: Path) -> None:
        write_report(_run(folder), str(folder / f"report.{ending}"))

    return act


OPERATIONS = (
    Operation("evaluate text", _nothing, _evaluate(text_suite(3), text_outputs(3), "rouge"), _sealed),
    Operation("evaluate boxes", _nothing, _evaluate(suite_of(*BOXES), outputs_of(*FOUND), "average_precision"),
        _sealed),
    Operation("evaluate with a judge", _judged, _resume, _sealed),
    Operation("monitor a log", _begin_monitor, _monitor, _monitored),
    Operation("give a label", _some_labels, _label, _labelled),
    Operation("export an archive", _one_run, lambda folder: write_file(_run(folder), folder / "run.zip"),
        _file("run.zip")),
    Operation("import an archive", _archived,
        lambda folder: void(read_archive(folder / "run.zip", Workspace(folder / "w"))), _sealed),
    Operation("push a run", _one_run,
        lambda folder: void(Workspace(folder / "w").push(_run(folder), (folder / "remote").as_uri())), _listed),
    Operation("pull a run", _pushed, lambda folder: void(Workspace(folder / "w").pull((folder / "remote").as_uri())),
        _sealed),
    Operation("perturb a suite", _nothing, _perturb, _file("variants.jsonl")),
    Operation("save a suite with images", _pictures, _save_suite, _saved_suite),
    Operation("merge shards", _shards, _merge, _sealed), Operation("name a run", _one_run, _describe, _about),
    Operation("delete a run", _one_run, _delete, _in_bin),
    Operation("restore a run", _deleted_run, _restore, _out_of_bin),
    Operation("set thresholds", _nothing, _threshold, _thresholds),
    Operation("log rows", _nothing, _log, _logged), Operation("ask a target", _nothing, _ask, _answered),
    Operation("write a summary", _one_run, _report("md"), _file("report.md")),
    Operation("write a page", _one_run, _report("html"), _file("report.html"), 40),
    Operation("write a PDF", _one_run, _report("pdf"), _file("report.pdf"), 40),
)  # fmt: skip


def void(_: object) -> None:
    """Return nothing: what an operation gives back is not looked at."""
