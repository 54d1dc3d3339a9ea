"""What tests ask of processes that a killed one has left behind."""

import psutil


def alive(process: psutil.Process | int) -> bool:
    """Whether a process still runs; a zombie, which waits to be collected by its parent, has ended."""
    try:
        running = psutil.Process(process) if isinstance(process, int) else process
        return bool(running.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
