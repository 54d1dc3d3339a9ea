"""Files: temporary folders of readers last as long as the process; JSON that cannot be read says so."""

import os
import subprocess
import sys

import pytest

from metrics.core.files import read_json, stamp, write_text
from tests.ingest.files import picture

READ = """
import os, sys
from pathlib import Path
from metrics import Outputs, read_suite
from metrics.ingest import attach_files
suite = read_suite(sys.argv[1], images=sys.argv[2])
attached = attach_files(Outputs.from_rows([{"case_id": "c1", "model": "m"}]), sys.argv[3]).value
folders = [suite.media, attached.files]
assert all(any(folder.iterdir()) for folder in folders), folders
assert {folder.parent for folder in folders} == {Path(os.environ["TMPDIR"])}
"""


def test_a_reader_leaves_no_folder_behind(tmp_path):
    images, files, scratch = (tmp_path / name for name in ("images", "files", "scratch"))
    for folder in (images, files / "c1", scratch):
        folder.mkdir(parents=True)
    (images / "a.png").write_bytes(picture())
    (files / "c1" / "report.txt").write_text("done")
    (tmp_path / "suite.csv").write_text("case_id,image_name,label,x,y,width,height\nc1,a.png,boat,1,1,2,2\n")
    command = [sys.executable, "-c", READ, *(str(tmp_path / name) for name in ("suite.csv", "images", "files"))]
    subprocess.run(command, check=True, env=os.environ | {"TMPDIR": str(scratch)})
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize("text", ["{", "[" * 10_000, "[" * 10_000 + "]" * 10_000], ids=["none", "open", "too deep"])
def test_json_that_cannot_be_read_is_a_value_error(tmp_path, text):
    path = tmp_path / "facts.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"nested too deeply|Expecting"):
        read_json(path)


@pytest.mark.parametrize("change", [stamp, lambda path: write_text(path, "again")], ids=["stamped", "written"])
def test_the_times_of_changes_in_a_row_tell_their_order(tmp_path, change):
    paths = [tmp_path / f"{number}.txt" for number in range(200)]
    for path in paths:
        path.touch()
    for path in paths:
        change(path)
    times = [path.stat().st_mtime_ns for path in paths]
    assert times == sorted(set(times))
