"""Edits of a suite as data: what is done to which cases. A draft is a stored suite and its edits so far."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Literal, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from metrics.core.errors import InputError, InputProblem, RunNotFound
from metrics.core.fields import words_of
from metrics.core.files import read_json, write_json
from metrics.core.suite import STRINGS, Suite
from metrics.store import Workspace
from metrics.store.stored_inputs import StoredInputs
from metrics.suites.suite_contents import with_originals
from metrics.suites.suite_merge import Conflicts, merge
from metrics.suites.suite_rows import add_cases, change_cases, relabel_objects, rename_cases

FOLDER = "drafts"
TOKEN = re.compile(r"[0-9a-f]{32}")

Value = str | float | list[str] | list[float] | None
NEEDS = {
    "keep": "cases", "leave_out": "cases", "tag": "cases", "untag": "cases", "weigh": "cases",
    "add": "rows", "change": "rows", "rename": "names", "relabel": "objects", "merge": "suite",
}  # fmt: skip


class Edit(BaseModel):
    """One change of a suite.

    keep only some `cases`, or leave_out some; tag or untag them with a `tag`; weigh them with a `weight`; add cases or
    change some columns of them, a row each (column → value); rename cases, old id → new; relabel `objects`, case id →
    annotation id → label; merge another `suite`, by its fingerprint, with its `name` for messages.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    do: Literal["keep", "leave_out", "tag", "untag", "weigh", "add", "change", "rename", "relabel", "merge"]
    cases: tuple[str, ...] = ()
    tag: str = ""
    weight: float | None = Field(None, ge=0, allow_inf_nan=False)
    rows: tuple[dict[str, Value], ...] = ()
    names: dict[str, str] = {}
    objects: dict[str, dict[int, str]] = {}
    suite: str = ""
    name: str = ""
    conflicts: Conflicts = "skip"

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if not getattr(self, NEEDS[self.do]):
            raise ValueError(f"{NEEDS[self.do]} should have at least 1 item")
        if self.do in ("tag", "untag") and not self.tag.strip():
            raise ValueError("a tag is missing")
        return self

    @property
    def words(self) -> str:
        """Return what the edit does, in one line."""
        if self.do == "merge":
            return f"{self.name or self.suite[:7]}: merged"
        count = len(getattr(self, NEEDS[self.do]))
        if self.do == "change":
            columns = dict.fromkeys(name for row in self.rows for name in row if name != "case_id")
            what = ", ".join(map(words_of, columns)) + " changed"
        else:
            what = {
                "keep": "kept, others removed",
                "leave_out": "removed",
                "tag": f"tagged {self.tag}",
                "untag": f"{self.tag} removed",
                "add": "added",
                "rename": "renamed",
                "relabel": "objects relabelled",
                "weigh": "weight taken away" if self.weight is None else f"weight {self.weight:g}",
            }[self.do]
        return f"{count:,} {'case' if count == 1 else 'cases'}: {what}"


class Draft(BaseModel):
    """The fingerprint of a stored suite, and the edits made to it, in their order."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    suite: str
    edits: tuple[Edit, ...] = ()


def save_draft(workspace: Path, draft: Draft) -> str:
    """Store a draft and return its token, a hash of its content: nothing is ever overwritten."""
    token = sha256(draft.model_dump_json().encode("utf-8", "surrogatepass")).hexdigest()[:32]
    write_json(workspace / FOLDER / f"{token}.json", draft.model_dump(mode="json"))
    return token


def read_draft(workspace: Path, token: str) -> Draft | None:
    """Return the draft with that token; None where there is none, or its file is not a draft."""
    if not TOKEN.fullmatch(token):
        return None
    try:
        found = read_json(workspace / FOLDER / f"{token}.json")
        return None if found is None else Draft.model_validate(found)
    except (ValueError, ValidationError):
        return None


def save_part(workspace: Path, suite: Suite) -> str:
    """Store a suite that is only merged into others, so that it is not listed; return its fingerprint."""
    return StoredInputs(workspace / FOLDER).save_suite(suite)


def media_folder(workspace: Path) -> Path:
    """Return the folder for the images of merged suites."""
    return workspace / FOLDER / "media"


@lru_cache(maxsize=8)
def drafted(workspace: Path, fingerprint: str, token: str) -> Suite:
    """Return a stored suite after a draft's edits, or unchanged without such a draft; shared, read-only."""
    suite = Workspace(workspace).suite(fingerprint)
    draft = read_draft(workspace, token)
    return suite if draft is None or draft.suite != fingerprint else apply(suite, draft.edits, workspace)


