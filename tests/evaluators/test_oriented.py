"""oriented_ap: against DOTA's definition with shapely's intersections."""

from typing import Any

import numpy as np
import pytest
import shapely

from metrics.core.suite import Outputs, Suite
from metrics.vision.matching import IOU_THRESHOLDS
from tests.evaluators.detected import of_rows, pick, run
from tests.evaluators.voc_kit import voc_eval
from tests.random_seeds import seeds

CORNERS = np.array([(1, 1), (1, -1), (-1, -1), (-1, 1)]) / 2


def oriented_scene(seed: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rotated boxes of two labels in three images, and predictions near most of them."""
    rng = np.random.default_rng(seed)
    truths = [
        {"image": int(rng.integers(3)), "label": str(rng.integers(2)), "difficult": bool(rng.random() < 0.2),
         "shape": (*rng.uniform(20, 80, 2), *rng.uniform(10, 50, 2), rng.uniform(0, np.pi))}
        for _ in range(rng.integers(0, 14))
    ]  # fmt: skip
    predictions = []
    for truth in truths:
        for _ in range(rng.integers(0, 3)):
            moved = np.array(truth["shape"]) + rng.normal(0, 1, 5) * (3, 3, 2, 2, 0.15)
            predictions.append({**truth, "shape": (*moved[:2], *np.abs(moved[2:4]), moved[4]), "score": rng.random()})
    predictions += [{"image": 0, "label": "0", "shape": (50, 50, 30, 10, 0.3), "score": rng.random()}]
    return [row | {"box": ring(row["shape"])} for row in truths], [
        row | {"box": ring(row["shape"])} for row in predictions
    ]


def ring(shape: Any) -> list[float]:
    x, y, along, across, angle = shape
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return (CORNERS * (along, across) @ turn.T + (x, y)).ravel().tolist()


def overlap(one: list[float], other: list[float]) -> float:
    first, second = (shapely.Polygon(np.reshape(points, (4, 2))) for points in (one, other))
    return first.intersection(second).area / first.union(second).area


def tables(truths: Any, predictions: Any, images: int = 3, labels: int = 2) -> tuple[Suite, Outputs]:
    """The objects as suite and outputs, by their rings."""
    cases = [{"case_id": str(image)} for image in range(images)]

    def flat(row: Any) -> dict[str, Any]:
        return {"case_id": str(row["image"]), "label": str(row["label"]), "polygons": [row["box"]]}

    annotations = [flat(row) | {"difficult": row["difficult"], "annotation_id": n} for n, row in enumerate(truths)]
    rows = [flat(row) | {"score": float(row["score"])} for row in predictions]
    return of_rows(cases, annotations, rows, [str(label) for label in range(labels)])


def test_numbers_equal_the_devkit_by_shapely():
    for seed in seeds(15, 200):
        interpolation = ("eleven_points", "all_points")[seed % 2]
        truths, predictions = oriented_scene(seed)
        findings = run("oriented_ap", *tables(truths, predictions), interpolation=interpolation)
        for label in "01":
            own = [[row for row in rows if row["label"] == label] for rows in (truths, predictions)]
            wanted = {"AP50": (0.5,), "AP75": (0.75,), "AP": IOU_THRESHOLDS if seed % 5 == 0 else ()}
            for metric, ious in wanted.items():
                values = [voc_eval(*own, overlap, iou, interpolation == "eleven_points") for iou in ious]
                if ious:
                    expected = None if None in values else pytest.approx(np.mean(values), abs=1e-9)
                    assert pick(findings, metric, label).value == expected, seed


def test_upright_boxes_are_outlines_too():
    box = {"case_id": "0", "label": "0", "x": 0.0, "y": 0.0, "width": 10.0, "height": 10.0}
    suite = Suite.from_rows("s", "detection", [{"case_id": "0"}], [box | {"annotation_id": 1}])
    outputs = Outputs.from_rows([{"case_id": "0", "model": "m"}], [box | {"model": "m", "score": 0.5}])
    findings = run("oriented_ap", suite, outputs)
    assert pick(findings, "AP50").value == pytest.approx(1)
    assert dict(pick(findings, "AP50").columns)["geometry"] == "polygon"
