"""The work units of a run, which evaluator scores which rows, and their division among machines that share nothing."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from inspect import iscoroutinefunction
from typing import Any

from metrics.core.errors import InputError, InputProblem
from metrics.core.evaluator import Evaluator, Parameters
from metrics.core.files import read_json, write_json
from metrics.core.registry import choose
from metrics.core.schema import SCHEMA_VERSION, SLICE
from metrics.core.source_version import source_version
from metrics.judge.settings import settings_of
from metrics.store import Run

JUDGED = 200  # cases of a unit that asks the judge: small, as a killed unit is done again, from the cache
SLICED_TAGS = 30  # the most frequent tags, over which data-set evaluators are computed too
SHARD = "shard.json"  # in the run's folder
WRITTEN = re.compile(r"([1-9]\d{0,5})/([1-9]\d{0,5})")


@dataclass(frozen=True, slots=True)
class Unit:
    """One idempotent piece of work; `name` is its fingerprint and the name of its part on disk.

    Rows `start` … `stop` of the stored outputs, all of `model`; a data-set evaluator's unit is one repeat (`run`) of
    the model, or all of them (None) where it asks for that, whole or restricted to the cases with `tag`. `last`: the
    unit also answers for cases without an output.
    """

    name: str
    evaluator: str
    model: str
    start: int
    stop: int
    run: int | None = None
    tag: str | None = None
    last: bool = False

    @property
    def rows(self) -> int:
        """The rows that count as progress: 0 for a tag's unit, whose rows are counted already."""
        return 0 if self.tag is not None else self.stop - self.start


def plan(run: Run) -> list[Unit]:
    """Return every unit of a run, ordered by evaluator, model, repeat and slice; the sealed tables keep that order."""
    spec = run.spec
    entries = {entry["id"]: entry for entry in spec.stored["evaluators"]}  # names are made of what is stored
    chosen = choose(list(run.evaluators), run.evaluators)
    facts = run.workspace.outputs_facts(spec.outputs.fingerprint)
    read = {name: [entries.get(other) for other in own.followed()] for name, (_, own) in chosen.items()}
    common = [SCHEMA_VERSION, spec.suite.fingerprint, spec.outputs.fingerprint, spec.seed, _bearing(spec.resources)]
    common += ["equal inputs grouped"] * spec.groups_equal_inputs
    return [
        # what follows other scores depends on whatever made those
        replace(unit, name=_digest([*common, entries[unit.evaluator], asdict(unit), *read[unit.evaluator]]))
        for unit in units_of(facts["models"], run.case_tags[:SLICED_TAGS], chosen)
    ]


def judged(entry: Evaluator, parameters: Parameters) -> bool:
    """Return whether the evaluator asks a judge with these parameters, or may, and so mostly waits."""
    return iscoroutinefunction(entry.function) or "judge" in parameters.used(entry.resources)


def units_of(
    models: Mapping[str, Mapping[str, Any]],
    tags: Sequence[str],
    chosen: Mapping[str, tuple[Evaluator, Parameters]],
) -> Iterator[Unit]:
    """Yield the units of evaluators over stored outputs (`models`: their facts) and tags, still without names."""
    for evaluator, parameters in chosen.values():
        offset = 0
        for model, facts in models.items():
            end = offset + facts["rows"]
            if evaluator.shape == "dataset":
                for repeat in [None] if evaluator.repeats else facts["runs"]:
                    for tag in (None, *tags):
                        yield Unit("", evaluator.id, model, offset, end, repeat, tag)
            else:
                size = JUDGED if judged(evaluator, parameters) else SLICE
                for start in range(offset, end, size):
                    stop = min(start + size, end)
                    yield Unit("", evaluator.id, model, start, stop, last=stop == end)
            offset = end


def _digest(content: list[Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:32]


def _bearing(resources: dict[str, Any]) -> dict[str, Any]:
    """Return the resources that affect numbers: of a judge's settings not its limits of speed and cost."""
    if not resources.get("judge"):
        return resources
    return resources | {"judge": settings_of(resources["judge"]).numbers()}


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
