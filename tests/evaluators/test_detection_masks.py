"""Masks, polygons and rotated boxes in the detection evaluators: against pycocotools, shapely, and each other."""
# ruff: noqa: E501 - a table reads better with one line a case

from functools import cache
from typing import Any

import numpy as np
import pytest
import shapely

from metrics.core.errors import InputError
from metrics.core.evaluator import Findings
from metrics.core.registry import evaluators
from metrics.core.suite import Outputs, Suite
from metrics.evaluators.detection._matched import match_objects
from metrics.ingest import load_outputs, load_suite
from metrics.vision import rle
from metrics.vision.masks import Shapes, draw, encode
from metrics.vision.matching import AREAS, IOU_THRESHOLDS
from tests.evaluators.detected import of_rows, pick, run
from tests.ingest.files import write
from tests.random_seeds import LONG, seeds
from tests.vision.coco_oracle import arrays
from tests.vision.mask_oracle import Record, random_masks, rectangle, segm_eval

COCO = tuple(AREAS.values())
LIMITS = [[1, 10, 100], [300], [1, 10, 300], [2], [3, 1]]
EXACT = 1e-9
DETECTION = [  # those that take any geometry
    id
    for id, entry in evaluators().items()
    if "geometry" in entry.parameters.model_fields and id != "boundary_ap"  # which needs masks
]
OTHERWISE = {"voc_ap": {"inclusive_pixels": False}}  # boxes that end at their last pixel are wider than their outlines


def geometry(record: Record) -> dict[str, Any]:
    """The columns of a COCO record's segmentation."""
    shape = record["segmentation"]
    if isinstance(shape, list):
        return {"polygons": shape}
    return {"rle": shape["counts"] if isinstance(shape["counts"], str) else rle.encode(shape["counts"])}


def tables(truth: Record, results: list[Record]) -> tuple[Suite, Outputs]:
    """A COCO data set as a suite and one model's outputs, without boxes."""

    def flat(record: Record) -> dict[str, Any]:
        names = {"case_id": str(record["image_id"]), "label": str(record["category_id"] - 1)}
        return names | geometry(record)

    cases = [
        {"case_id": str(image["id"]), "image_height": image["height"], "image_width": image["width"]}
        for image in truth["images"]
    ]
    annotations = [
        flat(record) | {"annotation_id": record["id"], "area": record["area"], "is_crowd": bool(record["iscrowd"])}
        for record in truth["annotations"]
    ]
    rows = [flat(record) | {"score": record["score"]} for record in results]
    return of_rows(cases, annotations, rows, [name["name"] for name in truth["categories"]])


def assert_equal(suite: Suite, outputs: Outputs, expected: Any, thresholds: Any, areas: Any, limits: Any) -> None:
    found = match_objects(suite, outputs, thresholds, areas, "mask")
    at = [found.area(bounds) for bounds in areas]
    curves = arrays(found.scene.objects, found.matches, limits, at)
    for name in ("precision", "recall", "scores"):
        assert np.abs(curves[name] - expected[name]).max(initial=0) <= EXACT, name


def test_arrays_equal_pycocotools_for_masks():
    for seed in seeds(30, 200):
        truth, results = random_masks(seed)
        rng = np.random.default_rng(seed + 1_000_000)
        some = tuple(np.sort(rng.choice([0.05, 0.1, 0.25, 1 / 3, 0.5, 0.6, 0.75, 0.9, 1.0], 4, False)).tolist())
        thresholds = IOU_THRESHOLDS if seed % 2 else some
        areas = COCO if seed % 3 else ((0.0, 1e10), (100.0, 900.0), (1024.0, 1024.0))
        limits = LIMITS[seed % len(LIMITS)]
        expected = segm_eval(truth, results, thresholds, areas, limits).eval
        assert_equal(*tables(truth, results), expected, thresholds, areas, limits)


@pytest.mark.parametrize("seed", [1003, 1004, 1007, 1010, 1011, 1016])
def test_coco_files_with_masks_equal_pycocotools(tmp_path, seed):
    truth, results = random_masks(seed)
    expected = segm_eval(truth, results, IOU_THRESHOLDS, COCO, [1, 10, 100]).eval
    suite = load_suite(write(tmp_path, "t.json", truth)).value
    outputs = load_outputs([write(tmp_path, "m.json", results)], suite=suite).value
    assert_equal(suite, outputs, expected, IOU_THRESHOLDS, COCO, [1, 10, 100])
    summary = run("coco_summary", suite, outputs)
    for a, name in enumerate(AREAS):
        values = expected["precision"][:, :, :, a, 2]
        known = values[values > -1]
        value = pick(summary, "AP" if name == "all" else f"AP_{name}", geometry="mask").value
        assert value == (pytest.approx(known.mean(), abs=EXACT) if known.size else None)


