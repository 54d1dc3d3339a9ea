"""The findings of a run as plain values: leaderboard, cases, one example, problems, insights. Reads only the store."""

from metrics.analysis.cases.case_pages import CasePage, cases
from metrics.analysis.cases.example import ExampleView, example
from metrics.analysis.comparison.compare import Comparison, Difference, Unpaired, compare, compare_labels, shown
from metrics.analysis.comparison.comparison_cases import differences
from metrics.analysis.comparison.paired_bootstrap import Resampled
from metrics.analysis.findings.compliance import Compliance, Standard, compliance, compliance_table
from metrics.analysis.findings.flips import flip_rates, flips
from metrics.analysis.findings.insights import insights
from metrics.analysis.findings.problems import problems
from metrics.analysis.labels.judgements import Asked, asked, judge_names, judged_evaluators, judgements, judging
from metrics.analysis.leaderboard.distributions import Distribution, Distributions, distributions
from metrics.analysis.leaderboard.headline import Headline, headline, primary_columns
from metrics.analysis.leaderboard.leaderboard import Cell, Column, Leaderboard, leaderboard
from metrics.analysis.leaderboard.ranks import Ranks, ranks
from metrics.analysis.leaderboard.resources import Resource, resources
from metrics.analysis.objects.object_pages import ObjectFilter, ObjectPage, object_counts, objects
from metrics.analysis.objects.rematch import Rules, compared, match_objects, rules
from metrics.analysis.objects.segments import Segment, segments
from metrics.analysis.objects.thumbnails import thumbnails
from metrics.analysis.slices import find_slices, measures, slice_values, slices
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
    "Headline",
    "Leaderboard",
    "ObjectFilter",
    "ObjectPage",
    "Ranks",
    "Resampled",
    "Resource",
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
    "headline",
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
    "primary_columns",
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
]
