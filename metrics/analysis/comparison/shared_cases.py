"""The cases that two runs share where the suite has changed between them: of one id and one content."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Ints
from metrics.core.arrow import numbers
from metrics.core.fields import CASE_FIELDS
from metrics.core.sampling_design import SamplingDesign
from metrics.core.suite import Suite
from metrics.core.suite_difference import difference
from metrics.store import Run, cache_by_run

UNSEEN = {each.name for each in CASE_FIELDS if each.role == "sort"}  # columns that no evaluator judges by


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
        return cls(
            numbers(there.filter(kept)).astype(int),
            numbers(pc.indices_nonzero(kept)).astype(int),
            len(found.added),
            len(found.removed),
            len(changed),
        )

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
