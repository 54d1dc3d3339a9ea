"""The findings of a run as plain values: leaderboard, cases, one example, problems, insights. Reads only the store."""

from metrics.analysis.boards.board import Board, board, open_run
from metrics.analysis.cases.case_items import (
    CaseItem,
    CaseItems,
    FullScoreEstimate,
    ShortSuites,
    case_items,
    full_score_estimates,
    has_items,
    informative_cases,
    short_suites,
)
from metrics.analysis.cases.case_pages import (
    CasePage,
    case_ids,
    case_texts,
    cases,
    column_of_cases,
    with_answers,
    worst_cases,
)
from metrics.analysis.cases.case_table import CaseTable, case_table, table_case_ids
from metrics.analysis.cases.example import ExampleView, cases_with_outputs, example, examples
from metrics.analysis.comparison.compare import Comparison, Difference, compare, compare_labels, comparison_of_columns
from metrics.analysis.comparison.comparison_cases import differences, shares_within
from metrics.analysis.comparison.decisions import Decision, decisions
from metrics.analysis.comparison.head_to_head import HeadToHead, head_to_head
from metrics.analysis.comparison.paired_bootstrap import Resampled
from metrics.analysis.comparison.unpaired import Unpaired
from metrics.analysis.corrected_tests import CorrectedTests, corrected_tests
from metrics.analysis.findings.compliance import Compliance, Standard, compliance, compliance_table
from metrics.analysis.findings.flips import flip_rates, flips
from metrics.analysis.findings.insights import insights
from metrics.analysis.findings.problems import problems
from metrics.analysis.labels.judgements import (
    Asked,
    judge_names,
    judged_by,
    judged_evaluators,
    judgements,
    judging,
    local_agreement,
    prompts_asked,
    quotes,
)
from metrics.analysis.leaderboard.distributions import Distribution, Distributions, distributions, metrics_by_case
from metrics.analysis.leaderboard.guarantees import score_guarantees
from metrics.analysis.leaderboard.headline import Headline, headline, primary_columns
from metrics.analysis.leaderboard.label_numbers import curve_columns, curves, label_metrics, label_numbers
from metrics.analysis.leaderboard.leaderboard import Cell, Column, Leaderboard, leaderboard
from metrics.analysis.leaderboard.noise import ModelNoise, Noise, is_repeated, noise
from metrics.analysis.leaderboard.ranks import Ranks, ranks
from metrics.analysis.leaderboard.resources import Resource, resources
from metrics.analysis.objects.matching_again import Measured, Rules, compared, match_objects, rules
from metrics.analysis.objects.object_export import as_coco, as_csv, as_yolo, selected_suite
from metrics.analysis.objects.object_filter import ObjectFilter
from metrics.analysis.objects.object_pages import (
    GalleryObject,
    ObjectPage,
    Outline,
    Tile,
    object_counts,
    object_keys,
    object_place,
    objects,
)
from metrics.analysis.objects.operating_point import (
    OperatingPoint,
    best_point,
    confused,
    confusion_at,
    match_evaluators,
    matched,
    operating_point,
    scored,
    working_point,
)
from metrics.analysis.objects.segment_outcomes import SegmentOutcome, segment_outcomes
from metrics.analysis.objects.segments import Segment, segments
from metrics.analysis.objects.thumbnails import Window, thumbnails
from metrics.analysis.ranking.objectives import Objective, objectives
from metrics.analysis.ranking.pareto_front import ParetoFront, Placing, pareto_front
from metrics.analysis.ranking.several_suites import Overall, SeveralSuites, several_suites
from metrics.analysis.ranking.weighted_scores import Part, WeightedScores, weighted_scores
from metrics.analysis.slices.find_slices import find_slices, slices
from metrics.analysis.slices.slice_outcomes import measures
from metrics.analysis.trend import Stop, Trend, same_suite, trend
