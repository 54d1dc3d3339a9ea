"""The sandbox: what code in it cannot do, however it tries, and what it still can."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from metrics.core.sandbox import process
from metrics.core.sandbox.process import Bounds, Outcome, run
from metrics.core.sandbox.system_calls import ALLOWED, filter_program
from metrics.evaluators.code._sandboxed import JOBS
from tests.conftest import PROJECT
from tests.sandboxed import sandboxed

SMALL = Bounds(2, 512, 4)


@pytest.fixture
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "PATIENCE", 100)  # a busy machine is no defect


pytestmark = [sandboxed, pytest.mark.usefixtures("_patience")]


def ran(code: str, tests: str = "assert answer_is_loaded", bounds: Bounds = SMALL) -> Outcome:
    code += "\nanswer_is_loaded = True"
    given = {"tests": tests, "call": "", "entry_point": "", "shared": []}
    return run(JOBS, {"check_code": given, "serve_code": {"code": code}}, bounds)


def what_went_wrong(outcome: Outcome) -> str:
    """In words; "passed" where nothing did."""
    last = outcome.replies[-1] if outcome.replies else {}
    if "error" in last:
        return f"{last['error']}: {last['message']}"
    return outcome.ended or ("passed" if last.get("passed") else "no verdict")


REFUSED = "PermissionError: [Errno 1]"
LIBRARY = "import ctypes, os, sys\nlibc = ctypes.CDLL(None, use_errno=True)\n"


@pytest.mark.parametrize(("code", "end"), [
    pytest.param("import os\nos.fork()", REFUSED, id="fork",
                 marks=pytest.mark.attack("model", "code of an answer is a fork bomb", "it starts no process")),
    pytest.param("import subprocess, sys\nsubprocess.run([sys.executable, '-c', ''])", REFUSED, id="program",
                 marks=pytest.mark.attack("model", "code of an answer starts a program", "seccomp refuses it")),
    pytest.param("import multiprocessing as m\nm.Process(target=print).start()", REFUSED, id="multiprocessing"),
    pytest.param("import os\nos.execv('/bin/sh', ['sh'])", "FileNotFoundError", id="becomes-a-shell",
                 marks=pytest.mark.attack("model", "code becomes another program", "nothing is there but Python")),
    pytest.param("import os, sys\nos.execv(sys.executable, [sys.executable, '-c', 'import os; os.fork()'])",
                 "ended with exit code 1", id="becomes-python",
                 marks=pytest.mark.attack("model", "code becomes a Python without limits", "the filter goes with it")),
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
    pytest.param("import os\nwhile True: os.write(2, b'x' * 100_000)", "printed more than 16 MiB", id="errors"),
    pytest.param("open('big', 'w').write('x' * 10**7)", "OSError: [Errno 27]", id="large-file"),
    pytest.param("for n in range(4_000): open(str(n % 99), 'ab').write(b'x' * 10**6)", "OSError: [Errno 28]", id="disk",
                 marks=pytest.mark.attack("model", "code fills the disk with 4 GB", "its folder is 16 MiB of memory")),
    pytest.param("n = 0\nwhile True:\n    open(str(n), 'w').close(); n += 1", "wrote too many files", id="files",
                 marks=pytest.mark.attack("model", "code makes files without end", "they are counted, it is ended")),
    pytest.param("import os\nwhile True: os.mkdir('d'); os.chdir('d')", "wrote too many files", id="deep-folders",
                 marks=pytest.mark.attack("model", "code makes folders too deep to remove", "they go with its memory")),
    pytest.param("import os\nos.kill(os.getppid(), 9)", REFUSED, id="kills-its-parent",
                 marks=pytest.mark.attack("model", "code of an answer kills Assay", "it can send no signals")),
    pytest.param("import os\nos.kill(-1, 9)", REFUSED, id="kills-all"),
    pytest.param("import resource as r\nr.setrlimit(r.RLIMIT_CPU, (9999, 9999))", "ValueError", id="raises-limits",
                 marks=pytest.mark.attack("model", "code raises its own limits", "hard limits, no privileges")),
    pytest.param("import ctypes\nctypes.string_at(0)", "ended by signal SIGSEGV", id="crash"),
    pytest.param("def f(n): return f(n + 1)\nf(0)", "RecursionError", id="recursion"),
    pytest.param("raise SystemExit(0)", "SystemExit: 0", id="exits"),
    pytest.param("import os\nos._exit(0)", "no verdict", id="exits-at-once"),
    pytest.param("import metrics", "ModuleNotFoundError", id="our-own-package"),
])  # fmt: skip
def test_what_code_does_ends_there(code: str, end: str) -> None:
    outcome = ran(code)
    assert what_went_wrong(outcome).startswith(end), (what_went_wrong(outcome), outcome.printed)


REFUSALS = {  # what each gives inside: the name of an error number
    "libc.fcntl(0, 8, os.getpid())": "EPERM",  # F_SETOWN: SIGIO to another process
    "libc.fcntl(0, 10, 9)": "EPERM",  # F_SETSIG
    "libc.fcntl(os.open('.', 0), 1026, 1)": "EPERM",  # F_NOTIFY
    "libc.fcntl(0, 4, 0o20000)": "EPERM",  # F_SETFL with O_ASYNC
    "libc.ioctl(0, 0x8901, ctypes.byref(ctypes.c_int(1)))": "EPERM",  # FIOSETOWN
    "libc.ioctl(0, 0x5412, b'x')": "EPERM",  # TIOCSTI
    "libc.inotify_init()": "EPERM",
    "libc.inotify_init1(0)": "EPERM",
    "libc.fanotify_init(0, 0)": "EPERM",
    "libc.socket(2, 1, 0)": "EPERM",
    "libc.socket(1, 1, 0)": "EPERM",
    "libc.socketpair(2, 1, 0, (ctypes.c_int * 2)())": "EPERM",
    "libc.shmget(0, 4096, 0o1600)": "EPERM",
    "libc.memfd_create(b'a', 0)": "EPERM",
    "libc.mq_open(b'/a', 66, 0o600, None)": "EPERM",
    "libc.syscall(323, 0)": "EPERM",  # userfaultfd
    "libc.syscall(425, 1, 0)": "EPERM",  # io_uring_setup
    "libc.syscall(321, 0, 0, 0)": "EPERM",  # bpf
    "libc.syscall(298, 0, 0, 0, 0, 0)": "EPERM",  # perf_event_open
    "libc.syscall(248, b'user', b'a', b'b', 1, -3)": "EPERM",  # add_key
    "libc.syscall(250, 0, -3, 0)": "EPERM",  # keyctl
    "libc.syscall(435, 0, 0)": "ENOSYS",  # clone3
    "libc.syscall(56, 17, 0, 0, 0, 0)": "EPERM",  # clone without a thread
    "libc.syscall(56, 0x10010F00 | 0x10000000, 0, 0, 0, 0)": "EPERM",  # clone into a user namespace
    "libc.syscall(1000)": "ENOSYS",  # a call that does not exist yet
    "libc.ptrace(16, 1, 0, 0)": "EPERM",
    "libc.process_vm_readv(1, None, 0, None, 0, 0)": "EPERM",
    "libc.mount(b'none', b'/', b'tmpfs', 0, None)": "EPERM",
    "libc.umount2(b'/', 2)": "EPERM",
    "libc.pivot_root(b'.', b'.')": "EPERM",
    "libc.chroot(b'.')": "EPERM",
    "libc.unshare(0x10000000)": "EPERM",
    "libc.setns(0, 0)": "EPERM",
    "libc.prctl(1, 0, 0, 0, 0)": "EPERM",  # PR_SET_PDEATHSIG
    "libc.prctl(22, 2, 0, 0, 0)": "EPERM",  # PR_SET_SECCOMP
    "libc.prctl(4, 1, 0, 0, 0)": "EPERM",  # PR_SET_DUMPABLE
    "libc.chmod(b'.', 0o777)": "EPERM",
    "libc.utimes(b'.', None)": "EPERM",
    "libc.mknod(b'd', 0o60600, 0)": "EPERM",
    "libc.setpriority(0, 0, 5)": "EPERM",
    "libc.setuid(0)": "EPERM",
    "libc.setsid()": "EPERM",
    "libc.tgkill(1, 1, 15)": "EPERM",
    "libc.syscall(424, 0, 9, 0, 0)": "EPERM",  # pidfd_send_signal
    "libc.syscall(434, 1, 0)": "EPERM",  # pidfd_open
    "libc.sendto(0, b'x', 1, 0, b'ab', 2)": "EPERM",
    "libc.prlimit(1, 0, None, None)": "EPERM",  # of a process by number
}


@pytest.mark.attack("model", "code has signals sent to any process by F_SETOWN", "only listed commands of fcntl")
@pytest.mark.attack("model", "code watches files of others by inotify", "no call but those listed")
@pytest.mark.attack("model", "code uses io_uring, userfaultfd, memfd, keys, bpf, ptrace", "no call but those listed")
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers are those of x86-64")
def test_calls_that_are_refused() -> None:
    tried = "".join(
        f"ctypes.set_errno(0)\nresult = {call}\n"
        f"print(errno.errorcode.get(ctypes.get_errno()) if result < 0 else 'allowed', file=sys.stderr)\n"
        for call in REFUSALS
    )
    outcome = ran(f"{LIBRARY}import errno\n{tried}sys.stderr.flush()")
    assert what_went_wrong(outcome) == "passed"
    assert dict(zip(REFUSALS, outcome.printed.split(), strict=True)) == REFUSALS


@pytest.mark.attack("model", "code makes a system call that nobody thought of", "what is not listed is refused")
def test_every_call_that_is_not_listed_is_refused() -> None:
    """As libseccomp's own table has them, by the program that the kernel gets: what it returns for each call."""
    import pyseccomp

    conditional = {"clone", "socketpair", "sendto", "prlimit64", "prctl", "ioctl", "fcntl"}
    given, program = {}, filter_program()
    for number in range(600):
        try:
            name = pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, number).decode()
        except ValueError:
            name = f"unknown {number}"
        given[name] = returned(program, number)
    allowed = {name for name, action in given.items() if action == 0x7FFF0000}
    assert allowed == {name for name in given if name in ALLOWED}
    assert not allowed & conditional
    known = {name for name in given if not name.startswith("unknown")}
    assert {given[name] for name in known - allowed - {"clone3"}} == {0x00050001}  # EPERM
    assert {given[name] for name in set(given) - known | {"clone3"}} == {0x00050000 | 38}  # ENOSYS
    assert len(known - allowed) > 200


