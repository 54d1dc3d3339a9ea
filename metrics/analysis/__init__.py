"""What a run says, as plain values: leaderboard, cases, one example, problems, insights. Reads only the store."""

from metrics.analysis.cases import CasePage, cases
from metrics.analysis.compare import Comparison, Difference, Unpaired, compare, compare_labels, shown
from metrics.analysis.compliance import Compliance, Standard, compliance, compliance_table
from metrics.analysis.differences import differences
from metrics.analysis.distributions import Distribution, Distributions, distributions
from metrics.analysis.evidence import Row, verdict_lists
from metrics.analysis.example import ExampleView, example
from metrics.analysis.flips import flip_rates, flips
from metrics.analysis.insights import insights
from metrics.analysis.judgements import Asked, asked, judge_names, judged_evaluators, judgements, judging
from metrics.analysis.leaderboard import Cell, Column, Leaderboard, leaderboard
from metrics.analysis.live_matches import Rules, compared, match_objects, rules
from metrics.analysis.objects import ObjectFilter, ObjectPage, object_counts, objects
from metrics.analysis.problems import problems
from metrics.analysis.ranks import Ranks, ranks
from metrics.analysis.resampled import Resampled
from metrics.analysis.resources import Resource, resources
from metrics.analysis.segments import Segment, segments
from metrics.analysis.slices import find_slices, measures, slice_values, slices
from metrics.analysis.thumbnails import thumbnails
from metrics.analysis.trend import Stop, Trend, same_suite, trend

__all__ = [
    "Asked",
    "CasePage",
    "Cell",
    "Column",
    "Comparison",
    "Compliance",
    "Difference",
    "Distribution",
    "Distributions",
    "ExampleView",
    "Leaderboard",
    "ObjectFilter",
    "ObjectPage",
    "Ranks",
    "Resampled",
    "Resource",
    "Row",
    "Rules",
    "Segment",
    "Standard",
    "Stop",
    "Trend",
    "Unpaired",
    "asked",
    "cases",
    "compare",
    "compare_labels",
    "compared",
    "compliance",
    "compliance_table",
    "differences",
    "distributions",
    "example",
    "find_slices",
    "flip_rates",
    "flips",
    "insights",
    "judge_names",
    "judged_evaluators",
    "judgements",
    "judging",
    "leaderboard",
    "match_objects",
    "measures",
    "object_counts",
    "objects",
    "problems",
    "ranks",
    "resources",
    "rules",
    "same_suite",
    "segments",
    "shown",
    "slice_values",
    "slices",
    "thumbnails",
    "trend",
    "verdict_lists",
]
