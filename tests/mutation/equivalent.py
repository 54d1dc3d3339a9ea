"""Faults that change nothing, each read: (file under metrics/, function, change) and why the program is the same."""

AT_ONCE = "how much is done at once bounds memory and changes no number"
FILTER = "the test before only saves time: boxes apart have an overlap of 0, which is below the floor"

EQUIVALENT = {
    ("analysis/leaderboard/ranks.py", "_values", "initial=0 → initial=1"): "the larger one is held against 1",
    ("analysis/objects/object_filter.py", "annotation_ids", "-1 → -0"): "an object without annotation has a prediction",
    (
        "analysis/slices/slice_values.py",
        "one_slice",
        (
            "valued(found, mask_of(found.known, where)[None], [where])[0] → "
            "valued(found, mask_of(found.known, where)[None], [where])[-1]"
        ),
    ): "there is one",
    (
        "analysis/findings/compliance.py",
        "outcome",
        "cell.low is None or cell.high is None → cell.low is None and cell.high is None",
    ): "an interval has both ends or none",
    ("analysis/cases/threshold_outcomes.py", "threshold_arguments", "-1.0 → -2.0"): "both sides are multiplied by it",
    (
        "analysis/comparison/compare.py",
        "case_differences",
        "max(1, CELLS // max(1, len(design))) → max(0, CELLS // max(1, len(design)))",
    ): AT_ONCE,
    ("analysis/leaderboard/case_sums.py", "case_sums", "-1 → -2"): "numpy takes any negative size for what remains",
    ("analysis/leaderboard/leaderboard.py", "_equal", "abs(one - other) <= EQUAL → abs(one - other) < EQUAL"): (
        "no two values are exactly so far apart"
    ),
    ("analysis/objects/operating_point.py", "", "np.linspace(0.0, 1.0, 101) → np.linspace(0.0, 1.0, 102)"): (
        "rounded they are the same hundredths, one of them twice"
    ),
    ("analysis/comparison/case_values.py", "case_values", "(place, :, 0) → (place, :, -1)"): "there is one",
    ("analysis/leaderboard/headline.py", "Headline.sentence", "self.leaders[0] → self.leaders[-1]"): (
        "those that lead have as many wins"
    ),
    ("analysis/objects/object_filter.py", "_at_places", "-1 → -2"): "no case stands in a place below 0",
    ("analysis/objects/matched_again.py", "stored_at", "abs(iou - own.iou) < 1e-09 → abs(iou - own.iou) <= 1e-09"): (
        "no two thresholds are exactly so far apart"
    ),
    ("analysis/objects/object_filter.py", "_found_by", "-1 → -2"): "no kind has a code below 0",
    ("analysis/objects/object_pages.py", "object_place", "mine[0] → mine[-1]"): "an object stands in one place",
    ("analysis/objects/object_pages.py", "objects", "group[0] → group[-1]"): "there is one",
    ("analysis/objects/operating_point.py", "_of_kind", "-1 → -2"): "no kind has a code below 0",
    ("analysis/cases/case_pages.py", "failing", "worst_first=True → worst_first=False"): "it takes no order from there",
    ("analysis/leaderboard/leaderboard.py", "relative_goodness", "default=0.0 → default=1.0"): "there is no value then",
    ("analysis/objects/segments.py", "segments", "-1 → -2"): "right pixels have a code below 0",
    ("analysis/objects/segments.py", "segments", "codes >= 0 → codes > 0"): "0 would be the first label for itself",
    ("analysis/objects/segments.py", "segments", "codes >= 0 → codes >= 1"): "0 would be the first label for itself",
    ("analysis/findings/insights.py", "_accuracy", "len(scored) < 2 → len(scored) < 1"): "one is tied with all others",
    ("analysis/labels/human_labels.py", "HumanLabels.ties", "self.given > 0 → self.given > 1"): "one label is no tie",
    ("analysis/summary.py", "_dimensions", "one.name == name → one.name != name"): "what has no metric has no value",
    ("analysis/cases/threshold_outcomes.py", "shares_passed", "means * sign → means / sign"): "it is 1 or -1",
    ("analysis/leaderboard/headline.py", "Headline.sentence", "self.models[0] → self.models[1]"): (
        "where no model leads all have as many wins"
    ),
    (
        "analysis/labels/corrected_means.py",
        "_translated",
        "column.high - column.low → column.high + column.low",
    ): "finite where both ends are",
    ("analysis/slices/topics.py", "clustered", "-1 → -0"): "where all vectors are in the first cluster they stay there",
    ("analysis/leaderboard/case_sums.py", "score_blocks", "models[0] → models[-1]"): "there is one",
    ("analysis/findings/model_insights.py", "hardest_of_one", "run.models[0] → run.models[-1]"): "there is one",
    ("analysis/labels/calibrate.py", "chosen_criterion", "asked[0] → asked[-1]"): "there is one",
    ("analysis/leaderboard/distributions.py", "distributions", "high - low → high + low"): "finite where both ends are",
    ("stats/classification/ranked_precision.py", "average_precision", "found += 1 → found -= 1"): (
        "sum and count change their signs together"
    ),
    ("stats/draws.py", "", "1 << 22 → 1 >> 22"): AT_ONCE,
    ("stats/model_ranking.py", "", "1 << 18 → 1 >> 18"): AT_ONCE,
    ("stats/model_ranking.py", "", "1 << 18 → 2 << 18"): AT_ONCE,
    ("stats/model_ranking.py", "compare_pairs", "CELLS // max(1, len(values)) → CELLS * max(1, len(values))"): AT_ONCE,
    ("stats/paired_tests.py", "mcnemar_mid_p", "initial=0 → initial=-1"): "without pairs no logarithm is needed",
    ("stats/paired_tests.py", "mcnemar_mid_p", "np.maximum(at, 0) → np.maximum(at, -1)"): "terms below 0 are left out",
    (
        "stats/paired_tests.py",
        "mcnemar_mid_p",
        "np.minimum(m, 6 * np.sqrt(n) + 20) → np.maximum(m, 6 * np.sqrt(n) + 20)",
    ): ("the terms after those that count are 0"),
    ("stats/paired_tests.py", "mcnemar_mid_p", "reach + 1 → reach + 2"): "the next term of the sum is 0",
    (
        "stats/paired_tests.py",
        "resample_tests",
        "np.where(count[:, None] > 0, samples, 0.0) → np.where(count[:, None] > 0, samples, -1.0)",
    ): "equal values, whichever, do not vary",
    (
        "stats/rater_agreement.py",
        "_ranks",
        "times.cumsum(axis=1) - times / 2 + 0.5 → times.cumsum(axis=1) - times / 2 - 0.5",
    ): "ranks are centred before they are correlated",
    ("stats/resample_intervals.py", "resample_interval", "np.maximum(low, 0.0) → np.maximum(low, -1.0)"): (
        "the lower end is at least 0 but for rounding"
    ),
    ("stats/slice_search.py", "_Grid.__init__", "second < 0 → second < 1"): "the first set of all is second to none",
    ("stats/slice_search.py", "_in_threads", "threadpool_limits(1, 'blas') → threadpool_limits(2, 'blas')"): (
        "threads decide how fast, not what is found"
    ),
    ("stats/slice_search.py", "detectable", "abs(skew) >= FLAT → abs(skew) > FLAT"): "no skewness is exactly FLAT",
    (
        "vision/bitmaps.py",
        "mask_geojson",
        "_doubled_area(ring) > 0 → _doubled_area(ring) > -1",
    ): "a hole has −2 or less",
    ("vision/compiled/box_matching.py", "box_pairs", "x2 > x and y2 > y → x2 > x or y2 > y"): FILTER,
    (
        "vision/compiled/box_matching.py",
        "box_pairs",
        "solid & (x2 > left[j]) & (right[j] > x) → solid & (x2 > left[j]) | (right[j] > x)",
    ): FILTER,
    ("vision/compiled/coco_records.py", "_key", "i > begin + np.uint64(16) → i >= begin + np.uint64(16)"): (
        "no key that is looked for has 16 characters"
    ),
    (
        "vision/compiled/jit.py",
        "_Linked.__call__",
        "(0, 0, one.size, one.itemsize, one.ctypes.data, *one.shape, *one.strides) → "
        "(0, -1, one.size, one.itemsize, one.ctypes.data, *one.shape, *one.strides)",
    ): "no loop reads an array's parent",
    ("vision/compiled/mask_runs.py", "_union", "one[a] <= two[b] → one[a] < two[b]"): "runs with one begin are joined",
    ("vision/compiled/mask_runs.py", "draw", "2 * most → 3 * most"): "more room than is needed",
    ("vision/rle.py", "box", "-1.0 → -2.0"): "anything below the first column",
    ("vision/coco_columns.py", "codes_of", "high - low → high + low"): "table and search find the same places",
    ("vision/coco_columns.py", "codes_of", "len(values) + len(known) → len(values) - len(known)"): (
        "table and search find the same places"
    ),
}
