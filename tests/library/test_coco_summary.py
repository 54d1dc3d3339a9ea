"""coco_summary of two files: pycocotools' numbers, whichever reader took the files."""
# ruff: noqa: E501 - a table reads better with one line a case

import contextlib
import io
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from metrics import coco_summary, read_coco, read_outputs, read_suite
from metrics.core.errors import InputError
from metrics.library import coco as library_coco, plain_coco
from metrics.vision import rle
from tests.ingest.files import packed, write
from tests.library.coco_files import RESULTS, TRUTH
from tests.vision.coco_oracle import random_scene
from tests.vision.mask_oracle import random_masks

NAMES = tuple("AP AP50 AP75 AP_small AP_medium AP_large AR_1 AR_10 AR_100 AR_small AR_medium AR_large".split())
READERS = ("scanned", "typed", "strict")


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
        "annotations": [record(row) | {"id": index + 1, "area": row["area"], "iscrowd": int(row["crowd"])} for index,
            row in enumerate(truths)],
    }  # fmt: skip
    return truth, [record(row) | {"score": row["score"]} for row in predictions]


def use_reader(monkeypatch, reader) -> None:
    """Let only this reader, and those behind it, have the files."""
    if reader != "scanned":
        monkeypatch.setattr(plain_coco, "_scan", lambda *_: [])
    if reader == "strict":
        monkeypatch.setattr(plain_coco, "_truth", not_plain)


def not_plain(*_):
    raise plain_coco.NotPlain


@pytest.mark.parametrize("seed", range(60))
def test_boxes_equal_pycocotools(tmp_path, seed):
    truth, results = scene(seed)
    summary = coco_summary(write(tmp_path, "t.json", truth), write(tmp_path, "r.json", results))
    assert same(summary, reference(truth, results))


def as_rows(truth, results, form):
    """The same data as tables of objects."""
    labels = {record["id"]: record["name"] for record in truth["categories"]}

    def rows(records):
        return [
            {
                "image": str(record["image_id"]),
                "label": labels[record["category_id"]],
                **dict(zip("xywh", record["bbox"], strict=True)),
            }
            | ({"score": record["score"]} if "score" in record else {"image_width": 100, "image_height": 50})
            for record in records
        ]

    made = [
        form(rows(records)).rename(columns={"w": "width", "h": "height"}) for records in (truth["annotations"], results)
    ]
    return tuple(made)


GIVEN = {
    "paths as texts": lambda paths, *_: tuple(map(str, paths)),
    "documents": lambda _, truth, results: (truth, results),
    "a path and a list": lambda paths, _, results: (paths[0], results),
    "a path and a data frame of records": lambda paths, _, results: (paths[0], pd.DataFrame(results)),
    "one path in a list": lambda paths, *_: (paths[0], [paths[1]]),
    "data frames of objects": lambda _, truth, results: as_rows(truth, results, pd.DataFrame),
    "a zip": lambda paths, *_: (
        packed(paths[0].with_suffix(".zip"), {"annotations/t.json": paths[0].read_bytes()}),
        paths[1],
    ),
    "Suite and Outputs": lambda paths, *_: (suite := read_suite(paths[0]), read_outputs(paths[1], suite=suite)),
    "ground truth with scores": lambda paths, truth, results: (
        paths[0],
        write(paths[0].parent, "s.json", truth | {"annotations": results}),
    ),
}


@pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN)
def test_takes_what_evaluate_takes(tmp_path, given):
    truth = {**TRUTH, "images": [image | {"file_name": f"{image['id']}"} for image in TRUTH["images"]]}
    results = [RESULTS[0], RESULTS[1] | {"category_id": 7, "bbox": [1, 2, 3, 3.5]}]
    paths = write(tmp_path, "t.json", truth), write(tmp_path, "r.json", results)
    assert coco_summary(*given(paths, truth, results))["AP"] == pytest.approx(coco_summary(*paths)["AP"])


def test_results_of_two_models_are_refused():
    results = [RESULTS[0] | {"model": "a"}, RESULTS[1] | {"model": "b"}]
    with pytest.raises(InputError, match="found 2 models: a, b; expected the results of one model"):
        coco_summary(TRUTH, results)


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


JUNK = (
    ..., None, True, -1, 0, 1, 2, 3.5, 1e400, float("nan"), 2**70, "", "7", [], {}, [1, 2, 3], [1, 2, -3, 4], [0, 0, 9, 5],
    [1, 2, 3, "4"], [[1, 2, 3, 4, 5, 6]], [[1, 2, 3, 4]], {"size": [50, 100], "counts": "PT1"},
    {"size": [2, 2], "counts": "04"}, {"size": [50, 100], "counts": [0, 5000]},
)  # fmt: skip


