"""A sample of a suite, and a suite in two parts: seeded, stratified by tags, families kept together."""

from dataclasses import replace
from hashlib import sha256
from heapq import heapify, heappop, heappush

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Bools, Ints
from metrics.core.errors import InputError, InputProblem
from metrics.core.suite import Suite

UNTAGGED = ""  # stands for a tag in cases that have none


def sample(suite: Suite, size: int, seed: int = 0, *, stratified: bool = True) -> Suite:
    """Return `size` cases of the suite, drawn at random, with all variants of the cases drawn.

    `stratified`: as many of each tag as its share, to within one where no case has several tags. Which cases are drawn
    depends on the seed and their ids, not on their order. Raises InputError unless 0 < size ≤ the number of originals.
    """
    roots, unit = np.unique(_roots(suite), return_inverse=True)
    if not 0 < size <= len(roots):
        problem = InputProblem("sample", f"{size:,} cases", f"1 to {len(roots):,}, the cases that are no variants")
        raise InputError([problem])
    drawn = _draw_units(suite, roots, size, seed, stratified)
    return replace(_part(suite, drawn[unit]), name=f"{suite.name}, sample of {size}")


def split(suite: Suite, share: float = 0.8, seed: int = 0, *, stratified: bool = True) -> tuple[Suite, Suite]:
    """Return the suite in two parts, with about `share` of its families in the first.

    A family must stay together, or the second part would not be independent of the first: the cases of one `group`, an
    original and its variants. `stratified` and the seed are as in `sample`. Raises InputError where a part would be
    empty.
    """
    families, unit = np.unique(_families(suite), return_inverse=True)
    size = round(share * len(families))
    if not 0 < size < len(families):
        found = f"the share {share:g} of {len(families):,} families of cases"
        found += " (a family: one group, or a case and variants)"
        raise InputError([InputProblem("split", found, "a share that leaves some in both parts")])
    first = _draw_units(suite, families, size, seed, stratified)[unit]
    one, other = _part(suite, first), _part(suite, ~first)
    return replace(one, name=f"{suite.name}, part 1"), replace(other, name=f"{suite.name}, part 2")


def _part(suite: Suite, keep: Bools) -> Suite:
    return suite.restricted(suite.cases["case_id"].combine_chunks().filter(pa.array(keep)))


def _roots(suite: Suite) -> Ints:
    """Return the row of each case's original, of the original's original and so on; its own row where it has none."""
    ids = suite.cases["case_id"].combine_chunks()
    parent = pc.index_in(suite.cases["perturbs"].combine_chunks(), ids, skip_nulls=True)
    rows = np.arange(len(ids))
    found = np.where(parent.is_valid().to_numpy(zero_copy_only=False), pc.fill_null(parent, 0).to_numpy(), rows)
    for _ in range(len(ids).bit_length()):  # each turn doubles the distance up a chain; it ends for a circle too
        found = found[found]
    return found.astype(np.int64)


def _families(suite: Suite) -> Ints:
    """Return for each case a row that identifies its family: the first of its original's group, else its original."""
    roots = _roots(suite)
    groups = suite.cases["group"].combine_chunks().dictionary_encode().indices
    codes = pc.fill_null(groups, -1).to_numpy()[roots]
    _, first, group = np.unique(codes, return_index=True, return_inverse=True)
    return np.where(codes >= 0, roots[first[group]], roots)


def _draw_units(suite: Suite, rows: Ints, size: int, seed: int, stratified: bool) -> Bools:
    """Return which `size` units are drawn: the first by a hash of seed and id, evenly over the tags if `stratified`."""
    ids = suite.cases["case_id"].take(pa.array(rows)).to_pylist()
    order = sorted(range(len(ids)), key=lambda unit: _hashed(seed, "case", ids[unit]))
    drawn = np.zeros(len(ids), bool)
    if stratified:
        tags = [sorted(set(own or ())) or [UNTAGGED] for own in suite.cases["tags"].take(pa.array(rows)).to_pylist()]
        drawn[_evenly(tags, order, size, seed)] = True
    left = [unit for unit in order if not drawn[unit]]
    drawn[left[: size - int(drawn.sum())]] = True
    return drawn


def _evenly(tags: list[list[str]], order: list[int], size: int, seed: int) -> list[int]:
    """Return up to `size` units, each tag with its quota of them as nearly as units with several tags allow.

    Iterative stratification (Sechidis, Tsoumakas and Vlahavas 2011): tags are processed one by one, first the tag that
    the fewest remaining units have, since a common tag can be balanced later.
    """
    holders: dict[str, list[int]] = {}
    for unit in order:
        for tag in tags[unit]:
            holders.setdefault(tag, []).append(unit)
    quota = _quotas({tag: len(units) for tag, units in holders.items()}, size, len(tags), seed)
    waiting = {tag: len(units) for tag, units in holders.items()}
    rarest = [(count, tag) for tag, count in waiting.items()]
    heapify(rarest)
    seen = np.zeros(len(tags), bool)
    drawn: list[int] = []
    while rarest:
        count, tag = heappop(rarest)
        if count != waiting[tag]:  # it is rarer by now, and is in the heap again further ahead
            continue
        for unit in holders[tag]:
            if seen[unit]:
                continue
            seen[unit] = True
            takes = quota[tag] > 0 and len(drawn) < size
            drawn += [unit] * takes
            for own in tags[unit]:
                quota[own] -= takes
                waiting[own] -= 1
                heappush(rarest, (waiting[own], own))
    return drawn


def _quotas(counts: dict[str, int], size: int, units: int, seed: int) -> dict[str, int]:
    """Return how many of each tag are to be drawn: its share of `size`, rounded up or down so that the quotas add up.

    Which are rounded up is random: the unit of a tag that only one unit has is drawn as often as any other unit.
    """
    passed = _hashed(seed, "start") % units
    found = {}
    for tag in sorted(counts, key=lambda tag: _hashed(seed, "tag", tag)):
        before, passed = passed // units, passed + size * counts[tag]
        found[tag] = passed // units - before
    return found


def _hashed(seed: int, *names: str) -> int:
    """Return 64 bits that depend only on the seed and the names."""
    text = "\x1f".join((str(seed), *names))
    return int.from_bytes(sha256(text.encode("utf-8", "surrogatepass")).digest()[:8])
