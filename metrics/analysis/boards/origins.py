"""From which runs the answers and the numbers of a board come."""

from dataclasses import dataclass

from metrics.store import Run
from metrics.store.joined_run import JoinedRun


@dataclass(frozen=True, slots=True)
class Origin:
    """A run that gave an entry its answers, the numbers of these evaluators, or both."""

    entry: str
    run: Run
    model: str
    evaluators: tuple[str, ...]


def origins(run: Run) -> tuple[Origin, ...]:
    """Return for each entry of a board the runs that it comes from, that of its answers first; none for a run."""
    found = []
    for entry in run.entries if isinstance(run, JoinedRun) else ():
        ids: dict[Run, list[str]] = {entry.answers.run: []}
        for id, source in entry.scores.items():
            ids.setdefault(source.run, []).append(id)
        found += [Origin(entry.name, one, entry.answers.model, tuple(own)) for one, own in ids.items()]
    return tuple(found)


def run_behind(run: Run, model: str, evaluator: str = "") -> Run:
    """Return the run that made a model's numbers of an evaluator, else its answers: of a board one of its runs."""
    if not isinstance(run, JoinedRun):
        return run
    entry = next(one for one in run.entries if one.name == model)
    return entry.scores.get(evaluator, entry.answers).run
