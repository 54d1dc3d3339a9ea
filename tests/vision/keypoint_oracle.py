"""pycocotools on poses, and random data sets with everything that goes wrong in real ones."""

import contextlib
import io
from typing import Any

import numpy as np

NAMES = ("AP", "AP50", "AP75", "AP_medium", "AP_large", "AR", "AR50", "AR75", "AR_medium", "AR_large")
Scene = tuple[int, list[dict[str, Any]], list[dict[str, Any]]]


def coco_poses(images: int, truths: list[dict[str, Any]], results: list[dict[str, Any]], sigmas: Any = None) -> Any:
    """The ten numbers of pycocotools, None where it has −1; records are COCO's with `image_id` and `category_id`."""
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO()
        coco.dataset = {
            "info": {}, "images": [{"id": image} for image in range(1, images + 1)],
            "categories": [{"id": 1, "name": "person"}], "annotations": truths,
        }  # fmt: skip
        coco.createIndex()
        found = coco.loadRes([dict(row) for row in results])
        run = COCOeval(coco, found, "keypoints")
        if sigmas is not None:
            run.params.kpt_oks_sigmas = np.asarray(sigmas)
        run.evaluate()
        run.accumulate()
        run.summarize()
    return [None if number == -1 else float(number) for number in run.stats]


def random_poses(rng: np.random.Generator, points: int = 17, images: int = 4, most: int = 4) -> Scene:
    """Poses near the true ones and elsewhere; unlabelled points, poses without any, crowds, ties in score."""
    truths: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for image in range(1, images + 1):
        for _ in range(rng.integers(0, most + 1)):
            corner, size = rng.uniform(0, 300, 2), rng.uniform(8, 250)
            spots = corner + rng.uniform(0, size, (points, 2))
            seen = rng.choice([0, 1, 2], points, p=[0.3, 0.2, 0.5]) * (rng.random() < 0.85)
            pose = np.column_stack([spots * (seen[:, None] > 0), seen])
            truths.append(
                {
                    "id": len(truths) + 1, "image_id": image, "category_id": 1, "keypoints": pose.ravel().tolist(),
                    "num_keypoints": int((seen > 0).sum()), "bbox": [*corner.tolist(), size, size],
                    "area": float(size**2 * rng.uniform(0.3, 1)), "iscrowd": int(rng.random() < 0.1),
                }
            )  # fmt: skip
            for _ in range(rng.integers(0, 3)):
                guess = spots + rng.normal(0, size * rng.choice([0.0, 0.02, 0.06, 0.15, 1.0]), (points, 2))
                results.append(_result(rng, image, guess))
        results += [_result(rng, image, rng.uniform(0, 500, (points, 2))) for _ in range(rng.integers(0, 3))]
    results = results or [_result(rng, 1, rng.uniform(0, 500, (points, 2)))]  # pycocotools reads no empty list
    return images, truths, [results[place] for place in rng.permutation(len(results))]


def _result(rng: np.random.Generator, image: int, spots: Any) -> dict[str, Any]:
    pose = np.column_stack([spots, np.ones(len(spots))]).ravel().tolist()
    return {
        "image_id": image,
        "category_id": 1,
        "keypoints": pose,
        "score": float(rng.choice([0.3, 0.5, rng.random()])),
    }
