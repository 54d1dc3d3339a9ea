"""Test sets: what is in a suite, and a part or a variant of it as a suite of its own.

    from metrics.suites import complexity_distribution, sample, split, tag_counts

    suite.filter(tag="billing", complexity="complex", length=(0, 200))
    complexity_distribution(suite)      # {"simple": 12, "medium": 31, …}
    development, held_out = split(suite, 0.8, seed=1)

Suites never change: every function gives a new one. Those made by `perturb` stand beside, in metrics.perturbations.
"""

from metrics.store.table_files import FORMATS
from metrics.suites.suite_contents import (
    complexity_distribution,
    tag_counts,
    values_of,
    with_originals,
)
from metrics.suites.suite_edits import Draft, Edit, apply, drafted, read_draft, save_draft
from metrics.suites.suite_files import suite_bytes, write_suite
from metrics.suites.suite_splits import sample, split

__all__ = [
    "FORMATS",
    "Draft",
    "Edit",
    "apply",
    "complexity_distribution",
    "drafted",
    "read_draft",
    "sample",
    "save_draft",
    "split",
    "suite_bytes",
    "tag_counts",
    "values_of",
    "with_originals",
    "write_suite",
]
