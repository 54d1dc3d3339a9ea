"""coco_summary of two files: pycocotools' numbers, whichever reader took the files, and all that is wrong is said."""

import contextlib
import io
import json
import subprocess
import sys

import numpy as np
import pytest

from metrics import coco_summary, read_coco
from metrics.core.errors import InputError
from metrics.library import coco_columns
from tests.ingest.files import write
from tests.vision.coco_oracle import random_scene
from tests.vision.mask_oracle import random_masks

NAMES = (
    "AP",
    "AP50",
    "AP75",
    "AP_small",
    "AP_medium",
    "AP_large",
    "AR_1",
    "AR_10",
    "AR_100",
    "AR_small",
    "AR_medium",
    "AR_large",
)
READERS = ("scanned", "typed", "strict")
TRUTH = {
    "images": [{"id": 20, "width": 100, "height": 50}, {"id": 3, "width": 100, "height": 50}],
    "annotations": [
        {"id": 5, "image_id": 20, "category_id": 7, "bbox": [1, 2, 3, 4], "area": 9.5, "iscrowd": 0},
        {"id": 4, "image_id": 3, "category_id": 2, "bbox": [0, 0, 9, 5], "area": 45, "iscrowd": 0},
    ],
    "categories": [{"id": 7, "name": "cat"}, {"id": 2, "name": "dog"}, {"id": 9, "name": "eel"}],
}
RESULTS = [
    {"image_id": 3, "category_id": 2, "bbox": [0, 0, 9, 5], "score": 0.25},
    {"image_id": 20, "category_id": 2, "bbox": [1, 2, 3, 4], "score": 0.5},
]


def reference(truth, results, iou_type="bbox"):
    """The twelve numbers of pycocotools; no results are none of its cases: every number is then 0."""
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO()
        coco.dataset = json.loads(json.dumps({"info": {}, **truth}))
        coco.createIndex()
        found = coco.loadRes(json.loads(json.dumps(results))) if results else COCO()
        run = COCOeval(coco, found, iou_type)
        run.evaluate()
        run.accumulate()
        run.summarize()
    return run.stats


def same(summary, expected) -> bool:
    ours = np.array([-1.0 if summary[name] is None else summary[name] for name in NAMES])
    return np.abs(ours - expected).max() <= 1e-12


def scene(seed):
    """A random data set as COCO documents, its ids in no order."""
    images, classes, truths, predictions = random_scene(seed)
    rng = np.random.default_rng(seed)
    image_ids = rng.permutation(1000)[:images].tolist()
    category_ids = rng.permutation(50)[:classes].tolist()

    def record(row):
        return {"image_id": image_ids[row["image"]], "category_id": category_ids[row["label"]], "bbox": row["box"]}

    truth = {
        "images": [{"id": image} for image in rng.permutation(image_ids).tolist()],
        "categories": [{"id": label, "name": f"class {label}"} for label in category_ids],
        "annotations": [
            record(row) | {"id": index + 1, "area": row["area"], "iscrowd": int(row["crowd"])}
            for index, row in enumerate(truths)
        ],
    }
    return truth, [record(row) | {"score": row["score"]} for row in predictions]


def use_reader(monkeypatch, reader) -> None:
    """Let only this reader, and those behind it, have the files."""
    if reader != "scanned":
        monkeypatch.setattr(coco_columns, "_scan", lambda *_: [])
    if reader == "strict":
        monkeypatch.setattr(coco_columns, "_plain_truth", not_plain)


def not_plain(*_):
    raise coco_columns._NotPlain


@pytest.mark.parametrize("seed", range(60))
def test_boxes_equal_pycocotools(tmp_path, seed):
    truth, results = scene(seed)
    summary = coco_summary(write(tmp_path, "t.json", truth), write(tmp_path, "r.json", results))
    assert same(summary, reference(truth, results))


@pytest.mark.parametrize("boxed", [False, True], ids=["masks alone", "masks and boxes"])
@pytest.mark.parametrize("seed", range(20))
def test_masks_equal_pycocotools(tmp_path, seed, boxed):
    """With a box beside the mask of the first result, pycocotools takes every area from the boxes."""
    truth, results = random_masks(seed)
    truth = {"info": {}, "categories": [{"id": label, "name": str(label)} for label in range(1, 9)]} | truth
    results = [as_run_lengths(record, truth) for record in results]
    if boxed:
        results = [record | {"bbox": [1.0, 2.0, 10.0 + place, 30.0]} for place, record in enumerate(results)]
    summary = coco_summary(write(tmp_path, "t.json", truth), write(tmp_path, "r.json", results), iou_type="segm")
    assert same(summary, reference(truth, results, "segm"))


