"""The runs of `bench_clicks`: many cases with scores drawn at random, and many images with boxes."""

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
from PIL import Image

from metrics import engine
from metrics.core.files import sha256_of, write_json, write_table
from metrics.core.schema import AGGREGATES, SCHEMA_VERSION, SCORES
from metrics.core.suite import ANNOTATIONS, CASES, OUTPUTS, PREDICTIONS, Outputs, Suite, conform
from metrics.store import Run, Workspace
from tests.benchmarks.coco_scene import coco_scene
from tests.engine.engine_scenes import one_thread

DISTINCT = 200  # images; the others are links to them
LABELS = [f"class {label + 1}" for label in range(80)]


def deep_run(workspace: Workspace, size: int = 100_000, models: int = 5) -> Run:
    """A sealed run with many cases, its scores drawn at random."""
    names = [f"model-{index}" for index in range(models)]
    case_ids = [f"c{index}" for index in range(size)]
    cases = ({"case_id": name, "question": f"Question {name}?", "tags": [f"tag{hash(name) % 5}"]} for name in case_ids)
    suite = Suite.from_rows("deep", "text", cases)
    outputs = Outputs.from_rows(
        {"case_id": name, "model": model, "answer": name} for model in names for name in case_ids
    )
    run = engine.create(workspace, suite, outputs, ["rouge"])
    metrics = ("rouge1", "rouge2", "rougeL", "rougeLsum")
    count = size * models * len(metrics)
    repeated = np.tile(np.repeat(np.arange(size), len(metrics)), models)
    scores = pa.table(
        {
            "case_id": pa.array(case_ids).take(pa.array(repeated)), "position": pa.array(repeated.astype(np.int32)),
            "model": pa.array(names).take(pa.array(np.repeat(np.arange(models), size * len(metrics)))),
            "run": pa.array(np.ones(count, np.int32)), "evaluator": pa.repeat("rouge", count),
            "metric": pa.array(metrics).take(pa.array(np.tile(np.arange(len(metrics)), size * models))),
            "value": pa.array(np.random.default_rng(1).uniform(size=count)), "status": pa.repeat("ok", count),
            "reason": pa.nulls(count, pa.string()), "evidence": pa.nulls(count, pa.string()),
        },
        schema=SCORES,
    )  # fmt: skip
    rows = [
        {
            "model": model, "evaluator": "rouge", "metric": metric, "value": 0.5, "low": 0.49, "high": 0.51, "n": size,
            "interval": "bootstrap", "unscored": 0, "not_applicable": 0, "parse_failure": 0, "error": 0, "skipped": 0,
            "columns": "{}",
        }
        for metric in metrics
        for model in names
    ]  # fmt: skip
    return _seal(run, {"aggregates": pa.Table.from_pylist(rows, AGGREGATES), "scores": scores})


def _seal(run: Run, tables: dict[str, pa.Table]) -> Run:
    facts = {}
    for name, table in tables.items():
        path = run.folder / "tables" / f"{name}.parquet"
        write_table(path, table, 65_536)
        facts[name] = {"file": f"tables/{name}.parquet", "rows": table.num_rows, "sha256": sha256_of(path)}
    manifest = {"schema": SCHEMA_VERSION, "run": run.id, "sealed": run.created, "seconds": 0.0, "versions": {}}
    write_json(run.folder / "manifest.json", manifest | {"tables": facts})
    return run


def big_run(
    workspace: Workspace, media: Path, images: int, detections: int, models: int, evaluators: tuple[str, ...]
) -> Run:
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
        answers = {"case_id": ids, "model": pa.array([name] * images), "run": pa.array(np.ones(images, np.int32))}
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
