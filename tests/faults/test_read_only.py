"""A workspace that may only be read, such as a mounted archive: what only reads works, and tries to write nothing."""

import errno
import os
from pathlib import Path

import pytest

from metrics import engine
from metrics.cli.failures import STORAGE
from metrics.cli.main import main
from metrics.store import Workspace
from tests.engine.engine_scenes import AtOnce, finished, text_outputs, text_suite
from tests.evaluators.detected import outputs_of, suite_of
from tests.faults.disk import CHANGES, Disk, Fault
from tests.faults.operations import BOXES, FOUND

READ_ONLY = Fault("read-only", errno.EROFS, CHANGES, stays=True)
READERS = (
    "report latest -o {out}/r.html", "report latest -o {out}/r.pdf", "report latest -o {out}/r.json",
    "report latest -o {out}/r.md", "bundle latest -o {out}/pages", "export latest --what matches -o {out}/o.csv",
    "export latest --what aggregates -o {out}/a.csv", "archive latest -o {out}/run.zip", "runs", "describe latest",
    "gate latest --fail-under average_precision.map=0", "verify latest", "suites list", "labels list latest",
)  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a run of objects, of which much is computed only when it is looked at."""
    place = tmp_path_factory.mktemp("read") / "workspace"
    run = engine.create(Workspace(place), suite_of(*BOXES), outputs_of(*FOUND), ["average_precision"])
    engine.execute(run, AtOnce)
    return place


def refuse_writes(place: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    """Return a disk that refuses every change below `place`, for which it may not be written to either."""
    may = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: may(path, mode) and not Path(path).is_relative_to(place))
    return Disk(place, READ_ONLY, 1)


@pytest.mark.parametrize("command", READERS)
def test_what_only_reads_works(command, place, tmp_path, monkeypatch, capsys):
    with refuse_writes(place, monkeypatch) as disk:
        code = main([*command.format(out=tmp_path).split(), "--workspace", str(place)])
    assert (code, disk.hit) == (0, None), capsys.readouterr().err


def test_what_to_label_next_needs_its_chances_stored_once(tmp_path, monkeypatch, capsys):
    place = tmp_path / "workspace"
    finished(Workspace(place), text_suite(), text_outputs(), "bleu")
    command = ["labels", "next", "latest", "--criterion", "good", "--metric", "bleu.bleu4", "--workspace", str(place)]
    with refuse_writes(place, monkeypatch) as disk:
        code = main(command)
    said = capsys.readouterr()
    assert (code, said.out) == (STORAGE, "")
    assert disk.hit is not None
    assert "read-only" in said.err
    assert "labels" in said.err
    assert main(command) == 0
    drawn = capsys.readouterr().out
    assert len(drawn.splitlines()) > 1
    with refuse_writes(place, monkeypatch) as disk:
        assert main(command) == 0
    assert (capsys.readouterr().out, disk.hit) == (drawn, None)