def as_run_lengths(record, truth):
    """The record with compressed run lengths: pycocotools cannot read polygons in results."""
    from pycocotools.coco import COCO

    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO()
        coco.dataset = json.loads(json.dumps(truth))
        coco.createIndex()
    runs = coco.annToRLE(json.loads(json.dumps(record)))
    counts = runs["counts"]
    return record | {"segmentation": runs | {"counts": counts.decode() if isinstance(counts, bytes) else counts}}


@pytest.mark.parametrize("iou_type", ["bbox", "segm"])
@pytest.mark.parametrize("seed", range(8))
def test_every_reader_gives_the_same_columns(tmp_path, monkeypatch, seed, iou_type):
    truth, results = scene(seed) if iou_type == "bbox" else random_masks(seed)
    paths = write(tmp_path, "t.json", truth), write(tmp_path, "r.json", results)
    found = {}
    for reader in READERS:
        with monkeypatch.context() as patch:
            use_reader(patch, reader)
            objects = read_coco(*paths, iou_type=iou_type).objects
            found[reader] = [objects.truth_box, objects.truth_area, objects.crowd, objects.prediction_box, objects.score,
                             objects.prediction_area, objects.truth_order, objects.prediction_order, objects.score_order]  # fmt: skip
    for reader in READERS[1:]:
        assert all(map(np.array_equal, found[READERS[0]], found[reader]))


def test_many_blocks_are_one_file(tmp_path, monkeypatch):
    truth, results = scene(3)
    paths = write(tmp_path, "t.json", truth), write(tmp_path, "r.json", results)
    whole = read_coco(*paths).objects
    used = []
    scan = coco_columns._scan_block
    monkeypatch.setattr(coco_columns, "BLOCK", 200)
    monkeypatch.setattr(coco_columns, "_scan_block", lambda data: used.append(data) or scan(data))
    parts = read_coco(*paths).objects
    assert len(used) > 10
    assert np.array_equal(whole.prediction_box, parts.prediction_box)
    assert np.array_equal(whole.score_order, parts.score_order)


def test_extra_keys_and_other_blanks_change_nothing(tmp_path):
    plain = coco_summary(write(tmp_path, "t.json", TRUTH), write(tmp_path, "r.json", RESULTS))
    more = [record | {"segmentation": [], "id": 7, "note": 'a "},{" in a text'} for record in RESULTS]
    text = json.dumps(more, indent=2)
    assert coco_summary(tmp_path / "t.json", write(tmp_path, "m.json", text)) == plain
    bom = b"\xef\xbb\xbf" + json.dumps(RESULTS).encode()
    assert coco_summary(tmp_path / "t.json", write(tmp_path, "b.json", bom)) == plain


def test_what_there_is_by_name(tmp_path):
    summary = coco_summary(write(tmp_path, "t.json", TRUTH), write(tmp_path, "r.json", RESULTS), per_class=True)
    assert tuple(summary.values) == NAMES
    assert summary["AP"] == summary.values["AP"] == pytest.approx(0.25)  # dog: the false positive scores higher; cat: 0
    assert summary["AP_large"] is None
    assert {label: numbers["AR_100"] for label, numbers in summary.per_class.items()} == {
        "dog": 1.0,
        "cat": 0.0,
        "eel": None,
    }
    with pytest.raises(TypeError):
        summary.values["AP"] = 1.0
    assert coco_summary(tmp_path / "t.json", tmp_path / "r.json").per_class == {}


def test_other_limits_and_thresholds_from_the_same_columns(tmp_path):
    data = read_coco(write(tmp_path, "t.json", TRUTH), write(tmp_path, "r.json", RESULTS))
    assert tuple(data.summary(max_dets=(300, 10)).values) == (*NAMES, "AR_300")
    coarse = data.summary(iou_thresholds=(0.75,))
    assert coarse["AP"] == coarse["AP75"] == data.summary()["AP75"]
    assert "AP50" not in coarse.values


@pytest.mark.parametrize(
    ("truth", "results", "ap"),
    [
        pytest.param(TRUTH, [], 0.0, id="no results"),
        pytest.param(TRUTH | {"annotations": []}, RESULTS, None, id="no ground truth"),
        pytest.param(TRUTH | {"annotations": []}, [], None, id="neither"),
        pytest.param({"images": [], "annotations": [], "categories": []}, [], None, id="nothing at all"),
        pytest.param(TRUTH, [RESULTS[0] | {"score": 0}], 0.5, id="score 0 counts"),
    ],
)
@pytest.mark.parametrize("reader", READERS)
def test_nothing_is_no_exception(tmp_path, monkeypatch, reader, truth, results, ap):
    use_reader(monkeypatch, reader)
    assert coco_summary(write(tmp_path, "t.json", truth), write(tmp_path, "r.json", results))["AP"] == pytest.approx(ap)


