"""Execute a run in the foreground, with its progress on standard error."""

import sys

from metrics import engine
from metrics.store import Progress, Run


def execute(run: Run, quiet: bool) -> None:
    """Execute what a run has still to do; SystemExit 130 on Ctrl-C, after which `resume` continues the run."""

    def listen(progress: Progress) -> None:
        left = "" if progress.seconds_left is None else f", {progress.seconds_left:.0f} s left"
        print(f"\r{progress.message}: {progress.share:4.0%}{left}   ", end="", file=sys.stderr, flush=True)

    try:
        engine.execute(run, listen=None if quiet else listen)
    except KeyboardInterrupt:
        print(f"\nstopped; `python -m metrics resume {run.id}` continues it", file=sys.stderr)
        raise SystemExit(130) from None
    if not quiet:
        print(file=sys.stderr)
