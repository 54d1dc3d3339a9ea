"""Other suites beside a suite: cases imported and merged, versions, and what differs between two of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from components.data.suite_drafts import add_edits, drafted_suite, uploaded_suite
from components.data.visitors import action, kept_here
from components.data.workspace_runs import RunFacts, runs, workspace, workspace_path
from metrics import suites
from metrics.core.errors import AssayError, InputError, InputProblem

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
    part, name, problems = _stored_part(task, token, tuple(pairs), tuple(readings))
    if problems:
        return MergeFacts("", name, problems=problems)
    return _merge_facts(fingerprint, draft, part, name)


def suite_to_merge(fingerprint: str, draft: str, other: str) -> MergeFacts:
    """Return what merging a stored suite would do."""
    return _merge_facts(fingerprint, draft, other, drafted_suite(other).name)


@kept_here
def _stored_part(
    task: str, token: str, pairs: tuple[str, ...], readings: tuple[str, ...]
) -> tuple[str, str, tuple[InputProblem, ...]]:
    suite, problems = uploaded_suite(token, task, pairs, readings)
    if suite is None:
        return "", "", problems
    return suites.save_part(workspace_path(), suite), suite.name, ()


@kept_here
def _merge_facts(fingerprint: str, draft: str, part: str, name: str) -> MergeFacts:
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


def suite_versions(fingerprint: str) -> tuple[list[suites.Version], Mapping[str, list[RunFacts]]]:
    """Return the versions of a suite, the oldest first, and the runs of each of them, newest first."""
    found = suites.versions(workspace(), fingerprint)
    by_suite: dict[str, list[RunFacts]] = {version.fingerprint: [] for version in found}
    for run in runs():
        if run.suite["fingerprint"] in by_suite:
            by_suite[run.suite["fingerprint"]].append(run)
    return found, by_suite


@kept_here
def suite_difference(before: tuple[str, str], after: tuple[str, str]) -> suites.Difference:
    """Return how the second suite differs from the first; each is a fingerprint and a draft, "" for none."""
    return suites.difference(drafted_suite(*before), drafted_suite(*after))


@action("editor", "rename a suite", "fingerprint", "name")
def rename_suite(fingerprint: str, name: str) -> None:
    """Give a stored suite another name."""
    workspace().rename_suite(fingerprint, name)


class FoundDuplicates(NamedTuple):
    """The pairs, the most alike first, and how many cases of the suite are independent of one another."""

    pairs: tuple[suites.Duplicate, ...]
    independent: int


def _duplicates(suite: str, against: str | None) -> FoundDuplicates | str:
    here = workspace()
    try:
        own = here.suite(suite)
        found = suites.duplicates(own, here.suite(against) if against else None)
    except AssayError as failure:
        return str(failure)
    return FoundDuplicates(tuple(found), suites.independent_cases(own, () if against else found))


suite_duplicates = kept_here(_duplicates, "Looking for cases that are alike")
