"""Test sets: what is in a suite, and a part or a variant of it as a suite of its own.

    from metrics.suites import complexity_distribution, sample, split, tag_counts

    suite.filter(tag="billing", complexity="complex", length=(0, 200))
    complexity_distribution(suite)      # {"simple": 12, "medium": 31, …}
    development, held_out = split(suite, 0.8, seed=1)
    longer = add_cases(suite, [{"case_id": "new", "question": "Why?", "tags": ["fees"]}])
    difference(suite, longer).added     # ("new",)
    duplicates(development, held_out)   # cases that both have, or that stand in a context: what leaks

Suites never change: every function gives a new one. Those made by `perturb` stand beside, in metrics.perturbations.
"""

from metrics.core.suite_difference import Change, Difference, difference
from metrics.store.table_files import suite_bytes, write_suite
from metrics.suites.duplicates import Duplicate, duplicates, independent_cases
from metrics.suites.suite_contents import complexity_distribution, tag_counts, tag_index, values_of, with_originals
from metrics.suites.suite_edits import (
    Draft,
    Edit,
    apply,
    drafted,
    media_folder,
    part_of,
    read_draft,
    save_draft,
    save_part,
)
from metrics.suites.suite_history import Version, save_version, versions
from metrics.suites.suite_merge import CONFLICTS, merge
from metrics.suites.suite_rows import add_cases, change_cases, free_id, relabel_objects, rename_cases
from metrics.suites.suite_splits import sample, split
