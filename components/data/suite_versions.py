"""Other suites beside a suite: cases imported and merged, versions, and what differs between two of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import streamlit as st

from components.data.suite_drafts import add_edits, drafted_suite, uploaded_suite
from components.data.visitors import action, kept_here
from components.data.workspace_runs import RunFacts, runs, workspace, workspace_path
from metrics import suites
from metrics.core.errors import AssayError, InputError, InputProblem
from metrics.suites import (
    Difference,
    Duplicate,
    Version,
    difference,
    duplicates,
    independent_cases,
    save_part,
    versions,
)

CONFLICTS = {"skip": "Keep this suite's case", "replace": "Take the other case", "rename": "Keep both: a new id"}


class MergeFacts(NamedTuple):
    """What merging cases into a draft would do.

    part: fingerprint of the suite merged, "" where it cannot be; name: its name; new: cases to be added; same: cases
    that the draft has already, alike; conflicts: ids that both have for different cases; problems: why it cannot
    be merged.
    """

    part: str
    name: str
    new: int = 0
    same: int = 0
    conflicts: tuple[str, ...] = ()
    problems: tuple[InputProblem, ...] = ()


@action("editor", "store an upload to be merged", "fingerprint")
def upload_to_merge(
    fingerprint: str, draft: str, token: str, pairs: Sequence[str], readings: Sequence[str]
) -> MergeFacts:
    """Return what merging the cases of an uploaded file would do; they are stored for it, but not listed."""
    task = drafted_suite(fingerprint).task
    part, name, problems = _stored_part(str(workspace_path()), task, token, tuple(pairs), tuple(readings))
    if problems:
        return MergeFacts("", name, problems=problems)
    return _merge_facts(str(workspace_path()), fingerprint, draft, part, name)


def suite_to_merge(fingerprint: str, draft: str, other: str) -> MergeFacts:
    """Return what merging a stored suite would do."""
    return _merge_facts(str(workspace_path()), fingerprint, draft, other, drafted_suite(other).name)


@st.cache_resource(max_entries=16, show_spinner=False)
def _stored_part(
    folder: str, task: str, token: str, pairs: tuple[str, ...],  # noqa: ARG001 - the folder is a part of the key
    readings: tuple[str, ...],
) -> tuple[str, str, tuple[InputProblem, ...]]:  # fmt: skip
    suite, problems = uploaded_suite(token, task, pairs, readings)
    if suite is None:
        return "", "", problems
    return save_part(workspace_path(), suite), suite.name, ()


@st.cache_resource(max_entries=16, show_spinner=False)
def _merge_facts(folder: str, fingerprint: str, draft: str, part: str, name: str) -> MergeFacts:  # noqa: ARG001
    own = drafted_suite(fingerprint, draft)
    other = suites.part_of(workspace_path(), part)
    try:
        made = suites.merge(own, other, "skip", suites.media_folder(workspace_path()))
    except InputError as failure:
        return MergeFacts("", name, problems=failure.problems)
    return MergeFacts(part, name, made.added, made.same, made.conflicts)


@action("editor", "merge suites", "fingerprint")
def merge_into(fingerprint: str, draft: str, facts: MergeFacts, conflicts: str) -> tuple[str, str]:
    """Add a merge to a draft; return its token, or "" and why."""
    edit = {"do": "merge", "suite": facts.part, "name": facts.name, "conflicts": conflicts}
    token, problems = add_edits(fingerprint, draft, [edit])
    return token, "\n".join(map(str, problems))


def suites_of_task(fingerprint: str) -> dict[str, str]:
    """Return the other stored suites of the suite's task: fingerprint → name and size."""
    task = drafted_suite(fingerprint).task
    return {
        each["fingerprint"]: f"{each['name']} · {each['cases']:,} cases · {each['fingerprint'][:7]}"
        for each in workspace().suites()
        if each["task"] == task and each["fingerprint"] != fingerprint
    }


def suite_versions(fingerprint: str) -> tuple[list[Version], Mapping[str, list[RunFacts]]]:
    """Return the versions of a suite, the oldest first, and the runs of each of them, newest first."""
    found = versions(workspace(), fingerprint)
    by_suite: dict[str, list[RunFacts]] = {version.fingerprint: [] for version in found}
    for run in runs():
        if run.suite["fingerprint"] in by_suite:
            by_suite[run.suite["fingerprint"]].append(run)
    return found, by_suite


def suite_difference(before: tuple[str, str], after: tuple[str, str]) -> Difference:
    """Return how the second suite differs from the first; each is a fingerprint and a draft, "" for none."""
    return _difference(str(workspace_path()), before, after)


@st.cache_resource(max_entries=16, show_spinner=False)
def _difference(folder: str, before: tuple[str, str], after: tuple[str, str]) -> Difference:  # noqa: ARG001 - the key
    return difference(drafted_suite(*before), drafted_suite(*after))


@action("editor", "rename a suite", "fingerprint", "name")
def rename_suite(fingerprint: str, name: str) -> None:
    """Give a stored suite another name."""
    workspace().rename_suite(fingerprint, name)


class FoundDuplicates(NamedTuple):
    """The pairs, the most alike first, and how many cases of the suite are independent of one another."""

    pairs: tuple[Duplicate, ...]
    independent: int


def _duplicates(suite: str, against: str | None) -> FoundDuplicates | str:
    here = workspace()
    try:
        own = here.suite(suite)
        found = duplicates(own, here.suite(against) if against else None)
    except AssayError as failure:
        return str(failure)
    return FoundDuplicates(tuple(found), independent_cases(own, () if against else found))


suite_duplicates = kept_here(_duplicates, "Looking for cases that are alike")
