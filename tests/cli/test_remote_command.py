"""push and pull as commands; a run made in a workspace at a URL is sent there."""

import pytest

from metrics.cli.main import main
from metrics.store import Workspace
from tests.engine.engine_scenes import finished, text_outputs, text_suite

SUITE = "case_id,question,expected_answers\n1,a?,a cat\n2,b?,a dog\n"
OUTPUTS = "case_id,answer\n1,a cat\n2,a bird\n"


@pytest.fixture
def first_run(workspace, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return finished(Workspace(), text_suite(), text_outputs(), "rouge", name="first")


@pytest.fixture
def url(tmp_path):
    return f"file://{tmp_path}/remote"


def test_push_and_pull(first_run, url, tmp_path, capsys):
    assert main(["push", first_run.id, "latest", url]) == 0
    assert capsys.readouterr().out == f"{first_run.id}: pushed to {url}\n{first_run.id}: is there already: {url}\n"
    other = str(tmp_path / "other")
    assert (main(["pull", url, first_run.id, "--workspace", other]), capsys.readouterr().out) == (
        0,
        f"{first_run.id}\n",
    )
    assert main(["pull", url, "--workspace", other]) == 0
    assert capsys.readouterr() == ("", "nothing new\n")


@pytest.mark.parametrize(("arguments", "message"), [
    (["push", "latest"], "push: found no URL; expected RUN … URL"),
    (["push", "s3://bucket"], "push: found no run; expected RUN … URL"),
    (["push", "latest", "s3://key:secret@bucket"], "URL: found s3://bucket…; expected a URL without a password"),
    (["pull", "bucket"], "URL: found 'bucket'; expected a URL such as s3://bucket/folder"),
    (["runs", "--workspace", "s3://bucket?key=secret"], "URL: found s3://bucket…; expected a URL without a"),
])  # fmt: skip
def test_wrong_words(arguments, message, first_run, capsys):
    assert main(arguments) == 2
    err = capsys.readouterr().err
    assert message in err
    assert "secret" not in err


def test_a_run_that_cannot_be_pushed_stays_and_is_told(first_run, url, tmp_path, capsys):
    for name, content in (("suite.csv", SUITE), ("outputs.csv", OUTPUTS)):
        (tmp_path / name).write_text(content)
    (tmp_path / "remote").write_text("a file where a folder should be")
    files = [str(tmp_path / "suite.csv"), str(tmp_path / "outputs.csv")]
    assert main(["evaluate", *files, "--evaluators", "rouge", "--workspace", url, "--quiet"]) == 0
    out, err = capsys.readouterr()
    run_id = out.strip()
    assert f"run {run_id} is kept on this machine and not pushed. {tmp_path / 'remote'}/" in err
    assert "there is a file where a folder is needed" in err
    assert f"`python -m metrics push {run_id} --workspace {url}` sends it" in err
    (tmp_path / "remote").unlink()
    assert main(["push", run_id, "--workspace", url]) == 0
    assert main(["pull", url, "--workspace", str(tmp_path / "other"), "--quiet"]) == 0
    assert Workspace(tmp_path / "other").run(run_id).state == "finished"
