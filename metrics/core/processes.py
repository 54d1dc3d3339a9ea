"""Processes and their machine: children that end when their parent does, open files, and loopback addresses."""

import ctypes
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from metrics.core.installation import own_environment, python_module

LOOK_EVERY = 0.5  # seconds between two looks
PR_SET_PDEATHSIG = 1  # of Linux
ENOUGH = 4096  # Streamlit keeps three descriptors of each of up to 128 closed tabs for two minutes; macOS allows 256


def end_with(parent: int) -> None:
    """End this process when its parent of that id ends; on Linux already when the thread ends that has started it."""
    if sys.platform == "linux":  # the kernel does it, also amid a call of C code that lets no other thread run
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it has ended before the kernel was asked
        os._exit(1)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK_EVERY)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


_STARTER = ThreadPoolExecutor(1)  # a thread that lasts as long as this process: what it starts ends with it


def start_own(*module: str, environment: Mapping[str, str] | None = None, **options: Any) -> "subprocess.Popen[bytes]":
    """Start a module of ours with arguments, in a session of its own; silent where `options` of Popen say nothing else.

    It may outlive the thread that asks for it, though `end_with` binds it to a thread.
    """
    given: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    given |= {"env": own_environment() | dict(environment or {}), "start_new_session": True, **options}
    start: Any = partial(subprocess.Popen, python_module(*module), **given)
    started: subprocess.Popen[bytes] = _STARTER.submit(start).result()
    return started


def bound_memory(most: int) -> None:
    """Let this process take no more than `most` bytes of memory beside what it has; only Linux counts that."""
    if sys.platform != "linux":
        return
    data = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmData"))
    resource.setrlimit(resource.RLIMIT_DATA, (most + 1024 * int(data.split()[1]),) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def allow_open_files() -> None:
    """Raise the limit of open files of this process, and of those that it starts, to ENOUGH where that is allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = ENOUGH if hard == resource.RLIM_INFINITY else min(ENOUGH, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def is_loopback(address: str) -> bool:
    """Return whether a host's name or IP address is this machine's own."""
    try:
        return address == "localhost" or ip_address(address).is_loopback
    except ValueError:
        return False
