"""The sandbox: what code in it cannot do, however it tries, and what it still can."""

import os
import platform
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from metrics.core.sandbox import barriers
from metrics.core.sandbox.barriers import REQUIRED
from metrics.core.sandbox.process import Bounds, Outcome, in_force, run
from tests.conftest import PROJECT

whole = pytest.mark.skipif(not set(REQUIRED) <= set(in_force()), reason=f"this system has only {in_force()}")
pytestmark = whole


SMALL = Bounds(2, 512, 4)


def ran(code: str, tests: str = "", bounds: Bounds = SMALL) -> Outcome:
    return run({"kind": "python", "code": code, "tests": tests, "call": ""}, bounds)


def told(outcome: Outcome) -> str:
    """What went wrong, in words; "passed" where nothing did."""
    last = outcome.replies[-1] if outcome.replies else {}
    if "error" in last:
        return f"{last['error']}: {last['message']}"
    return outcome.ended or ("passed" if last.get("passed") else "no verdict")


REFUSED = "PermissionError: [Errno 1]"


@pytest.mark.parametrize(("code", "end"), [
    pytest.param("import os\nos.fork()", REFUSED, id="fork",
                 marks=pytest.mark.attack("model", "code of an answer is a fork bomb", "it starts no process")),
    pytest.param("import subprocess, sys\nsubprocess.run([sys.executable, '-c', ''])", REFUSED, id="program",
                 marks=pytest.mark.attack("model", "code of an answer starts a program", "seccomp refuses it")),
    pytest.param("import multiprocessing as m\nm.Process(target=print).start()", REFUSED, id="multiprocessing"),
    pytest.param("import os\nos.execv('/bin/sh', ['sh'])", REFUSED, id="becomes-a-program"),
    pytest.param(
        "import threading, time\nfor _ in range(10_000): threading.Thread(target=time.sleep, args=(99,)).start()",
        "RuntimeError: can't start new thread", id="threads",
        marks=pytest.mark.attack("model", "code of an answer starts threads without end", "memory bounds them"),
    ),
    pytest.param("text = 'x' * 10**9", "MemoryError", id="memory",
                 marks=pytest.mark.attack("model", "code of an answer takes all memory", "its memory is limited")),
    pytest.param("while True: pass", "used up its processor time", id="endless",
                 marks=pytest.mark.attack("model", "code of an answer never ends", "its time is limited")),
    pytest.param("import time\ntime.sleep(999)", "waited longer than 1 s", id="sleeps",
                 marks=pytest.mark.attack("model", "code of an answer waits for ever", "the clock ends it")),
    pytest.param("while True: print('x' * 100_000)", "printed more than 16 MiB", id="output",
                 marks=pytest.mark.attack("model", "code of an answer prints without end", "it is ended")),
    pytest.param("open('big', 'w').write('x' * 10**7)", "OSError: [Errno 27]", id="large-file",
                 marks=pytest.mark.attack("model", "code of an answer fills the disk", "its files are limited")),
    pytest.param("for n in range(10**6): open(str(n), 'w').close()", "many-files", id="many-files"),
    pytest.param("import os\nos.kill(os.getppid(), 9)", REFUSED, id="kills-its-parent",
                 marks=pytest.mark.attack("model", "code of an answer kills Assay", "it can send no signals")),
    pytest.param("import os\nos.kill(-1, 9)", REFUSED, id="kills-all"),
    pytest.param("import ctypes, os\nassert ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0) == 0",
                 "AssertionError", id="traces-its-parent"),
    pytest.param("import resource as r\nr.setrlimit(r.RLIMIT_CPU, (9999, 9999))", "ValueError", id="raises-limits",
                 marks=pytest.mark.attack("model", "code raises its own limits", "hard limits, no privileges")),
    pytest.param("import ctypes\nassert ctypes.CDLL(None).unshare(0x10000000) == 0", "AssertionError",
                 id="new-namespace"),
    pytest.param("import ctypes\nassert ctypes.CDLL(None).prctl(1, 0, 0, 0, 0) == 0", "AssertionError",
                 id="outlives-its-parent"),
    pytest.param("import ctypes\nassert ctypes.CDLL(None).memfd_create(b'a', 0) >= 0", "AssertionError",
                 id="memory-beyond-the-limit"),
    pytest.param("import os\nos.chmod('.', 0o777)", REFUSED, id="modes"),
    pytest.param("import ctypes\nctypes.string_at(0)", "ended by signal SIGSEGV", id="crash"),
    pytest.param("def f(n): return f(n + 1)\nf(0)", "RecursionError", id="recursion"),
    pytest.param("raise SystemExit(0)", "SystemExit: 0", id="exits"),
    pytest.param("import os\nos._exit(0)", "no verdict", id="exits-at-once"),
    pytest.param("import metrics", "ModuleNotFoundError", id="our-own-package"),
])  # fmt: skip
def test_what_code_does_ends_there(code, end):
    outcome = ran(code)
    if end == "many-files":  # the folder is in memory where namespaces are allowed, else it is counted
        assert told(outcome).startswith(("OSError: [Errno 28]", "wrote too many"))
    else:
        assert told(outcome).startswith(end), told(outcome)


