"""A workspace that may only be read, such as a mounted archive: what only reads works, and tries to write nothing."""

import errno
import os
from pathlib import Path

import pytest

from metrics import engine
from metrics.cli.main import main
from metrics.store import Workspace
from tests.engine.engine_scenes import AtOnce
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


@pytest.mark.parametrize("command", READERS)
def test_what_only_reads_works(command, place, tmp_path, monkeypatch, capsys):
    may = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: may(path, mode) and not Path(path).is_relative_to(place))
    with Disk(place, READ_ONLY, 1) as disk:
        code = main([*command.format(out=tmp_path).split(), "--workspace", str(place)])
    assert (code, disk.hit) == (0, None), capsys.readouterr().err
