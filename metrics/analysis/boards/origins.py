"""From which runs the answers and the numbers of a board come."""

from typing import NamedTuple

from metrics.store import Run
from metrics.store.board import Board


class Origin(NamedTuple):
    """A run that gave an entry its answers, the numbers of these evaluators, or both."""

    entry: str
    run: Run
    model: str
    evaluators: tuple[str, ...]


def origins(run: Run) -> tuple[Origin, ...]:
    """Return for each entry of a board the runs that it comes from, that of its answers first; none for a run."""
    found = []
    for entry in run.entries if isinstance(run, Board) else ():
        ids: dict[Run, list[str]] = {entry.answers.run: []}
        for id, source in entry.scores.items():
            ids.setdefault(source.run, []).append(id)
        found += [Origin(entry.name, one, entry.answers.model, tuple(own)) for one, own in ids.items()]
    return tuple(found)
