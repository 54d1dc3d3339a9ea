"""How people set up the board of a suite: shown names, families, factors, the baseline, what is hidden or archived.

`boards/<suite>.json` in the workspace, by the suite's fingerprint, for every run of the suite. An entry of a board is
`model`, or `run:model` where several runs have a model of that name.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from pydantic import ConfigDict, TypeAdapter

from metrics.core.errors import InputError, InputProblem, one_of, refuse
from metrics.core.exact_names import disguise_in, fold_name
from metrics.core.files import hold_lock, make_folder
from metrics.store.manifest import read_sealed, write_sealed
from metrics.store.own_files import own_folder

MAX_NAME = 80  # characters of a name that people give
IN_FULL = f"1 to {MAX_NAME} visible characters that are no other's name"
FORM = "settings as a board writes them; remove the file to begin with none"
SEPARATORS = ("|", "@", "/", "_")  # of a model and its prompt in one name, the clearest first


class Factors(NamedTuple):
    """What an entry is made of: a model with a prompt."""

    model: str
    prompt: str


@dataclass(frozen=True, slots=True)
class BoardSettings:
    """The settings of one board.

    aliases: shown name by entry; families: by entry, or by model of `factors`; factors: model and prompt by entry;
    baseline: the entry that others are measured against; hidden: entries; archived: entries, or ids of runs.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    aliases: Mapping[str, str] = field(default_factory=dict)
    families: Mapping[str, str] = field(default_factory=dict)
    factors: Mapping[str, Factors] = field(default_factory=dict)
    baseline: str | None = None
    hidden: tuple[str, ...] = ()
    archived: tuple[str, ...] = ()

    @property
    def entries(self) -> Iterator[tuple[str, str]]:
        """Yield the field and the name of everything that is set of an entry, a run, or a model of `factors`."""
        for name in ("aliases", "families", "factors", "hidden", "archived"):
            yield from ((name, entry) for entry in getattr(self, name))
        if self.baseline is not None:
            yield "baseline", self.baseline

    def problems(
        self, known: Collection[str], runs: Collection[str] = (), gone: Collection[str] = ()
    ) -> Iterator[InputProblem]:
        """Yield what is wrong with the settings of a board with these `known` entries, of these runs.

        gone: names that may be there although they are no longer known.
        """
        also = {"archived": runs, "families": {own.model for own in self.factors.values()}}
        for name, entry in self.entries:
            if entry not in {*known, *(more := also.get(name, ())), *gone}:
                yield InputProblem("board", repr(entry), one_of(entry, [*known, *more]), column=name)
        for name, texts in (
            ("aliases", self.aliases.values()),
            ("families", self.families.values()),
            ("factors", [text for own in self.factors.values() for text in own]),
        ):
            yield from (InputProblem("board", wrong, IN_FULL, column=name) for wrong in _disguised(texts))
        taken = {fold_name(entry): entry for entry in known}
        for entry, alias in self.aliases.items():
            if (other := taken.setdefault(fold_name(alias), entry)) != entry:
                what = "the name" if fold_name(other) == fold_name(alias) else "the alias"
                yield InputProblem("board", f"{alias!r} for {entry!r}: {what} of {other!r}", IN_FULL, column="aliases")
        first: dict[Factors, str] = {}
        for entry, own in self.factors.items():
            if (other := first.setdefault(own, entry)) != entry:
                both = f"{other!r}, {entry!r}: both {own.model!r} with {own.prompt!r}"
                yield InputProblem("board", both, "one entry for each model and prompt", column="factors")
        run, _, model = (self.baseline or "").partition(":")
        unseen = [name for name in ("hidden", "archived") if self.baseline in getattr(self, name)]
        if unseen or (model and run in runs and run in self.archived):
            found = f"{self.baseline!r}, which is {' and '.join(unseen) or 'of an archived run'}"
            expected = "an entry that the board shows: choose another baseline, or none, or leave it on the board"
            yield InputProblem("board", found, expected, column="baseline")


def _disguised(texts: Iterable[str]) -> Iterator[str]:
    """Yield the names, each once, that are empty or too long, or could pass for others, and why."""
    for text in dict.fromkeys(texts):
        if wrong := f"{len(text):,} characters" if len(text) > MAX_NAME else disguise_in(text):
            yield f"{text[:MAX_NAME]!a}: {wrong}"


_read_settings = TypeAdapter(BoardSettings).validate_python


@dataclass(frozen=True, slots=True)
class Boards:
    """The settings of the boards of the workspace at `folder`."""

    folder: Path

    def version(self, suite: str) -> int:
        """Return a number that changes whenever the settings of a suite's board do; 0 while there are none."""
        try:
            return self._path(suite).stat().st_mtime_ns
        except FileNotFoundError:
            return 0

    def settings(self, suite: str) -> BoardSettings:
        """Return the settings of the board of a suite. InputError for a file that holds no settings."""
        path = self._path(suite)
        try:
            found = read_sealed(path)
            return BoardSettings() if found is None else _read_settings(found)
        except (ValueError, RecursionError) as failure:
            raise InputError([InputProblem(str(path), str(failure), FORM)]) from failure

    def change(
        self,
        suite: str,
        edit: Callable[[BoardSettings], BoardSettings],
        known: Collection[str],
        runs: Collection[str] = (),
    ) -> BoardSettings:
        """Store what `edit` makes of the settings of a suite's board, and return it; nobody writes them meanwhile.

        known: the entries that there are; runs: the ids of their runs. What was set of entries that are gone may stay.
        InputError with everything that is wrong, see BoardSettings.problems; nothing is stored then.
        """
        make_folder(own_folder(self.folder, "boards"))
        with hold_lock(self._path(suite).with_suffix(".lock"), "another process is changing this board; try again"):
            before = self.settings(suite)
            made = edit(before)
            refuse(made.problems(known, runs, gone=[entry for _, entry in before.entries]))
            write_sealed(self._path(suite), asdict(made))
        return made

    def _path(self, suite: str) -> Path:
        return own_folder(self.folder, "boards") / f"{suite}.json"


def propose_factors(names: Iterable[str]) -> dict[str, Factors]:
    """Return the model and the prompt of names such as `gpt-4o | terse`, for a person to accept; empty without a grid.

    A name is cut at a separator, all names at the same one and on the same side: what comes before is the model. A
    prompt is one of a grid if two models have it and another one in common. Of several ways to cut, the one that tells
    of the most names; names that two ways, or none, make the same pair of are left out.

    >>> propose_factors(["a_terse", "a_long", "b_terse", "b_long", "c"])["b_long"]
    Factors(model='b', prompt='long')
    """
    given = list(dict.fromkeys(names))
    ways = ({name: cut(name, mark) for name in given} for mark in SEPARATORS for cut in (str.rpartition, str.partition))
    return max((_grid(parts) for parts in ways), key=len, default={})


def _grid(parts: Mapping[str, tuple[str, str, str]]) -> dict[str, Factors]:
    """Return the names of which two models share at least two prompts, from their parts."""
    pairs = {name: Factors(before.strip(), after.strip()) for name, (before, _, after) in parts.items()}
    times = Counter(pairs.values())
    pairs = {name: own for name, own in pairs.items() if all(own) and times[own] == 1}
    prompts: dict[str, set[str]] = {}
    for model, prompt in pairs.values():
        prompts.setdefault(model, set()).add(prompt)
    shared = [one & other for one, other in combinations(prompts.values(), 2)]
    grid = set[str]().union(*(both for both in shared if len(both) > 1))
    return {name: own for name, own in pairs.items() if own.prompt in grid}
