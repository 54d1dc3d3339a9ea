"""What identifies runs in lists: by name, date and id, with their state; their evaluators in a line."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Protocol

from metrics.core.registry import title_of
from metrics.presentation import format
from metrics.presentation.format import middle

STATES = {  # each with a sign, so that no state is told by colour alone
    "finished": "✓ finished",
    "queued": "… queued",
    "starting": "… starting",
    "running": "… running",
    "cancelled": "– cancelled",
    "interrupted": "✗ interrupted",
    "failed": "✗ failed",
    "damaged": "✗ damaged",
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


def labels(runs: Mapping[str, Named], limit: int | None = None) -> dict[str, str]:
    """Return a unique label for each run by id: its name, with the date where names are equal, the id where dates are.

    The state of an unfinished run follows. Beyond `limit` characters a name loses its middle, the state never a letter;
    labels that would become equal are given in full.
    """
    found = {run_id: run.name or run_id for run_id, run in runs.items()}
    for more in (lambda run_id: format.moment(runs[run_id].created), str):
        counts = Counter(found.values())
        found = {run_id: f"{text} · {more(run_id)}" if counts[text] > 1 else text for run_id, text in found.items()}
    states = {run_id: "" if run.state == "finished" else f" ({run.state})" for run_id, run in runs.items()}
    full = {run_id: text + states[run_id] for run_id, text in found.items()}
    if limit is None:
        return full
    shorter = {run_id: middle(text, limit - len(states[run_id])) + states[run_id] for run_id, text in found.items()}
    counts = Counter(shorter.values())
    return {run_id: text if counts[text] == 1 else full[run_id] for run_id, text in shorter.items()}


def evaluator_line(evaluators: Iterable[str], most: int = 4) -> str:
    """Return the evaluators of a run in a line: `ROUGE, BLEU and 3 more evaluators`."""
    titles = [title_of(name) for name in evaluators]
    rest = len(titles) - most
    return ", ".join(titles) if rest < 2 else f"{', '.join(titles[:most])} and {rest} more evaluators"