def broken(truth, results, seed):
    """The documents with a value of a few records changed: to nonsense, to nothing, or to that of another record."""
    random = np.random.default_rng(seed)
    truth, results = json.loads(json.dumps([truth, results]))
    tables = [table for table in (*truth.values(), results) if isinstance(table, list) and table]
    for _ in range(random.integers(1, 3)):
        table = tables[random.integers(len(tables))]
        record, other = (table[random.integers(len(table))] for _ in range(2))
        key = sorted(record)[random.integers(len(record))]
        value = other.get(key) if random.random() < 0.3 else JUNK[random.integers(len(JUNK))]
        if value is ...:
            del record[key]
        else:
            record[key] = value
    return truth, results


def compressed(record):
    """The record with its run lengths as text, which the fast reader takes."""
    shape = record["segmentation"]
    if not isinstance(shape, dict) or isinstance(shape["counts"], str):
        return record
    return record | {"segmentation": shape | {"counts": rle.encode(shape["counts"])}}


@pytest.mark.parametrize("iou_type", ["bbox", "segm"])
def test_fast_and_careful_readers_agree_on_what_is_right(tmp_path, monkeypatch, iou_type):
    """Two readers, one law: the careful one takes every file that the fast one takes, with the same numbers."""
    taken = refused = 0
    for seed in range(300):
        truth, results = scene(seed % 20) if iou_type == "bbox" else random_masks(seed % 20)
        if iou_type == "segm":
            truth = truth | {"annotations": [compressed(record) for record in truth["annotations"]]}
            results = [compressed(record) for record in results]
        truth, results = broken(truth, results, seed)
        paths = write(tmp_path, "t.json", truth), write(tmp_path, "r.json", results)
        plain = plain_coco.read_plain(*paths, iou_type)
        with monkeypatch.context() as patch:
            patch.setattr(library_coco, "read_plain", lambda *_: None)
            try:
                careful = coco_summary(*paths, iou_type=iou_type)
            except InputError:
                assert plain is None, seed
                refused += 1
                continue
        assert coco_summary(*paths, iou_type=iou_type) == careful, seed
        taken += plain is not None
    assert taken > 40
    assert refused > 120


@pytest.mark.parametrize("indent", [None, 3], ids=["in one line", "indented"])
def test_many_blocks_are_one_file(tmp_path, monkeypatch, indent):
    truth, results = scene(3)
    text = json.dumps(results[:60], indent=indent)
    paths = write(tmp_path, "t.json", truth), write(tmp_path, "r.json", text)
    whole = read_coco(*paths).objects
    read = []
    scan = plain_coco._scan_block
    monkeypatch.setattr(plain_coco, "_scan_block", lambda path, begin: read.append(begin) or scan(path, begin))
    monkeypatch.setattr(plain_coco, "_results", lambda *_: None)  # nothing else reads the file
    monkeypatch.setattr(plain_coco, "LONGEST", 300)
    for block in [*range(1, 400), len(text) - 2, len(text) - 1, len(text)]:
        read.clear()
        monkeypatch.setattr(plain_coco, "BLOCK", block)
        parts = read_coco(*paths).objects
        assert len(read) == -(-len(text) // block)
        assert np.array_equal(whole.prediction_box, parts.prediction_box), block
        assert np.array_equal(whole.score_order, parts.score_order), block


@pytest.mark.parametrize("end", ["", ",", "]]", "] x", "}", "},]", ",{}]"])
def test_a_file_cut_off_or_with_more_behind_its_end_is_not_plain(tmp_path, monkeypatch, end):
    truth, results = scene(3)
    paths = write(tmp_path, "t.json", truth), write(tmp_path, "r.json", json.dumps(results[:20])[:-1] + end)
    for block in (1, 90, 1000, 1 << 22):
        monkeypatch.setattr(plain_coco, "BLOCK", block)
        assert plain_coco.read_plain(*paths, "bbox") is None, block


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
    recalls = {label: numbers["AR_100"] for label, numbers in summary.per_class.items()}
    assert recalls == {"dog": 1.0, "cat": 0.0, "eel": None}
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
    use_reader(monkeypatch, reader if truth["images"] else "typed")  # a suite has an image
    assert coco_summary(write(tmp_path, "t.json", truth), write(tmp_path, "r.json", results))["AP"] == pytest.approx(ap)


def test_voc100(shared):
    folder = shared / "data" / "voc100"
    truth, results = (json.loads((folder / name).read_text()) for name in ("instances.json", "detections.json"))
    summary = coco_summary(folder / "instances.json", folder / "detections.json")
    assert same(summary, reference(truth, results))


def test_an_absent_area_is_the_box_s(tmp_path):
    rows = [{key: value for key, value in row.items() if key != "area"} for row in TRUTH["annotations"]]
    data = read_coco(write(tmp_path, "t.json", TRUTH | {"annotations": rows}), write(tmp_path, "r.json", RESULTS))
    assert data.objects.truth_area.tolist() == [12, 45]


def test_what_is_not_needed_is_not_imported():
    """A fresh process pays for numpy, numba and msgspec alone."""
    program = "import sys; from metrics import coco_summary; print(*{'pyarrow', 'pandas', 'pydantic', 'duckdb'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "\n"
