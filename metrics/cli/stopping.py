"""Being stopped: SIGTERM ends a command as Ctrl-C does, in order and resumable, with an exit code of its own."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Never


class Terminated(KeyboardInterrupt):
    """SIGTERM came: whoever handles Ctrl-C handles it, too."""


def exit_code(stop: KeyboardInterrupt) -> int:
    """Return the exit code of a stopped command, as shells number it: 128 and the signal."""
    return 128 + (signal.SIGTERM if isinstance(stop, Terminated) else signal.SIGINT)


@contextmanager
def stopping() -> Iterator[None]:
    """Raise Terminated inside when SIGTERM comes; only the first counts, so that nothing breaks off the ending."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _stop(_number: int, _frame: FrameType | None) -> Never:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Terminated