AS_COLUMNS = {
    "box": lambda ring, _: dict(zip(("x", "y", "width", "height"), around(ring), strict=True)),
    "rotated box": lambda ring, _: {"polygons": [np.roll(np.array(ring).reshape(-1, 2), 1, 0).ravel().tolist()]},
    "polygon": lambda ring, _: {"polygons": halves(ring)},
    "whole polygon": lambda ring, _: {"polygons": [ring]},
    "mask": lambda ring, size: {"rle": encode(draw(Shapes.of(polygons=[[ring]]), *size))[0]},
}


def around(ring: list[float]) -> list[float]:
    points = np.array(ring).reshape(-1, 2)
    return [*points.min(axis=0).tolist(), *np.ptp(points, axis=0).tolist()]


def halves(ring: list[float]) -> list[list[float]]:
    """A rectangle as two rings side by side."""
    x, y, width, height = around(ring)
    middle = x + width // 2
    return [
        [x, y, middle, y, middle, y + height, x, y + height],
        [middle, y, x + width, y, x + width, y + height, middle, y + height],
    ]


@cache
def rectangles(truths: str, predictions: str, sized: bool = True) -> tuple[Suite, Outputs]:
    """The same 60 rectangles of whole pixels, and predictions near them, written in one way or another."""
    rng = np.random.default_rng(17)
    size = (200, 300)
    annotations, rows = [], []
    for index in range(60):
        case = {"case_id": str(index % 6), "label": "ab"[index % 2]}
        ring = rectangle(rng, size)[0]
        shift = rng.integers(-4, 5, 2)
        near = (np.array(ring).reshape(-1, 2) + shift).clip(0, (size[1], size[0])).ravel().tolist()
        annotations.append({**case, "annotation_id": index + 1, **AS_COLUMNS[truths](ring, size)})
        rows.append({**case, "score": float(rng.random()), **AS_COLUMNS[predictions](near, size)})
    sides = {"image_height": size[0], "image_width": size[1]} if sized else {}
    return of_rows([{"case_id": str(index), **sides} for index in range(6)], annotations, rows)


@cache
def precision_of_boxes() -> float:
    return pick(run("average_precision", *rectangles("box", "box")), "map_averaged").value


@pytest.mark.parametrize("truths", AS_COLUMNS)
@pytest.mark.parametrize("predictions", AS_COLUMNS)
def test_the_same_shapes_give_the_same_ap_in_any_pairing(truths, predictions):
    boxes = precision_of_boxes()
    assert 0.2 < boxes < 0.95
    for chosen in ("auto", "mask", "box", "polygon"):
        findings = run("average_precision", *rectangles(truths, predictions), geometry=chosen)
        assert pick(findings, "map_averaged").value == pytest.approx(boxes, abs=1e-12), chosen


@cache
def between_pixels(truths: str, predictions: str, least: float, turned: bool) -> tuple[Suite, Outputs]:
    """120 rectangles of sides `least` … 4 · `least` anywhere between the pixels, or turned by any angle."""
    rng = np.random.default_rng(17)
    size = (300, 400)
    annotations, rows = [], []
    for index in range(120):
        case = {"case_id": str(index % 12), "label": "ab"[index % 2]}
        sides = rng.uniform(least, 4 * least, 2)
        angle = rng.uniform(0, np.pi) if turned else 0.0
        turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        middle = rng.uniform(0.4 * sides.max(), np.array(size[::-1]) - 0.4 * sides.max())
        ring = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * sides / 2 @ turn + middle
        near = ring + rng.normal(0, 0.08 * least, 2)
        annotations.append({**case, "annotation_id": index + 1, **AS_COLUMNS[truths](ring.ravel().tolist(), size)})
        written = AS_COLUMNS[predictions](near.ravel().tolist(), size)
        rows.append({**case, "score": float(rng.random()), **written})
    cases = [{"case_id": str(index), "image_height": size[0], "image_width": size[1]} for index in range(12)]
    return of_rows(cases, annotations, rows)


@cache
def exact_outlines(least: float, turned: bool) -> Findings:
    scene = between_pixels("whole polygon", "whole polygon", least, turned)
    return run("average_precision", *scene, geometry="polygon")


SHAPES = ("box", "rotated box", "whole polygon", "mask")
PAIRINGS = [  # in turn with sides of 32 and of 8
    (truths, predictions, *size)
    for place, truths in enumerate(SHAPES)
    for other, predictions in enumerate(SHAPES, place)
    for kind, size in enumerate([(32, 0.02), (8, 0.05)], other)
    if LONG or kind % 2 == 0
]


