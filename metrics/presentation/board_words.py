"""What a board is made of, in words: its runs, where each number comes from, and which numbers it lacks."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from metrics.analysis import Board, judged_by
from metrics.analysis.boards.board import EVERY
from metrics.analysis.boards.origins import origins
from metrics.core.registry import title_of
from metrics.presentation import format
from metrics.store import Run, cache_by_run

FROM_RUN = "from_run"  # the column, or the key, of files of a board


class Lack(NamedTuple):
    """Evaluators of which a model has no number to be ranked by, and why not, in words."""

    model: str
    evaluators: tuple[str, ...]
    why: str


def head_line(run: Run) -> str:
    """Return `2 models in 3 evaluations of 3 runs, 1 Dec 2026 – 3 Dec 2026`; empty for a single run."""
    if not isinstance(run, Board):
        return ""
    days = [format.day(one.created) for one in sorted(run.sources, key=lambda one: one.began)]
    when = days[0] if days[0] == days[-1] else f"{days[0]} – {days[-1]}"
    models, evaluations = len({entry.answers.model for entry in run.entries}), len(run.entries)
    often = f" in {format.plural(evaluations, 'evaluation')}" if evaluations > models else ""
    line = f"{format.plural(models, 'model')}{often} of {format.plural(len(run.sources), 'run')}, {when}"
    return f"{line}. {alike}" if (alike := alike_line(run)) else line


def alike_line(run: Board) -> str:
    """Return that no model has an entry for an earlier evaluation, where a board of every one is asked for; else ""."""
    is_alike = len({entry.answers.model for entry in run.entries}) == len(run.entries)
    is_every = run.address.endswith(EVERY)
    return "Every model was evaluated once, or again in the same way." if is_every and is_alike else ""


def numbers_from(run: Run) -> Mapping[tuple[str, str], str]:
    """Return from which run each number of a board comes, by (model, evaluator): its date, version and judge."""
    if not isinstance(run, Board):
        return {}
    behind = {(entry.name, id): source.run for entry in run.entries for id, source in entry.scores.items()}
    behind |= {key: one.source.run for key, one in run.apart.items()}
    judges = {one: judged_by(one) for one in run.sources}
    return {
        (model, id): f"From {of.name}, {format.moment(of.created)}; {_how(of, [id], judges[of])}"
        for (model, id), of in behind.items()
    }


@cache_by_run(maxsize=4096)  # exports ask for each of their rows
def from_run(run: Run, model: str | None, evaluator: str | None = None) -> dict[str, str]:
    """Return as `from_run` the run that an entry's numbers of an evaluator come from, for files of a board.

    Without evaluator or model all that it, or the board, comes from, that of the answers first. Empty for a single run.
    """
    if not isinstance(run, Board):
        return {}
    if model and evaluator:
        return {FROM_RUN: run.behind(model, evaluator).id}
    ids = (one.run.id for one in origins(run) if model in (None, one.entry))
    return {FROM_RUN: ", ".join(dict.fromkeys(ids))}


def evaluators_of(run: Run, model: str) -> tuple[str, ...]:
    """Return the evaluators of a run that a model has numbers of: on a board those that its entry has."""
    own = {id for one in origins(run) if one.entry == model for id in one.evaluators}
    return tuple(id for id in run.evaluators if id in own or not isinstance(run, Board))


def origin_lines(run: Run) -> Iterator[tuple[str, str]]:
    """Yield each entry of a board with a run that it comes from, in words; nothing for a single run."""
    for one in origins(run):
        renamed = f" (there {one.model})" if one.model != one.entry else ""
        when = format.moment(one.run.sealed)
        yield one.entry, f"run {one.run.id}{renamed}, {when} UTC: {_how(one.run, one.evaluators, judged_by(one.run))}"


def _how(run: Run, evaluators: Sequence[str], judges: Mapping[str, str]) -> str:
    """Return how a run used these evaluators: `ROUGE version 2, Faithfulness version 1; judged by …`."""
    scored = ", ".join(f"{title_of(id)} version {run.spec.version(id)}" for id in evaluators) or "answers only"
    asked = dict.fromkeys(judges[id] for id in evaluators if id in judges)
    return f"{scored}; judged by {', '.join(asked)}" if asked else scored


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
