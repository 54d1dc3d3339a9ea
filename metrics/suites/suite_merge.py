"""Two suites as one: cases of another suite after a suite's own."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_hex
from typing import Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.errors import InputError, InputProblem
from metrics.core.files import copy_folder, move_folder
from metrics.core.suite import METADATA, Suite, fingerprint
from metrics.core.suite_difference import difference
from metrics.suites.suite_rows import free_id, label_order, rename_cases, variant_problems, with_keys

Conflicts = Literal["skip", "replace", "rename"]
CONFLICTS: tuple[Conflicts, ...] = get_args(Conflicts)
ORIGIN = METADATA + "origin"  # the name of the suite that a merged case came from


@dataclass(frozen=True, slots=True)
class Merged:
    """A merged suite and what became of the other suite's cases.

    added: number of cases added; same: of those that the suite had already, alike in every field; conflicts: ids that
    both had for different cases; renamed: old → new id of those of them that were added under another id.
    """

    suite: Suite
    added: int
    same: int
    conflicts: tuple[str, ...]
    renamed: Mapping[str, str]


def merge(suite: Suite, other: Suite, conflicts: Conflicts = "skip", media: Path | None = None) -> Merged:
    """Return the suite with the cases of another suite of the same task; labels are united.

    A conflict is an id that both have for different cases: `skip` keeps the suite's case, `replace` takes the other's,
    `rename` adds it under a new id. Merged cases name their suite in the metadata `origin`. Where both have images,
    these are copied into a folder of `media`, which becomes the suite's. Raises InputError where the tasks differ, or
    variants would have no original.
    """
    if suite.task != other.task:
        raise InputError([InputProblem(other.name, f"a suite of task {other.task}", f"one of task {suite.task}")])
    if suite.labels and other.labels and bool(suite.label_keys) != bool(other.label_keys):
        found, expected = (f"labels with{'' if one.label_keys else 'out'} keys" for one in (other, suite))
        raise InputError([InputProblem(other.name, found, expected)])
    ids = suite.cases["case_id"].combine_chunks()
    shared = other.restricted(ids)
    differs = {change.case_id for change in difference(suite, shared).changes if change.field != ORIGIN}
    same = set(shared.cases["case_id"].to_pylist()) - differs
    renamed: dict[str, str] = {}
    if conflicts == "rename" and differs:
        taken = {*ids.to_pylist(), *other.cases["case_id"].to_pylist()}
        renamed = {id: free_id(taken, id, "2") for id in other.cases["case_id"].to_pylist() if id in differs}
        other = rename_cases(other, renamed)
    gone = same | differs if conflicts == "skip" else same
    incoming = other.restricted(_without(other.cases["case_id"], gone))
    replaced = differs if conflicts == "replace" else set()
    cases = _cases(suite, incoming, replaced)
    problems = variant_problems(suite, cases)
    if problems:
        raise InputError(problems)
    labels = _labels(suite, other, cases)
    merged = replace(
        suite,
        cases=cases,
        annotations=_annotations(suite, incoming, replaced),
        labels=labels,
        category_ids=_category_ids(suite, other, labels),
        media=_media(suite, other, media),
        left_out=suite.left_out + other.left_out,
        classes={**other.classes, **suite.classes},
    )
    return Merged(with_keys(merged), len(incoming) - len(replaced), len(same), tuple(sorted(differs)), renamed)


def _without(ids: pa.ChunkedArray, gone: set[str]) -> pa.Array:
    flat = ids.combine_chunks()
    return flat.filter(pc.invert(pc.is_in(flat, pa.array(sorted(gone), pa.string()))))


def _cases(suite: Suite, incoming: Suite, replaced: set[str]) -> pa.Table:
    """Return the suite's cases, replaced ones in their places, and then the others."""
    cases = incoming.cases
    names = pa.array([incoming.name] * len(cases), pa.string())
    if ORIGIN in cases.column_names:
        place = cases.column_names.index(ORIGIN)
        cases = cases.set_column(place, ORIGIN, pc.coalesce(cases[ORIGIN].combine_chunks(), names))
    else:
        cases = cases.append_column(ORIGIN, names)
    both = pa.concat_tables([suite.cases, cases], promote_options="default")
    if not replaced:
        return both if len(cases) else suite.cases
    own, new = suite.cases["case_id"].combine_chunks(), cases["case_id"].combine_chunks()
    row = pc.index_in(own, new)  # only replaced ids are in both
    places = np.where(row.is_valid(), len(own) + pc.fill_null(row, 0).to_numpy(), np.arange(len(own)))
    appended = len(own) + np.flatnonzero(~np.asarray(pc.is_in(new, own).to_numpy(zero_copy_only=False), bool))
    return both.take(pa.array(np.concatenate([places, appended])))


def _annotations(suite: Suite, incoming: Suite, replaced: set[str]) -> pa.Table | None:
    tables = [table for table in (suite.annotations, incoming.annotations) if table is not None]
    if len(tables) < 2:
        return tables[0] if tables else None
    own, new = tables
    last = pc.max(own["annotation_id"]).as_py() or 0
    own = own.filter(pc.invert(pc.is_in(own["case_id"], pa.array(sorted(replaced), pa.string()))))
    numbers = pa.array(np.arange(last + 1, last + 1 + len(new)), pa.int64())
    new = new.set_column(new.column_names.index("annotation_id"), "annotation_id", numbers)
    return pa.concat_tables([own, new], promote_options="default")


def _labels(suite: Suite, other: Suite, cases: pa.Table) -> tuple[str, ...]:
    if suite.annotations is None:
        return label_order(suite, cases)
    return (*suite.labels, *(label for label in other.labels if label not in suite.labels))


def _category_ids(suite: Suite, other: Suite, labels: tuple[str, ...]) -> tuple[int, ...]:
    """Return the numbers of the labels: the suite's, then the other's where they are free, else the next number."""
    if not suite.category_ids:
        return ()
    numbers = list(suite.category_ids)
    theirs = dict(zip(other.labels, other.category_ids, strict=False))
    for label in labels[len(numbers) :]:
        number = theirs.get(label)
        numbers.append(number if number is not None and number not in numbers else max(numbers) + 1)
    return tuple(numbers)


def _media(suite: Suite, other: Suite, folder: Path | None) -> Path | None:
    """Return the folder with the images of both; those are named by their content, so names cannot clash."""
    folders = [each.media for each in (suite, other) if each.media is not None]
    if len(folders) < 2 or folders[0] == folders[1]:
        return folders[0] if folders else None
    if folder is None:
        raise InputError([InputProblem(other.name, "images in both suites", "a folder `media` for all of them")])
    whole = folder / fingerprint(suite.fingerprint, other.fingerprint)
    if not whole.exists():
        beside = whole.with_name(f".{whole.name}.{token_hex(4)}")
        try:
            for each in folders:
                copy_folder(each, beside)
            move_folder(beside, whole)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    return whole
