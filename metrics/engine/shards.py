"""Shards: the units of a run divided among machines that share nothing."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from metrics.core.errors import InputError, InputProblem
from metrics.core.files import read_json, write_json
from metrics.core.registry import choose
from metrics.core.source_version import source_version
from metrics.engine.plan import Unit
from metrics.store import Run

SHARD = "shard.json"  # in the run's folder
WRITTEN = re.compile(r"([1-9]\d{0,5})/([1-9]\d{0,5})")


@dataclass(frozen=True, slots=True)
class Shard:
    """The `index`-th of `of` shards, from 1."""

    index: int
    of: int

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """Return the shard of `2/8`. Raises InputError."""
        found = WRITTEN.fullmatch(text)
        if found is None or int(found[1]) > int(found[2]):
            raise InputError([InputProblem("--shard", repr(text), "I/N, such as 2/8: the second of eight shards")])
        return cls(int(found[1]), int(found[2]))


def make_shard(run: Run, shard: Shard) -> None:
    """Let a run that has not begun do only the units of a shard; it is merged with the others, not sealed."""
    write_json(run.folder / SHARD, asdict(shard) | {"versions": source_version()})


def own_units(run: Run, units: Sequence[Unit]) -> list[Unit]:
    """Return the units that a run does before it ends: all, or those of its shard.

    The whole data sets come first, as they take longest, then slices and tags, each shard taking every N-th. What
    follows other scores is nobody's: it is done when the shards are merged.
    """
    facts = read_json(run.folder / SHARD)
    if facts is None:
        return list(units)
    follow = {name for name, (entry, _) in choose(list(run.evaluators), run.evaluators).items() if entry.follows}
    shared = sorted((unit for unit in units if unit.evaluator not in follow), key=lambda unit: unit.tag is not None)
    mine = {unit.name for unit in shared[facts["index"] - 1 :: facts["of"]]}
    return [unit for unit in units if unit.name in mine]