def test_voc100(shared):
    folder = shared / "data" / "voc100"
    truth, results = (json.loads((folder / name).read_text()) for name in ("instances.json", "detections.json"))
    summary = coco_summary(folder / "instances.json", folder / "detections.json")
    assert same(summary, reference(truth, results))


IMAGE, CATEGORY = "the id of an image in images", "the id of a category"
BOX = "[x, y, width, height] in pixels"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(
            {"score": float("nan")}, "r.json, row 2, column score: found nan; expected a finite score", id="NaN score"
        ),
        pytest.param(
            {"score": float("inf")},
            "r.json, row 2, column score: found inf; expected a finite score",
            id="infinite score",
        ),
        pytest.param(
            {"score": "0.5"}, "r.json, row 2, column score: found '0.5'; expected a finite score", id="score in quotes"
        ),
        pytest.param(
            {"score": True}, "r.json, row 2, column score: found True; expected a finite score", id="true score"
        ),
        pytest.param(
            {"score": None}, "r.json, row 2, column score: found nothing; expected a finite score", id="no score"
        ),
        pytest.param({"image_id": 4}, f"r.json, row 2, column image_id: found 4; expected {IMAGE}", id="unknown image"),
        pytest.param(
            {"image_id": 20.5}, f"r.json, row 2, column image_id: found 20.5; expected {IMAGE}", id="half an image"
        ),
        pytest.param(
            {"image_id": "20"}, f"r.json, row 2, column image_id: found '20'; expected {IMAGE}", id="image in quotes"
        ),
        pytest.param(
            {"category_id": 1}, f"r.json, row 2, column category_id: found 1; expected {CATEGORY}", id="unknown class"
        ),
        pytest.param(
            {"category_id": 2**63},
            f"r.json, row 2, column category_id: found {2**63}; expected {CATEGORY}",
            id="huge class",
        ),
        pytest.param(
            {"bbox": [1, 2, -3, 4]},
            f"r.json, row 2, column bbox: found [1, 2, -3, 4]; expected {BOX}, width and height not negative",
            id="negative width",
        ),
        pytest.param(
            {"bbox": [1, 2, 3]},
            f"r.json, row 2, column bbox: found [1, 2, 3]; expected {BOX}, four finite numbers",
            id="three numbers",
        ),
        pytest.param(
            {"bbox": [1, 2, 3, 4, 5]},
            f"r.json, row 2, column bbox: found [1, 2, 3, 4, 5]; expected {BOX}, four finite numbers",
            id="five numbers",
        ),
        pytest.param(
            {"bbox": [1, 2, 3, "4"]},
            f"r.json, row 2, column bbox: found [1, 2, 3, '4']; expected {BOX}, four finite numbers",
            id="a number in quotes",
        ),
        pytest.param({"bbox": None}, f"r.json, row 2, column bbox: found nothing; expected {BOX}", id="no box"),
    ],
)
def test_bad_results(tmp_path, change, message):
    results = [RESULTS[0], RESULTS[1] | change]
    with pytest.raises(InputError) as caught:
        coco_summary(write(tmp_path, "t.json", TRUTH), write(tmp_path, "r.json", results))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("table", "change", "message"),
    [
        pytest.param(
            "annotations",
            {"id": 0},
            "row 2, column annotations.id: found 0; expected a whole number of at least 1 (0 silently spoils pycocotools' matching)",
            id="id 0",
        ),
        pytest.param(
            "annotations",
            {"id": 5},
            "row 2, column annotations.id: found 5 again, first in record 1; expected every id once",
            id="an annotation twice",
        ),
        pytest.param(
            "annotations",
            {"image_id": 9},
            f"row 2, column annotations.image_id: found 9; expected {IMAGE}",
            id="unknown image",
        ),
        pytest.param(
            "annotations",
            {"category_id": 8},
            f"row 2, column annotations.category_id: found 8; expected {CATEGORY}",
            id="unknown class",
        ),
        pytest.param(
            "annotations",
            {"bbox": [0, 0, 1, -1]},
            f"row 2, column annotations.bbox: found [0, 0, 1, -1]; expected {BOX}, width and height not negative",
            id="negative height",
        ),
        pytest.param(
            "annotations",
            {"area": -1},
            "row 2, column annotations.area: found -1; expected an area in square pixels, not negative",
            id="negative area",
        ),
        pytest.param(
            "annotations",
            {"iscrowd": 2},
            "row 2, column annotations.iscrowd: found 2; expected 0 or 1",
            id="half a crowd",
        ),
        pytest.param(
            "images",
            {"id": 20},
            "row 2, column images.id: found 20 again, first in record 1; expected every id once",
            id="an image twice",
        ),
        pytest.param(
            "categories",
            {"id": 7},
            "row 2, column categories.id: found 7 again, first in record 1; expected every id once",
            id="a category twice",
        ),
        pytest.param(
            "categories",
            {"name": "cat"},
            "row 2, column categories.name: found 'cat' again, first in record 1; expected every category under its own name",
            id="a name twice",
        ),
    ],
)
def test_bad_ground_truth(tmp_path, table, change, message):
    rows = list(TRUTH[table])
    rows[1] = rows[1] | change
    truth = write(tmp_path, "t.json", TRUTH | {table: rows})
    with pytest.raises(InputError) as caught:
        coco_summary(truth, write(tmp_path, "r.json", [] if table == "images" else RESULTS))
    assert f"t.json, {message}" in str(caught.value).splitlines()


