"""What a suite contains: counts of its tags, complexities and values, and the originals of its variants."""

from collections.abc import Sequence

import pyarrow as pa

from metrics.core.suite import METADATA, Suite, complexity_of


def complexity_distribution(suite: Suite) -> dict[str, int]:
    """Return how many cases there are of each complexity, the most frequent first."""
    return _counts(complexity_of(suite.cases))


def tag_counts(suite: Suite) -> dict[str, int]:
    """Return how many cases have each tag, the most frequent first."""
    return _counts(suite.cases["tags"].combine_chunks().flatten().drop_null())


def tag_index(suite: Suite) -> dict[str, list[str]]:
    """Return the ids of the cases with each tag, in the suite's order; the most frequent tag first."""
    found: dict[str, list[str]] = {tag: [] for tag in suite.tags}
    for id, tags in zip(suite.cases["case_id"].to_pylist(), suite.cases["tags"].to_pylist(), strict=True):
        for tag in dict.fromkeys(tags or ()):
            found[tag].append(id)
    return found


def values_of(suite: Suite, most: int) -> dict[str, dict[str, int]]:
    """Return the columns with at most `most` values: name (metadata without prefix) → value → number of cases."""
    names = ["label", "group", "perturbation", *(n for n in suite.cases.column_names if n.startswith(METADATA))]
    found = {name.removeprefix(METADATA): _counts(suite.cases[name].combine_chunks().drop_null()) for name in names}
    return {name: counts for name, counts in found.items() if 0 < len(counts) <= most}


def _counts(values: pa.Array) -> dict[str, int]:
    pairs = [(entry["values"], entry["counts"]) for entry in values.value_counts().to_pylist()]
    return dict(sorted(pairs, key=lambda pair: (-pair[1], pair[0])))


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
