"""Every command and code block of the documentation is executed, in order, in a folder of small files of its own."""

import contextlib
import itertools
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from metrics.cli.main import main, parser as command_line
from tests.conftest import PROJECT
from tests.docs.blocks import FILES, SHOWN, Block, blocks
from tests.docs.doc_files import write_doc_files, write_models, write_varied_outputs
from tests.judge.server import JudgeServer

EXECUTED = [file for file in FILES if any(block.language in ("bash", "python") for block in blocks(file))]
SERVER = "http://localhost:11434/v1"  # the address in the documentation, in whose place the scripted judge stands
EXTRAS = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
MAKE = re.compile(r"make( |$)|\.ci/run")
ONE_COMMAND = re.compile(r"python -m metrics [^|&;<>$*]+")  # needs no shell
IN_A_SHELL = ("models.md", "cluster.md")  # their commands load what this process should not


class Shell:
    """Executes the blocks of one file of the documentation.

    Commands of Assay alone are executed in this process, where nothing has to be started for them, unless `always`.
    """

    def __init__(self, folder: Path, judge: str, always: bool):
        self.folder = folder
        self.judge = judge
        self.always = always
        self.names: dict[str, Any] = {"__name__": "docs"}
        self.project = PROJECT

    def add_file(self, name: str, text: str) -> None:
        """Add a file to a copy of the library, which later commands use."""
        self.project = self.folder / "project"
        shutil.copytree(PROJECT / "metrics", self.project / "metrics")
        (self.project / name).write_text(text, encoding="utf-8")
        self.always = True

    def python(self, text: str, name: str) -> None:
        """Execute a block in the names of those before it."""
        with contextlib.chdir(self.folder):
            exec(compile(text.replace(SERVER, self.judge), name, "exec"), self.names)

    def command(self, command: str, until: str | None) -> None:
        """Execute a command; with `until` only as long as it has not printed that."""
        if self.always or until is not None or not ONE_COMMAND.fullmatch(command.partition(" #")[0]):
            self.bash(command, until)
            return
        words = shlex.split(command.replace(SERVER, self.judge), comments=True)
        with contextlib.chdir(self.folder):
            assert main(words[3:]) == 0

    def bash(self, command: str, until: str | None) -> None:
        """Execute a command in a shell; with `until` only as long as it has not printed that."""
        process = subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", command.replace(SERVER, self.judge)], cwd=self.folder,
            env=os.environ | {"PYTHONPATH": str(self.project)}, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        assert process.stdout is not None
        try:
            printed = ""
            for line in process.stdout:
                printed += line
                if until is not None and until in line:
                    return
            assert until is None, f"never printed {until!r}: {printed}"
            assert process.wait() == 0, printed
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            process.stdout.close()


@pytest.fixture
def folder(tmp_path: Path, judge_server: JudgeServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which commands are given, with files for them; their environment is set."""
    monkeypatch.delenv("ASSAY_WORKSPACE", raising=False)
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "notify-send").write_text("#!/bin/sh\ncat > /dev/null\n")
    (tools / "notify-send").chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), str(tools), os.environ["PATH"]]))
    own = {"HF_HUB_OFFLINE": "1", "OPENAI_API_BASE": judge_server.url, "OPENAI_API_KEY": "sk-docs"}
    for name, value in own.items():
        monkeypatch.setenv(name, value)
    write_doc_files(tmp_path)
    return tmp_path


@pytest.mark.parametrize("file", EXECUTED, ids=lambda file: file.name)
def test_blocks(file, folder, judge_server, request):
    shell = Shell(folder, judge_server.url, always=file.name in IN_A_SHELL)
    if not shell.always:
        request.getfixturevalue("units_here")
    if file.name == "models.md":
        write_models(shell.folder)
    for block in blocks(file):
        if (name := block.option("file")) is not None:
            shell.add_file(name, block.text)
        elif (name := block.option("input")) is not None:
            (shell.folder / name).write_text(block.text, encoding="utf-8")
        elif block.option("not-run") is None:
            execute(block, file, shell)
    shell.names.clear()


def execute(block: Block, file: Path, shell: Shell) -> None:
    place = f"{file.relative_to(PROJECT)}:{block.line}"
    if block.language == "python":
        shell.python(block.text, place)
    elif block.language == "bash":
        for command in block.commands():
            if MAKE.match(command):
                check_make(command)
                continue
            if "varied_outputs.csv" in command:
                write_varied_outputs(shell.folder)
            try:
                shell.command(command, block.option("until"))
            except AssertionError as failure:
                failure.add_note(f"{place}: {command}")
                raise


def check_make(command: str) -> None:
    """Check that the targets exist; what they do is tested in tests/test_setup.py."""
    words = shlex.split(command, comments=True)
    target = ["make", "--dry-run", *words[1:]] if words[0] == "make" else ["test", "-x", *words]
    done = subprocess.run(target, cwd=PROJECT, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stderr}"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_each_block_says_what_it_is(file):
    for block in blocks(file):
        assert block.language in ("bash", "python", *SHOWN), f"{file.name}:{block.line}: {block.language!r}"
        known = any(block.option(name) for name in ("not-run", "until", "file", "input"))
        assert not block.info or known, f"{file.name}:{block.line}: {block.info!r}"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_commands_that_are_not_run_are_understood(file):
    for block in blocks(file):
        if block.language == "bash" and block.option("not-run") is not None:
            for command in block.commands():
                check_command(command)
    for command in re.findall(r"`(python -m [^`]+)`", file.read_text(encoding="utf-8")):
        check_command(command)


def check_command(command: str) -> None:
    """Check that the module or extra exists and, of our own command line, that it understands the arguments."""
    words = shlex.split(command.partition(" > ")[0], comments=True)
    if words[0] == "assay":
        command_line().parse_args(words[1:])
        return
    if {"pip", "uv", "docker"} & set(words[:2]):
        named = itertools.chain(*(found.split(",") for found in re.findall(r"\[([a-z,-]+)\]", command)))
        assert set(named) <= set(EXTRAS), command
        return
    if words[:2] == ["streamlit", "run"]:
        assert (PROJECT / words[2]).exists(), command
        return
    assert words[:2] == ["python", "-m"], command
    if words[2] != "metrics":
        assert (PROJECT / (words[2].replace(".", "/") + ".py")).exists(), command
    elif not any(word.isupper() for word in words[3:4]):
        command_line().parse_args(words[3:])
