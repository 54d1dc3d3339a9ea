"""Versions of a suite: each edited suite is stored beside the one it was made from, and names it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from metrics.core.suite import Suite
from metrics.core.suite_difference import difference
from metrics.store import Workspace


@dataclass(frozen=True, slots=True)
class Version:
    """A stored suite among those that were made from one another.

    parent: the fingerprint that it was made from, "" where that is unknown or no longer stored; created: ISO time, ""
    where it was stored by an earlier Assay; edits: in words; added, removed, changed: cases that differ from the
    parent, None without one.
    """

    fingerprint: str
    name: str
    parent: str
    created: str
    cases: int
    edits: tuple[str, ...]
    added: int | None
    removed: int | None
    changed: int | None


def save_version(workspace: Workspace, suite: Suite, parent: Suite, edits: Sequence[str]) -> str:
    """Store a suite with the suite that it was made from and how, in words; return its fingerprint.

    A suite that is stored already stays as it is.
    """
    found = difference(parent, suite)
    counts = {"added": len(found.added), "removed": len(found.removed), "changed": len(found.changed)}
    return workspace.save_suite(suite, {"parent": parent.fingerprint, "edits": list(edits), "changes": counts})


def versions(workspace: Workspace, fingerprint: str) -> list[Version]:
    """Return all versions that the suite is one of, each after its parent, the oldest first."""
    stored = {facts["fingerprint"]: facts for facts in reversed(workspace.suites())}
    children: dict[str, list[str]] = {}
    for own, facts in stored.items():
        children.setdefault(facts.get("parent") or "", []).append(own)
    first, passed = fingerprint, {fingerprint}
    while (parent := stored.get(first, {}).get("parent")) in stored and parent not in passed:
        passed.add(parent)
        first = parent
    family, waiting = {first}, [first]
    while waiting:
        new = [child for child in children.get(waiting.pop(), ()) if child not in family]
        family.update(new)
        waiting += new
    found = [_version(stored[own], stored) for own in stored if own in family]
    return sorted(found, key=lambda version: version.created)  # stable: those without a time stay as they were stored


def _version(facts: dict[str, Any], stored: dict[str, Any]) -> Version:
    parent = facts.get("parent") or ""
    counts = [(facts.get("changes") or {}).get(name) for name in ("added", "removed", "changed")]
    of, created, edits = parent if parent in stored else "", facts.get("created") or "", tuple(facts.get("edits") or ())
    return Version(facts["fingerprint"], facts["name"], of, created, facts["cases"], edits, *counts)
