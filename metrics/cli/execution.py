"""Execute a run in the foreground, with its progress on standard error, and say whether it has any value."""

import sys

from metrics import engine
from metrics.cli.remote_command import push_sealed
from metrics.presentation.format import duration
from metrics.store import Progress, Run

NO_VALUE = 3  # the exit code of a run in which no case has a value


def execute(run: Run, quiet: bool) -> None:
    """Execute what a run has still to do; SystemExit 130 on Ctrl-C, after which `resume` continues the run."""

    def listen(progress: Progress) -> None:
        left = "" if progress.seconds_left is None else f", about {duration(progress.seconds_left)} left"
        print(f"\r{progress.message}: {progress.share:4.0%}{left}      ", end="", file=sys.stderr, flush=True)

    try:
        engine.execute(run, listen=None if quiet else listen)
    except KeyboardInterrupt:
        print(f"\nstopped; `python -m metrics resume {run.id}` continues it", file=sys.stderr)
        raise SystemExit(130) from None
    if not quiet:
        print(file=sys.stderr)
    push_sealed(run)


def told_no_value(run: Run) -> bool:
    """Return whether no case has a value although some should, and print why on standard error."""
    from metrics.reports.gates import no_value

    why = no_value(run)
    if why is not None:
        print(why, file=sys.stderr)
    return why is not None