def returned(program: bytes, number: int) -> int:
    """What a filter returns for a call whose arguments have every bit set, as the kernel's machine runs it."""
    import struct

    lines = list(struct.iter_unpack("=HBBI", program))
    machine = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}[os.uname().machine]
    words = {0: number, 4: machine} | dict.fromkeys(range(8, 64, 4), 0xFFFFFFFF)
    place, value = 0, 0
    while True:
        code, then, other, operand = lines[place]
        place += 1
        if code == 0x20:
            value = words[operand]
        elif code == 0x54:
            value &= operand
        elif code == 0x05:
            place += operand
        elif code == 0x06:
            return operand
        else:
            true = {0x15: value == operand, 0x25: value > operand, 0x35: value >= operand, 0x45: bool(value & operand)}
            place += then if true[code] else other


@pytest.mark.attack("model", "code of an answer reads the user's files, links to them included", "they are not there")
@pytest.mark.attack("model", "code empties files by O_TRUNC", "what is there to read is mounted read-only")
def test_files_outside_are_neither_read_nor_written(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("mine")
    library = Path(os.__file__)
    before = library.read_bytes()
    tries = (
        f"print(open({str(secret)!r}).read())",
        f"os.symlink({str(secret)!r}, 'link'); print(open('link').read())",
        f"os.link({str(secret)!r}, 'hard')",
        f"os.symlink('/proc/1/root{secret}', 'up'); print(open('up').read())",
        f"print(os.listdir({str(tmp_path)!r}))",
        f"open({str(secret)!r}, 'w')",
        f"os.truncate({str(secret)!r}, 0)",
        f"os.remove({str(secret)!r})",
        f"os.open({str(library)!r}, os.O_RDWR)",
        f"os.open({str(library)!r}, os.O_RDONLY | os.O_TRUNC)",
        f"os.truncate({str(library)!r}, 0)",
        f"os.utime({str(library)!r})",
        f"os.chmod({str(library)!r}, 0o777)",
        f"os.remove({str(library)!r})",
        f"os.rename({str(library)!r}, 'here')",
        f"os.link({str(library)!r}, 'hard')",
        "print(open('/proc/self/environ').read())",
        f"print(open('/proc/{os.getpid()}/environ').read())",
        "print(os.listdir('/proc'))",
        "print(open('/etc/passwd').read())",
        f"print(open({str(PROJECT / 'pyproject.toml')!r}).read())",
        "open('/new', 'w')",
        "open('/dev/new', 'w')",
        "open('/assay-sandbox/code/start.py', 'a')",
        "os.mkdir('/usr/lib/new')",
    )
    code = "import os\nrefused = []\n" + "".join(
        f"try:\n    {one}\nexcept OSError: refused.append({number})\n" for number, one in enumerate(tries)
    )
    outcome = ran(code, "assert refused == list(range(len(refused))), refused\nprint(len(refused))")
    assert (what_went_wrong(outcome), outcome.printed) == ("passed", f"{len(tries)}\n")
    assert (secret.read_text(), library.read_bytes() == before) == ("mine", True)
    assert [path.name for path in tmp_path.iterdir()] == ["secret.txt"]


@pytest.mark.attack("model", "code of an answer reads keys from the environment", "the environment is empty")
def test_it_has_no_variable_of_ours_and_no_open_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with (tmp_path / "open.txt").open("w") as ours:
        os.set_inheritable(ours.fileno(), True)
        code = "import os\nprint(dict(os.environ))\nfor n in range(3, 64):\n    try: os.fstat(n); print('open', n)\n"
        outcome = ran(code + "    except OSError: pass")
    assert what_went_wrong(outcome) == "passed"
    assert "secret" not in outcome.printed
    assert str(PROJECT) not in outcome.printed
    assert outcome.printed.count("open ") == 2  # the pipes from and to the tests


@pytest.mark.attack("model", "code of an answer calls the network", "it gets no socket")
def test_it_reaches_nobody() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        port = server.getsockname()[1]
        for code in (
            f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 1)",
            f"import urllib.request\nurllib.request.urlopen('http://127.0.0.1:{port}', timeout=1)",
            "import socket\nsocket.socket(socket.AF_UNIX).connect('/run/docker.sock')",
            "import socket\nsocket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
        ):
            assert "Operation not permitted" in what_went_wrong(ran(code)), code
        with pytest.raises(TimeoutError):
            server.accept()


