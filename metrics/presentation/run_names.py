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
FEWEST = 5  # characters of a name that are left of it
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

    The state of an unfinished run follows. With a `limit` of characters a year that all share is left out, and a name
    that is too long loses its middle, what follows it never a letter; labels that would become equal are given in full.
    """
    names = {run_id: run.name or run_id for run_id, run in runs.items()}
    dates = {run_id: format.moment(run.created) for run_id, run in runs.items()}
    if limit is not None and len(years := {run.created[:4] for run in runs.values()}) == 1:
        dates = {run_id: date.replace(f" {min(years)},", ",") for run_id, date in dates.items()}
    ends = dict.fromkeys(runs, "")
    for more in (dates.__getitem__, str):
        counts = Counter(names[run_id] + end for run_id, end in ends.items())
        ends = {
            run_id: f"{end} · {more(run_id)}" if counts[names[run_id] + end] > 1 else end
            for run_id, end in ends.items()
        }
    ends = {
        run_id: end if runs[run_id].state == "finished" else f"{end} ({runs[run_id].state})"
        for run_id, end in ends.items()
    }
    full = {run_id: names[run_id] + end for run_id, end in ends.items()}
    if limit is None:
        return full
    shorter = {run_id: middle(names[run_id], max(FEWEST, limit - len(end))) + end for run_id, end in ends.items()}
    counts = Counter(shorter.values())
    return {run_id: text if counts[text] == 1 else full[run_id] for run_id, text in shorter.items()}


def evaluator_line(evaluators: Iterable[str], most: int = 4) -> str:
    """Return the evaluators of a run in a line: `ROUGE, BLEU and 3 more evaluators`."""
    titles = [title_of(name) for name in evaluators]
    rest = len(titles) - most
    return ", ".join(titles) if rest < 2 else f"{', '.join(titles[:most])} and {rest} more evaluators"
