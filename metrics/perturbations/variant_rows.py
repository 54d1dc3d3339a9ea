"""The rows of variants in a suite: their ids, what they take over from their originals, their groups."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.suite import STRINGS


@dataclass(frozen=True, slots=True)
class Skipped:
    """A case that has no variant of some kind, and why."""

    case_id: str
    kind: str
    reason: str


def new_id(case_id: str, kind: str, taken: set[str]) -> str:
    """Return `case~kind`, or `case~kind~2` and so on where that id is taken; it is taken from then on."""
    plain = f"{case_id}~{kind}"
    names = chain([plain], (f"{plain}~{number}" for number in count(2)))
    found = next(name for name in names if name not in taken)
    taken.add(found)
    return found


def variant_rows(
    originals: pa.Table, ids: Sequence[str], marks: Mapping[str, str], texts: Mapping[str, pa.Array] | None = None
) -> pa.Table:
    """Return the rows of the originals as rows of their variants, with new `texts` and the `marks` of the kind."""
    values: dict[str, Any] = dict(zip(originals.column_names, originals.columns, strict=True)) | dict(texts or {})
    values |= {name: pa.repeat(text, len(ids)) for name, text in marks.items()}
    kind = marks["perturbation"]
    values["tags"] = pa.array([[*(tags or ()), kind] for tags in originals["tags"].to_pylist()], STRINGS)
    values["group"] = pc.coalesce(originals["group"], originals["case_id"])
    return pa.table(values | {"perturbs": originals["case_id"], "case_id": pa.array(list(ids), pa.string())})


def with_variants(cases: pa.Table, parts: Sequence[pa.Table]) -> pa.Table:
    """Return the cases and their variants; those that have some are put into a group of their own unless in one."""
    varied = pa.concat_arrays([part["perturbs"].combine_chunks() for part in parts])
    own = pc.if_else(pc.is_in(cases["case_id"], varied), cases["case_id"], None)
    grouped = cases.set_column(cases.column_names.index("group"), "group", pc.coalesce(cases["group"], own))
    return pa.concat_tables([grouped, *parts], promote_options="default")
