"""Images that leave the ground truth with an object of theirs that is skipped."""

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from metrics.ingest.problems import Problems


def without_spoiled(
    problems: Problems, file: str, cases: pa.Table, annotations: pa.Table, spoiled: Iterable[str | None]
) -> tuple[pa.Table, pa.Table]:
    """Return cases and annotations without the images `spoiled`, of which an invalid object was skipped.

    What detects such an object would count as a false positive, so that every number would be another.
    """
    names = pa.array(sorted({name for name in spoiled if name is not None}), pa.string())
    own = pc.is_in(cases["case_id"], value_set=names)
    count = pc.sum(own).as_py() or 0
    if not count or not problems.keep_good_rows:
        return cases, annotations
    first = cases["case_id"].filter(own)[0].as_py()
    problems.note(file, "images", "unused", "an invalid object of theirs was skipped", count, first)
    kept = annotations.filter(pc.invert(pc.is_in(annotations["case_id"], value_set=names)))
    return cases.filter(pc.invert(own)), kept
