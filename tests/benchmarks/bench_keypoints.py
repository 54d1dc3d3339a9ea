"""Keypoint summary compared with pycocotools at the size of COCO's validation set, on the same data in one process.

    python -m tests.benchmarks.bench_keypoints [--images 5000] [--rounds 3]

Some 11,000 poses of 17 key points and 60,000 predictions; both are given what they compute from, without reading files,
and the medians of processor time are compared: of the ten numbers alone, and with 500 half-samples for their intervals.
"""

import itertools

import numpy as np

from tests.benchmarks.table import Row, options, report, versions
from tests.benchmarks.timing import largest_difference, timed, unseen
from tests.evaluators.detected import pick, run
from tests.evaluators.test_keypoints import suite_and_outputs
from tests.vision.keypoint_oracle import NAMES, coco_poses, random_poses


def main() -> None:
    given = options(__doc__, images=5_000, rounds=3)
    scene = random_poses(np.random.default_rng(0), images=given.images, most=5)
    scene = (scene[0], scene[1], [row | {"score": row["score"] / copy} for copy in (1, 2, 3) for row in scene[2]])
    suite, outputs = suite_and_outputs(scene)
    run("keypoint_summary", suite, outputs, resamples=5)  # compiled before
    peer, expected = timed(lambda: coco_poses(*scene), given.rounds)
    turns = itertools.count()
    own, found = timed(lambda: run("keypoint_summary", unseen(suite, next(turns)), outputs), given.rounds)
    whole, _ = timed(lambda: run("keypoint_summary", unseen(suite, next(turns)), outputs, resamples=500), given.rounds)
    difference = largest_difference(
        {name: pick(found, name).value for name in NAMES}, dict(zip(NAMES, expected, strict=True))
    )
    what = f"COCO's ten numbers of {given.images:,} images, {len(scene[2]):,} poses"
    peer_name = versions("pycocotools")
    rows = [
        Row(f"{what}: processor time", own, "s", peer, peer_name, least=10),
        Row(f"{what}: with 500 half-samples", whole, "s", peer, f"{peer_name}, without intervals", least=1),
        Row(f"{what}: largest difference", difference, "", most=1e-12),
    ]
    report(rows)


if __name__ == "__main__":
    main()
