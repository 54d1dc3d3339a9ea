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

from metrics.core.errors import InputError, InputProblem
from metrics.core.files import read_json, write_json
from metrics.core.suite import STRINGS, Suite
from metrics.store import Workspace
from metrics.suites.suite_contents import with_originals

FOLDER = "drafts"
TOKEN = re.compile(r"[0-9a-f]{32}")


class Edit(BaseModel):
    """One change of some cases: keep only them, leave them out, add or remove a tag, set their weight."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    do: Literal["keep", "leave_out", "tag", "untag", "weigh"]
    cases: tuple[str, ...] = Field(min_length=1)
    tag: str = ""
    weight: float | None = Field(None, ge=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.do in ("tag", "untag") and not self.tag.strip():
            raise ValueError("a tag is missing")
        return self


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


@lru_cache(maxsize=8)
def drafted(workspace: Path, fingerprint: str, token: str) -> Suite:
    """Return a stored suite after a draft's edits, or unchanged without such a draft; shared, read-only."""
    suite = Workspace(workspace).suite(fingerprint)
    draft = read_draft(workspace, token)
    return suite if draft is None or draft.suite != fingerprint else apply(suite, draft.edits)


def apply(suite: Suite, edits: Sequence[Edit]) -> Suite:
    """Return the suite after the edits; cases that it no longer has are skipped.

    A variant is never kept without its original, nor an original left out without its variants. Raises InputError where
    no case is left.
    """
    for edit in edits:
        if edit.do == "keep":
            suite = suite.restricted(pa.array(with_originals(suite, edit.cases), pa.string()))
        elif edit.do == "leave_out":
            suite = _without(suite, edit.cases)
        else:
            chosen = pc.is_in(suite.cases["case_id"].combine_chunks(), pa.array(edit.cases, pa.string()))
            column = "weight" if edit.do == "weigh" else "tags"
            values = suite.cases[column].combine_chunks()
            if edit.do == "weigh":
                values = pc.if_else(chosen, pa.scalar(edit.weight, pa.float64()), values)
            else:
                values = _retagged(values, chosen, edit)
            cases = suite.cases.set_column(suite.cases.column_names.index(column), column, values)
            suite = replace(suite, cases=cases)
    if not len(suite):
        raise InputError([InputProblem(suite.name, "no case left", "at least one")])
    return suite


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
