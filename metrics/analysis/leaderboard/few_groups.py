"""A warning where the cases of a suite are of too few or too unequal groups for its intervals and tests."""

import numpy as np

from metrics.core.sampling_design import SamplingDesign
from metrics.stats.cluster_variance import design_freedom
from metrics.store import Run, cache_by_run

MIN_FREEDOM = 4.0  # degrees of freedom, below which Satterthwaite's approximation is not reliable (Tipton 2015)


@cache_by_run(maxsize=64)
def few_groups(run: Run, tag: str | None = None) -> str | None:
    """Return the warning of a run's design, over all its cases or those with a tag; see `design_warning`."""
    return design_warning(run.sampling_design(tag))


def design_warning(design: SamplingDesign) -> str | None:
    """Return a sentence where the design is worth fewer than MIN_FREEDOM + 1 groups of equal size; None for other
    designs.

    Of ungrouped cases with weights each is a group; of plain cases n says as much. Source of MIN_FREEDOM: Tipton,
    Psychological Methods 20:375, 2015.
    """
    if design.plain or not len(design):
        return None
    masses = np.bincount(design.units, design.weights)
    worth = design_freedom(design.units, design.weights) + 1
    if worth >= MIN_FREEDOM + 1:
        return None
    count = np.count_nonzero(masses)
    groups = f"{count:,} {'weighted case' if design.clusters is None else 'group'}{'' if count == 1 else 's'}"
    of = "cases" if design.weights is None else "weight"
    largest = f", the largest with {100 * masses.max() / masses.sum():.0f} % of the {of}" if count > 1 else ""
    return (
        f"Too few or too unequal groups: {groups}{largest}, worth {worth:.1f} equal ones. Intervals and tests may be "
        f"too narrow or too wide: use {MIN_FREEDOM + 1:g} equal groups or more."
    )
