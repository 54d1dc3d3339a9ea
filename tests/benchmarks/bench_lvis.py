"""LVIS's numbers beside the lvis package's, at the size of COCO's validation set.

    python -m tests.benchmarks.bench_lvis [--images 5000] [--classes 1203] [--peer FOLDER]

5,000 images with 36,000 ground truths and 290,000 predictions; half of the classes that an image does not show are on
its list of those that it lacks. Processor time from data in memory to the thirteen numbers. lvis (pip install lvis) is
not among the requirements: FOLDER is the site-packages that has it.
"""

import argparse
import json
import logging
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from metrics.core.classes import ClassFacts
from metrics.core.suite import STRINGS
from tests.benchmarks.coco_scene import coco_records, coco_scene, tables
from tests.benchmarks.table import Row, report
from tests.evaluators.detected import pick, run

LISTED = 20  # classes that an image lacks, and twice of which more are there


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=5_000)
    parser.add_argument("--classes", type=int, default=1_203)
    parser.add_argument("--peer", type=Path)
    given = parser.parse_args()
    scene = coco_scene(given.images, given.classes)
    scene["crowd"][:] = False
    rng = np.random.default_rng(1)
    lists = rng.integers(0, given.classes, (given.images, LISTED + 2))
    counts = rng.choice([3, 50, 500], given.classes)
    suite, outputs = tables(scene)
    cases = suite.cases
    for name, part in (("negative_labels", lists[:, :LISTED]), ("not_exhaustive_labels", lists[:, LISTED:])):
        column = pa.array(part.astype(str).tolist(), STRINGS)
        cases = cases.set_column(cases.schema.get_field_index(name), name, column)
    facts = {str(label): ClassFacts(images=int(count)) for label, count in enumerate(counts)}
    suite = replace(suite, cases=cases, classes=facts)
    run("lvis_summary", *tables(coco_scene(5)))  # compiled
    begun = time.process_time()
    ours = run("lvis_summary", suite, outputs)
    seconds = time.process_time() - begun
    begun = time.process_time()
    run("lvis_summary", suite, outputs, resamples=500)
    more = time.process_time() - begun
    theirs, numbers = lvis(scene, lists, counts, given.peer)
    found = {name: pick(ours, name).value for name in numbers}
    difference = max(abs((found[name] or 0) - max(value, 0)) for name, value in numbers.items())
    what = f"LVIS's numbers of {given.images:,} images, {given.classes:,} classes"
    report(
        [
            Row(f"{what}: processor time", seconds, "s", theirs, "lvis", least=10),
            Row(f"{what}: with 500 half-samples", more, "s"),
            Row(f"{what}: largest difference", difference, "", most=1e-9),
        ]
    )


def lvis(scene: dict[str, Any], lists: Any, counts: Any, folder: Path | None) -> tuple[float, dict[str, float]]:
    """The processor seconds of lvis and its numbers, −1 for none."""
    if folder is not None:
        sys.path.append(str(folder))
    np.float = float  # type: ignore[attr-defined]  # lvis 0.5.3 is older than NumPy 1.24
    from lvis import LVIS, LVISEval, LVISResults  # type: ignore[import-not-found]

    logging.disable(logging.CRITICAL)
    truth, results = coco_records(scene)
    for image, row in zip(truth["images"], lists.tolist(), strict=True):
        image["neg_category_ids"] = [label + 1 for label in row[:LISTED]]
        image["not_exhaustive_category_ids"] = [label + 1 for label in row[LISTED:]]
    for category, count in zip(truth["categories"], counts.tolist(), strict=True):
        category["frequency"] = "r" if count <= 10 else "c" if count <= 100 else "f"
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(truth, file)
        file.flush()
        loaded = LVIS(file.name)
    predicted = LVISResults(loaded, results)
    begun = time.process_time()
    evaluation = LVISEval(loaded, predicted, "bbox")
    evaluation.run()
    seconds = time.process_time() - begun
    named = evaluation.get_results().items()
    return seconds, {
        name.split("@")[0] if name[:2] == "AP" else "AR" + name[2:].split("@")[0]: value for name, value in named
    }


if __name__ == "__main__":
    main()