def apply(suite: Suite, edits: Sequence[Edit], workspace: Path | None = None) -> Suite:
    """Return the suite after the edits; `workspace` holds the suites that are merged.

    Cases to keep, leave out, tag or weigh that the suite no longer has are skipped. A variant is never kept without its
    original, nor an original left out without its variants. Raises InputError where no case is left, and with every
    problem of what is added, changed or merged.
    """
    for edit in edits:
        suite = _applied(suite, edit, workspace)
    if not len(suite):
        raise InputError([InputProblem(suite.name, "no case left", "at least one")])
    return suite


def _applied(suite: Suite, edit: Edit, workspace: Path | None) -> Suite:
    match edit.do:
        case "keep":
            return suite.restricted(pa.array(with_originals(suite, edit.cases), pa.string()))
        case "leave_out":
            return _without(suite, edit.cases)
        case "add":
            return add_cases(suite, edit.rows)
        case "change":
            return change_cases(suite, edit.rows)
        case "rename":
            return rename_cases(suite, edit.names)
        case "relabel":
            return relabel_objects(suite, edit.objects)
        case "merge":
            if workspace is None:
                raise InputError([InputProblem(suite.name, "a merged suite", "the workspace that holds it")])
            return merge(suite, part_of(workspace, edit.suite), edit.conflicts, media_folder(workspace)).suite
    chosen = pc.is_in(suite.cases["case_id"].combine_chunks(), pa.array(edit.cases, pa.string()))
    column = "weight" if edit.do == "weigh" else "tags"
    values = suite.cases[column].combine_chunks()
    if edit.do == "weigh":
        values = pc.if_else(chosen, pa.scalar(edit.weight, pa.float64()), values)
    else:
        values = _retagged(values, chosen, edit)
    return replace(suite, cases=suite.cases.set_column(suite.cases.column_names.index(column), column, values))


def part_of(workspace: Path, fingerprint: str) -> Suite:
    """Return a suite that can be merged: a stored one, or one that `save_part` stored."""
    try:
        return Workspace(workspace).suite(fingerprint)
    except RunNotFound:
        return StoredInputs(workspace / FOLDER).suite(fingerprint)


def _without(suite: Suite, case_ids: Sequence[str]) -> Suite:
    gone = set(case_ids)
    pairs = list(zip(suite.cases["case_id"].to_pylist(), suite.cases["perturbs"].to_pylist(), strict=True))
    before = -1
    while before != len(gone):  # a variant of a variant is found in the second turn
        before = len(gone)
        gone |= {case for case, original in pairs if original in gone}
    return suite.restricted(pa.array([case for case, _ in pairs if case not in gone], pa.string()))


def _retagged(lists: pa.Array, chosen: pa.Array, edit: Edit) -> pa.Array:
    """Return the lists, the chosen ones with the edit's tag (appended where it is new) or without it; null if empty."""
    tag, new = edit.tag.strip(), []
    for own in lists.filter(chosen).to_pylist():
        if edit.do == "untag":
            new.append([each for each in own or () if each != tag] or None)
        else:
            new.append(own if tag in (own or ()) else [*(own or ()), tag])
    rows = np.arange(len(lists))
    rows[chosen.to_numpy(zero_copy_only=False)] = len(lists) + np.arange(len(new))
    return pa.concat_arrays([lists, pa.array(new, STRINGS)]).take(pa.array(rows))
