"""What a run says, as plain values: leaderboard, cases, one example, problems, insights. Reads only the store."""

from metrics.analysis.cases import CasePage, cases
from metrics.analysis.compare import Comparison, Difference, Unpaired, compare, shown
from metrics.analysis.differences import differences
from metrics.analysis.example import ExampleView, example
from metrics.analysis.insights import insights
from metrics.analysis.leaderboard import Cell, Column, Leaderboard, leaderboard
from metrics.analysis.live_matches import compared, match_objects
from metrics.analysis.objects import ObjectFilter, ObjectPage, object_counts, objects
from metrics.analysis.problems import problems
from metrics.analysis.thumbnails import thumbnails

__all__ = [
    "CasePage",
    "Cell",
    "Column",
    "Comparison",
    "Difference",
    "ExampleView",
    "Leaderboard",
    "ObjectFilter",
    "ObjectPage",
    "Unpaired",
    "cases",
    "compare",
    "compared",
    "differences",
    "example",
    "insights",
    "leaderboard",
    "match_objects",
    "object_counts",
    "objects",
    "problems",
    "shown",
    "thumbnails",
]
