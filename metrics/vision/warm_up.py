"""Compiling every loop ahead of its first use, as set-up does: seconds now, milliseconds ever after."""

import numpy as np

from metrics.vision import (
    image_resampling,
    keypoints,
    masks,
    matching,
    object_confusion,
    objects,
    outcomes,
    panoptic,
    precision_recall,
    segmentation,
)


def warm_up(part: int | None = None) -> None:
    """Compile every loop, or one of PARTS, and keep them on disk."""
    for compile_part in PARTS if part is None else PARTS[part : part + 1]:
        compile_part()


def _compile_matching() -> None:
    box = np.array([[0.0, 0.0, 10.0, 10.0]])
    one = objects.prepare(
        images=1, classes=1, truth_image=[0], truth_class=[0], truth_box=box,
        prediction_image=[0], prediction_class=[0], prediction_box=box, score=[0.5],
    )  # fmt: skip
    found = matching.match(one)
    matching.match_among(one, [0.5], *matching.by_area(one, [(0.0, 1e10)]), nearest=True)
    pairs = outcomes.image_pairs(one, outcomes.LOCALISED)
    outcomes.outcomes(one, found, pairs, 0.5)
    object_confusion.match_any_label(one, pairs, 0.5, 0.5)
    ranking = precision_recall.Ranking.of(one, found)
    precision_recall.precision_at_recalls(ranking, 0, 100)
    for count in (1, 2):  # the data set itself has a loop of its own
        image_resampling.resample(ranking, np.ones((count, 1), np.uint8))
    point = keypoints.Keypoints(np.ones(3), np.array([0, 3], np.int64))
    keypoints.oks_pairs(one, point, point, np.ones(1), [(0.1,)], 0.5)


def _compile_the_rest() -> None:
    from metrics.vision.compiled import coco_records, ranked

    zero, flag = np.zeros(1, np.int32), np.zeros(1, np.uint8)
    drawn = masks.draw(masks.Shapes.of(box=np.array([[0.0, 0.0, 10.0, 10.0]])), 10, 10)
    masks.MaskOverlap(drawn, drawn, np.zeros(1, np.bool_))(zero, zero, 0.0)
    masks.encode(drawn)
    masks.bands_of(drawn, 0.1)
    codes = segmentation.label_map(drawn, 0, 1, zero, 100, 1)
    segmentation.tally(codes, codes, 10, 1, 1)
    segmentation.contour_distances(codes, codes, 10, 1)
    runs = panoptic.SegmentRuns.of(drawn, 0, 1, 100)
    panoptic.match_segments(runs, runs, zero, zero, np.zeros(1, np.bool_))
    number = np.empty(4)
    coco_records.scan_records(flag, coco_records.RESULT, np.empty(2, np.int64), number, number)
    ranked.stand(zero, number, number, number, 1, 1)
    ranked.rank_right(zero, flag, zero, flag, zero, 1)


PARTS = (_compile_matching, _compile_the_rest)  # of about the same length: as many processes compile at once
