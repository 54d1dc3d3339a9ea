"""Degenerate inputs of every public function of metrics.stats: nothing, one unit, all equal, perfect separation,
symmetric wins, weights that are all 0, no value at all; and numbers that are equal on paper but not in their last bits.
"""

from typing import Any

import numpy as np

from metrics.stats import slice_search
from metrics.stats.bootstrap import Draws
from metrics.stats.bradley_terry import bradley_terry
from metrics.stats.classification.calibration import reliability
from metrics.stats.classification.roc import class_curves, roc
from metrics.stats.classification.selective import risk_coverage
from metrics.stats.correlation import Ranks, pearson
from metrics.stats.group_rates import Stratum
from metrics.stats.item_response import two_parameter
from metrics.stats.meta_analysis import Study
from metrics.stats.model_ranking import compare_pairs
from metrics.stats.rare_losses import Side
from metrics.stats.short_suite import Size
from metrics.stats.two_factors import grid_contrasts
from metrics.stats.variance_components import Components

NAN = np.nan
NONE, ONE = np.zeros(0), np.array([0.3])
SAME, OTHERS = np.full(10, 0.1), np.full(10, 0.7)  # their means and variances are not exact
HALF, TWO = np.repeat([0.0, 1.0], 5), np.tile([0.0, 1.0], 5)
ALONE, PAIRED = np.arange(10), np.arange(10) // 2  # units of one case and of two
NO_INTS, NO_BOOLS = np.zeros(0, np.int64), np.zeros(0, bool)
ZERO = np.zeros(10)
YES, NO, SPLIT = ZERO == 0, ZERO > 0, HALF > 0
ALL_DRAWN = np.ones((3, 10))
WINS = (np.array([0, 1, 2, 1, 2, 0]), np.array([1, 2, 0, 0, 1, 2]), np.ones(6), 3)  # each beats each once
LOSES = (np.array([0, 0]), np.array([1, 1]), np.ones(2), 2)  # one model always does
CURVES = [[roc(TWO, SPLIT)], [roc(HALF, SPLIT)], [roc(SAME, SPLIT)]]
OPPONENTS = np.zeros(2, np.int64), np.ones(2, np.int64)
FITTED = two_parameter(np.ones((4, 3)))
EQUAL_PAIRS = compare_pairs(np.column_stack([SAME, SAME]))
BOTH_DRAWS = [Draws.of(ALONE, 20), Draws.of(PAIRED, 20), Draws.of(np.zeros(10, np.int64), 20)]
FACET = slice_search.Facet(np.tile([0, 1], 20), np.eye(2, dtype=bool))
SEARCHED = slice_search.search(np.full(40, 0.1), [FACET], draws=20)
ONE_STUDY = Study(np.arange(2), np.array([0.1, 0.7]), np.zeros((2, 2)), 3.0)
VARIANCES = [np.zeros((3, 3)), np.diag([0.25, 0.0, -1e-34]), np.full((3, 3), 0.1)]

Inputs = list[tuple[Any, ...]]


