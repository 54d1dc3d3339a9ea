"""COCO's twelve numbers compared with the fastest peers: every documented ratio, from one interleaved run.

    python -m tests.benchmarks.bench_coco [--peers PYTHON] [--rounds 5] [--tenfold] [--slow]

The data set is COCO's validation set in size: 5,000 images, 36,000 ground truths, 290,000 predictions, 80 classes; for
masks 1,000 images with 58,000 predicted run lengths. Every evaluator runs in fresh processes, in turns; figures are
medians over rounds. The peers (pip install hotcoco ultrafast-pycocotools faster-coco-eval) are not among the
requirements: PYTHON is an interpreter that has them, by default this one. --slow adds pycocotools and faster-coco-eval,
once each; --tenfold ten times the data.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from metrics.core.suite import Outputs, Suite
from tests.benchmarks import table
from tests.benchmarks.coco_job import MODULES
from tests.benchmarks.coco_scene import coco_records, coco_scene, mask_records, tables
from tests.benchmarks.timing import timed

JOB = Path(__file__).with_name("coco_job.py")
PROJECT = Path(__file__).parents[2]
FAST = ("hotcoco", "ultrafast-pycocotools")
SLOW = ("faster-coco-eval", "pycocotools")
WARM_UP = [sys.executable, "-m", "metrics", "warm-up"]
CALLS = 7


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--tenfold", action="store_true")
    parser.add_argument("--parts", nargs=1, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.parts:
        print(json.dumps(parts(given.images)))
        return
    versions = table.peers(given.peers, *MODULES)
    with tempfile.TemporaryDirectory() as folder:
        cold = cold_start(Path(folder))
        subprocess.run(WARM_UP, cwd=PROJECT, check=True, capture_output=True)
        boxes = write(Path(folder) / "boxes", *coco_records(coco_scene(given.images)))
        masks = write(Path(folder) / "masks", *mask_records(coco_scene(given.images // 5)))
        found = rounds(given, versions, boxes, masks)
        rows = ratios(found, versions)
        if given.tenfold:
            large = write(Path(folder) / "large", *coco_records(coco_scene(10 * given.images)))
            ours = min(job(given.peers, "assay", "bbox", large, 2)["times"])
            theirs = {min(job(given.peers, name, "bbox", large, 2)["times"]): name for name in FAST if name in versions}
            if theirs:
                fastest = min(theirs)
                title = "COCO, ten times the boxes: JSON to twelve numbers, warm process"
                rows.append(table.Row(title, ours, "s", fastest, versions[theirs[fastest]], most=1.0))
    table.report([*rows, table.Row("detection with a cold compiled cache (metrics warm-up)", cold, "s", most=20)])


def rounds(
    given: argparse.Namespace, versions: dict[str, str], boxes: Path, masks: Path
) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Return the records of every evaluator and kind of object: of one call each, then of CALLS, round by round."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    fast = ["assay", *(name for name in FAST if name in versions)]
    for _ in range(given.rounds):
        for iou_type, data in (("bbox", boxes), ("segm", masks)):
            for name in fast:
                for calls in (1, CALLS):
                    found.setdefault((name, iou_type), []).append(job(given.peers, name, iou_type, data, calls))
        found.setdefault(("assay", "parts"), []).append(own_parts(given.images))
    for name in SLOW if given.slow else ():
        if name in versions:
            for iou_type, data in (("bbox", boxes), ("segm", masks)):
                found[name, iou_type] = [job(given.peers, name, iou_type, data, 1)]
    return found


def job(python: str, name: str, iou_type: str, data: Path, calls: int) -> dict[str, Any]:
    """Run one process and return its record with the wall time of the whole."""
    interpreter = sys.executable if name == "assay" else python
    command = [interpreter, str(JOB), name, iou_type, f"{data}_truth.json", f"{data}_results.json", str(calls)]
    environment = os.environ | {"PYTHONPATH": str(PROJECT)}
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, check=True, env=environment)
    return json.loads(done.stdout) | {"wall": time.perf_counter() - start}


def own_parts(images: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.benchmarks.bench_coco", "--images", str(images), "--parts", "yes"]
    done = subprocess.run(command, capture_output=True, check=True, cwd=PROJECT)
    return json.loads(done.stdout.splitlines()[-1])


def parts(images: int) -> dict[str, float]:
    """Return seconds of what follows the reading: other summaries of stored columns, the bootstrap, all evaluators."""
    from metrics.core.registry import evaluators
    from metrics.evaluators.detection._matched import scene_of
    from metrics.library.coco import CocoData
    from metrics.stats.bootstrap import draw_weights
    from metrics.vision.image_resampling import resample
    from metrics.vision.matching import match
    from metrics.vision.objects import prepare
    from metrics.vision.precision_recall import Ranking

    scene = coco_scene(images)
    data = CocoData(prepare(**scene), tuple(str(label) for label in range(scene["classes"])))
    data.summary()
    found = {
        "another IoU grid": best(lambda: data.summary(iou_thresholds=np.linspace(0.3, 0.75, 10).tolist())),
        "another maxDets": best(lambda: data.summary(max_dets=(1, 10, 300))),
    }
    matches = match(data.objects)
    ranking = Ranking.of(data.objects, matches)

    found["bootstrap"] = best(lambda: resample(ranking, draw_weights(np.arange(images, dtype=np.int32), 1_000)), 1)
    of_boxes = [entry for entry in evaluators().values() if "detection" in entry.tasks and entry.id != "boundary_ap"]

    def evaluate(suite: Suite, outputs: Outputs, **parameters: int) -> None:
        for entry in of_boxes:
            known = {name: value for name, value in parameters.items() if name in entry.parameters.model_fields}
            entry(suite, outputs, entry.parameters(**known))

    evaluate(*tables(coco_scene(10)), resamples=0)  # the process is warm, the data set is new to it
    suite, outputs = tables(scene)
    scene_of(suite, outputs)
    for what, parameters in (("evaluators", {"resamples": 0}), ("evaluators with intervals", {})):
        found[what] = best(lambda given=parameters: evaluate(suite, outputs, **given), 1)
    return found


def best(work: Callable[[], Any], repeats: int = 5) -> float:
    return timed(work, repeats, time.perf_counter)[0]


def cold_start(folder: Path) -> float:
    """Return the seconds that the warm-up of the set-up takes when nothing is compiled yet."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder / "cache")}
    return best(lambda: subprocess.run(WARM_UP, cwd=PROJECT, check=True, capture_output=True, env=environment), 1)


