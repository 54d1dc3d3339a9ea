"""Time of our mask evaluation beside pycocotools' on one made-up data set of run lengths.

    python -m tests.benchmarks.bench_masks [--images 1000] [--pycocotools]

1,000 images are 58,000 predicted and 7,000 true masks of 80 classes in images of 640 × 480. Both sides start from
what their reader leaves in memory, run lengths as text: ours from columns, pycocotools from records, which it indexes.
"""

import argparse
import contextlib
import io
import os
import resource
from typing import Any

import numpy as np
import pyarrow as pa

from metrics.evaluators.detection.coco_summary import CocoSummaryParameters, coco_summary
from metrics.evaluators.detection.matched import read_scene
from metrics.kernels.compiled import warm_up
from metrics.kernels.masks import Shapes, draw, encode
from metrics.kernels.matching import match
from metrics.kernels.precision_recall import accumulate, mean_known
from metrics.suite import ANNOTATIONS, CASES, OUTPUTS, PREDICTIONS, Outputs, Suite, conform
from tests.benchmarks.bench_detection import timed
from tests.benchmarks.coco_scene import coco_scene

HEIGHT, WIDTH = 480, 640
CORNERS = 40


def main() -> None:
    """Parse the command line, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=1_000)
    parser.add_argument("--pycocotools", action="store_true")
    given = parser.parse_args()
    timed("compile or load the kernels", warm_up, 1)
    scene = coco_scene(images=given.images)
    truth, predicted = run_lengths(scene, "truth", 0.05, 1), run_lengths(scene, "prediction", 0.15, 2)
    runs = sum(len(text) for text in predicted) / max(1, len(predicted))
    print(
        f"{given.images:,} images, {len(truth):,} true and {len(predicted):,} predicted masks of {runs:.0f} characters"
    )

    suite, outputs = tables(scene, truth, predicted)
    timed("run lengths → masks", lambda: draw(Shapes.of(rle=predicted), HEIGHT, WIDTH))
    objects = timed("columns → objects, masks measured", lambda: read_scene(suite, outputs, "mask")).objects
    found = timed("compare and match: 10 IoU thresholds × 4 areas", lambda: match(objects))
    timed("accumulate: precision and recall arrays", lambda: accumulate(objects, found))
    curves = timed("columns → arrays, in all", lambda: evaluate(suite, outputs))
    without = CocoSummaryParameters(resamples=0)
    timed("evaluator coco_summary, first call, no intervals", lambda: coco_summary(suite, outputs, without), 1)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB, {os.cpu_count()} cores")
    if given.pycocotools:
        records = coco_records(scene, truth, predicted)
        expected = timed("pycocotools: index, evaluate, accumulate", lambda: reference(*records), 1).eval
        difference = max(np.abs(getattr(curves, name) - expected[name]).max() for name in ("precision", "recall"))
        print(f"largest difference of the arrays {difference:.1e}; AP {mean_known(curves.precision[..., 0, -1]):.6f}")


def run_lengths(scene: dict[str, Any], side: str, rough: float, seed: int) -> list[str]:
    """A blob of many corners in every box, as compressed run lengths."""
    rng = np.random.default_rng(seed)
    boxes = scene[f"{side}_box"]
    angle = np.linspace(0, 2 * np.pi, CORNERS, endpoint=False)
    reach = 1 - rough * rng.random((len(boxes), CORNERS))
    middle, half = boxes[:, None, :2] + boxes[:, None, 2:] / 2, boxes[:, None, 2:] / 2
    points = middle + half * np.stack([np.cos(angle) * reach, np.sin(angle) * reach], axis=2)
    count = len(boxes)
    rings = np.arange(count + 1)
    shapes = Shapes(boxes, points.ravel(), rings * 2 * CORNERS, rings, np.zeros(0, np.uint8), np.zeros_like(rings))
    return encode(draw(shapes, HEIGHT, WIDTH))


def evaluate(suite: Suite, outputs: Outputs) -> Any:
    """Columns to precision and recall arrays."""
    objects = read_scene(suite, outputs, "mask").objects
    return accumulate(objects, match(objects))


def tables(scene: dict[str, Any], truth: list[str], predicted: list[str]) -> tuple[Suite, Outputs]:
    """The masks as a suite and one model's outputs, without boxes."""
    sides = {"image_height": np.full(scene["images"], HEIGHT), "image_width": np.full(scene["images"], WIDTH)}
    cases = {"case_id": np.arange(scene["images"]).astype(str), **sides}

    def flat(side: str, texts: list[str]) -> dict[str, Any]:
        names = {"case_id": scene[f"{side}_image"].astype(str), "label": scene[f"{side}_class"].astype(str)}
        return {**names, "rle": pa.array(texts)}

    annotations = {**flat("truth", truth), "area": scene["truth_area"], "is_crowd": scene["crowd"]}
    model = {"model": np.full(len(predicted), "m"), "prediction_id": np.arange(len(predicted))}
    suite = Suite(
        "bench", "detection", conform(pa.table(cases), CASES), conform(pa.table(annotations), ANNOTATIONS),
        tuple(str(label) for label in range(scene["classes"])),
    )  # fmt: skip
    answered = conform(pa.table({"case_id": cases["case_id"], "model": np.full(scene["images"], "m")}), OUTPUTS)
    predictions = conform(pa.table({**flat("prediction", predicted), **model, "score": scene["score"]}), PREDICTIONS)
    return suite, Outputs(answered, predictions)


def coco_records(scene: dict[str, Any], truth: list[str], predicted: list[str]) -> tuple[dict[str, Any], list[Any]]:
    """The same as COCO ground truth and results."""
    size = [HEIGHT, WIDTH]

    def records(side: str, texts: list[str], **more: Any) -> list[dict[str, Any]]:
        names = ("image_id", "category_id", *more)
        columns = (scene[f"{side}_image"].tolist(), scene[f"{side}_class"].tolist(), *more.values())
        return [
            dict(zip(names, row, strict=True)) | {"id": index + 1, "segmentation": {"size": size, "counts": text}}
            for index, (*row, text) in enumerate(zip(*columns, texts, strict=True))
        ]

    more = {"area": scene["truth_area"].tolist(), "iscrowd": scene["crowd"].astype(int).tolist()}
    document = {
        "info": {},
        "images": [{"id": image, "height": HEIGHT, "width": WIDTH} for image in range(scene["images"])],
        "categories": [{"id": label, "name": str(label)} for label in range(scene["classes"])],
        "annotations": records("truth", truth, **more),
    }
    return document, records("prediction", predicted, score=scene["score"].tolist())


def reference(truth: dict[str, Any], results: list[Any]) -> Any:
    """The arrays of pycocotools."""
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO()
        coco.dataset = truth
        coco.createIndex()
        run = COCOeval(coco, coco.loadRes(results), "segm")
        run.evaluate()
        run.accumulate()
    return run


if __name__ == "__main__":
    main()
