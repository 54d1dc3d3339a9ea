"""The work units of a run: which evaluator scores which rows. The plan depends on the specification alone."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from inspect import iscoroutinefunction
from typing import Any

from metrics.core.evaluator import Evaluator, Parameters
from metrics.core.registry import choose
from metrics.core.schema import SCHEMA_VERSION, SLICE
from metrics.judge.settings import settings_of
from metrics.store import Run

JUDGED = 200  # cases of a unit that asks the judge: small, as a killed unit is done again, from the cache
SLICED_TAGS = 30  # the most frequent tags, over which data-set evaluators are computed too


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
    read = {name: [entries.get(other) for other in own.followed()] for name, (_, own) in chosen.items()}
    common = [SCHEMA_VERSION, spec.suite.fingerprint, spec.outputs.fingerprint, spec.seed, _bearing(spec.resources)]
    common += ["equal inputs grouped"] * spec.groups_equal_inputs
    return [
        # what follows other scores depends on whatever made those
        replace(unit, name=_digest([*common, entries[unit.evaluator], asdict(unit), *read[unit.evaluator]]))
        for unit in _units(run)
    ]


def judged(entry: Evaluator, parameters: Parameters) -> bool:
    """Return whether the evaluator asks a judge with these parameters, or may, and so mostly waits."""
    return iscoroutinefunction(entry.function) or "judge" in parameters.used(entry.resources)


def _units(run: Run) -> Iterator[Unit]:
    """Yield the units, still without names."""
    models = run.workspace.outputs_facts(run.spec.outputs.fingerprint)["models"]
    tags = run.case_tags[:SLICED_TAGS]
    for evaluator, parameters in choose(list(run.evaluators), run.evaluators).values():
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
