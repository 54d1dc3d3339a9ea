"""Detection at scale: N images × 80 classes × 3 models, on this machine's processes and on workers of a scheduler.

    python -m tests.benchmarks.bench_detection_scale [--images N] [--evaluators ID …] [--schedulers none local:2 …]

About 7 ground truths and 58 predictions an image. Printed for each scheduler: seconds from the start of the run to the
sealed tables, processor seconds of all its processes, the largest resident size of its driver and of a worker; then
whether the sealed tables have the same bytes.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa

from metrics import engine
from metrics.core.suite import Outputs, Suite
from metrics.engine.schedulers import NONE, use_scheduler
from metrics.store import Run, Workspace
from tests.benchmarks.coco_scene import coco_scene, tables
from tests.benchmarks.table import Row, report
from tests.benchmarks.timing import children_seconds

MODELS = 3


def main() -> None:
    rows = []
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=100_000)
    parser.add_argument("--evaluators", nargs="+", default=["coco_summary"])
    parser.add_argument("--schedulers", nargs="+", default=[NONE, "local:2"])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(Path(folder))
        suite, outputs = inputs(given.images)
        print(f"{given.images:,} images, {len(suite.annotations):,} ground truths", end=", ")
        print(f"{len(outputs.predictions):,} predictions; {', '.join(given.evaluators)}")
        print(f"{'scheduler':<12}{'run s':>9}{'processor s':>13}{'driver, GB':>12}{'worker, GB':>12}{'store, MB':>11}")
        first, *others = (engine.create(workspace, suite, outputs, given.evaluators) for _ in given.schedulers)
        del suite, outputs
        for run, scheduler in zip([first, *others], given.schedulers, strict=True):
            use_scheduler(run, scheduler)
            seconds, processor, driver, worker = watch(run)
            stored = sum(path.stat().st_size for path in run.folder.rglob("*") if path.is_file())
            print(
                f"{scheduler:<12}{seconds:>9.1f}{processor:>13.1f}{driver / 1e9:>12.2f}{worker / 1e9:>12.2f}"
                f"{stored / 1e6:>11.0f}"
            )
            title = f"{', '.join(given.evaluators)} of {given.images:,} images × {MODELS} models, scheduler {scheduler}"
            rows += [
                Row(f"{title}: time", seconds / 60, "min"),
                Row(f"{title}: largest process", max(driver, worker) / 1e9, "GB"),
            ]
        other = sum(run.manifest["tables"] != first.manifest["tables"] for run in others)
    report([*rows, Row("runs whose sealed tables have other bytes than the first", other, "", most=0)])


def inputs(images: int) -> tuple[Suite, Outputs]:
    """Return a suite and three models, each of which lacks some of the predictions of a scene."""
    suite, whole = tables(coco_scene(images))
    rng = np.random.default_rng(0)
    answered, predicted = [], []
    for model in range(MODELS):
        kept = whole.predictions.filter(pa.array(rng.random(len(whole.predictions)) > 0.02 * model))
        for found, table in ((answered, whole.outputs), (predicted, kept)):
            for name, value in (("model", f"model {model}"), ("run", 1)):
                place = table.schema.get_field_index(name)
                field = table.schema.field(place)
                table = table.set_column(place, field, pa.repeat(pa.scalar(value, field.type), len(table)))
            found.append(table)
    return suite, Outputs(pa.concat_tables(answered), pa.concat_tables(predicted))


def watch(run: Run) -> tuple[float, float, int, int]:
    """Do a run in a process of its own; return its seconds, processor seconds, bytes of the driver and of a worker."""
    begun, before = time.perf_counter(), children_seconds()
    driver = worker = 0
    started = engine.start(run)
    process = psutil.Process(started.pid)
    while started.poll() is None:
        try:
            driver = max(driver, process.memory_info().rss)
            worker = max([worker, *(child.memory_info().rss for child in process.children(recursive=True))])
        except psutil.Error:
            continue
        time.sleep(0.05)
    if run.state != "finished":
        raise SystemExit(f"the run {run.state}: {(run.folder / 'log.txt').read_text()}")
    return time.perf_counter() - begun, children_seconds() - before, driver, worker


if __name__ == "__main__":
    main()
