"""What a board is made of, in words: its runs, where each number comes from, and which numbers it lacks."""

from collections.abc import Mapping
from typing import NamedTuple

from metrics.analysis import Board, judged_by
from metrics.core.registry import title_of
from metrics.presentation import format
from metrics.store import Run


class Lack(NamedTuple):
    """Evaluators of which a model has no number to be ranked by, and why not, in words."""

    model: str
    evaluators: tuple[str, ...]
    why: str


def head_line(run: Run) -> str:
    """Return `3 models of 3 runs, 1 Dec 2026 – 3 Dec 2026`; empty for a single run."""
    if not isinstance(run, Board):
        return ""
    days = [format.day(one.created) for one in sorted(run.sources, key=lambda one: one.began)]
    when = days[0] if days[0] == days[-1] else f"{days[0]} – {days[-1]}"
    return f"{format.plural(len(run.entries), 'model')} of {format.plural(len(run.sources), 'run')}, {when}"


def numbers_from(run: Run) -> Mapping[tuple[str, str], str]:
    """Return from which run each number of a board comes, by (model, evaluator): its date, version and judge."""
    if not isinstance(run, Board):
        return {}
    sources = {(entry.name, id): source for entry in run.entries for id, source in entry.scores.items()}
    sources |= {key: one.source for key, one in run.apart.items()}
    judges = {one: judged_by(one) for one in run.sources}
    return {
        (model, id): f"From {source.run.name}, {format.moment(source.run.created)}; {title_of(id)} "
        f"version {source.run.spec.version(id)}"
        + (f"; judged by {judges[source.run][id]}" if id in judges[source.run] else "")
        for (model, id), source in sources.items()
    }


def lacks(run: Run) -> tuple[Lack, ...]:
    """Return what each model of a board lacks: numbers made as the others' are, or any."""
    if not isinstance(run, Board):
        return ()
    found = []
    for entry in run.entries:
        missing = [id for id in run.evaluators if id not in entry.scores]
        reasons: dict[str, list[str]] = {}
        for id in missing:
            other = run.apart.get((entry.name, id))
            why = "never evaluated" if other is None else f"not ranked, evaluated otherwise: {'; '.join(other.why)}"
            reasons.setdefault(why, []).append(title_of(id))
        if missing:
            words = ". ".join(f"{', '.join(titles)}: {why}" for why, titles in reasons.items())
            found.append(Lack(entry.name, tuple(missing), words))
    return tuple(found)