def test_what_it_may() -> None:
    """Its own folder, the library, packages, threads, and pipes to itself."""
    code = """
import asyncio, collections, dataclasses, json, math, os, random, re, sqlite3, tempfile, threading, zoneinfo
import numpy
thread = threading.Thread(target=lambda: print("thread"))
thread.start(); thread.join()
with tempfile.NamedTemporaryFile("w+") as file:
    file.write("own"); file.seek(0); print(file.read())
print(os.listdir("."), asyncio.run(asyncio.sleep(0, "async")), numpy.ones(3).sum(), zoneinfo.ZoneInfo("Europe/Bern"
    if os.path.exists("/usr/share/zoneinfo/Europe/Bern") else "UTC") is not None)
"""
    outcome = ran(code, bounds=Bounds(20, 1024, 4))
    assert (what_went_wrong(outcome), outcome.printed.splitlines()) == (
        "passed",
        ["thread", "own", "[] async 3.0 True"],
    )


@pytest.mark.attack("model", "code of an answer outlives a run that was killed", "the kernel ends it with its parent")
@pytest.mark.attack("model", "threads of the code go on after its verdict", "its whole namespace is ended")
def test_it_ends_with_whoever_has_started_it() -> None:
    program = (
        "from tests.core.sandbox.test_sandbox import ran, Bounds; print('up', flush=True);"
        "ran('import time; time.sleep(600)', '', Bounds(2000))"
    )
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    parent = subprocess.Popen(
        [sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, cwd=PROJECT
    )  # fmt: skip
    try:
        assert parent.stdout is not None
        parent.stdout.readline()
        children: list[psutil.Process] = []
        while len(children) < 4:  # of each process bubblewrap and what is inside
            children = psutil.Process(parent.pid).children(recursive=True)
            time.sleep(0.05)
    finally:
        parent.kill()
        parent.wait()
        parent.stdout.close()
    assert psutil.wait_procs(children, timeout=60)[1] == []
    threads = "import threading, time\ndef f():\n    while True: time.sleep(0.01)\nthreading.Thread(target=f).start()"
    assert what_went_wrong(ran(threads)) == "passed"
    assert [one for one in psutil.Process().children(recursive=True) if "bwrap" in one.name()] == []


@pytest.fixture
def _unknown() -> Iterator[None]:
    for known in (process.why_unavailable, process._options, filter_program):
        known.cache_clear()
    yield
    for known in (process.why_unavailable, process._options, filter_program):
        known.cache_clear()


@pytest.mark.usefixtures("_unknown")
class TestWithoutASandbox:
    """A machine that lacks a part of it."""

    def reason(self) -> str:
        outcome = ran("print('run')")
        assert (outcome.started, outcome.replies, outcome.printed) == (False, (), "")
        return outcome.ended

    @pytest.mark.attack("suite author", "a system lacks bubblewrap or libseccomp", "nothing is run there")
    def test_nothing_is_run_and_what_to_install_is_said(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        assert self.reason().startswith("bubblewrap is not here: code runs on Linux alone, with bubblewrap and libsecc")
        assert "apt install bubblewrap libseccomp2" in self.reason()

    def test_without_libseccomp(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "pyseccomp", None)
        assert self.reason().startswith("libseccomp is not here (")

    @pytest.mark.attack("suite author", "a container forbids user namespaces", "nothing is run there")
    def test_where_it_is_refused(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        refusing = tmp_path / "bwrap"
        refusing.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
        refusing.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        assert self.reason() == (
            "bubblewrap is refused (bwrap: No permissions to create new namespace): the system must let bubblewrap "
            "make user namespaces; for containers see docs/code.md"
        )

    def test_an_older_bubblewrap_has_fewer_options(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        older = tmp_path / "bwrap"
        older.write_text(
            '#!/bin/sh\nfor one in "$@"; do [ "$one" = --disable-userns ] && exit 1; done\nexec /usr/bin/bwrap "$@"\n'
        )
        older.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        assert what_went_wrong(ran("import os\nos.fork()")) == "PermissionError: [Errno 1] Operation not permitted"
