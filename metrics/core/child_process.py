"""Processes that a process starts: they end when it does, however it ends."""

import ctypes
import os
import signal
import sys
import threading
import time

LOOK_EVERY = 0.5  # seconds between two looks
PR_SET_PDEATHSIG = 1  # of Linux


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
