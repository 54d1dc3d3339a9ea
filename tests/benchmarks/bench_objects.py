"""The detection evaluators of other benchmarks beside their published definitions, each pair in one process.

    python -m tests.benchmarks.bench_objects [--images 500]

A scene like COCO's, some 58 predictions an image, of its own for each evaluator; masks on a tenth of the images. The
definitions are those that the tests compare with: VOC's and DOTA's development kits and the Open Images challenge, row
after row; pycocotools with boundary-iou-api's overlap, and with a pass over the bins. Processor time from data in
memory; ours without intervals, then with 500 half-samples.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray
from pycocotools import cocoeval, mask as reference
from scipy.ndimage import minimum_filter

from metrics.core.evaluator import Findings
from metrics.core.suite import Outputs, Suite
from metrics.vision.masks import band_distance
from metrics.vision.matching import AREAS, IOU_THRESHOLDS
from tests.benchmarks.coco_scene import coco_scene, mask_records
from tests.benchmarks.table import Row, options, report
from tests.benchmarks.timing import largest_difference, timed, unseen
from tests.evaluators.challenge import challenge_ap
from tests.evaluators.detected import pick, run, suite_and_outputs
from tests.evaluators.test_ap_by_bin import BINS
from tests.evaluators.test_detection_masks import tables
from tests.evaluators.test_open_images_ap import challenge_suite
from tests.evaluators.test_oriented import overlap as outline_iou, ring, tables as oriented_tables
from tests.evaluators.test_voc import voc_suite
from tests.evaluators.voc_kit import voc_eval, voc_iou
from tests.vision.coco_oracle import coco_eval
from tests.vision.mask_oracle import decoded, segm_eval

Numbers = dict[str, float | None]
MASK_IOU = reference.iou
LARGEST = 1e-9  # difference


def main() -> None:
    images = options(__doc__, images=500).images
    report([row for compare in (voc, open_images, oriented, boundary, bins) for row in compare(images)])


def voc(images: int) -> Iterator[Row]:
    """VOC's AP of boxes that end at their last pixel, a fifth of the objects difficult."""
    scene = records(images, 1)
    yield from rows("voc_ap", scene, voc_suite, lambda scene: by_label(scene, voc_iou, 0.5, eleven=False),
                    lambda found: of_labels(found, "ap"), "VOC's definition")  # fmt: skip


def open_images(images: int) -> Iterator[Row]:
    """The challenge's AP: groups, three labels with others below, each image with a list of labels that it lacks."""
    count, classes, truths, predictions = records(images, 2)
    lacking = [[str(label) for label in one] for one in np.random.default_rng(2).integers(0, classes, (count, 20))]
    order = np.random.default_rng(3).permutation(len(predictions)).tolist()  # no ties, which the challenge turns round
    named = [[row | {"label": str(row["label"])} for row in side] for side in (truths, predictions)]
    named[1] = [row | {"score": float(place)} for row, place in zip(named[1], order, strict=True)]
    scene = (count, classes, *named)
    yield from rows("open_images_ap", scene, lambda scene: challenge_suite(scene, lacking),
                    lambda scene: challenge_ap(scene, lacking, 0.5), lambda found: of_labels(found, "ap"),
                    "the challenge's definition")  # fmt: skip


def oriented(images: int) -> Iterator[Row]:
    """DOTA's AP at IoU .5; ours is at nine more."""
    count, classes, truths, predictions = records(images, 3)
    turn = np.random.default_rng(3)

    def turned(row: dict[str, Any]) -> dict[str, Any]:
        x, y, wide, high = row["box"]
        return row | {"box": ring((x + wide / 2, y + high / 2, wide, high, turn.normal(0, 0.1)))}

    scene = (count, classes, *([turned(row) for row in side] for side in (truths, predictions)))
    yield from rows("oriented_ap", scene, lambda scene: oriented_tables(*scene[2:], *scene[:2]),
                    lambda scene: by_label(scene, outline_iou, 0.5, eleven=True),
                    lambda found: of_labels(found, "AP50"), "DOTA's definition")  # fmt: skip