@pytest.mark.parametrize(("truths", "predictions", "least", "within"), PAIRINGS)
def test_between_pixels_shapes_have_the_same_ap_within_their_drawing(truths, predictions, least, within):
    """The tolerance that average_precision states, in every pairing."""
    for turned in (False, True):
        if turned and "box" in (truths, predictions):
            continue  # a box cannot be turned
        exact = exact_outlines(least, turned)
        drawn = run("average_precision", *between_pixels(truths, predictions, least, turned), geometry="mask")
        assert 0.3 < pick(exact, "map_averaged").value < 0.95
        assert pick(drawn, "map_averaged").value == pytest.approx(pick(exact, "map_averaged").value, abs=within)
        assert pick(drawn, "map", iou=0.5).value == pytest.approx(pick(exact, "map", iou=0.5).value, abs=1e-9)


@pytest.mark.parametrize("truths", ["box", "rotated box", "polygon"])
@pytest.mark.parametrize("predictions", ["box", "rotated box", "polygon"])
def test_exact_outlines_need_no_image_size(truths, predictions):
    boxes = precision_of_boxes()
    findings = run("average_precision", *rectangles(truths, predictions, sized=False), geometry="polygon")
    assert pick(findings, "map_averaged", geometry="polygon").value == pytest.approx(boxes, abs=1e-12)


@cache
def of_boxes(evaluator: str) -> Findings:
    return run(evaluator, *rectangles("box", "box"), **OTHERWISE.get(evaluator, {}))


@pytest.mark.parametrize("evaluator", DETECTION)
@pytest.mark.parametrize("chosen", ["auto", "box", "mask", "polygon"])
def test_every_detection_evaluator_takes_the_geometry(evaluator, chosen):
    own = OTHERWISE.get(evaluator, {})
    findings = run(evaluator, *rectangles("polygon", "rotated box"), geometry=chosen, **own)
    same = of_boxes(evaluator)
    told = {"auto": "mask", "box": None}.get(chosen, chosen)
    assert {dict(entry.columns).get("geometry") for entry in findings.aggregates if entry.metric != "count"} == {told}
    assert [entry.value for entry in findings.aggregates] == pytest.approx([entry.value for entry in same.aggregates])
    assert findings.matches["kind"] == same.matches["kind"]


def scene(truth: Record, *predictions: Record, size: tuple[int, int] | None = (100, 100)) -> tuple[Suite, Outputs]:
    sides = {} if size is None else {"image_height": size[0], "image_width": size[1]}
    same = {"case_id": "a", "label": "cat"}
    rows = [{**same, "score": 0.9, **row} for row in predictions]
    return of_rows([{"case_id": "a", **sides}], [{**same, "annotation_id": 1, **truth}], rows)


BOX = {"x": 0.0, "y": 0.0, "width": 40.0, "height": 40.0}
TRIANGLE = {"polygons": [[0.0, 0.0, 40.0, 0.0, 0.0, 40.0]]}
DIAMOND = {"polygons": [[20.0, 0.0, 40.0, 20.0, 20.0, 40.0, 0.0, 20.0]]}
ONLY_BOX_COUNTS = [
    pytest.param({**BOX, **TRIANGLE}, BOX, None, 1.0, id="a box against polygons with a box: boxes"),
    pytest.param(BOX, {**BOX, **TRIANGLE}, None, 1.0, id="polygons with a box against a box: boxes"),
    pytest.param(BOX, TRIANGLE, None, 1.0, id="polygons without a box against a box: the box around them"),
    pytest.param({**BOX, **TRIANGLE}, {**BOX, **DIAMOND}, "mask", 1 / 3, id="polygons against polygons: masks"),
]


@pytest.mark.parametrize(("truth", "prediction", "told", "iou"), ONLY_BOX_COUNTS)
def test_what_auto_means(truth, prediction, told, iou):
    findings = run("average_recall", *scene(truth, prediction), match_iou_threshold=0.3)
    assert dict(findings.aggregates[0].columns).get("geometry") == told
    assert findings.matches["iou"].to_pylist() == pytest.approx([iou], abs=0.03)


def test_two_rotated_boxes_compare_as_shapely_says():
    one, two = [10, 0, 60, 20, 50, 45, 0, 25], [15, 5, 62, 25, 50, 45, 3, 25]
    a, b = (shapely.Polygon(np.reshape(ring, (-1, 2))) for ring in (one, two))
    expected = a.intersection(b).area / a.union(b).area
    given = scene({"polygons": [one]}, {"polygons": [two]}, size=(60, 70))
    exact = run("average_precision", *given, geometry="polygon").matches["iou"][0].as_py()
    drawn = run("average_precision", *given, geometry="mask").matches["iou"][0].as_py()
    assert (exact, drawn) == (pytest.approx(expected, abs=1e-12), pytest.approx(expected, abs=0.02))


