"""One evaluator of COCO files in a process of its own: its times, its peak memory and its twelve numbers as JSON.

    python tests/benchmarks/coco_job.py NAME bbox|segm GROUND_TRUTH RESULTS CALLS

It needs nothing but the evaluator, so an interpreter that has only the peers can run it.
"""

import contextlib
import importlib
import io
import json
import sys
import time
from pathlib import Path

MODULES = {
    "hotcoco": "hotcoco", "ultrafast-pycocotools": "ultrafast_pycocotools", "faster-coco-eval": "faster_coco_eval",
    "pycocotools": "pycocotools",
}  # fmt: skip


def run(name: str, iou_type: str, truth: str, results: str) -> list[float]:
    """The twelve numbers, from the files."""
    if name == "assay":
        from metrics import coco_summary

        values = coco_summary(truth, results, iou_type=iou_type).values.values()
        return [-1.0 if value is None else value for value in values]
    module = importlib.import_module(MODULES[name])
    if name == "pycocotools":
        kinds = (
            importlib.import_module("pycocotools.coco").COCO,
            importlib.import_module("pycocotools.cocoeval").COCOeval,
        )
    else:
        kinds = module.COCO, getattr(module, "COCOeval_faster", None) or module.COCOeval
    with contextlib.redirect_stdout(io.StringIO()):
        coco = kinds[0](truth)
        evaluation = kinds[1](coco, coco.loadRes(results), iou_type)
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return [float(value) for value in evaluation.stats[:12]]


def peak_memory() -> float:
    """The process's own peak in MB: what getrusage has is inherited from the parent."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def main() -> None:
    name, iou_type, truth, results, calls = sys.argv[1:]
    times = []
    for _ in range(int(calls)):
        start = time.perf_counter()
        numbers = run(name, iou_type, truth, results)
        times.append(time.perf_counter() - start)
    print(json.dumps({"times": times, "memory": peak_memory(), "numbers": numbers}))


if __name__ == "__main__":
    main()
