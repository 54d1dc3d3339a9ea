"""The cases that two runs share where the suite has changed between them: of one id and one content; and
what differs in how the two runs evaluated: their numbers may differ because of that alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.analysis.labels.judgements import judge_names
from metrics.core.array_types import Ints
from metrics.core.arrow import numbers
from metrics.core.registry import evaluators
from metrics.core.sampling_design import SamplingDesign
from metrics.core.suite import Suite
from metrics.core.suite_difference import UNSEEN, difference
from metrics.store import Run, cache_by_run

MAX_VALUE = 60  # characters of a parameter's value in words


@dataclass(frozen=True, eq=False, slots=True)
class SharedCases:
    """What two suites share: the positions [n] of the shared cases in each, in the order of the later one.

    added: cases that only the later suite has; removed: only the earlier; changed: cases of one id that differ in what
    an evaluator is given (not in tags, weight, group or what they are a variant of).
    """

    before: Ints
    after: Ints
    added: int
    removed: int
    changed: int

    @classmethod
    def of(cls, before: Suite, after: Suite) -> SharedCases:
        """Return what two suites share."""
        found = difference(before, after)
        changed = {change.case_id for change in found.changes if change.field not in UNSEEN}
        ids = after.cases["case_id"].combine_chunks()
        there = pc.index_in(ids, before.cases["case_id"].combine_chunks())
        kept = pc.and_(there.is_valid(), pc.invert(pc.is_in(ids, pa.array(list(changed), ids.type))))
        places = numbers(there.filter(kept)).astype(int), numbers(pc.indices_nonzero(kept)).astype(int)
        return cls(*places, len(found.added), len(found.removed), len(changed))

    def __len__(self) -> int:
        return len(self.before)

    @property
    def words(self) -> str:
        """How many cases are shared, and what became of the others."""
        return (
            f"The suite has changed: paired on the {len(self):,} cases that both runs have unchanged; "
            f"{self.added:,} new, {self.removed:,} gone, {self.changed:,} changed."
        )


@cache_by_run(maxsize=16)
def shared_cases(run: Run, other: Run) -> SharedCases | None:
    """Return what the suites of two runs share; None where both are of one suite."""
    same = run.spec.suite.fingerprint == other.spec.suite.fingerprint
    return None if same else SharedCases.of(run.suite, other.suite)


def paired_designs(run: Run, other: Run, tag: str | None) -> tuple[SamplingDesign, SamplingDesign]:
    """Return the designs by which the cases of two runs are paired, in one order: those of their suite, or shared.

    Of shared cases tags, weights and groups are those of the later suite, and `inside` of each its own positions.
    """
    design, shared = other.sampling_design(tag), shared_cases(run, other)
    if shared is None:
        return design, design
    keep = np.isin(shared.after, design.inside)
    weights, clusters = design.of_part(np.isin(design.inside, shared.after))
    after = replace(design, inside=shared.after[keep], weights=weights, clusters=clusters)
    return replace(after, cases=run.sampling_design().cases, inside=shared.before[keep]), after


def changed_settings(before: Run, run: Run, evaluator: str, other: str = "") -> tuple[str, ...]:
    """Return what differs in how the two runs used an evaluator of both, in words.

    other: a word before the values in the run before, with which each changed parameter is named.
    """
    changed: list[str] = []
    versions = [of.spec.version(evaluator) for of in (before, run)]
    if versions[0] != versions[1]:
        changed.append(f"version {versions[1]} of the evaluator after version {versions[0]}")
    parameters = changed_parameters(evaluator, before.evaluators[evaluator], run.evaluators[evaluator])
    if other:
        for name, (old, new) in parameters.items():
            changed.append(f"{name.replace('_', ' ').capitalize()} {_value(new)}, {other} {_value(old)}")
    elif parameters:
        changed.append("other parameters")
    if wordings := changed_wordings(before.wordings(evaluator), run.wordings(evaluator)):
        changed.append(wordings)
    known = evaluators().get(evaluator)
    for name in known.resources if known else ():
        first, second = (judge_names(of) if name == "judge" else of.spec.resources.get(name) for of in (before, run))
        if first != second:
            changed.append(f"another {name.replace('_', ' ')}")
    return tuple(changed)


def changed_parameters(
    evaluator: str, one: Mapping[str, Any], other: Mapping[str, Any]
) -> dict[str, tuple[object, object]]:
    """Return both values of each stored parameter that differs; what an earlier version did not store has its default.

    Texts in place of prompts do not count: `changed_wordings` tells them apart.
    """
    known = evaluators().get(evaluator)
    before, after = ({name: value for name, value in own.items() if name != "prompts"} for own in (one, other))
    if known is not None:
        before, after = (known.parameters(**own).model_dump(mode="json") for own in (before, after))
    both = {name: (before.get(name), after.get(name)) for name in {**before, **after}}
    return {name: pair for name, pair in both.items() if pair[0] != pair[1]}


def _value(value: object) -> str:
    text = "none" if value in (None, "", [], {}) else str(value)
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}…"


def changed_wordings(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return the prompts that were worded otherwise: `another wording of claims (ours, then 1a2b3c4d5e6f)`; else ""."""
    ids = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    each = (f"{name} ({before.get(name, 'ours')}, then {after.get(name, 'ours')})" for name in ids)
    return f"another wording of {', '.join(each)}" if ids else ""