@pytest.mark.parametrize("chosen", ["mask", "polygon"])
@pytest.mark.parametrize("ring", [
    pytest.param([0, 0, 40, 40, 40, 0, 0, 40], id="bow tie"),
    pytest.param([5, 5, 5, 5, 5, 5], id="a point"),
    pytest.param([0, 0, 40, 40, 80, 80], id="a line"),
    pytest.param([-500, -500, 900, -500, 200, 900], id="beyond the image"),
])  # fmt: skip
def test_invalid_polygons_never_crash(ring, chosen):
    given = scene({"polygons": [[float(x) for x in ring]]}, {"polygons": [[float(x) for x in ring]]}, BOX)
    findings = run("coco_summary", *given, geometry=chosen, resamples=5)
    kinds = findings.matches["kind"].to_pylist()
    assert kinds[0] == ("tp" if len(ring) == 8 or min(ring) < 0 else "fp_hallucination")


WRONG = {
    "no size": (
        {"size": None, "geometry": "auto"}, TRIANGLE, TRIANGLE,
        [
            "cases, row 1, column image_height: found None; expected the image's side in pixels, at least 1: masks are compared at its resolution",
            "cases, row 1, column image_width: found None; expected the image's side in pixels, at least 1: masks are compared at its resolution",
        ],
    ),
    "an image beyond all bounds": ({"size": (2**20, 2**20)}, TRIANGLE, TRIANGLE,
        ["cases, row 1, column image_width: found 1048576; expected an image of at most 2,147,483,647 pixels"]),
    "rings, run lengths and a box at once": (
        {}, {"polygons": [[0.0, 0.0, 1.0, 1.0]]}, {"rle": "<"}, {"x": 1.0, "y": 1.0, "width": -2.0},
        [
            "annotations, row 1, column polygons: found [[0.0, 0.0, 1.0, 1.0]]; expected rings of at least three points, x1 y1 x2 y2 … in finite numbers of pixels",
            "predictions, row 2, column width: found -2.0; expected at least 0",
            "predictions, row 2, column height: found None; expected a finite number of pixels",
            "predictions, row 1, column rle: found <; expected COCO's compressed run lengths of exactly the image's pixels",
        ],
    ),
    "a ring of seven numbers, one of NaN, one of none": (
        {}, {"polygons": [[0.0] * 7]}, {"polygons": [[0.0] * 5 + [float("nan")]]}, {"polygons": [TRIANGLE["polygons"][0], []]},
        [
            "annotations, row 1, column polygons: found [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]; expected rings of at least three points, x1 y1 x2 y2 … in finite numbers of pixels",
            "predictions, row 1, column polygons: found [[0.0, 0.0, 0.0, 0.0, 0.0, nan]]; expected rings of at least three points, x1 y1 x2 y2 … in finite numbers of pixels",
            "predictions, row 2, column polygons: found [[0.0, 0.0, 40.0, 0.0, 0.0, 40.0], []]; expected rings of at least three points, x1 y1 x2 y2 … in finite numbers of pixels",
        ],
    ),
    "run lengths of too few pixels have no outline": (
        {"geometry": "polygon"}, TRIANGLE, {"rle": "<"},
        ["predictions, row 1, column rle: found <; expected COCO's compressed run lengths of exactly the image's pixels"],
    ),
    "run lengths without a box need the size": (
        {"geometry": "box", "size": None}, BOX, {"rle": "<"},
        [
            "cases, row 1, column image_height: found None; expected the image's side in pixels, at least 1: masks are compared at its resolution",
            "cases, row 1, column image_width: found None; expected the image's side in pixels, at least 1: masks are compared at its resolution",
        ],
    ),
    "neither box nor shape": ({"geometry": "mask"}, {}, TRIANGLE,
        [f"annotations, row 1, column {name}: found None; expected a finite number of pixels" for name in BOX]),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG.keys())
def test_what_cannot_be_used_is_listed(case):
    options, truth, *predictions, texts = case
    parameters = {"geometry": options.get("geometry", "mask")}
    with pytest.raises(InputError) as failure:
        run("coco_summary", *scene(truth, *predictions, size=options.get("size", (100, 100))), **parameters)
    assert [str(problem) for problem in failure.value.problems] == texts


def test_the_published_boxes_of_voc100_stay_boxes(shared):
    suite = load_suite(shared / "data/voc100/instances.json").value
    assert suite.annotations["polygons"].null_count == 0
    outputs = load_outputs([shared / "data/voc100/detections.json"], suite=suite).value
    assert round(pick(run("coco_summary", suite, outputs), "AP").value, 3) == 0.347
