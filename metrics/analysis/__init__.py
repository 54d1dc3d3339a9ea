"""What a run says, as plain values: leaderboard, cases, one example, problems, insights. Reads only the store."""

from metrics.analysis.cases import CasePage, cases
from metrics.analysis.compare import Comparison, Difference, Unpaired, compare, compare_labels, shown
from metrics.analysis.differences import differences
from metrics.analysis.evidence import Row, verdict_lists
from metrics.analysis.example import ExampleView, example
from metrics.analysis.insights import insights
from metrics.analysis.judgements import Asked, asked, judge_names, judged_evaluators, judgements, judging
from metrics.analysis.leaderboard import Cell, Column, Leaderboard, leaderboard
from metrics.analysis.live_matches import Rules, compared, match_objects, rules
from metrics.analysis.objects import ObjectFilter, ObjectPage, object_counts, objects
from metrics.analysis.problems import problems
from metrics.analysis.resampled import Resampled
from metrics.analysis.segments import Segment, segments
from metrics.analysis.thumbnails import thumbnails

__all__ = [
    "Asked",
    "CasePage",
    "Cell",
    "Column",
    "Comparison",
    "Difference",
    "ExampleView",
    "Leaderboard",
    "ObjectFilter",
    "ObjectPage",
    "Resampled",
    "Row",
    "Rules",
    "Segment",
    "Unpaired",
    "asked",
    "cases",
    "compare",
    "compare_labels",
    "compared",
    "differences",
    "example",
    "insights",
    "judge_names",
    "judged_evaluators",
    "judgements",
    "judging",
    "leaderboard",
    "match_objects",
    "object_counts",
    "objects",
    "problems",
    "rules",
    "segments",
    "shown",
    "thumbnails",
    "verdict_lists",
]
