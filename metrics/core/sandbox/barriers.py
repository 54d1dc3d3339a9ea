"""The barriers around this process: limits, files (Landlock), system calls (seccomp), namespaces.

None of them needs root. They are put up once, before the code runs, and cannot be taken down. Linux has all of them
where its kernel is 5.13 or newer; other systems have the limits alone.
"""

import ctypes
import os
import resource
import signal
import struct
import sys
import sysconfig
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from metrics.core.sandbox import system_calls

LIMITS, FILES, CALLS, NAMESPACES = "limits", "files", "system calls", "namespaces"
BARRIERS = {  # what each keeps from the code, in words
    LIMITS: "memory, processor time and size of files are limited",
    FILES: "no file outside its own empty folder can be written, and none read but Python's own (Landlock)",
    CALLS: "no network, no other program or process, no signals (seccomp)",
    NAMESPACES: "a network without interfaces, and a folder in memory of limited size (user namespaces)",
}
REQUIRED = (LIMITS, FILES, CALLS)  # the last one stands behind these: containers often forbid it
MOST_FILES = 250  # in the folder
OPEN_FILES = 64

NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWNET = 0x00020000, 0x04000000, 0x08000000, 0x10000000, 0x40000000
NOSUID, NODEV, NOEXEC, RECURSIVE, PRIVATE = 2, 4, 8, 0x4000, 1 << 18  # of mount
CAPSET = {"x86_64": 126, "aarch64": 91}
CREATE_RULESET, ADD_RULE, RESTRICT = 444, 445, 446  # the system calls of Landlock, the same on every machine
READ_FILE, READ_DIR, WRITE_FILE = 1 << 2, 1 << 3, 1 << 1
RIGHTS = (13, 13, 14, 15, 15, 16, 16)  # bits of rights to files that each version of Landlock knows
NETWORK, SCOPES = 3, 3  # TCP from version 4, signals and abstract sockets from version 6


def put_up(folder: Path, limits: Mapping[str, int], parent: int) -> list[str]:
    """Put up every barrier that this machine has, and return their names. The process is in `folder` then.

    limits: `cpu_s` seconds; `memory`, `file_size` and `disk` bytes. parent: the process with which this one ends.
    """
    up = []
    _limit(limits)
    up.append(LIMITS)
    os.chdir(folder)
    if sys.platform != "linux":
        return up
    ways: tuple[tuple[str, Callable[[], None]], ...] = (
        (NAMESPACES, lambda: _own_namespaces(folder, limits["disk"])),
        (FILES, lambda: _only_files(folder)),
        (CALLS, lambda: _filter_calls(parent)),
    )
    for name, barrier in ways:
        with suppress(OSError, KeyError, AttributeError):  # absent from this kernel, or forbidden here
            barrier()
            up.append(name)
    return up


def _limit(limits: Mapping[str, int]) -> None:
    """Limit this process; numbers that are lower already stay."""
    for kind, most in (
        (resource.RLIMIT_CPU, limits["cpu_s"]),
        (resource.RLIMIT_AS, limits["memory"]),
        (resource.RLIMIT_FSIZE, limits["file_size"]),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with suppress(ValueError, OSError):  # macOS knows no limit of the address space
            # a second more until the kernel ends what does not heed the signal of the limit of time
            resource.setrlimit(kind, (bound, bound + (kind == resource.RLIMIT_CPU and hard == resource.RLIM_INFINITY)))


def _own_namespaces(folder: Path, size: int) -> None:
    """Give this process a network without interfaces, and a folder in memory that ends with it.

    Raises OSError where users may have no namespaces of their own.
    """
    library = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    _checked(library.unshare(NEWUSER | NEWNS | NEWNET | NEWIPC | NEWUTS))
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")
    _checked(library.mount(b"none", b"/", None, RECURSIVE | PRIVATE, None))
    options = f"size={size},nr_inodes={MOST_FILES},mode=0700".encode()
    _checked(library.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", NOSUID | NODEV | NOEXEC, options))
    os.chdir(folder)


def _only_files(folder: Path) -> None:
    """Leave this process its folder, and Python's own files to read. Raises OSError without Landlock."""
    library = ctypes.CDLL(None, use_errno=True)
    version = _checked(library.syscall(CREATE_RULESET, None, 0, 1))
    rights = (1 << RIGHTS[min(version, len(RIGHTS)) - 1]) - 1
    asked = [rights, NETWORK if version >= 4 else 0, SCOPES if version >= 6 else 0]
    attribute = struct.pack("=QQQ", *asked)[: 8 if version < 4 else 16 if version < 6 else 24]
    rules = _checked(library.syscall(CREATE_RULESET, attribute, len(attribute), 0))
    try:
        own = rights & ~1  # nothing in it can be started as a program
        read = READ_FILE | READ_DIR
        for path, allowed in ((folder, own), *((path, read) for path in _readable()), (Path("/dev/null"), 0)):
            with suppress(FileNotFoundError, PermissionError):
                place = os.open(path, os.O_PATH | os.O_CLOEXEC)
                try:
                    of_a_file = READ_FILE | WRITE_FILE if path == Path("/dev/null") else READ_FILE
                    granted = allowed if path.is_dir() else of_a_file
                    rule = struct.pack("=Qi", granted, place)
                    _checked(library.syscall(ADD_RULE, rules, 1, rule, 0))
                finally:
                    os.close(place)
        _checked(library.prctl(system_calls.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        _checked(library.syscall(RESTRICT, rules, 0))
    finally:
        os.close(rules)


def _readable() -> Iterable[Path]:
    """Return what Python needs to go on importing: its library, installed packages, the system's shared libraries."""
    paths = sysconfig.get_paths()
    base = sysconfig.get_paths(vars={"base": sys.base_prefix, "platbase": sys.base_exec_prefix})
    named = {*(one[name] for one in (paths, base) for name in ("stdlib", "platstdlib", "purelib", "platlib"))}
    named |= {f"{sys.base_prefix}/lib", "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib"}
    named |= {"/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo", "/dev/urandom"}
    return [Path(name) for name in sorted(named)]


def _filter_calls(parent: int) -> None:
    """Give up every capability, end with the parent from now on, and filter the system calls.

    Raises OSError or KeyError where that cannot be done.
    """
    library = ctypes.CDLL(None, use_errno=True)
    header, none = struct.pack("=Ii", 0x20080522, 0), bytes(24)
    _checked(library.syscall(CAPSET[os.uname().machine], header, none))
    _checked(library.prctl(system_calls.PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))
    if os.getppid() != parent:  # it has ended before the kernel was asked
        os._exit(1)
    system_calls.put_in_force()


def _checked(result: int) -> int:
    """Return the result of a call of the C library. Raises OSError where it is negative."""
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
