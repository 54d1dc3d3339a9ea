"""The GitHub Action: its steps run for real, against a local server that stands for GitHub's API.

Their scripts run in this process, and Assay's commands in them too, but where a test is about the shell.
"""

import contextlib
import io
import json
import os
import re
import runpy
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from metrics.cli.main import main
from metrics.store import Workspace
from tests.conftest import PROJECT

ACTION = yaml.safe_load((PROJECT / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
FIRST_PARTY = re.compile(r"actions/(checkout|setup-python|upload-artifact)@[0-9a-f]{40}")  # a tag can be moved
SUITE = "case_id,question,expected_answer\n" + "".join(f"c{n},What is {n}?,the answer is {n}\n" for n in range(12))
EVIL = "::add-mask::x $(touch pwned) `touch pwned` ![x](http://evil)"
GOOD = "case_id,model,answer\n" + "".join(f"c{n},m,the answer is {n}\n" for n in range(12))
POOR = "case_id,model,answer\n" + "".join(f"c{n},{EVIL},nothing\n" for n in range(12))
BOT, PERSON = {"type": "Bot"}, {"type": "User"}


class Api(ThreadingHTTPServer):
    """What of GitHub's API the comment needs; `refuse`: the status that it answers in place of that."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.comments: list[dict[str, Any]] = []
        self.asked: list[tuple[str, str, str | None]] = []
        self.refuse = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Api

    def answer(self) -> None:
        path, _, query = self.path.partition("?")
        self.server.asked.append((self.command, path, self.headers.get("Authorization")))
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or "{}")
        if self.server.refuse:
            self.send_response(self.server.refuse)
            self.send_header("Location", f"{self.server.url}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        reply: Any
        if self.command == "GET":
            page = int(re.findall(r"page=(\d+)", query)[-1])
            reply = self.server.comments[100 * (page - 1) : 100 * page]
        elif self.command == "POST":
            reply = {"id": 1000 + len(self.server.comments), "user": BOT, **body}
            self.server.comments.append(reply)
        else:
            [reply] = [one for one in self.server.comments if one["id"] == int(path.rpartition("/")[2])]
            reply.update(body)
        text = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PATCH = answer  # noqa: N815 - the names that the server calls

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(autouse=True)
def _units_here(units_here: None) -> None:
    """No workers: they are tested in tests/engine."""


@pytest.fixture
def api() -> Iterator[Api]:
    with Api() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with a suite, outputs of two models, and a `python` that is this one."""
    for name, text in (("suite", SUITE), ("good", GOOD), ("poor", POOR)):
        (tmp_path / f"{name}.csv").write_text(text)
    (tmp_path / "event.json").write_text(json.dumps({"pull_request": {"number": 7}}))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (tmp_path / "bin" / "python").chmod(0o755)
    return tmp_path


Done = subprocess.CompletedProcess[str]


def environment_of(name: str, folder: Path, given: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The script of the step of that name, and the variables that the runner sets for it."""
    [found] = [each for each in STEPS if each.get("name") == name]
    runner = {
        "GITHUB_ACTION_PATH": str(PROJECT), "GITHUB_OUTPUT": str(folder / "output"), "PYTHONPATH": str(PROJECT),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"), "ASSAY_WORKSPACE": str(folder / "workspace"),
        "GITHUB_REPOSITORY": "octo/models", "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "ASSAY_FOLDER": "assay-report", "ASSAY_NAME": "assay",
    }  # fmt: skip
    return found["run"], os.environ | dict.fromkeys(found["env"], "") | runner | given


def in_a_shell(name: str, folder: Path, **given: str) -> Done:
    """Run the step of that name as the runner does: bash, its environment, its script."""
    script, environment = environment_of(name, folder, given)
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script], cwd=folder, text=True,
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip


def step(name: str, folder: Path, **given: str) -> Done:
    """Run the file that the step of that name gives to Python, and Assay's commands in it, in this process."""
    script, environment = environment_of(name, folder, given)
    file = re.fullmatch(r'python -I "\$\{GITHUB_ACTION_PATH\}/(\.github/action/\w+\.py)"', script.strip())
    assert file is not None, script
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.chdir(folder):
        for variable, value in environment.items():
            patch.setenv(variable, value)
        patch.setattr(subprocess, "run", assay)
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed), pytest.raises(SystemExit) as end:
            runpy.run_path(str(PROJECT / file[1]), run_name="__main__")
    return Done(script, int(end.value.code or 0), printed.getvalue())


def assay(command: Sequence[str], capture_output: bool = False, check: bool = False, text: bool = True) -> Done:
    """Stand for subprocess.run of a command of Assay."""
    assert command[:4] == [sys.executable, "-P", "-m", "metrics"]
    printed = io.StringIO() if capture_output else sys.stdout
    with contextlib.redirect_stdout(printed):
        code = main(command[4:])
    assert not (check and code), command
    return Done(command, code, printed.getvalue() if isinstance(printed, io.StringIO) else "")


def outputs(folder: Path) -> Mapping[str, str]:
    """The step's outputs, the last of each name."""
    return dict(line.split("=", 1) for line in (folder / "output").read_text().splitlines())


def test_no_input_stands_in_a_script():
    """An input is text of others: as part of a script it would be executed."""
    for each in STEPS:
        assert "${{" not in each.get("run", "")
        assert ("uses" in each) != (each.get("shell") == "bash")
    given = {name for each in STEPS for name in re.findall(r"inputs\.([\w-]+)", json.dumps(each))}
    assert given == set(ACTION["inputs"]), "every input is used"


def test_no_third_party_action():
    used = [each["uses"] for each in STEPS if "uses" in each]
    used += re.findall(r"uses: (actions/\S+)", (PROJECT / "docs" / "ci.md").read_text(encoding="utf-8"))
    assert len(used) > 2
    assert all(FIRST_PARTY.fullmatch(name) for name in used), used


def test_evaluate_gate_and_comment(checkout, api):
    """Main's run is the baseline of a pull request whose outputs are worse; its comment is created, then updated."""
    good = {"ASSAY_SUITE": "suite.csv", "ASSAY_OUTPUTS": "good.csv", "ASSAY_ARGUMENTS": "--evaluators\nrouge"}
    done = step("Evaluate", checkout, **good, ASSAY_FAIL_UNDER="rougeL.lower=0.7\nrouge1=0.9")
    assert done.returncode == 0, done.stdout
    run = outputs(checkout)["run"]
    assert outputs(checkout)["exit-code"] == "0"
    folder = checkout / "assay-report"
    assert {each.name for each in folder.iterdir()} == {"report.md", "gates.xml", "report.html", "run.zip"}
    assert (checkout / "summary").read_text(encoding="utf-8") == (folder / "report.md").read_text(encoding="utf-8")
    (folder / "run.zip").rename(checkout / "main.zip")

    poor = good | {"ASSAY_OUTPUTS": "poor.csv", "ASSAY_BASELINE": "main.zip", "ASSAY_FAIL_IF_WORSE": "true"}
    poor |= {"ASSAY_NON_INFERIOR": "rougeL=0.05\nrouge1=0.9"}
    done = step("Evaluate", checkout, **poor, ASSAY_WORKSPACE=str(checkout / "elsewhere"))
    assert done.returncode == 1, done.stdout
    assert outputs(checkout)["exit-code"] == "1"
    stop, *printed, resume = done.stdout.splitlines()
    assert resume == f"::{stop.removeprefix('::stop-commands::')}::", "what a model's name says is no command"
    assert any("::add-mask::" in line for line in printed)
    report = (folder / "report.md").read_text(encoding="utf-8")
    assert f"against baseline `{run}`" in report
    assert "❌ worse |" in report
    assert "❌ | `non-inferior rouge.rougeL=0.05`" in report
    assert "![x]" not in re.sub(r"`[^`]*`", "", report)

    api.comments = [{"id": number, "user": PERSON, "body": "hello"} for number in range(120)]
    api.comments[3]["body"] = "<!-- assay: assay -->\nmine"
    token = {"GITHUB_TOKEN": "t0ken", "GITHUB_API_URL": api.url}
    done = step("Comment on the pull request", checkout, **token)
    assert (done.returncode, done.stdout.splitlines()) == (0, ["commented: "]), done.stdout
    assert api.comments[-1]["body"] == f"<!-- assay: assay -->\n{report}"
    assert {asked for asked in api.asked if asked[0] == "POST"} == {
        ("POST", "/repos/octo/models/issues/7/comments", "Bearer t0ken")
    }
    (folder / "report.md").write_text("later\n")
    assert step("Comment on the pull request", checkout, **token).stdout.splitlines() == ["updated: "]
    assert [one["body"] for one in api.comments[120:]] == ["<!-- assay: assay -->\nlater\n"]
    assert api.comments[3]["body"].endswith("mine"), "another's comment with the marker is left alone"
    step("Comment on the pull request", checkout, **token, ASSAY_NAME="other")
    assert [one["body"].splitlines()[0] for one in api.comments[120:]] == [
        "<!-- assay: assay -->", "<!-- assay: other -->",
    ]  # fmt: skip
    assert not (checkout / "pwned").exists()


PROJECT_FILE = """
[defaults]
suite = "../suite.csv"
evaluators = ["rouge"]
workspace = "named-by-the-file"

[evaluate.first]
outputs = "../poor.csv"

[evaluate.last]
outputs = "../{outputs}.csv"
fail_under = {{ rouge1 = {gate} }}
"""


@pytest.mark.parametrize(
    ("outputs_of_last", "gate", "own", "code", "failed"),
    [
        pytest.param("good", 0.9, "", 0, 0, id="both hold"),
        pytest.param("good", 0.9, "rougeL=2", 1, 1, id="a gate of the action fails"),
        pytest.param("poor", 0.9, "rougeL=0", 1, 0, id="a gate of the file fails"),
    ],
)
def test_a_project_and_its_gates(outputs_of_last, gate, own, code, failed, checkout, api):
    """A project in a subfolder: gates of the action hold the last evaluation, whose report is commented."""
    (checkout / "evals").mkdir()
    text = PROJECT_FILE.format(outputs=outputs_of_last, gate=gate)
    (checkout / "evals" / "assay.toml").write_text(text)
    given = {"ASSAY_PROJECT": "evals/assay.toml", "ASSAY_FAIL_UNDER": own, "ASSAY_WORKSPACE": "relative"}
    done = step("Evaluate", checkout, **given)
    assert (done.returncode, outputs(checkout)["run"]) == (2, ""), "its files are not in its folder"
    assert f"the place {checkout / 'suite.csv'}, outside of the folder" in done.stdout
    given["ASSAY_ALLOW_PLUGINS"] = "1"
    done = step("Evaluate", checkout, **given)
    assert (done.returncode, outputs(checkout)["exit-code"]) == (code, str(code)), done.stdout
    stored = Workspace(checkout / "relative")
    assert {run.name for run in stored.runs()} == {"first", "last"}
    assert stored.run(outputs(checkout)["run"]).name == "last"
    folder = checkout / "assay-report"
    assert {each.name for each in folder.iterdir()} == {"report.md", "gates.xml", "report.html", "run.zip"}
    gates = ElementTree.parse(folder / "gates.xml").getroot().iter("testsuite")
    assert sum(int(suite.attrib["failures"]) for suite in gates) == failed
    step("Comment on the pull request", checkout, GITHUB_TOKEN="t", GITHUB_API_URL=api.url)
    assert [one["body"] for one in api.comments] == [
        f"<!-- assay: assay -->\n{(folder / 'report.md').read_text(encoding='utf-8')}"
    ]


def test_a_project_that_cannot_run_gates_no_older_run(checkout):
    good = {"ASSAY_SUITE": "suite.csv", "ASSAY_OUTPUTS": "good.csv", "ASSAY_ARGUMENTS": "--evaluators\nrouge"}
    assert step("Evaluate", checkout, **good).returncode == 0
    (checkout / "assay.toml").write_text("[evaluate.nightly]\nsuite = 'absent.csv'\nevaluators = ['rouge']\n")
    done = step("Evaluate", checkout, ASSAY_PROJECT="assay.toml", ASSAY_FAIL_UNDER="rouge1=0", ASSAY_FOLDER="second")
    assert (done.returncode, outputs(checkout)["run"]) == (2, ""), done.stdout
    assert "absent.csv" in done.stdout
    assert list((checkout / "second").iterdir()) == []


@pytest.fixture
def report(checkout: Path) -> Path:
    (checkout / "assay-report").mkdir()
    (checkout / "assay-report" / "report.md").write_text("line\n" * 20_000)
    return checkout


@pytest.mark.parametrize(
    ("status", "code", "told"),
    [
        pytest.param(403, 0, "::warning::no comment: the token may not write here (HTTP 403)", id="a fork's token"),
        pytest.param(302, 1, "::error::no comment: HTTP 302", id="no redirect is followed"),
        pytest.param(500, 1, "::error::no comment: HTTP 500", id="server error"),
    ],
)
def test_refusals(status, code, told, report, api):
    api.refuse = status
    done = step("Comment on the pull request", report, GITHUB_TOKEN="t", GITHUB_API_URL=api.url)
    assert (done.returncode, done.stdout.startswith(told)) == (code, True), done.stdout
    assert len(api.asked) == 1


def test_a_long_report_is_cut_at_a_line(report, api):
    assert step("Comment on the pull request", report, GITHUB_TOKEN="t", GITHUB_API_URL=api.url).returncode == 0
    [comment] = api.comments
    assert len(comment["body"]) < 65_536
    assert comment["body"].endswith("line\n\nThe report was cut here; the artifact has all of it.\n")


@pytest.mark.parametrize("name", ["a -->", "a\n::error::", "$(touch pwned)"])
def test_a_name_is_plain(name, report, api):
    done = in_a_shell("Comment on the pull request", report, GITHUB_TOKEN="t", GITHUB_API_URL=api.url, ASSAY_NAME=name)
    assert (done.returncode, api.asked, len(done.stdout.splitlines())) == (2, [], 1)
    assert not (report / "pwned").exists()


def test_hostile_inputs_are_arguments(checkout):
    evil = '"; touch pwned; $(touch pwned) `touch pwned` #'
    names = ("SUITE", "OUTPUTS", "ARGUMENTS", "FAIL_UNDER", "BASELINE", "FAIL_IF_WORSE")
    done = in_a_shell("Evaluate", checkout, **{f"ASSAY_{name}": evil for name in names})
    assert (done.returncode, outputs(checkout)["run"]) == (2, ""), done.stdout
    assert not (checkout / "pwned").exists()


PRINTS = '#!/bin/sh\nprintf "%s\\n" "$@"\ncase "$*" in */dev/stdin) cat > /dev/null;; esac\n'


def test_install_takes_the_extras_as_one_argument(checkout):
    (checkout / "bin" / "python").write_text(PRINTS)
    for extras, wanted in (
        ("", str(PROJECT)),
        ("judge,pdf", f"{PROJECT}[judge,pdf]"),
        ("$(x) y", f"{PROJECT}[$(x) y]"),
    ):
        done = in_a_shell("Install Assay", checkout, ASSAY_EXTRAS=extras)
        pip = ["-I", "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "-r", "/dev/stdin"]
        uv = ["-I", "-m", "uv", "pip", "install", "--quiet", "--no-config", "--system"]
        locked = ["--constraints", ".ci/requirements.lock", "--constraints", "requirements.txt"]
        assert done.stdout.splitlines() == [*pip, *uv, *locked, wanted]


@pytest.mark.attack(
    "suite author", "modules of a pull request's folder run in the action", "Python is started without the folder"
)
@pytest.mark.parametrize("path", ["", "."])
def test_no_module_of_the_checkout_is_imported(checkout, path):
    code = f"import pathlib; pathlib.Path({str(checkout / 'pwned')!r}).touch()\n"
    for name in ("metrics", "pip", "uv", "json", "secrets", "numpy", "sitecustomize"):
        (checkout / name).mkdir()
        for file in ("__init__.py", "__main__.py"):
            (checkout / name / file).write_text(code)
    given = {"ASSAY_SUITE": "suite.csv", "ASSAY_OUTPUTS": "good.csv", "ASSAY_ARGUMENTS": "--evaluators\nrouge"}
    if not path:
        (checkout / "sitecustomize").rename(checkout / "other")  # of PYTHONPATH alone
    done = in_a_shell("Evaluate", checkout, **given, PYTHONPATH=path)
    assert done.returncode == 0, done.stdout
    assert not (checkout / "pwned").exists()
    in_a_shell("Comment on the pull request", checkout, GITHUB_TOKEN="t", PYTHONPATH=path)
    assert not (checkout / "pwned").exists()


def test_every_python_of_the_action_is_isolated():
    scripts = [each["run"] for each in STEPS if "run" in each]
    started = [words for script in scripts for words in re.findall(r"\bpython (\S+)", script)]
    assert len(started) == 4
    assert set(started) == {"-I"}
