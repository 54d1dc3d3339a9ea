"""The sampling design of a suite: which cases count, what each weighs, which are drawn together or ask the same."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.arrow import numbers
from metrics.core.cases import compose_column
from metrics.core.fields import ANSWERED, CASE_FIELDS, METADATA, VISION
from metrics.core.suite import Suite

COLUMNS = ["weight", "group", "tags"]  # of a suite's table of cases: all that its design depends on
DENSE = 4  # codes so close together are counted instead of sorted


@dataclass(frozen=True, eq=False, slots=True)
class SamplingDesign:
    """The design of a suite of `cases` cases, or of its part with one tag.

    inside: [n] positions of the cases that count; weights: [n], None where all weigh the same (a case without one in a
    suite with weights has 1); clusters: [n] codes 0 … c − 1 of the groups in the order of their first cases, None where
    no two cases share one (a case without one in a suite with groups is a cluster of its own).
    """

    cases: int
    inside: Ints
    weights: Floats | None
    clusters: Ints | None

    @classmethod
    def of(cls, cases: pa.Table, tag: str | None = None) -> SamplingDesign:
        """Return the design of a suite's table of cases (at least COLUMNS), over all of them or those with a tag."""
        size = len(cases)
        inside = np.arange(size)
        if tag is not None:
            tags = cases["tags"].combine_chunks()
            held = pc.list_parent_indices(tags).filter(pc.equal(pc.list_flatten(tags), tag))
            inside = np.unique(numbers(held).astype(np.int64))
        weights = clusters = None
        if cases["weight"].null_count < size:
            weights = _uneven(numbers(pc.fill_null(cases["weight"], 1.0))[inside])
        if cases["group"].null_count < size:
            clusters = _shared(_clusters(cases["group"], inside))
        return cls(size, inside, weights, clusters)

    def __len__(self) -> int:
        return len(self.inside)

    @property
    def plain(self) -> bool:
        """Whether every case is a unit of its own and all weigh the same."""
        return self.weights is None and self.clusters is None

    @property
    def units(self) -> Ints:
        """The clusters [n]; without groups a code of its own for every case."""
        return np.arange(len(self)) if self.clusters is None else self.clusters

    def of_part(self, keep: NDArray[Any]) -> tuple[Floats | None, Ints | None]:
        """Return the weights and the clusters, as codes of their own, of a part of the cases inside."""
        return (
            None if self.weights is None else _uneven(self.weights[keep]),
            None if self.clusters is None else _shared(cluster_codes(self.clusters[keep])),
        )


def cluster_codes(clusters: NDArray[np.integer[Any]]) -> Ints:
    """Return clusters as codes 0 … c − 1, in their order."""
    if clusters.min(initial=0) >= 0 and clusters.max(initial=0) < DENSE * len(clusters):  # counted, not sorted
        codes: Ints = (np.cumsum(np.bincount(clusters) > 0) - 1)[clusters]
    else:
        codes = np.unique(clusters, return_inverse=True)[1].astype(np.int64)
    return codes


def _uneven(weights: Floats) -> Floats | None:
    """Return the weights, None where all are alike: doubling every case changes nothing."""
    return None if len(weights) and weights[0] > 0 and (weights == weights[0]).all() else weights


def _shared(clusters: Ints) -> Ints | None:
    """Return codes 0 … c − 1 of clusters, None where each has one case."""
    return None if len(clusters) == clusters.max(initial=-1) + 1 else clusters


def _clusters(group: pa.ChunkedArray, inside: Ints) -> Ints:
    codes = numbers(pc.fill_null(group.combine_chunks().dictionary_encode().indices, -1)).astype(np.int64)
    codes = np.where(codes < 0, codes.max(initial=-1) + 1 + np.arange(len(codes)), codes)
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    ordered = np.argsort(np.argsort(first))[inverse]
    return cluster_codes(ordered[inside])


Duplicates = Literal["group", "keep"]
ANCHORS = ("question", "source_text", "choices", "image")  # a case without any of these is equal to none
BESIDE_THE_QUESTION = ("image", "json_schema", "system_prompt")
SHOWN_TO_MODELS = tuple(each.name for each in CASE_FIELDS if each.role == "ask" or each.name in BESIDE_THE_QUESTION)
MIN_CONTENT_WORDS = 5  # words of a value, on average, from which a column of metadata is a part of what is asked
FILE_NAME = r"\.\w{2,4}$"  # and so is one of names of files
IRREGULAR_SPACE = r"[^\S ]|[\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]|  |^ | $"
TEXT_END = "\x1f"  # between the texts of a list


