"""Slices: parts of a suite by what their cases have in common, their values, and those that are worse than the rest."""

from metrics.analysis.slices.find_slices import LEVEL, FoundSlice, SliceSearch, find_slices, searches, slices
from metrics.analysis.slices.slice_conditions import Condition, Slice, parse
from metrics.analysis.slices.slice_outcomes import Measure, measures
from metrics.analysis.slices.slice_values import (
    FeatureValues,
    SliceTable,
    SliceValue,
    in_words,
    one_slice,
    positions,
    slice_values,
)
from metrics.analysis.slices.topics import has_topics

__all__ = [
    "LEVEL",
    "Condition",
    "FeatureValues",
    "FoundSlice",
    "Measure",
    "Slice",
    "SliceSearch",
    "SliceTable",
    "SliceValue",
    "find_slices",
    "has_topics",
    "in_words",
    "measures",
    "one_slice",
    "parse",
    "positions",
    "searches",
    "slice_values",
    "slices",
]
