"""The cases of a suite that fit some criteria, and what cases there are."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from metrics.core.errors import InputError, InputProblem
from metrics.core.suite import CASES, METADATA, Suite

Mask = NDArray[np.bool_]
COMPLEXITY = METADATA + "complexity"
MEDIUM = "medium"  # the complexity of a case that does not say
OWN = ("tag", "search", "length", "complexity")  # criteria that are no columns


def filtered(suite: Suite, criteria: Mapping[str, Any]) -> pa.Array:
    """Return the ids of the cases for which every criterion holds, in the suite's order.

    tag: the tag, or one of a list of tags. search: text in the case's id or question, whatever its case. length:
    (least, most) characters of the question, each may be None. complexity: see `complexity_of`. Any other name is a
    column of the suite, or of its metadata: the value, or one of a list; None means that there is none. In a column of
    lists the value is in the list. Raises InputError for a name that is none of these.
    """
    cases = suite.cases
    unknown = [name for name in criteria if name not in OWN and _column(cases, name) is None]
    if unknown:
        extra = [name.removeprefix(METADATA) for name in cases.column_names if name.startswith(METADATA)]
        known = ", ".join([*OWN, *CASES.names, *extra])
        raise InputError(InputProblem(suite.name, f"the criterion {name!r}", f"one of {known}") for name in unknown)
    keep = np.ones(len(cases), bool)
    for name, wanted in criteria.items():
        keep &= _holds(cases, name, wanted)
    return cases["case_id"].combine_chunks().filter(pa.array(keep))


def _column(cases: pa.Table, name: str) -> str | None:
    """Return the column of that name, or of that name in the metadata."""
    return next((column for column in (name, METADATA + name) if column in cases.column_names), None)


def _holds(cases: pa.Table, name: str, wanted: Any) -> Mask:
    if name == "search":
        ids = pc.match_substring(cases["case_id"], wanted, ignore_case=True)
        return _mask(ids) | _mask(pc.match_substring(cases["question"], wanted, ignore_case=True))
    if name == "length":
        least, most = wanted
        lengths = lengths_of(cases)
        return (lengths >= (least or 0)) & (lengths <= (np.inf if most is None else most))
    if name == "complexity":
        return _among(complexity_of(cases), wanted)
    column = cases["tags" if name == "tag" else cast(str, _column(cases, name))]
    if not pa.types.is_list(column.type):
        return _among(column, wanted)
    lists = column.combine_chunks()
    if wanted is None:
        return _mask(pc.equal(pc.fill_null(pc.list_value_length(lists), 0), 0))
    held = np.zeros(len(cases), bool)
    held[pc.list_parent_indices(lists).to_numpy()[_among(pc.list_flatten(lists), wanted)]] = True
    return held


def _among(column: pa.Array | pa.ChunkedArray, wanted: Any) -> Mask:
    values = list(wanted) if isinstance(wanted, list | tuple | set | frozenset) else [wanted]
    if pa.types.is_string(column.type):
        values = [None if value is None else str(value) for value in values]
    return _mask(pc.is_in(column, pa.array(values, column.type)))


def _mask(column: pa.Array | pa.ChunkedArray) -> Mask:
    return np.asarray(pc.fill_null(column, False).to_numpy(zero_copy_only=False), bool)


def lengths_of(cases: pa.Table) -> NDArray[np.int64]:
    """Return the characters of each question; 0 where there is none."""
    return np.asarray(pc.fill_null(pc.utf8_length(cases["question"]), 0).to_numpy(), np.int64)


def complexity_of(cases: pa.Table) -> pa.Array:
    """Return how complex each case is said to be: its metadata `complexity`, else `medium`, as the agent reference has
    it.
    """
    if COMPLEXITY not in cases.column_names:
        return pa.array([MEDIUM] * len(cases), pa.string())
    given = cases[COMPLEXITY].combine_chunks()
    return pc.if_else(pc.fill_null(pc.equal(pc.utf8_trim_whitespace(given), ""), True), MEDIUM, given)


def complexity_distribution(suite: Suite) -> dict[str, int]:
    """Return how many cases there are of each complexity, the most frequent first."""
    return _counts(complexity_of(suite.cases))


def tag_counts(suite: Suite) -> dict[str, int]:
    """Return how many cases have each tag, the most frequent first."""
    return _counts(suite.cases["tags"].combine_chunks().flatten().drop_null())


def values_of(suite: Suite, most: int) -> dict[str, dict[str, int]]:
    """Return the columns with at most `most` values: name (of metadata without its prefix) → value → number of cases."""
    names = ["label", "group", "perturbation", *(n for n in suite.cases.column_names if n.startswith(METADATA))]
    found = {name.removeprefix(METADATA): _counts(suite.cases[name].combine_chunks().drop_null()) for name in names}
    return {name: counts for name, counts in found.items() if 0 < len(counts) <= most}


def _counts(values: pa.Array) -> dict[str, int]:
    counted = Counter({entry["values"]: entry["counts"] for entry in values.value_counts().to_pylist()})
    return dict(sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])))


def with_originals(suite: Suite, case_ids: Sequence[str]) -> list[str]:
    """Return the ids, and those of the originals of every variant among them: a variant is not compared without it."""
    original: dict[str, str | None] = dict(
        zip(suite.cases["case_id"].to_pylist(), suite.cases["perturbs"].to_pylist(), strict=True)
    )
    wanted = dict.fromkeys(case_ids)
    more = list(wanted)
    while more:  # a variant may be one of a variant
        parents = (original.get(case) for case in more)
        more = [parent for parent in parents if parent is not None and parent in original and parent not in wanted]
        wanted |= dict.fromkeys(more)
    return list(wanted)