@pytest.mark.attack("model", "code of an answer reads the user's files, links to them included", "Landlock refuses it")
def test_files_outside_are_neither_read_nor_written(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("mine")
    for code in (
        f"print(open({str(secret)!r}).read())",
        f"import os\nos.symlink({str(secret)!r}, 'link')\nprint(open('link').read())",
        f"import os\nos.link({str(secret)!r}, 'hard')\nprint(open('hard').read())",
        f"import os\nprint(os.listdir({str(tmp_path)!r}))",
        f"open({str(tmp_path / 'new')!r}, 'w')",
        f"open({str(secret)!r}, 'a')",
        f"import os\nos.truncate({str(secret)!r}, 0)",
        f"import os\nos.remove({str(secret)!r})",
        f"import os\nos.rename({str(secret)!r}, 'here')",
        f"import os\nos.utime({str(secret)!r})",
        f"import os\nos.chmod({str(secret)!r}, 0o777)",
        "print(open('/proc/self/environ').read())",
        f"print(open('/proc/{os.getpid()}/environ').read())",
        "print(open('/etc/passwd').read())",
        f"print(open({str(PROJECT / 'pyproject.toml')!r}).read())",
    ):
        outcome = ran(code)
        assert told(outcome).startswith(("PermissionError", "FileNotFoundError", "OSError: [Errno 18]")), code
        assert outcome.printed == ""
    assert secret.read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["secret.txt"]


@pytest.mark.attack("model", "code of an answer reads keys from the environment", "the environment is empty")
def test_it_has_no_variable_of_ours_and_no_open_file(monkeypatch, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with (tmp_path / "open.txt").open("w") as ours:
        os.set_inheritable(ours.fileno(), True)
        code = "import os\nprint(dict(os.environ))\nfor n in range(5, 64):\n    try: os.fstat(n); print('open', n)\n"
        outcome = ran(code + "    except OSError: pass")
    assert told(outcome) == "passed"
    assert "secret" not in outcome.printed
    assert "PYTHONPATH" not in outcome.printed
    assert str(PROJECT) not in outcome.printed
    assert outcome.printed.count("open ") <= 1  # the pipe of the verdict


@pytest.mark.attack("model", "code of an answer calls the network", "it gets no socket")
def test_it_reaches_nobody():
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        port = server.getsockname()[1]
        for code in (
            f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 1)",
            f"import urllib.request\nurllib.request.urlopen('http://127.0.0.1:{port}', timeout=1)",
            "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))",
            "import socket\nsocket.socket(socket.AF_UNIX).connect('/run/docker.sock')",
            "import socket\nsocket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
        ):
            assert "Operation not permitted" in told(ran(code)), code
        with pytest.raises(TimeoutError):
            server.accept()


def test_what_it_may():
    """Its own folder, the library, packages, threads, and pipes to itself."""
    code = """
import asyncio, collections, dataclasses, json, math, os, random, re, sqlite3, tempfile, threading
import numpy
thread = threading.Thread(target=lambda: print("thread"))
thread.start(); thread.join()
with tempfile.NamedTemporaryFile("w+") as file:
    file.write("own"); file.seek(0); print(file.read())
print(os.listdir("."), asyncio.run(asyncio.sleep(0, "async")), numpy.ones(3).sum())
"""
    outcome = ran(code, bounds=Bounds(10, 1024, 4))
    assert (told(outcome), outcome.printed.splitlines()) == ("passed", ["thread", "own", "[] async 3.0"])


def test_nothing_stays_behind():
    before = set(Path(tempfile.gettempdir()).glob("assay-sandbox-*"))
    deep = (
        "import os\nfor _ in range(200): os.mkdir('d'); os.chdir('d')\nopen('f', 'w').write('x'); os.symlink('/', 'l')"
    )
    assert told(ran(deep)) == "passed"
    assert set(Path(tempfile.gettempdir()).glob("assay-sandbox-*")) <= before
    assert Path("/etc/passwd").exists()


@pytest.mark.attack("model", "code of an answer outlives a run that was killed", "the kernel ends it with its parent")
def test_it_ends_with_whoever_has_started_it():
    program = (
        "from metrics.core.sandbox.process import Bounds, run; print('up', flush=True);"
        "run({'kind': 'python', 'code': 'import time; time.sleep(600)', 'tests': '', 'call': ''}, Bounds(600))"
    )
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    parent = subprocess.Popen([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE)
    try:
        assert parent.stdout is not None
        parent.stdout.readline()
        children: list[psutil.Process] = []
        while not children:
            children = psutil.Process(parent.pid).children()
            time.sleep(0.05)
        time.sleep(1)  # the barriers are up
    finally:
        parent.kill()
        parent.wait()
        parent.stdout.close()
    assert psutil.wait_procs(children, timeout=60)[1] == []


def test_the_verdict_does_not_travel_with_what_is_printed():
    forged = '{"token": "", "passed": true}'
    outcome = ran(
        f"import os\nfor n in (1, 2, 3, 4, 5, 6):\n    try: os.write(n, b'{forged}\\n')\n    except OSError: pass"
    )
    assert [sorted(reply) for reply in outcome.replies] == [["loaded"], ["passed"]]
    early = ran(
        f"import os\nfor n in range(1, 9):\n    try: os.write(n, b'{forged}\\n')\n    except OSError: pass\nos._exit(0)"
    )
    assert told(early) == "no verdict"


class TestMissingBarriers:
    """A system without a barrier, by names that its kernel does not have."""

    @pytest.mark.attack("suite author", "a system lacks barriers of the sandbox", "nothing is run there")
    def test_nothing_is_run_without_a_required_one(self):
        outcome = run({"kind": "python", "code": "print('run')", "tests": "", "call": ""}, required=(*REQUIRED, "moat"))
        assert (outcome.missing, outcome.replies, outcome.printed) == (["moat"], [], "")

    def test_the_report_names_those_that_are_there(self):
        assert set(in_force()) <= set(barriers.BARRIERS)
        assert ran("").barriers == list(in_force())

    def test_an_ordinary_user_has_them_too(self):
        """None of the required ones needs root."""
        if os.getuid():
            return
        code = (
            "import os, sys; os.setgid(65534); os.setuid(65534); os.chdir('/');"
            "from metrics.core.sandbox import barriers; import tempfile; from pathlib import Path;"
            "limits = {'cpu_s': 5, 'memory': 1 << 30, 'file_size': 1 << 20, 'disk': 1 << 20};"
            "print(barriers.put_up(Path(tempfile.mkdtemp()), limits, os.getppid()))"
        )
        environment = {"PYTHONPATH": str(PROJECT)}
        found = subprocess.run([sys.executable, "-B", "-c", code], env=environment, capture_output=True, text=True)
        if "PermissionError" in found.stderr or "ModuleNotFoundError" in found.stderr:
            pytest.skip("an ordinary user cannot read this interpreter")
        assert set(REQUIRED) <= set(eval(found.stdout)), found.stderr


@pytest.mark.parametrize("machine", barriers.ARCHITECTURES)
def test_the_filter_is_one_that_the_kernel_can_take(machine):
    """Whole instructions, fewer than its limit, each jump to a later one within it, and an end that returns."""
    import struct

    lines = list(struct.iter_unpack("=HBBI", barriers.program(machine)))
    assert len(lines) < 4096
    for place, (code, then, other, _) in enumerate(lines):
        if code in (barriers.EQUAL, barriers.LEAST, barriers.BITS):
            assert max(then, other) + place + 1 < len(lines)
    assert lines[-1][0] == barriers.RETURN


def test_another_machine_has_no_filter():
    with pytest.raises(KeyError):
        barriers.program("vax")
    assert platform.machine() in barriers.ARCHITECTURES
