"""What identifies runs in lists: by name, date and id, with their state; their evaluators in a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Protocol

from metrics.core.registry import title_of
from metrics.presentation import format

STATES = {  # each with a sign, so that no state is told by colour alone
    "finished": "✓ finished",
    "queued": "… queued",
    "starting": "… starting",
    "running": "… running",
    "cancelled": "– cancelled",
    "interrupted": "✗ interrupted",
    "failed": "✗ failed",
}
GOING = ("queued", "starting", "running")


class Named(Protocol):
    """What a label is made of."""

    @property
    def name(self) -> str:
        """The name of the run."""

    @property
    def created(self) -> str:
        """When it was created: ISO 8601."""

    @property
    def state(self) -> str:
        """One of STATES."""


def labels(runs: Mapping[str, Named]) -> dict[str, str]:
    """Return a unique label for each run by id: its name, with the date where names are equal, the id where dates are.

    The state of an unfinished run follows.
    """
    found = {run_id: run.name or run_id for run_id, run in runs.items()}
    for more in (lambda run_id: format.moment(runs[run_id].created), str):
        counts = Counter(found.values())
        found = {run_id: f"{text} · {more(run_id)}" if counts[text] > 1 else text for run_id, text in found.items()}
    return {
        run_id: text if runs[run_id].state == "finished" else f"{text} ({runs[run_id].state})"
        for run_id, text in found.items()
    }


def evaluator_line(evaluators: Iterable[str], most: int = 4) -> str:
    """Return the evaluators of a run in a line: `ROUGE, BLEU and 3 more evaluators`."""
    titles = [title_of(name) for name in evaluators]
    rest = len(titles) - most
    return ", ".join(titles) if rest < 2 else f"{', '.join(titles[:most])} and {rest} more evaluators"
