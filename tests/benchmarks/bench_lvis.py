"""LVIS's numbers of boxes and of masks beside the lvis package's, at the size of COCO's validation set.

    python -m tests.benchmarks.bench_lvis [--images 5000] [--classes 1203] [--kinds bbox segm] [--peers PYTHON]

5,000 images with 36,000 ground truths and 290,000 predictions; each image has a list of 20 classes that it lacks and of
two of which more are there. Masks are blobs of 40 corners as run lengths. Processor time from data in memory to the
thirteen numbers. lvis (pip install lvis) is not among the requirements: PYTHON is an interpreter that has it, of this
version of Python.
"""

import argparse
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from metrics.core.classes import ClassFacts
from metrics.core.suite import STRINGS, Outputs, Suite
from tests.benchmarks.coco_scene import HEIGHT, WIDTH, coco_records, coco_scene, mask_records, tables
from tests.benchmarks.table import Row, add_packages, peers, report
from tests.benchmarks.timing import largest_difference, timed, unseen
from tests.evaluators.detected import pick, run
from tests.evaluators.lvis_package import lvis_evaluation, lvis_package_numbers, with_package_lists

LACKING, MORE = 20, 2  # classes listed for each image
KINDS = {"bbox": "boxes", "segm": "masks"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=5_000)
    parser.add_argument("--classes", type=int, default=1_203)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=[*KINDS])
    parser.add_argument("--peers", metavar="PYTHON", default=sys.executable)
    given = parser.parse_args()
    if "lvis" not in peers(given.peers, "lvis"):
        return
    add_packages(given.peers)
    scene = coco_scene(given.images, given.classes)
    scene["crowd"][:] = False
    rng = np.random.default_rng(1)
    lists = rng.integers(0, given.classes, (given.images, LACKING + MORE))
    counts = rng.choice([3, 50, 500], given.classes).tolist()
    report([row for kind in given.kinds for row in rows(kind, scene, lists, counts)])


def rows(kind: str, scene: dict[str, Any], lists: Any, counts: list[int]) -> list[Row]:
    truth, results = (coco_records if kind == "bbox" else mask_records)(scene)
    suite, outputs = federated(scene, lists, counts)
    if kind == "segm":
        suite, outputs = with_masks(suite, outputs, truth, results)
    few = replace(suite, cases=suite.cases[:5], annotations=suite.annotations[:0])
    run(
        "lvis_summary", few, replace(outputs, outputs=outputs.outputs[:5], predictions=outputs.predictions[:5])
    )  # compiled
    again = unseen(suite, 1)
    seconds, ours = timed(lambda: run("lvis_summary", suite, outputs))
    more, _ = timed(lambda: run("lvis_summary", again, outputs, resamples=500))
    lists = zip(lists[:, :LACKING].tolist(), lists[:, LACKING:].tolist(), strict=True)
    evaluation = lvis_evaluation(with_package_lists(truth, lists, counts), results, kind)
    theirs, expected = timed(lambda: lvis_package_numbers(evaluation))
    difference = largest_difference({name: pick(ours, name).value for name in expected}, expected)
    what = f"LVIS's numbers of {len(suite):,} images, {len(counts):,} classes, {len(results):,} {KINDS[kind]}"
    return [
        Row(f"{what}: processor time", seconds, "s", theirs, "lvis 0.5.3", least=10),
        Row(f"{what}: with 500 half-samples", more, "s", theirs, "lvis 0.5.3, without intervals", least=1),
        Row(f"{what}: largest difference", difference, "", most=1e-12),
    ]


def federated(scene: dict[str, Any], lists: Any, counts: list[int]) -> tuple[Suite, Outputs]:
    """The boxes of a scene with the lists of its images and the frequencies of its classes."""
    suite, outputs = tables(scene)
    cases = suite.cases
    for name, part in (("negative_labels", lists[:, :LACKING]), ("not_exhaustive_labels", lists[:, LACKING:])):
        cases = with_column(cases, name, pa.array(part.astype(str).tolist(), STRINGS))
    facts = {str(label): ClassFacts(images=count) for label, count in enumerate(counts)}
    return replace(suite, cases=cases, classes=facts), outputs


def with_masks(suite: Suite, outputs: Outputs, truth: dict[str, Any], results: list[Any]) -> tuple[Suite, Outputs]:
    cases = suite.cases
    for name, side in (("image_height", HEIGHT), ("image_width", WIDTH)):
        cases = with_column(cases, name, pa.array(np.full(len(cases), side), pa.int32()))
    texts = [
        pa.array([record["segmentation"]["counts"] for record in records])
        for records in (truth["annotations"], results)
    ]
    annotations = with_column(suite.annotations, "rle", texts[0])
    return (
        replace(suite, cases=cases, annotations=annotations),
        replace(outputs, predictions=with_column(outputs.predictions, "rle", texts[1])),
    )


def with_column(table: Any, name: str, values: pa.Array) -> Any:
    place = table.schema.get_field_index(name)
    return table.set_column(place, table.schema.field(place), pa.chunked_array([values]))


if __name__ == "__main__":
    main()