@dataclass(frozen=True, slots=True)
class EqualInputs:
    """What a suite has of cases that ask the same.

    first: [n] the first case with the same input, by place; alike: cases that share their input with another; units:
    different inputs; across: alike cases of which another one is of another group, 0 in a suite without groups.
    """

    first: Ints
    alike: int
    units: int
    across: int


@lru_cache(maxsize=2)
def find_equal_inputs(suite: Suite) -> EqualInputs | None:
    """Return which cases have the same input; None where no two have.

    The same: all that a model is shown (question, contexts, source text, choices, image …) is equal in composed
    characters (NFC) and but for the amount of whitespace, and so is metadata of texts or names of files. Images are
    stored by their content, so equal ones have equal names. A perturbed variant is equal to no case. Only suites of
    texts, agents and images are looked through: elsewhere a question may be the same in every case. Where all cases
    ask the same, what they are about is not in the suite, and none counts as equal.
    """
    if suite.task not in (*ANSWERED, *VISION):
        return None
    cases = suite.cases
    there: Bools = np.zeros(len(cases), bool)
    for name in ANCHORS:
        column = cases[name]
        size = pc.list_value_length(column) if name == "choices" else pc.binary_length(pc.utf8_trim_whitespace(column))
        there |= np.asarray(pc.fill_null(pc.greater(size, 0), False))
    there &= np.asarray(cases["perturbs"].is_null())
    codes = np.zeros(len(cases), np.int64)
    for name in [name for name in SHOWN_TO_MODELS if cases[name].null_count < len(cases)] + _content_columns(cases):
        own, kinds = _codes(cases[name])
        if kinds == len(cases):  # all differ in one column: the usual case
            return None
        codes = np.unique(codes * kinds + own, return_inverse=True)[1]
    codes = np.where(there, codes, len(cases) + np.arange(len(cases)))
    _, places, inverse, times = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
    alike: Bools = (times > 1)[inverse]
    if not alike.any() or len(places) == 1:
        return None
    first = places[inverse]
    group = numbers(pc.fill_null(cases["group"].combine_chunks().dictionary_encode().indices, -1)).astype(np.int64)
    apart = alike & ((group != group[first]) | (group < 0)) if cases["group"].null_count < len(cases) else alike & False
    across = int(np.isin(first, first[apart & (first != np.arange(len(cases)))]).sum())
    return EqualInputs(first, int(alike.sum()), len(places), across)


@lru_cache(maxsize=2)
def group_equal_inputs(suite: Suite) -> Suite:
    """Return a suite without groups with those of the cases that have the same input, named by the first of them."""
    found, cases = find_equal_inputs(suite), suite.cases
    if found is None:
        return suite
    shared = np.bincount(found.first, minlength=len(cases))[found.first] > 1
    names = pc.if_else(pa.array(shared), cases["case_id"].combine_chunks().take(pa.array(found.first)), None)
    return replace(suite, cases=cases.set_column(cases.column_names.index("group"), "group", names))


def _content_columns(cases: pa.Table) -> list[str]:
    """Return the columns of metadata that hold texts or names of files, which may be what a question is about."""
    found = []
    for name in cases.column_names:
        column = cases[name]
        if name.startswith(METADATA) and column.null_count < len(column):
            words = 1 + (pc.mean(pc.count_substring(column, " ")).as_py() or 0)
            files = pc.mean(pc.match_substring_regex(column, FILE_NAME).cast(pa.int8())).as_py() or 0
            if words >= MIN_CONTENT_WORDS or files > 0.5:
                found.append(name)
    return found


def _codes(column: pa.ChunkedArray) -> tuple[Ints, int]:
    """Return the values of a column of texts or lists of texts as codes, and how many there are; null is one."""
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # more than 2 GiB of text
        array = pa.concat_arrays([chunk.cast(pa.large_string()) for chunk in array.chunks])
    array = compose_column(array)
    if pa.types.is_list(array.type):
        array = pc.binary_join(array.cast(pa.list_(pa.string())), TEXT_END)
    spaced = pc.fill_null(pc.match_substring_regex(array, IRREGULAR_SPACE), False)
    if pc.any(spaced).as_py():
        plain = pc.utf8_trim_whitespace(pc.replace_substring_regex(array.filter(spaced), r"[\s\p{Z}\x{85}]+", " "))
        array = pc.replace_with_mask(array, spaced, plain)
    encoded = pc.dictionary_encode(array, null_encoding="encode")
    return numbers(encoded.indices).astype(np.int64), max(1, len(encoded.dictionary))
