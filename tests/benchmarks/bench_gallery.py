"""Server time of a click in the gallery of a detection suite of 20,000 images, about a million predictions.

    python -m tests.benchmarks.bench_gallery

Every page is run as the server runs it (streamlit's AppTest, in this process). Printed are the median and the 95th
percentile over clicks on changing filters, sorts and pages, thumbnails read from the disk; and what the first look
costs: the index of a model's objects, and a page's thumbnails decoded from its images.
"""

import logging
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles

import numpy as np
import pyarrow as pa
from PIL import Image
from streamlit.testing.v1 import AppTest

from metrics import engine
from metrics.core.suite import ANNOTATIONS, CASES, OUTPUTS, PREDICTIONS, Outputs, Suite, conform
from metrics.store import Run, Workspace
from tests.benchmarks.coco_scene import coco_scene
from tests.benchmarks.table import Row, report
from tests.engine.engine_scenes import one_thread

ROOT = Path(__file__).parents[2]
IMAGES, DISTINCT = 20_000, 200
CLICKS = 25
MOST_MS = 300
LABELS = [f"class {label + 1}" for label in range(80)]


def main() -> None:
    """Measure and print."""
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ASSAY_WORKSPACE"] = folder
        run = big_run(Workspace(), Path(folder) / "images")
        kinds = ("fp", "fn", "tp", "fp_misclassification", "fn_no_prediction")
        sorts = ("score", "iou_up", "size", "size_up", "score_up")
        clicks: dict[str, Callable[[int], dict[str, str]]] = {
            "another page": lambda click: {"page": str(click + 1)},
            "another kind": lambda click: {"kind": kinds[click % 5], "page": str(click // 5 + 1)},
            "another class": lambda click: {"label": LABELS[click]},
            "another sort": lambda click: {"sort": sorts[click % 5], "page": str(click // 5 + 1)},
            "another least score": lambda click: {"score_min": f"{click / 30:.2f}"},
            "another tag and size": lambda click: {"tag": f"tag{click % 5}", "size": ("small", "large")[click % 2]},
            "another page of images": lambda click: {"view": "images", "page": str(click + 1)},
        }
        begun = time.perf_counter()
        _click("gallery", run, [{}])
        print(f"the first look: {time.perf_counter() - begun:.1f} s")
        print(f"{'click':<44}{'median ms':>10}{'p95 ms':>8}{'p95 CPU ms':>12}{'the first time':>16}")
        slowest = []
        for name, parameters in clicks.items():
            steps = [parameters(click) for click in range(CLICKS)]
            cold = _click("gallery", run, steps)  # decodes
            _forget()
            slowest.append(_print(f"gallery: {name}", _click("gallery", run, steps), median(cold[0])))
        steps = [{"case": f"img{click * 797:06d}", "evaluator": "detection_pr_curve"} for click in range(CLICKS)]
        slowest.append(_print("example: another image", _click("example", run, steps), None))
    title = f"server time of a click, {IMAGES:,} images with a million predictions: p95 of the slowest kind"
    report([Row(title, max(slowest), "ms", most=MOST_MS)])


def _print(name: str, times: tuple[list[float], list[float]], cold: float | None) -> float:
    """Print a kind of click; return its 95th percentile by the clock."""
    p95, p95_cpu = (quantiles(each, n=20)[-1] for each in times)
    first = "" if cold is None else f"{cold:>13.0f} ms"
    print(f"{name:<44}{median(times[0]):>10.0f}{p95:>8.0f}{p95_cpu:>12.0f}{first}")
    return p95


def _click(page: str, run: Run, steps: list[dict[str, str]]) -> tuple[list[float], list[float]]:
    """Milliseconds of each click, after one that warms up: by the clock, and of the processor (others may be busy)."""
    app = AppTest.from_file(str(ROOT / "pages" / f"{page}.py"), default_timeout=120)
    times, cpu = [], []
    for step in [steps[-1], *steps]:
        app.query_params.clear()
        for name, value in {"run": run.id, **step}.items():
            app.query_params[name] = value
        begun, spent = time.perf_counter(), time.process_time()
        app.run()
        times.append((time.perf_counter() - begun) * 1000)
        cpu.append((time.process_time() - spent) * 1000)
        if app.exception:
            raise RuntimeError(f"{page}: {app.exception[0].message}")
    return times[1:], cpu[1:]


def _forget() -> None:
    """Empty the pages' caches, so that only files on the disk make a second visit faster than the first."""
    import streamlit as st

    st.cache_resource.clear()


def big_run(
    workspace: Workspace, media: Path, images: int = IMAGES, detections: int = 58, models: int = 1,
    evaluators: tuple[str, ...] = ("detection_pr_curve",),
) -> Run:  # fmt: skip
    """A finished run of images of 640 × 480 pixels, 80 classes and models with so many predictions an image."""
    scene = coco_scene(images=images, detections=detections)
    noise = np.random.default_rng(1)
    scores = [(scene["score"] + place * noise.normal(0, 0.1, len(scene["score"]))) for place in range(models)]
    ids = pa.array([f"img{image:06d}" for image in range(images)])
    names, labels = [f"{image}.jpg" for image in range(images)], pa.array(LABELS)
    media.mkdir()
    random = np.random.default_rng(0)
    for image in range(DISTINCT):
        coarse = Image.fromarray(random.integers(0, 255, (24, 32, 3), np.uint8))
        coarse.resize((640, 480)).save(media / names[image], quality=90)
    for image in range(DISTINCT, images):
        os.link(media / names[image % DISTINCT], media / names[image])

    def objects(of: str) -> dict[str, pa.Array]:
        box = scene[f"{of}_box"]
        return {
            "case_id": ids.take(pa.array(scene[f"{of}_image"])), "label": labels.take(pa.array(scene[f"{of}_class"])),
            **{name: pa.array(box[:, place]) for place, name in enumerate(("x", "y", "width", "height"))},
        }  # fmt: skip

    truths = len(scene["truth_class"])
    annotations = objects("truth") | {
        "annotation_id": pa.array(np.arange(truths) + 1), "area": pa.array(scene["truth_area"]),
        "is_crowd": pa.array(scene["crowd"]),
    }  # fmt: skip
    detectors = ["detector", *(f"detector-{place}" for place in range(2, models + 1))]
    predicted, outputs = [], []
    for name, score in zip(detectors, scores, strict=True):
        size = len(score)
        columns = objects("prediction") | {
            "model": pa.array([name] * size), "run": pa.array(np.ones(size, np.int32)),
            "prediction_id": pa.array(np.arange(size)), "score": pa.array(score.clip(0.01, 0.999)),
        }  # fmt: skip
        predicted.append(conform(pa.table(columns), PREDICTIONS))
        answers = {
            "case_id": ids, "model": pa.array([name] * images), "run": pa.array(np.ones(images, np.int32)),
        }  # fmt: skip
        outputs.append(conform(pa.table(answers), OUTPUTS))
    cases = {
        "case_id": ids, "image": pa.array(names), "tags": pa.array([[f"tag{image % 5}"] for image in range(images)]),
        "image_width": pa.array(np.full(images, 640, np.int32)),
        "image_height": pa.array(np.full(images, 480, np.int32)),
    }  # fmt: skip
    suite = Suite(
        "big", "detection", conform(pa.table(cases), CASES), conform(pa.table(annotations), ANNOTATIONS), tuple(LABELS),
        media,
    )  # fmt: skip
    made = Outputs(pa.concat_tables(outputs), pa.concat_tables(predicted))
    run = engine.create(workspace, suite, made, evaluators, {name: {"resamples": 0} for name in evaluators})
    return engine.execute(run, one_thread)


if __name__ == "__main__":
    main()
