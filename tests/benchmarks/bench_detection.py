"""Time of our detection evaluation beside pycocotools' on one made-up data set.

    python -m tests.benchmarks.bench_detection [--images 5000] [--pycocotools] [--resamples 1000]

5,000 images are COCO's validation set in size (36k ground truths, 290k predictions, 80 classes). pycocotools takes half
a minute and a gigabyte there, so it runs only when asked for; it is timed without reading JSON, as ours is.
"""

import argparse
import contextlib
import io
import os
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from metrics.evaluators.detection import average_precision, average_recall, coco_summary, detection_pr_curve
from metrics.kernels.compiled import warm_up
from metrics.kernels.matching import match
from metrics.kernels.objects import prepare
from metrics.kernels.outcomes import outcomes
from metrics.kernels.precision_recall import Ranking, accumulate, mean_known
from metrics.kernels.resampling import draw_weights, resample
from metrics.suite import ANNOTATIONS, CASES, OUTPUTS, PREDICTIONS, Outputs, Suite, conform
from tests.benchmarks.coco_scene import coco_records, coco_scene

REPEATS = 3


def timed(name: str, work: Callable[[], Any], repeats: int = REPEATS) -> Any:
    """Run `work` and print its best time; its last result."""
    best, result = float("inf"), None
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    print(f"{name:<52} {best * 1000:9.1f} ms")
    return result


def main() -> None:
    """Parse the command line, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=5_000)
    parser.add_argument("--classes", type=int, default=80)
    parser.add_argument("--resamples", type=int, default=1_000)
    parser.add_argument("--pycocotools", action="store_true")
    given = parser.parse_args()
    scene = coco_scene(images=given.images, classes=given.classes)
    print(f"{given.images:,} images, {len(scene['truth_image']):,} ground truths, {len(scene['score']):,} predictions")
    timed("compile or load the kernels", warm_up, 1)

    objects = timed("sort the columns", lambda: prepare(**scene))
    found = timed("match: 10 IoU thresholds × 4 areas", lambda: match(objects))
    curves = timed("accumulate: precision and recall arrays", lambda: accumulate(objects, found))
    timed("columns → arrays, in all", lambda: evaluate(scene))
    timed("kinds of every prediction and ground truth", lambda: outcomes(objects, found, 0.5))
    weights = draw_weights(np.arange(objects.images, dtype=np.int32), given.resamples)
    ranking = Ranking.of(objects, found)
    timed(f"bootstrap of mAP, {given.resamples:,} resamples", lambda: resample(objects, found, ranking, weights), 1)

    suite, outputs = tables(scene)
    for entry in (coco_summary, average_precision, average_recall, detection_pr_curve):
        evaluator = getattr(entry, entry.__name__.rpartition(".")[2])
        timed(f"evaluator {evaluator.id}, defaults", lambda e=evaluator: e(suite, outputs, e.parameters()), 1)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB, {os.cpu_count()} cores")
    if given.pycocotools:
        expected = timed("pycocotools: index, evaluate, accumulate", lambda: reference(scene), 1)
        difference = max(np.abs(getattr(curves, name) - expected[name]).max() for name in ("precision", "recall"))
        print(f"largest difference of the arrays {difference:.1e}; AP {mean_known(curves.precision[..., 0, -1]):.6f}")


def evaluate(scene: dict[str, Any]) -> Any:
    """Columns to precision and recall arrays."""
    objects = prepare(**scene)
    return accumulate(objects, match(objects))


def tables(scene: dict[str, Any]) -> tuple[Suite, Outputs]:
    """The scene as a suite and one model's outputs."""
    import pyarrow as pa

    def boxes(side: str) -> dict[str, Any]:
        corners = dict(zip(("x", "y", "width", "height"), scene[f"{side}_box"].T.copy(), strict=True))
        names = {"case_id": scene[f"{side}_image"].astype(str), "label": scene[f"{side}_class"].astype(str)}
        return {**names, **corners}

    cases = {"case_id": np.arange(scene["images"]).astype(str)}
    truth = {**boxes("truth"), "area": scene["truth_area"], "is_crowd": scene["crowd"]}
    model = {"model": np.full(len(scene["score"]), "m"), "prediction_id": np.arange(len(scene["score"]))}
    suite = Suite(
        "bench", "detection", conform(pa.table(cases), CASES), conform(pa.table(truth), ANNOTATIONS),
        tuple(str(label) for label in range(scene["classes"])),
    )  # fmt: skip
    answered = conform(pa.table({**cases, "model": np.full(scene["images"], "m")}), OUTPUTS)
    predicted = conform(pa.table({**boxes("prediction"), **model, "score": scene["score"]}), PREDICTIONS)
    return suite, Outputs(answered, predicted)


def reference(scene: dict[str, Any]) -> Any:
    """The arrays of pycocotools."""
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    truth, results = coco_records(scene)
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO()
        coco.dataset = truth
        coco.createIndex()
        run = COCOeval(coco, coco.loadRes(results), "bbox")
        run.evaluate()
        run.accumulate()
    return run.eval


if __name__ == "__main__":
    main()
