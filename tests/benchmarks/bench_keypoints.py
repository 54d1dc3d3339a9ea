"""Keypoint summary compared with pycocotools at the size of COCO's validation set, on the same data in one process.

    python -m tests.benchmarks.bench_keypoints [--images 5000] [--rounds 3]

Some 11,000 poses of 17 key points and 60,000 predictions; both are given what they compute from, without reading files,
and the medians of processor time are compared: of the ten numbers alone, and with 500 half-samples for their intervals.
"""

import argparse
import itertools
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from metrics.core.evaluator import Findings
from tests.benchmarks.table import Row, report, versions
from tests.benchmarks.timing import unseen
from tests.evaluators.detected import pick, run
from tests.evaluators.test_keypoints import suite_and_outputs
from tests.vision.keypoint_oracle import NAMES, coco_poses, random_poses


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    scene = random_poses(np.random.default_rng(0), images=given.images, most=5)
    scene = (scene[0], scene[1], [row | {"score": row["score"] / copy} for copy in (1, 2, 3) for row in scene[2]])
    suite, outputs = suite_and_outputs(scene)
    run("keypoint_summary", suite, outputs, resamples=5)  # compiled before
    peer, expected = timed(lambda: coco_poses(*scene), given.rounds)
    turns = itertools.count()
    own, found = timed(lambda: run("keypoint_summary", unseen(suite, next(turns)), outputs), given.rounds)
    whole, _ = timed(lambda: run("keypoint_summary", unseen(suite, next(turns)), outputs, resamples=500), given.rounds)
    what = f"COCO's ten numbers of {given.images:,} images, {len(scene[2]):,} poses"
    peer_name = versions("pycocotools")
    report(
        [
            Row(f"{what}: processor time", own, "s", peer, peer_name, least=10),
            Row(f"{what}: with 500 half-samples", whole, "s", peer, f"{peer_name}, without intervals", least=1),
            Row(f"{what}: largest difference", difference(expected, found), "", most=1e-12),
        ]
    )


def timed(work: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """Return the median of the processor time of some calls in seconds, and what the last one returns."""
    times, result = [], None
    for _ in range(rounds):
        start = time.process_time()
        result = work()
        times.append(time.process_time() - start)
    return statistics.median(times), result


def difference(expected: list[float | None], findings: Findings) -> float:
    """Return the largest difference of the ten numbers; infinite where one side has no value."""
    values = [pick(findings, name).value for name in NAMES]
    if [value is None for value in values] != [value is None for value in expected]:
        return float("inf")
    return max(abs(a - b) for a, b in zip(values, expected, strict=True) if a is not None and b is not None)


if __name__ == "__main__":
    main()