def write(place: Path, truth: dict[str, Any], results: list[dict[str, Any]]) -> Path:
    """Write the two documents and return the part that their names share."""
    Path(f"{place}_truth.json").write_text(json.dumps(truth))
    Path(f"{place}_results.json").write_text(json.dumps(results))
    return place


def warm(records: list[dict[str, Any]]) -> float:
    """Return the median over rounds of the median call in a warm process."""
    return statistics.median(statistics.median(r["times"][1:]) for r in records if len(r["times"]) > 1)


def fresh(records: list[dict[str, Any]], key: str = "wall") -> float:
    """Return the median over rounds of a process with one call: seconds, or megabytes under "memory"."""
    return statistics.median(r[key] for r in records if len(r["times"]) == 1)


def ratios(found: dict[tuple[str, str], list[dict[str, Any]]], versions: dict[str, str]) -> list[table.Row]:
    """Print the figures of each evaluator; return the rows beside the fastest peer."""
    print(f"\n{'':<24}{'objects':<9}{'warm s':>9}{'fresh s':>9}{'peak MB':>9}{'difference':>12}")
    for (name, kind), records in found.items():
        if kind == "parts":
            continue
        numbers = np.array(found["assay", kind][0]["numbers"])
        off = np.abs(np.array(records[0]["numbers"]) - numbers).max()
        again = f"{warm(records):9.3f}" if len(records) > 1 else f"{'':>9}"
        print(f"{name:<24}{kind:<9}{again}{fresh(records):9.3f}{fresh(records, 'memory'):9.0f}{off:12.0e}")
    rows = []
    parts = found["assay", "parts"]
    for kind, what, limit in (("bbox", "boxes", 0.6), ("segm", "masks", 1.5)):
        ours, rivals = found["assay", kind], [name for name in FAST if (name, kind) in found]
        if not rivals:
            continue
        name = min(rivals, key=lambda name: warm(found[name, kind]))
        fastest, of = found[name, kind], versions[name]
        words = "COCO's twelve numbers from JSON" if kind == "bbox" else ""
        title = f"COCO {what}: JSON to twelve numbers, warm process"
        rows.append(table.Row(title, warm(ours), "s", warm(fastest), of, most=limit, readme=words))
        if kind == "segm":
            continue
        title = "COCO boxes: fresh process, imports included"
        rows.append(table.Row(title, fresh(ours), "s", fresh(fastest), of, most=2.6))
        title = "COCO boxes: peak memory of the fresh process"
        rows.append(table.Row(title, fresh(ours, "memory"), "MB", fresh(fastest, "memory"), of, most=2))
        for part, (title, most) in PARTS.items():
            taken = statistics.median(entry[part] for entry in parts)
            rows.append(table.Row(title, taken, "s", warm(fastest), of, most=most))
    for kind, what, least in (("bbox", "boxes", 60), ("segm", "masks", 12)):
        if ("pycocotools", kind) in found:
            title, of = f"COCO {what}: JSON to twelve numbers, beside pycocotools", versions["pycocotools"]
            taken = found["pycocotools", kind][0]["times"][0]
            rows.append(table.Row(title, warm(found["assay", kind]), "s", taken, of, least=least))
    return rows


PARTS = {  # what follows the reading, and how many times the peer's warm process it may take
    "another IoU grid": ("COCO boxes from stored columns: another IoU grid", 0.5),
    "another maxDets": ("COCO boxes from stored columns: another maxDets", 0.5),
    "evaluators": ("COCO boxes: all detection evaluators with stored matches", 1.6),
    "evaluators with intervals": ("COCO boxes: all detection evaluators with their intervals", None),
    "bootstrap": ("COCO boxes: bootstrap of mAP, 1,000 resamples", 10),
}


if __name__ == "__main__":
    main()
