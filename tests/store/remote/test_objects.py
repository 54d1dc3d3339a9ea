"""Suites and outputs at URLs that the user gives."""

import pytest

import metrics
from metrics.cli.main import main
from metrics.core.errors import InputError
from metrics.store import Workspace
from metrics.store.remote.objects import local_file, opened

SUITE = "case_id,question,expected_answers\n1,a?,a cat\n2,b?,a dog\n"
OUTPUTS = "case_id,answer\n1,a cat\n2,a bird\n"


@pytest.fixture
def place(s3, tmp_path):
    """A URL with suite.csv, outputs.csv and images in images.zip."""
    with opened(s3) as objects:
        for name, content in (("suite.csv", SUITE), ("outputs.csv", OUTPUTS)):
            (tmp_path / name).write_text(content)
            objects.send(name, tmp_path / name)
    return s3


@pytest.mark.usefixtures("units_here")
def test_the_command_evaluates_from_urls_and_pushes_to_its_workspace(place, capsys, workspace):
    remote = f"{place}/team"
    files = [f"{place}/suite.csv", f"{place}/outputs.csv"]
    assert main(["evaluate", *files, "--evaluators", "rouge", "--workspace", remote, "--quiet"]) == 0
    run_id = capsys.readouterr().out.strip()
    assert main(["pull", remote, "--workspace", str(workspace)]) == 0
    assert capsys.readouterr().out.splitlines() == [run_id]
    run = Workspace().run(run_id)
    assert (run.name, run.models) == ("suite · outputs", ("outputs",))
    assert main(["runs", "--workspace", remote]) == 0
    assert capsys.readouterr().out == f"{run_id}  finished     suite · outputs\n"
    assert main(["report", run_id, "--workspace", remote, "-o", str(workspace / "report.json")]) == 0


@pytest.mark.usefixtures("units_here")
def test_python_evaluates_from_a_url_and_opens_none_inside_a_file(place, tmp_path, workspace):
    (tmp_path / "named.csv").write_text(f"case_id,answer\n1,{place}/outputs.csv\n2,b\n")
    run = metrics.evaluate(f"{place}/suite.csv", tmp_path / "named.csv", ["rouge"])
    assert run.outputs.outputs["answer"].to_pylist()[0] == f"{place}/outputs.csv"


def test_a_file_that_is_not_there(place):
    with pytest.raises(InputError, match=r"absent\.csv: found no such file; expected the URL of a file"):
        local_file(f"{place}/absent.csv")