def boundary(images: int) -> Iterator[Row]:
    """Boundary AP of masks."""
    scene = mask_records(coco_scene(max(1, images // 10), seed=4))
    names = {"AP" if area == "all" else f"AP_{area}": place for place, area in enumerate(AREAS)}

    def peer(scene: Any) -> Numbers:
        with mock.patch.object(cocoeval.maskUtils, "iou", boundary_iou):
            found = segm_eval(*scene, IOU_THRESHOLDS, tuple(AREAS.values()), [100]).eval["precision"]
        return {name: mean(found[:, :, :, place]) for name, place in names.items()}

    yield from rows("boundary_ap", scene, lambda scene: tables(*scene), peer,
                    lambda found: {name: pick(found, name).value for name in names},
                    "pycocotools with bands")  # fmt: skip


def bins(images: int) -> Iterator[Row]:
    """AP by bins of area, which pycocotools can have."""
    scene = records(images, 5)

    def peer(scene: Any) -> Numbers:
        found = coco_eval(*scene, IOU_THRESHOLDS, tuple(AREAS.values()), [100]).eval["precision"]
        return {name: mean(found[:, :, :, list(AREAS).index(area)]) for name, area in BINS.items()}

    yield from rows("ap_by_bin", scene, suite_and_outputs, peer,
                    lambda found: {name: pick(found, "AP_bin", bin=name).value for name in BINS}, "pycocotools",
                    )  # fmt: skip


def rows(
    evaluator: str,
    scene: Any,
    suite_of: Callable[[Any], tuple[Suite, Outputs]],
    peer: Callable[[Any], Numbers],
    numbers: Callable[[Findings], Numbers],
    name: str,
) -> Iterator[Row]:
    """Time an evaluator and its peer, and compare their numbers."""
    suite, outputs = suite_of(scene)
    some = suite.cases["case_id"][:2].combine_chunks()
    for resamples in (0, 20):  # compiled before
        run(evaluator, suite.restricted(some), outputs.restricted(case_ids=some), resamples=resamples)
    seconds, found = timed(lambda: run(evaluator, suite, outputs))
    again = unseen(suite, 1)
    more, _ = timed(lambda: run(evaluator, again, outputs, resamples=500))
    theirs, expected = timed(lambda: peer(scene))
    what = f"{evaluator} of {len(suite):,} images, {len(outputs.predictions):,} predictions"
    yield Row(f"{what}: processor time", seconds, "s", theirs, name, least=1)
    yield Row(f"{what}: with 500 half-samples", more, "s", theirs, f"{name}, without intervals", least=1)
    yield Row(f"{what}: largest difference", largest_difference(numbers(found), expected), "", most=LARGEST)


def records(images: int, seed: int) -> Any:
    """A scene as images, classes, ground truths and predictions, one dict each."""
    scene = coco_scene(images, seed=seed)
    difficult = np.random.default_rng(seed).random(len(scene["crowd"])) < 0.2

    def side(name: str, **more: Any) -> list[dict[str, Any]]:
        columns = {
            "image": scene[f"{name}_image"], "label": scene[f"{name}_class"], "box": scene[f"{name}_box"], **more,
        }  # fmt: skip
        return [
            dict(zip(columns, row, strict=True)) for row in zip(*(c.tolist() for c in columns.values()), strict=True)
        ]

    crowd = scene["crowd"] & (seed == 2)  # groups of Open Images; others have none
    truths = side("truth", area=scene["truth_area"], crowd=crowd, difficult=difficult)
    return images, scene["classes"], truths, side("prediction", score=scene["score"])


def by_label(scene: Any, overlap: Callable[[Any, Any], float], iou: float, *, eleven: bool) -> Numbers:
    """VOC's AP of each label."""
    sides: list[dict[int, Any]] = [defaultdict(list), defaultdict(list)]
    for side, found in zip(scene[2:], sides, strict=True):
        for row in side:
            found[row["label"]].append(row)
    return {str(k): voc_eval(sides[0][k], sides[1][k], overlap, iou, eleven) for k in range(scene[1])}


def of_labels(findings: Findings, metric: str) -> Numbers:
    return {row.label: row.value for row in findings.aggregates if row.metric == metric and row.label is not None}


def boundary_iou(predictions: Any, truths: Any, crowd: Any) -> Any:
    """The lesser of the IoU of masks and of their bands."""
    found = MASK_IOU(predictions, truths, crowd)
    if not predictions or not truths:
        return found
    return np.minimum(found, MASK_IOU([*map(band, predictions)], [*map(band, truths)], crowd))


def band(mask: Any) -> Any:
    """The run lengths of a mask's band."""
    pixels: NDArray[np.uint8] = decoded(mask)
    inner = minimum_filter(pixels, 2 * band_distance(*pixels.shape, 0.02) + 1, mode="constant", cval=0)
    return reference.encode(np.asfortranarray(pixels - inner))


def mean(values: NDArray[np.float64]) -> float | None:
    known = values[values > -1]
    return float(known.mean()) if known.size else None


if __name__ == "__main__":
    main()
