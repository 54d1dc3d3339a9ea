"""The board of a suite: every model that any sealed run of it has evaluated, the latest evaluation of each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache

from metrics.analysis.boards.ways import choose_references, describe_differences, way_of
from metrics.core.errors import RunNotFound, did_you_mean
from metrics.store import Run, Workspace
from metrics.store.board import BOARD as BOARD, Apart, Board as Board, Entry, Source, is_board
from metrics.store.board_settings import Boards, BoardSettings
from metrics.store.stored_inputs import answers_digest

EVERY = ":all"  # how that of every evaluation ends, those that later ones replace, too
DIGITS = 12  # of a suite's fingerprint in an address


def open_run(workspace: Workspace, address: str, finished: bool = False) -> Run:
    """Return the run of an id (or `latest`), or the board of an address. Raises RunNotFound."""
    return open_board(workspace, address) if is_board(address) else workspace.run(address, finished)


def open_board(workspace: Workspace, address: str) -> Board:
    """Return the board of an address. Raises RunNotFound.

    `board:SUITE` is the board of a suite, which the first digits of its fingerprint or its name says; `board` that of
    the newest finished run; `board:SUITE:all` has every evaluation of a model, not only the latest.
    """
    asked = re.sub(r"@[0-9a-f]+$", "", address.partition(":")[2])
    every = f":{asked}".endswith(EVERY)
    name = f":{asked}".removesuffix(EVERY).removeprefix(":")
    finished = workspace.finished_runs()
    return board(workspace, _suite_of(workspace, name, finished), every, finished)


def _suite_of(workspace: Workspace, name: str, finished: Sequence[Run]) -> str:
    """Return the fingerprint of the suite with a finished run that is meant."""
    names = {run.spec.suite.fingerprint: run.spec.suite.name for run in finished}
    if not name and names:
        return next(iter(names))
    exact = [one for one, own in names.items() if own == name] or [one for one in names if one.startswith(name)]
    if not name or not exact:
        hint = did_you_mean(name, names.values())
        raise RunNotFound(f"no finished run in {workspace.place} is of a suite {name!r}; {hint}".rstrip("; "))
    return exact[0]


def board(workspace: Workspace, fingerprint: str, every: bool = False, finished: Sequence[Run] | None = None) -> Board:
    """Return the board of a suite: the latest evaluation of each model, or `every` one. RunNotFound without any.

    finished: the finished runs of the workspace, the newest first, where they are listed already.
    """
    settings = Boards(workspace.path)
    archived = settings.settings(fingerprint).archived
    listed = workspace.finished_runs() if finished is None else finished
    kept = [run for run in listed if run.spec.suite.fingerprint == fingerprint and run.id not in archived]
    # a part of another suite may be the whole of this one
    runs = [run for run in kept if run.spec.suite.filter is None and run.spec.suite.budget is None] or kept
    if not runs:
        raise RunNotFound(f"no finished run in {workspace.place} is of the suite {fingerprint[:DIGITS]}")
    sealed = tuple((run, run.seal_digest) for run in runs)
    return _board(sealed, every, settings, settings.version(fingerprint))


def change_settings(workspace: Workspace, fingerprint: str, edit: Callable[[BoardSettings], BoardSettings]) -> None:
    """Store what `edit` makes of the settings of a suite's board. InputError with everything that is wrong."""
    runs = workspace.finished_runs(fingerprint)
    known = {name for run in runs for model in run.models for name in (model, f"{run.id}:{model}")}
    Boards(workspace.path).change(fingerprint, edit, known, [run.id for run in runs])


@lru_cache(maxsize=16)
def _board(sealed: Sequence[tuple[Run, str]], every: bool, settings: Boards, version: int) -> Board:  # noqa: ARG001 - keys
    runs = [run for run, _ in sealed]
    fingerprint = runs[0].spec.suite.fingerprint
    kept, references = settings.settings(fingerprint), choose_references(runs)
    of_outputs = {(model, run.spec.outputs.fingerprint) for run in runs for model in run.models}
    times = Counter(model for model, _ in of_outputs)  # in outputs of one fingerprint a model's answers are the same
    evaluations: dict[tuple[str, str], list[Run]] = {}  # of a model and its answers, the newest first
    for run in runs:
        for model in run.models:
            of = run.spec.outputs.fingerprint
            answers = answers_digest(run.workspace.path, of, model) if times[model] > 1 else of
            evaluations.setdefault((model, answers), []).append(run)
    if every:
        evaluations = {(of[0], one[0].id): one for of, own in evaluations.items() for one in _made_alike(own)}
    entries, apart, taken = list[Entry](), dict[tuple[str, str], Apart](), set[str]()
    for (model, _), own in evaluations.items():
        named = {f"{run.id}:{model}" for run in own} | {model}
        shown = next((alias for entry, alias in kept.aliases.items() if entry in named), model)
        name = f"{shown}@{own[0].id}" if shown in taken else shown
        if (shown in taken and not every) or not {*named, name}.isdisjoint({*kept.hidden, *kept.archived}):
            continue
        taken.add(shown)
        scores: dict[str, Source] = {}
        for id, reference in references.items():
            having = [run for run in own if id in run.evaluators]
            like = next((run for run in having if way_of(run, id) == way_of(reference, id)), None)
            if like is not None:
                scores[id] = Source(like, model)
            elif having:
                why = describe_differences(having[0], reference, id)
                apart[name, id] = Apart(Source(having[0], model), why)
        entries.append(Entry(name, Source(own[0], model), scores))
    if not entries:
        raise RunNotFound(f"every model of the suite {fingerprint[:DIGITS]} is hidden or archived")
    entries.sort(key=lambda entry: (entry.answers.run.began, entry.answers.run.models.index(entry.answers.model)))
    return Board(f"{BOARD}{fingerprint[:DIGITS]}{EVERY * every}", entries, references, apart, kept.baseline)


def _made_alike(runs: Sequence[Run]) -> list[list[Run]]:
    """Return runs of the same answers apart where they made the numbers of a common evaluator in other ways."""
    parts: list[list[Run]] = []
    ways = {run: {id: way_of(run, id) for id in run.evaluators} for run in runs}
    for run, own in ways.items():
        alike = (
            part for part in parts if all(own.get(id, way) == way for one in part for id, way in ways[one].items())
        )
        if (part := next(alike, None)) is None:
            parts.append(part := [])
        part.append(run)
    return parts