def test_an_absent_area_is_the_box_s(tmp_path):
    rows = [{key: value for key, value in row.items() if key != "area"} for row in TRUTH["annotations"]]
    data = read_coco(write(tmp_path, "t.json", TRUTH | {"annotations": rows}), write(tmp_path, "r.json", RESULTS))
    assert data.objects.truth_area.tolist() == [12, 45]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param("[{", "r.json, row 1: found ", id="cut"),
        pytest.param("", "r.json: found an empty file; expected ", id="empty"),
        pytest.param("  \n", "r.json: found a file with only whitespace; expected ", id="blanks"),
        pytest.param(
            "{}",
            "r.json: found a JSON object; expected COCO results: an array of objects with image_id, category_id, score",
            id="an object",
        ),
        pytest.param("[1]", "r.json, row 1: found 1; expected an object", id="an array of numbers"),
        pytest.param(b"\x1f\x8b\x08", "r.json: found a gzip archive; expected ", id="gzip"),
    ],
)
def test_files_that_are_no_results(tmp_path, content, message):
    with pytest.raises(InputError) as caught:
        coco_summary(write(tmp_path, "t.json", TRUTH), write(tmp_path, "r.json", content))
    assert str(caught.value).startswith(message)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError) as caught:
        coco_summary(tmp_path / "t*.json", tmp_path / "r.json")
    first, second = str(caught.value).splitlines()
    assert first.startswith("t*.json: found no such file")
    assert second.startswith("r.json: found no such file")


def test_a_results_file_as_ground_truth(tmp_path):
    with pytest.raises(
        InputError, match=r"r\.json: found a JSON array; expected COCO ground truth: an object with images"
    ):
        coco_summary(write(tmp_path, "r.json", RESULTS), tmp_path / "r.json")


def test_everything_wrong_is_listed_at_once(tmp_path):
    rows = [row | {"id": 1, "bbox": [0, 0, -1, 1]} for row in TRUTH["annotations"]]
    results = [{"image_id": 1, "category_id": 1, "bbox": [0], "score": None}, 7]
    with pytest.raises(InputError) as caught:
        coco_summary(write(tmp_path, "t.json", TRUTH | {"annotations": rows}), write(tmp_path, "r.json", results))
    places = {(problem.file, problem.row) for problem in caught.value.problems}
    assert places == {("t.json", 1), ("t.json", 2), ("r.json", 1), ("r.json", 2)}


def test_masks_that_do_not_fit(tmp_path):
    results = [{"image_id": 3, "category_id": 2, "score": 1, "segmentation": {"size": [50, 99], "counts": "0"}}]
    annotations = [row | {"segmentation": [[0, 0, 9, 0, 9, 9]]} for row in TRUTH["annotations"]]
    truth = write(tmp_path, "t.json", TRUTH | {"annotations": annotations})
    with pytest.raises(
        InputError, match=r"r\.json, row 1, column segmentation: found size \[50, 99\], the image has \[50, 100\]"
    ):
        coco_summary(truth, write(tmp_path, "r.json", results), iou_type="segm")


def test_what_is_not_needed_is_not_imported():
    """A fresh process pays for numpy, numba and msgspec alone."""
    program = "import sys; from metrics import coco_summary; print(*{'pyarrow', 'pandas', 'pydantic', 'duckdb'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "\n"