def tables(*columns: Any) -> Inputs:
    """Return the columns as tables [n, m] without weights and clusters, in clusters, and with weights that are 0."""
    return [
        (values, *more)
        for own in columns
        for values in [np.column_stack([own, own])]
        for more in ((), (None, np.arange(len(own)) // 2), (np.zeros(len(own)),))
    ]


DIFFERENCES = tables(NONE, ONE, SAME, -SAME, HALF, ZERO, np.full(10, NAN), SAME * 3 - 0.3, np.tile([0.1, -0.1], 20))
SHARED: Inputs = [
    (values, *more)
    for values in (NONE, ONE, SAME, -SAME, HALF - 0.5, ZERO, SAME * 3 - 0.3)
    for n in [len(values)]
    for more in ((), (None, np.arange(n) // 2), (None, np.zeros(n, np.int64)), (np.zeros(n),), (np.ones(n) * 0.3,))
]
DRAWN = [(values, draws) for draws in BOTH_DRAWS for values in (SAME, HALF, ZERO)]
SINGLE = [(row, Draws.of(np.arange(len(row)), 5)) for row in (ONE, NONE)]
QUANTILES = [
    (row, share, *more)
    for row in (NONE, ONE, SAME, HALF)
    for share in (0.5, 0.95)
    for more in ((), (None, np.arange(len(row)) // 2), (0.0 * row,))
]
SLICES = [
    (values, masks, *more)
    for values in (SAME, HALF)
    for masks in (np.stack([SPLIT, YES, NO]), np.eye(10, dtype=bool))
    for more in ((), (None, PAIRED), (ZERO,), (None, None))
]
JUDGED = [
    (judged, labels, *more)
    for judged in (SAME, HALF, ZERO)
    for labels in (np.ones(10), SAME, np.where(SPLIT, HALF, NAN), np.full(10, NAN))
    for more in ((), (None, PAIRED), (ZERO,))
]
RATED = [
    (hits, weights, units)
    for hits in (np.ones(10), HALF, SAME)
    for weights in (np.ones(10), SAME)
    for units in (ALONE, PAIRED)
]
COMPONENTS = Components(0.0, 0.0, 0.0, 10)

TABLE: dict[str, Inputs] = {
    "rater_agreement.alternative_annotator": [
        (passes, ratings, units, 0.1)
        for passes in (HALF, ZERO, np.full(10, NAN)) for units in (ALONE, np.zeros(10, np.int64))
        for ratings in (np.column_stack([HALF, TWO, ZERO]), np.full((10, 3), NAN), np.ones((10, 1)))
    ] + [(NONE, np.zeros((0, 3)), NO_INTS, 0.1), (ONE, np.ones((1, 2)), ALONE[:1], 0.1)],
    "cluster_variance.crossed_widening": [
        (moved, masses, units, raters)
        for moved in (HALF - 0.5, ZERO) for masses in (np.ones(10), ZERO) for units in (ALONE, PAIRED)
        for raters in (ALONE, np.arange(10) % 5, np.zeros(10, np.int64))
    ] + [(NONE, NONE, NO_INTS, NO_INTS)],
    "cluster_variance.allows_for_raters": [(ALONE,), (NO_INTS,), (ALONE, ZERO), (np.zeros(10, np.int64), np.ones(10))],
    "rater_agreement.dawid_skene": [
        (ratings, draws)
        for ratings in (np.column_stack([HALF, TWO, ZERO]), np.full((10, 3), NAN), np.ones((10, 1)), np.zeros((10, 2)))
        for draws in (np.ones((2, 10)), np.zeros((1, 10)), np.full((1, 10), 1e6))
    ],
    "rater_agreement.connected_raters": [(np.full((10, 3), NAN), 1), (np.zeros((0, 0)), 1), (np.ones((10, 3)), 0)],
    "judge_correction.true_share": [
        (share, size, rate, size, other, size)
        for share in (0.0, 0.5, 1.0) for size in (0.0, 1.0, 50.0) for rate in (0.0, 0.5, 1.0) for other in (0.5, 1.0)
    ],
    "agreement_intervals.effective_size": [
        *RATED, (np.zeros(1), np.ones(1), np.zeros(1, np.int64)), (HALF, ZERO, ALONE),
    ],
    "agreement_intervals.share_interval": [
        *RATED, (np.ones(1), np.ones(1), np.zeros(1, np.int64)), (HALF, ZERO, ALONE),
    ],
    "agreement_intervals.mean_interval": [
        ((0.5, (None, None)), (0.5, (0.5, 0.5))), ((0.0, (0.0, 0.0)), (1.0, (1.0, 1.0))),
    ],
    "agreement_intervals.kappa_interval": [
        (rows, np.eye(2)[columns], np.ones(10), units)
        for rows in (SPLIT * 1, YES * 1) for columns in (SPLIT * 1, YES * 1, NO * 1) for units in (ALONE, PAIRED)
    ] + [(YES * 1, np.eye(2)[YES * 1], ZERO, ALONE)],
    "agreement_intervals.kappa_influence": [(np.eye(2) / 2,), (np.array([[1.0, 0], [0, 0]]),)],
    "bootstrap.bootstrap_means": [
        (*table, *[None] * (3 - len(table)), 0, 50, *ends) for table in DIFFERENCES for ends in ((-1.0, 1.0), ())
    ],
    "bradley_terry.bradley_terry": [
        (*matches, weights, clusters, prior)
        for matches in (WINS, LOSES, (*WINS[:2], np.full(6, 0.5), 3), (NO_INTS, NO_INTS, NONE, 2))
        for weights in (None, np.zeros(len(matches[0])), np.full(len(matches[0]), 0.1))
        for clusters in (None, np.zeros(len(matches[0]), np.int64), np.arange(len(matches[0])) // 3)
        for prior in (0.0, 1.0)
    ],
    "classification.calibration.reliability": [(HALF, SPLIT, 10), (SAME, YES, 10), (NONE, NO_BOOLS, 10)],
    "classification.calibration.calibration_errors": [
        (reliability(*inputs),) for inputs in ((HALF, SPLIT, 10), (SAME, NO, 2), (NONE, NO_BOOLS, 2))
    ],
    "classification.calibration.resampled_error": [
        (reliability(values, right, 5), values, right, draws)
        for values in (HALF, SAME) for right in (YES, SPLIT) for draws in BOTH_DRAWS
    ],
    "classification.calibration.brier": [(np.eye(2), np.arange(2)), (np.zeros((0, 2)), NO_INTS)],
    "classification.calibration.log_loss": [
        (np.eye(2), np.arange(2)), (np.eye(2), np.array([1, 0])), (np.zeros((0, 2)), NO_INTS),
    ],
    "classification.calibration.log_losses": [(np.array([0.0, 1.0]),), (np.zeros(0),)],
    "classification.confusion.confusion_cells": [(NO_INTS, NO_INTS, 2), (np.zeros(1, np.int64), np.full(1, 2), 2)],
    "classification.confusion.label_scores": [
        (NO_INTS, NO_INTS, NO_INTS), (np.zeros(2), np.array([0, 3]), np.array([0, 3])),
    ],
    "classification.roc.resampled": [(np.array([0.5]), HALF[:, None] * 0, draws) for draws in BOTH_DRAWS],
    "classification.roc.class_curves": [
        (np.column_stack([scores, 1 - scores, scores]), truth)
        for scores in (SAME, HALF) for truth in (ALONE % 3, np.zeros(10, np.int64), SPLIT * 1)
    ] + [(np.zeros((0, 3)), NO_INTS)],
    "classification.roc.resampled_pairs": [
        (class_curves(np.column_stack([scores, 1 - scores, scores]), ALONE % 3), ALONE % 3, draws)
        for scores in (SAME, HALF) for draws in BOTH_DRAWS
    ],
    "classification.roc.average_precision": [
        (scores, positive, *more) for scores in (SAME, HALF) for positive in (SPLIT, YES, NO) for more in ((), (ZERO,))
    ],
    "classification.confusion.f_beta": [(np.zeros(2), np.array([0, 3]), np.array([0, 3]), beta) for beta in (0.5, 2.0)],
    "classification.confusion.complements": [(NO_INTS, NO_INTS, NO_INTS), (np.zeros(2), np.ones(2), np.ones(2))],
    "classification.confusion.matthews": [
        (right, np.append(right, 0.0), right) for right in (np.zeros(2), np.array([0.0, 4.0]), NONE, np.ones(3))
    ],
    "classification.confusion.mean_scores": [
        (right, right, right, average)
        for right in (np.zeros(2), np.array([0.0, 4.0]), NONE) for average in ("micro", "macro", "weighted")
    ],
    "classification.confusion.ranking": [
        (truth, scores) for truth in (np.zeros((2, 2), bool), np.ones((2, 2), bool), np.eye(2, dtype=bool))
        for scores in (np.full((2, 2), 0.1), np.eye(2))
    ] + [(np.zeros((0, 2), bool), np.zeros((0, 2)))],
    "classification.confusion.resampled_precisions": [
        (np.column_stack([YES, NO, SPLIT]), np.column_stack([score] * 3), draws) for score in (SAME, HALF, TWO)
            for draws in BOTH_DRAWS
    ],
    "classification.confusion.set_f1": [
        (np.zeros((2, 2), bool), np.zeros((2, 2), bool)), (np.eye(2, dtype=bool), np.eye(2, dtype=bool)),
    ],
    "classification.confusion.label_counts": [
        (np.column_stack([YES, NO]), np.column_stack([NO, NO]), draws) for draws in BOTH_DRAWS
    ],
    "classification.confusion.codes_matrix": [(NO_INTS, NO_INTS, (0, 0)), (np.array([-1]), np.array([0]), (1, 1))],
    "ranked_retrieval.average_precision": [([],), ([False],), ([True],)],
    "classification.roc.roc": [
        (SAME, SPLIT), (HALF, SPLIT), (SAME, YES), (NONE, NO_BOOLS), (np.full(10, NAN), SPLIT), (ONE, np.ones(1, bool)),
    ],
    "classification.roc.resampled_areas": [
        (curves, SPLIT[:, None], draws) for curves in CURVES for draws in BOTH_DRAWS
    ],
    "classification.roc.corners": [(curves[0].fp, curves[0].tp, most) for curves in CURVES for most in (2, 9)],
    "classification.roc.threshold_counts": [
        (np.zeros((0, 2)), NO_INTS, [0.5]), (np.full((2, 2), NAN), np.arange(2), [0.5]),
    ],
    "classification.roc.true_and_other": [
        (np.ones((2, 1)), np.zeros(2, np.int64)), (np.full((1, 2), NAN), np.zeros(1, np.int64)),
    ],
    "classification.roc.f1": [(np.zeros(2), np.zeros(2), np.array([0, 2]))],
    "classification.selective.risk_coverage": [(NONE, NO_BOOLS), (ONE, np.ones(1, bool)), (SAME, SPLIT), (HALF, SPLIT)],
    "classification.selective.risk_areas": [
        *[(score, wrong, draws) for score in (SAME, HALF, TWO) for wrong in (YES, NO, SPLIT) for draws in BOTH_DRAWS],
        (NONE, NO_BOOLS, Draws.of(NO_INTS, 0)),
    ],
    "classification.selective.fewest_answers": [(), (0.5, 0.875), (0.5, 0.5)],
    "classification.selective.guaranteed": [
        (risk_coverage(score, wrong),) for score, wrong in ((NONE, NO_BOOLS), (np.full(99, 0.1), np.zeros(99, bool)),
            (np.full(99, 0.1), np.ones(99, bool)))
    ],
    "classification.selective.cases_missing": [
        (risk_coverage(score, wrong),) for score, wrong in ((NONE, NO_BOOLS), (np.full(99, 0.1), np.zeros(99, bool)),
            (np.full(99, 0.1), np.ones(99, bool)))
    ],
    "cluster_variance.cluster_sums": [(np.ones((3, 1)), np.zeros(3, np.int64))],
    "cluster_variance.cluster_variance": [
        (residuals[:, None], masses[:, None], masses[:, None] ** 2)
        for residuals in (np.zeros(2), np.array([-0.1, 0.1]))
            for masses in (np.ones(2), np.array([1.0, 1e-12]), np.array([1e9, 1.0]))
    ],
    "cluster_variance.design_freedom": [
        (NO_INTS,), (np.zeros(3, np.int64),), (ALONE,), (PAIRED, SAME), (ALONE, ZERO), (ALONE, HALF),
    ],
    "sequential.thresholds": [(np.arange(3),)], "sequential.roundest": [(1, 1), (1, 9)],
    "sequential.evidence_below": [(np.array([0, 0]), np.array([0.0, 1.0]), mean) for mean in (0.0, 0.5, 1.0)],
    "sequential.evidence_above": [(np.array([9, 0]), np.array([0.0, 1.0]), mean) for mean in (0.0, 0.5, 1.0)],
    "sequential.bounds": [
        (np.array(counts), np.array([0.0, 1.0]), 3.0) for counts in ([0, 0], [99, 0], [0, 99], [1, 0])
    ],
    "corrections.is_significant": [(0.05,), (NAN,), (np.array([0.0, NAN]),)],
    "corrections.holm": [(NONE,), (np.zeros(2),), (np.ones(1),)],
    "corrections.benjamini_hochberg": [(NONE,), (np.zeros(2),), (np.ones(1),)],
    "corrections.benjamini_yekutieli": [(NONE,), (np.zeros(2),), (np.ones(1),)],
    "correlation.pearson": [
        (x, y) for x in (SAME, HALF, ZERO) for y in (HALF, -HALF, SAME * 3)] + [(ONE, ONE), (NONE, NONE)
    ],
    "correlation.spearman": [
        (Ranks.of(x), Ranks.of(y)) for x in (SAME, HALF) for y in (HALF, TWO)] + [(Ranks.of(ONE),) * 2,
        (Ranks.of(NONE),) * 2
    ],
    "correlation.kendall": [
        (Ranks.of(x), Ranks.of(y)) for x in (SAME, HALF) for y in (HALF, TWO)] + [(Ranks.of(ONE),) * 2,
        (Ranks.of(NONE),) * 2
    ],
    "correlation.resampled": [(pearson(x, HALF), draws) for x in (SAME, HALF, TWO) for draws in BOTH_DRAWS],
    "paired_intervals.decide_noninferiority": [
        (apart, (low, high), 0.1, units, error, significant, side, side)
        for apart, low, high in ((0.0, 0.0, 0.0), (-0.1, -0.1, -0.1), (1.0, 1.0, 1.0), (0.1 - 0.2, 0.2 - 0.3, 0.0),
            (0.0, -np.inf, np.inf))
        for units in (1, 30) for error in (0.0, 1e-17, NAN, 0.1) for significant in (0, 1, -1)
        for side in (Side(), Side((0.0,), 0.0, 0), Side((0.0, 1.0), 1.0, 1), Side((0.0, 1.0), 1.0, 30))
    ],
    "rare_losses.share_upper": [(0, 0), (0, 20), (20, 20)],
    "rare_losses.both_sides": [(own, 1.0, *more) for own in (NONE, ONE, ZERO, HALF) for more in ((), (0.0 * own,))],
    "sequential.dependence_evidence": [(NO_BOOLS,), (YES,), (NO,), (SPLIT,), (YES[:1],)],
    "sequential.lag_correlation": [(NO_BOOLS,), (YES,), (NO,), (SPLIT,), (YES[:1],)],
    "repeated_samples.dispersion": [([],), ([0.0],), ([0.1] * 10,), ([-1.0, 1.0],)],
    "bootstrap.draw_weights": [(NO_INTS, 2), (np.zeros(3, np.int64), 2)],
    "bootstrap.draw_halves": [(NO_INTS, 2), (np.zeros(3, np.int64), 3)],
    "bootstrap.counted": [(np.ones((2, 0)), NO_INTS, 3)],
    "drift.drift": [(x, y) for x in (NONE, ONE, SAME, HALF) for y in (ONE, SAME, TWO)],
    "drift.ks_distance": [(np.array([1, 0]), np.array([1, 1])), (np.array([1, 1]), np.array([2, 2]))],
    "drift.stability_index": [(np.array([1, 0]), np.array([1, 1])), (np.array([1, 1]), np.array([2, 2]))],
    "drift.equal_bins": [(NO_INTS,), (np.array([9]),), (np.ones(40, np.int64),)],
    "drift.exact_share": [(shares, 0.05) for shares in (SAME, OTHERS, np.ones(10), ZERO, HALF)],
    "float_tolerance.root": [(0.0,), (-1e-34,), (np.array([-1e-34, 4.0]),), (NONE,)],
    "float_tolerance.standard_errors": [(own,) for own in VARIANCES],
    "float_tolerance.difference_errors": [(own, np.array([0, 1]), np.array([1, 2])) for own in VARIANCES],
    "float_tolerance.distance_in_errors": [
        (np.array([0.0, 1e-17, 0.1]), error) for error in (0.0, np.array([0.0, 1e-17, 0.1]))
    ],
    "float_tolerance.symmetric_inverse": [(own,) for own in VARIANCES],
    "float_tolerance.whole_from": [(0.0,), (0.1 * 3 * 10,)],
    "float_tolerance.falling_order": [(NONE,), (ONE,), (np.array([NAN, np.inf, np.inf]),), (np.full(3, NAN),)],
    "float_tolerance.highest_place": [(ONE,), (np.array([NAN, 1.0]),), (np.full(3, NAN),), (np.full(2, np.inf),)],
    "float_tolerance.highest_places": [(np.full((2, 2), NAN),), (np.zeros((0, 2)),)],
    "float_tolerance.is_apart": [(0.0, NONE), (1e-17, np.full(3, 1e-17)), (0.0, np.full(3, NAN))],
    "group_rates.difference_interval": [(0.0, (0.0, 0.0), 1.0, (1.0, 1.0)), (0.5, (0.5, 0.5), 0.5, (0.5, 0.5))],
    "group_rates.ratio_interval": [(0.5, (0.0, 1.0), 0.5, (0.0, 1.0)), (1.0, (1.0, 1.0), 1.0, (1.0, 1.0))],
    "group_rates.equal_rates_p": [
        ((0.0, 0.0), (1.0, 1.0)), ((1.0, 1.0), (1.0, 1.0)), ((0.1 * 3, 0.3), (0.1 * 3, 0.3)), ((0.0, 9.0), (9.0, 9.0)),
    ],
    "group_rates.extremes": [(NONE,), (ONE,), (np.full(3, NAN),), (SAME,)],
    "heavy_tails.unknown_ends": [(own[:, None], np.array([len(own)])) for own in (NONE, ONE, ZERO, HALF - 0.5)],
    "heavy_tails.describe_unknown_end": [(SAME,), (HALF,), (HALF, None, PAIRED), (ONE,)],
    "intervals.mean_intervals": [(*table, *[None] * (3 - len(table)), 0, -1.0, 1.0) for table in DIFFERENCES]
    + [(np.column_stack([own]), None, None, 0, 0.0, 1.0, True) for own in (np.ones(10), HALF, np.full(10, NAN), NONE)],
    "intervals.wilson": [(0, 0), (0, 1), (1, 1), (0.1 * 3, 0.3), (1e17, 1e17)],
    "intervals.binomial_tail": [(NO_INTS, NO_INTS, 0.5), (np.array([0, 9]), np.array([0, 9]), 0.5)],
    "intervals.exact_upper": [(0, 0, 0.025), (0, 1, 0.025), (1, 1, 0.025)],
    "intervals.percentiles": [(NONE,), (ONE,), (np.full(3, NAN),), (SAME,)],
    "model_ranking.linked_groups": [([], 0), ([], 1), ([NO_INTS], 2), ([np.array([1, 1])], 2)],
    "model_families.check_labels": [(np.ones((4, 3)),), (np.full((4, 3), NAN),), (np.eye(4),), (np.ones((9, 9)),)],
    "model_families.residual_dependence": [
        (right, FITTED, np.full(4, kept)) for right in (np.ones((4, 3)), np.full((4, 3), NAN)) for kept in (True, False)
    ],
    "model_families.is_dependent": [(np.zeros((1, 1)),), (np.zeros((3, 3)),)],
    "model_families.families": [(np.zeros((1, 1)),), (np.zeros((3, 3)),), (np.full((3, 3), 9.0),)],
    "model_families.family_answers": [(np.full((4, 3), NAN), np.zeros(3, np.int64)), (np.zeros((0, 2)), np.arange(2))],
    "bradley_terry.misfit_p": [
        (NO_INTS, NO_INTS, NONE, 2, bradley_terry(*OPPONENTS, np.array([1.0, 0.0]), 2)),
        (*OPPONENTS, np.full(2, 0.5), 2, bradley_terry(*OPPONENTS, np.array([1.0, 0.0]), 2)),
    ],
    "bradley_terry.styled_strengths": [
        (NO_INTS, NO_INTS, NONE, np.zeros((0, 1)), 2), (*OPPONENTS, np.full(2, 0.5), np.zeros((2, 1)), 2),
        (*np.tile(OPPONENTS, 20), np.tile([1.0, 0.0], 20), np.zeros((40, 1)), 2),
    ],
    "item_response.reversed_patterns": [
        (right, ability, np.zeros(len(right)))
        for right in (np.ones((4, 3)), np.zeros((4, 3)), np.full((4, 3), NAN), np.zeros((0, 3)), np.eye(4, 3))
        for ability in (np.zeros(3), np.full(3, 0.1), np.array([-1.0, 0.0, 1.0])) if len(right)
    ],
    "item_response.item_rest": [
        (np.ones((4, 3)),), (np.full((4, 3), NAN),), (np.eye(4),), (np.ones((4, 1)),), (np.zeros((0, 3)),),
    ],
    "short_suite.predict_score": [
        (FITTED, np.array([0, 1]), answers) for answers in (np.full(2, NAN), np.zeros(2), np.ones(2))
    ],
    "short_suite.full_scores": [
        (np.ones((12, 8)), np.array([0, 1]), np.ones((2, 1))),
        (np.tril(np.ones((12, 8))), np.arange(12), np.zeros((12, 1))),
    ],
    "item_response.two_parameter": [
        (np.ones((4, 3)),), (np.zeros((1, 1)),), (np.full((2, 2), NAN),), (np.tril(np.ones((5, 5))),),
    ],
    "rater_agreement.best_thresholds": [
        (scores, passed, ALL_DRAWN) for scores in (SAME, HALF, TWO)
        for passed in (YES, NO, SPLIT)] + [(NONE, NO_BOOLS, np.ones((2, 0)))
    ],
    "rater_agreement.held_out_passes": [
        (SAME, np.full(3, NAN), ALL_DRAWN), (SAME, np.full(3, 0.1), np.zeros((3, 10))),
    ],
    "meta_analysis.pooled_means": [
        (studies, 2) for studies in ([], [ONE_STUDY], [ONE_STUDY] * 2, [ONE_STUDY._replace(covariance=own[:2, :2])
            for own in VARIANCES])
    ] + [([ONE_STUDY], 3)],
    "meta_analysis.mean_of_suites": [
        ([0.1], [0.0], [1.0]), ([0.1, 0.7], [0.0, 0.0], [1.0, 1.0]), ([0.1], [0.1], [1.0]),
    ],
    "meta_analysis.chi_square_p": [(0.0, 1), (0.0, 2), (1e4, 1), (1e4, 2)],
    "model_ranking.compare_pairs": [
        *DIFFERENCES, (np.column_stack([HALF, HALF]), None, None, True), (np.zeros((3, 1)),),
    ],
    "model_ranking.compare_resamples": [
        (np.array([0.3, 0.1 + 0.2]), np.full((2, 5), 0.1)), (np.array([0.1, 0.7]), np.full((2, 5), NAN)),
        (ONE, np.ones((1, 5))),
    ],
    "model_ranking.best_first": [(table[0], *table[2:]) for table in DIFFERENCES],
    "model_ranking.rank_bounds": [(EQUAL_PAIRS, 2)],
    "paired_intervals.tango_interval": [(0, 0, 0), (0, 0, 9), (9, 0, 9), (0, 9, 9), (4, 5, 9), (0.0, 0.3, 0.5)],
    "paired_intervals.superiority": SHARED,
    "paired_intervals.share_within": [(values, margin, *more) for values, *more in SHARED for margin in (0.0, 0.1)],
    "paired_intervals.worth_of_cases": SHARED,
    "paired_intervals.newcombe_paired": [(0, 0, 0, 0), (1, 0, 0, 0), (0, 9, 0, 0), (5, 0, 0, 5), (0, 5, 5, 0)],
    "paired_intervals.difference_intervals": [
        *((*table, *[None] * (3 - len(table)), 1.0) for table in DIFFERENCES), *DIFFERENCES,
    ],
    "paired_intervals.agreeing": [(np.zeros((2, 3)), np.zeros(3), np.array([0.05, 0.05 + 1e-17, 1.0]))],
    "paired_intervals.resample_interval": [(0.0, np.zeros(3)), (1e-17, np.full(3, -1e-17)), (0.1, np.full(3, 0.1))],
    "paired_tests.paired_tests": [*DIFFERENCES, *((table[0], None, None, True) for table in DIFFERENCES[::3])],
    "paired_tests.mcnemar_mid_p": [(0, 0), (9, 0), (np.array([5, 0]), np.array([5, 0]))],
    "paired_tests.resample_tests": [
        (np.array([apart]), samples[None]) for apart in (0.0, 1e-17, 0.1)
        for samples in (ZERO, SAME, np.full(3, NAN), HALF - 0.5)
    ],
    "slice_means.paule_mandel": [(NONE, NONE), (ONE, ONE), (SAME, SAME), (HALF, SAME)],
    "slice_means.pooled": [
        (SAME, SAME), (HALF, SAME), (np.full(10, NAN), SAME), (SAME, ZERO), (ONE, ONE), (HALF, np.full(10, 1e-34)),
    ],
    "slice_means.sampling_variances": SLICES,
    "repeated_samples.pass_at_k": [(1, 0, 1), (1, 1, 1), (0, 0, 1), (5, 5, 5)],
    "power.detectable": [(0.0, 2), (0.1, 1), (0.1, 0)], "power.units_needed": [(0.0, 2, 0.1), (0.1, 2, 0.1)],
    "power.kappa_deviation": [(0.0, 0.5), (1 - 1e-16, 0.5), (0.999999, 1e-9)],
    "power.aim": [("share", 0.0), ("share", 1.0), ("wins", 0.0), ("mean", 0.0), ("kappa", 1.0), ("kappa", 0.0)],
    "power.design_effect": [(), (1.0, 1.0, 1, 1.0)],
    "prediction_errors.resampled_means": [*((values[:, None], draws) for values, draws in DRAWN + SINGLE)],
    "prediction_errors.resampled_r2": [
        (truth, truth - predicted, draws) for truth in (SAME, HALF) for predicted in (SAME, HALF)
            for draws in BOTH_DRAWS
    ] + [(row, row, draws) for row, draws in SINGLE],
    "prediction_errors.r2_error": [
        (truth, truth - predicted, draws) for truth in (SAME, HALF) for predicted in (SAME, HALF)
            for draws in BOTH_DRAWS
    ] + [(row, row, draws) for row, draws in SINGLE],
    "judge_correction.corrected_mean": [*JUDGED, (ONE, ONE), (NONE, NONE)],
    "judge_correction.fit_correction": [*JUDGED, (ONE, ONE), (NONE, NONE)],
    "judge_correction.corrected_difference": [
        *((own[:2], own[:2], *own[2:4]) for own in JUDGED), ((ONE, ONE), (ONE, ONE)),
    ],
    "model_ranking.rank_ranges": [
        (values, own, 5.0) for values in (np.zeros(3), np.array([0.3, 0.1 + 0.2, 0.3])) for own in VARIANCES
    ],
    "ranked_retrieval.ranks_of": [
        (NO_INTS, NO_INTS, NO_INTS, NO_INTS), (np.zeros(1, np.int64), np.zeros(1, np.int64), NO_INTS, NO_INTS),
    ],
    "quantiles.weighted_quantile": [(row, 0.5, *more) for row in (NONE, ONE, SAME) for more in ((), (0.0 * row,))],
    "quantiles.quantile_interval": QUANTILES,
    "quantiles.quantile_size": QUANTILES, "quantiles.order_ranks": [(0, 0.5), (1, 0.5), (2, 0.95)],
    "quantiles.least_size": [(0.5,), (0.05,)],
    "quantiles.resampled_quantiles": [(row, 0.5, draws) for row, draws in DRAWN + SINGLE],
    "quantiles.varied_quantiles": [
        (np.stack([row, row], axis=1), 0.5, np.arange(len(row)), None, 3) for row in (ONE, SAME)
    ],
    "quantiles.describe_missing_end": [((None, None), ONE, 0.5), ((0.3, None), SAME, 0.95, None, PAIRED)],
    "rater_agreement.draws_of": [(np.zeros(3, np.int64), 0, 2), (NO_INTS, 0, 2)],
    "rater_agreement.kappas": [
        (np.array([[[5, 0], [0, 0]], [[0, 0], [0, 0]], [[5.0, 0], [0, 5]]]), *more)
        for more in ((), (True,), (False, True))
    ],
    "rater_agreement.alphas": [
        (np.column_stack(pair), ALL_DRAWN, level)
        for pair in ((SAME, SAME), (HALF, HALF), (HALF, np.full(10, NAN)), (SAME, SAME * 3 - 0.2), (ZERO, ZERO))
            for level in ("nominal", "ordinal", "interval", "ratio")
    ],
    "rater_agreement.fleiss_kappas": [
        (np.column_stack(pair), ALL_DRAWN) for pair in ((SAME, SAME), (HALF, HALF), (HALF, np.full(10, NAN)))
    ],
    "rater_agreement.spearmans": [
        (x, y, draws) for x in (SAME, HALF) for y in (HALF, TWO) for draws in (ALL_DRAWN, np.zeros((1, 10)))
    ],
    "rater_agreement.aucs": [(scores, passed, ALL_DRAWN) for scores in (SAME, HALF) for passed in (YES, NO, SPLIT)],
    "float_tolerance.ratio": [(ZERO, ZERO), (NONE, NONE)],
    "float_tolerance.weighted_mean": [
        (own, zero) for own in (NONE, ONE, np.full(2, NAN)) for zero in (None, 0.0 * own)
    ],
    "float_tolerance.mean_over": [(np.full((2, 2), NAN), 0), (np.zeros((0, 2)), 0)],
    "correlation.clustered_coefficient": [
        (x, others, y, units) for x in (SAME, HALF, TWO) for others in (np.zeros((10, 0)), HALF[:, None])
        for y in (SAME, HALF, TWO) for units in (ALONE, PAIRED, np.zeros(10, np.int64))
    ],
    "resample_intervals.resample_interval": [
        (np.array(value), np.full(5, sample), objects, clusters)
        for value in (0.0, 0.3, 1.0) for sample in (0.0, 0.1, 1.0) for objects in (1, 9, np.inf) for clusters in (1, 9)
    ] + [(np.array(0.3), np.full(5, NAN), 9, 9)],
    "resample_intervals.has_enough_truths": [(NO_INTS,), (np.zeros(9, np.int64),), (np.ones(9, np.int64),)],
    "resample_intervals.scaled_interval": [
        (value, samples, units, scale) for value in (0.3, 1.0, 1 - 1e-16)
            for samples in (SAME, ONE, np.full(3, NAN), np.array([0.1, 1 - 1e-16]), HALF / 2)
        for units in (1.0, 9.0) for scale in ("below one", "correlation")
    ],
    "bootstrap.resampled_sums": [
        (np.column_stack([own]), np.arange(len(own)), 0, 5) for own in (ONE, SAME, HALF)
    ],
    "float_tolerance.first_highest": [(NONE, NO_INTS), (ONE, np.ones(1, np.int64)), (SAME, np.full(1, 10))],
    "sequential.anytime_p": [(p, units) for p in (0.0, 0.05, 1.0) for units in (0, 30, 10**9)],
    "sequential.anytime_stretch": [(0,), (30,), (1e12,)],
    "sequential.anytime_interval": [(0.0, 0.0, 0.0, 0), (0.0, 0.0, 0.0, 30)],
    "short_suite.by_information": [(FITTED, 0), (FITTED, 9)],
    "short_suite.cross_fitted": [
        (np.ones((12, 4)), np.ones((12, 4)), weights, two_parameter(np.ones((12, 4))))
        for weights in (None, np.zeros(12))
    ],
    "short_suite.smallest": [((),), ((Size(10, NAN, NAN, 0, NAN),),)],
    "slice_means.slice_means": [*SLICES, (HALF, np.stack([SPLIT, NO]), None, None, True, (0.0, 1.0))],
    "slice_means.rest_differences": [
        (values, masks, np.stack([masks @ values] * 3, axis=1), *more) for values, masks, *more in SLICES
    ] + [(HALF, np.stack([SPLIT, NO]), np.full((2, 3), NAN), None, None, True)],
    "slice_means.apart_from": [(np.zeros((2, 3)), rest, enough) for rest in (np.zeros((2, 3)), np.ones((2, 3)))
        for enough in (np.array([True, False]), np.zeros(2, bool))
    ],
    "slice_means.has_enough_units": [
        (masks, weights, clusters, ends) for masks in (np.stack([SPLIT, NO]), np.zeros((0, 10), bool))
        for weights in (None, ZERO) for clusters in (None, PAIRED) for ends in ((0.0, 1.0), (0.0, np.inf))
    ],
    "slice_search.search": [
        (values, [FACET]) for values in (np.full(40, 0.1), np.tile([0.0, 1.0], 20))] + [(ONE, []),
        (np.full(40, 0.1), [FACET], np.zeros(40))
    ],
    "slice_search.distinct": [
        (SEARCHED, np.full(40, 0.1), weights, level) for weights in (None, np.ones(40)) for level in (0.05, 1.0)
    ],
    "slice_search.detectable": [(SEARCHED, np.full(40, 0.1), size, 0.05) for size in (1, 20, 40)],
    "slice_search.normal_score": [(np.zeros(2), np.zeros(2)), (np.array([-9.0, 9.0]), np.array([0.5, -0.5]))],
    "group_rates.exact_excess": [
        ({},), ({Stratum(1, 1, 1, 1): 3},), ({Stratum(0, 0, 0, 0): 3},), ({Stratum(9, 9, 9, 0): 1},),
    ],
    "student_t.student": [(0,), (1,), (1.5,), (1e12,)],
    "student_t.student_p": [
        (np.array([0.0, np.inf, 1e300]), np.full(3, freedom)) for freedom in (1.0, 12.5, 1e6)] + [(NONE, NONE)
    ],
    "variance_components.crossed_mean": [(np.zeros((3, 2)),), (np.column_stack([SAME, SAME, OTHERS]),)],
    "variance_components.resampled_components": [
        (values, case, repeat, group, 0, 0, drawn) for values in (SAME, HALF) for drawn in (0, 5)
        for case in (PAIRED, ALONE, np.zeros(10, np.int64)) for repeat in (ALONE, np.zeros(10, np.int64))
        for group in (None, np.zeros(10, np.int64), ALONE // 4)
    ] + [(NONE, NO_INTS, NO_INTS)],
    "variance_components.expanded_tail": [(2,), (10**9,)],
    "variance_components.crossed_components": [
        (np.column_stack(pair), ALL_DRAWN) for pair in ((SAME, SAME), (HALF, np.where(SPLIT, NAN, 0.1)), (SAME,))
    ],
    "variance_components.cheapest": [
        (COMPONENTS, 0.1, 0.0, 0.0, 0.0), (COMPONENTS._replace(case=9.0), 0.01, 1.0, 1.0, 1.0),
    ],
    "two_factors.grid_contrasts": [(2, 2), (2, 3), (3, 3)],
    "two_factors.complete_grid": [([],), ([("a", "x")],), ([("a", "x"), ("b", "y")],)],
    "two_factors.effects_of_cases": [
        (np.stack([one] * 4, axis=1).reshape(-1, 2, 2), grid_contrasts(2, 2), weights, clusters)
        for one in (NONE, ONE, SAME, HALF) for weights in (None, np.zeros(len(one)))
        for clusters in (None, np.zeros(len(one), np.int64))
    ],
    "two_factors.effects_of_resamples": [
        (np.full((2, 2), value), np.full((2, 2, drawn), value), grid_contrasts(2, 2), widest, quantile)
        for value in (0.1, NAN) for drawn in (0, 1, 9) for widest in (1.0, np.inf) for quantile in (False, True)
    ],
    "judge_correction.draw_chances": [
        *((np.ones(1), np.ones(1), *[np.array([mark])] * 3) for mark in (False, True)),
        (NONE, NONE, *[np.zeros(0, bool)] * 3),
    ],
    "judge_correction.draw_sizes": [(row, 0.0, 1.0, 0.5) for row in (NONE, ONE, SAME, HALF, np.full(3, np.nan))],
    "model_ranking.weighted_intervals": [
        (np.stack([np.column_stack([one]), np.column_stack([other])]), np.array([0.3, 0.7]), weights)
        for one in (SAME, HALF) for other in (SAME, HALF, np.full(10, NAN)) for weights in (None, ZERO)
    ],
    "model_ranking.first_shares": [(np.zeros((2, 3)),), (np.ones((1, 1)),)],
    "model_ranking.turning_point": [
        (np.zeros((2, 3)), np.array([0.5, 0.5])), (np.eye(2), np.array([1.0, 0.0])), (np.ones((1, 1)), np.ones(1)),
    ],
}  # fmt: skip
