"""`bundle`: what it writes and says, from the command and from Python."""

import pytest

from metrics.cli.main import main
from metrics.library.run import Workspace
from tests.engine.engine_scenes import finished, text_outputs, text_suite


@pytest.fixture(autouse=True)
def run_of_six(workspace):
    finished(Workspace(workspace), text_suite(), text_outputs(), "rouge")


def test_it_says_what_it_wrote_and_what_is_wrong(tmp_path, capsys):
    folder = tmp_path / "bundle"
    assert main(["bundle", "latest", "-o", str(folder), "--cases", "1"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    files = [path for path in folder.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    assert first == f"{len(files)} files, {size:,} bytes written to {folder}; open {folder / 'index.html'}"
    assert "of 6: at most 1 of each number, the worst, and 2,000 in all." in second
    assert main(["bundle", "latest", "-o", str(tmp_path / "other"), "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    (tmp_path / "mine").write_text("mine")
    assert main(["bundle", "latest", "-o", str(tmp_path / "mine"), "--cases", "0"]) == 2
    said = capsys.readouterr().err
    assert "cases of a bundle: found 0; expected 1 or more for each number" in said
    assert "found a file; expected a new or an empty folder" in said
    assert (tmp_path / "mine").read_text() == "mine"
