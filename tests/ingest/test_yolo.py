"""YOLO folders and zips: classes by number, boxes of 0–1 in pixels, and everything wrong listed by file and line."""
# ruff: noqa: E501 - a table reads better with one line a case

import json

import pytest

from metrics.core.errors import InputError
from metrics.ingest import Reading, inspect, load_outputs, read_outputs, read_suite
from tests.ingest.files import list_problems, packed, picture, read_refusal, unpacked, write

SET = {
    "data.yaml": "path: ../set\ntrain: images\nnc: 2\nnames: [cat, dog]\n",
    "images/a.png": picture(100, 50), "images/b.png": picture(40, 40, colour=1),
    "images/empty.png": picture(10, 10, colour=2), "labels/a.txt": "1 0.5 0.5 0.2 0.4\n0 0.1 0.2 0.2 0.4\n",
    "labels/b.txt": "\n0 0.5 0.5 1 1\r\n",
}  # fmt: skip
OBJECTS = [("a", "dog", 40, 15, 20, 20, 400), ("a", "cat", 0, 0, 20, 20, 400), ("b", "cat", 0, 0, 40, 40, 1600)]
PREDICTIONS = {
    "labels/a.txt": "1 0.5 0.5 0.2 0.4 0.9\n0 0.5 0.5 0.1 0.2 0.25\n", "labels/b.txt": "0 0.5 0.5 0.5 0.5 1\n",
}  # fmt: skip
LAYOUTS = {
    "labels and images": SET,
    "names by number": SET | {"data.yaml": "names:\n  1: dog\n  0: cat\n"},
    "a file of names": {name: value for name, value in SET.items() if name != "data.yaml"} | {"obj.names": "cat\ndog\n"},
    "classes among the labels": {name: value for name, value in SET.items() if name != "data.yaml"} | {"labels/classes.txt": "cat\ndog"},
    "labels.txt beside the folders": {name: value for name, value in SET.items() if name != "data.yaml"} | {"labels.txt": "cat\ndog\n"},
    "class_names.txt": {name: value for name, value in SET.items() if name != "data.yaml"} | {"class_names.txt": "cat\r\ndog\r\n"},
    "Darknet": {"obj.names": "cat\ndog\n", "train.txt": "data/a.png\n", "obj.data": "classes = 2\n"} | {name.replace("labels/", "obj_train_data/").replace("images/", "obj_train_data/"): value for name, value in SET.items() if "/" in name},
    "side by side": {name.rsplit("/", 1)[-1]: value for name, value in SET.items()} | {"README.txt": "hello"},
    "under a folder, with a Mac's": {"set/" + name: value for name, value in SET.items()} | {"__MACOSX/set/._a.txt": b"\0\1"},
}  # fmt: skip


def objects(table, *names):
    return [tuple(row[name] for name in names) for row in table.to_pylist()]


BOX = ("case_id", "label", "x", "y", "width", "height", "area")


@pytest.mark.parametrize("make", [packed, unpacked], ids=["zip", "folder"])
@pytest.mark.parametrize("entries", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_layouts(tmp_path, entries, make):
    suite = read_suite(make(tmp_path / "set.zip", entries), workspace_media=tmp_path / "media")
    assert (suite.name, suite.task, suite.labels, suite.category_ids) == ("set", "detection", ("cat", "dog"), (0, 1))
    assert objects(suite.cases, "case_id", "image_width", "image_height", "metadata.image_name") == [
        ("a", 100, 50, "a.png"), ("b", 40, 40, "b.png"), ("empty", 10, 10, "empty.png"),
    ]  # fmt: skip
    rows = objects(suite.annotations, *BOX)
    assert [row[:2] for row in rows] == [row[:2] for row in OBJECTS]
    for row, expected in zip(rows, OBJECTS, strict=True):
        assert row[2:] == pytest.approx(expected[2:], abs=1e-9)
    assert suite.annotations["annotation_id"].to_pylist() == [1, 2, 3]
    assert all((tmp_path / "media" / image).is_file() for image in suite.cases["image"].to_pylist())


def set_of_splits(*splits, layout="{split}/{kind}/1"):
    """A data set with the image 1 in each split, 100, 200, … pixels wide."""
    entries = {"data.yaml": SET["data.yaml"]}
    for width, split in enumerate(splits, 1):
        entries[layout.format(split=split, kind="images") + ".png"] = picture(100 * width, 10, colour=width)
        entries[layout.format(split=split, kind="labels") + ".txt"] = "0 0.5 0.5 1 1"
    return entries


def test_splits_with_one_name(tmp_path):
    entries = set_of_splits("train", "val")
    suite = read_suite(packed(tmp_path / "s.zip", entries), reading=Reading(answers={"split": "all"}))
    assert suite.cases["case_id"].to_pylist() == ["train/1", "val/1"]
    assert suite.annotations["width"].to_pylist() == [100, 200]
    labels = {name.replace("/labels", ""): value + " 0.5" for name, value in entries.items() if name.endswith("txt")}
    outputs = read_outputs(
        packed(tmp_path / "m.zip", {"labels/" + name: value for name, value in labels.items()}), suite=suite
    )
    assert outputs.predictions["case_id"].to_pylist() == ["train/1", "val/1"]


SPLITS = {  # splits, layout, what is asked for → the split that is read, by the width of its image
    "test goes first": (("train", "valid", "test"), {}, None, 300),
    "then val": (("train", "val"), {}, None, 200),
    "Ultralytics": (("val2017", "train2017"), {"layout": "{kind}/{split}/1"}, None, 100),
    "Darknet": (("Train", "Validation"), {"layout": "obj_{split}_data/1"}, None, 200),
    "asked for": (("train", "valid", "test"), {}, {"sheet": "train"}, 100),
    "by another word": (("train", "valid", "test"), {}, {"sheet": "val"}, 200),
    "answered": (("train", "valid", "test"), {}, {"answers": {"split": "valid"}}, 200),
}  # fmt: skip


@pytest.mark.parametrize(("splits", "layout", "asked", "width"), SPLITS.values(), ids=SPLITS.keys())
def test_one_split_is_read(tmp_path, splits, layout, asked, width):
    path = packed(tmp_path / "s.zip", set_of_splits(*splits, **layout))
    suite = read_suite(path, reading=Reading(**(asked or {})))
    assert suite.cases.select(["case_id", "image_width"]).to_pylist() == [{"case_id": "1", "image_width": width}]
    assert (suite.cases["image"].null_count, len(suite.annotations)) == (0, 1)
    unused = [line.place for line in suite.receipt if line.use == "unused" and line.place.startswith("split")]
    assert len(unused) == len(splits) - 1
    assert len(inspect(path).sheets) == len(splits) + 1


def test_splits_in_lists_of_images(tmp_path):
    entries = {f"data/{name}.png": picture(10 * width, 10) for width, name in enumerate("abc", 1)}
    entries |= {f"data/{name}.txt": "0 0.5 0.5 1 1" for name in "abc"} | {"obj.names": "cat"}
    lists = {"train.txt": "data/a.png\ndata/b.png\n", "valid.txt": "/x/data/c.png\n"}
    suite = read_suite(packed(tmp_path / "s.zip", entries | lists))
    assert suite.cases["case_id"].to_pylist() == ["c"]
    path = packed(tmp_path / "t.zip", entries | {"train.txt": lists["train.txt"]})
    assert read_suite(path).cases["case_id"].to_pylist() == ["a", "b", "c"]  # one list says no more than the files


def test_splits_without_labels_and_unknown_ones(tmp_path):
    entries = set_of_splits("train", "test")
    path = packed(tmp_path / "s.zip", {name: text for name, text in entries.items() if name != "test/labels/1.txt"})
    suite = read_suite(path)
    assert suite.cases["image_width"].to_pylist() == [100]  # the image of test is no image without objects
    assert (
        "s.zip: split test (1) is not used: images of a split without label files, such as 'test/images/1.png'"
        in map(str, suite.receipt)
    )
    path = packed(tmp_path / "t.zip", entries)
    with pytest.raises(InputError, match="no split 'val'; expected one of train, test, all"):
        read_suite(path, reading=Reading(sheet="val"))


def test_outputs_of_several_splits_are_those_of_the_suite(tmp_path):
    entries = {f"{split}/images/{split}1.png": picture(100, 10) for split in ("val", "test")}
    labels = {f"{split}/labels/{split}1.txt": "0 0.5 0.5 1 1" for split in ("val", "test")}
    names = {"classes.txt": "cat"}
    suite = read_suite(packed(tmp_path / "s.zip", entries | labels | names), reading=Reading(sheet="val"))
    scored = {name: f"{text} 0.5" for name, text in labels.items()}
    outputs = read_outputs(packed(tmp_path / "m.zip", scored | names), suite=suite)
    assert outputs.predictions["case_id"].to_pylist() == ["val1"]
    assert "m.zip: split test (1) is not used" in "\n".join(map(str, outputs.receipt))


BEYOND = {  # a line, and the box in pixels of an image of 100 × 50
    "a hair": ("0 0.5 0.5 1.000001 1", (0, 0, 100, 50)),
    "below 0": ("0 -0.0000001 0.5 0.2 0.4", (-10, 15, 20, 20)),
    "1 %": ("0 0.5 1.01 0.2 0.4", (40, 40, 20, 20)),
    "a polygon": ("0 0.5 0.5 1.0021 0.5 1.0021 1 0.5 1", (50, 25, 50, 25)),
}  # fmt: skip


@pytest.mark.parametrize(("line", "box"), BEYOND.values(), ids=BEYOND.keys())
def test_what_is_hardly_beyond_the_edge_is_clipped(tmp_path, line, box):
    suite = read_suite(packed(tmp_path / "s.zip", SET | {"labels/a.txt": f"0 0.5 0.5 1 1\n{line}\n"}))
    assert objects(suite.annotations, *BOX[2:6])[1] == pytest.approx(box)
    outputs = read_outputs(packed(tmp_path / "m.zip", {"labels/a.txt": line + " 0.5"}), suite=suite)
    assert objects(outputs.predictions, *BOX[2:6])[0] == pytest.approx(box)
    for receipt in (suite.receipt, outputs.receipt):
        [said] = [entry for entry in receipt if entry.place == "coordinates"]
        assert (said.count, said.meaning) == (1, "up to 1 % beyond the edge of the image, clipped to it")


def test_the_receipt_names_what_is_read_in_an_unusual_way(tmp_path):
    yaml = "train: ../train\nnames: {0: cat, 1: dog}\nnc: 3\nroboflow: {version: 1}\n"
    twice = SET | {"data.yaml": yaml, "labels/a.txt": "0 0.5 0.5 0.2 0.2\n" * 3}
    lines = list(map(str, read_suite(packed(tmp_path / "s.zip", twice)).receipt))
    assert "s.zip: lines again (2) is the same line again in its file: counted as another object" in lines
    assert "s.zip/data.yaml: nc (1) is not used: there are 2 names, such as '3'" in lines
    assert any(line.startswith("s.zip/data.yaml: train, roboflow (2) is not used") for line in lines)
    other = read_suite(packed(tmp_path / "o.zip", SET | {"args.yaml": "conf: 0.25\n"}))
    assert "o.zip/args.yaml: args.yaml is not used: it names no classes" in map(str, other.receipt)


def test_classes_may_be_called_by_their_numbers(tmp_path):
    path = packed(tmp_path / "s.zip", {name: data for name, data in SET.items() if name != "data.yaml"})
    suite = read_suite(path, reading=Reading(answers={"class_names": "numbers"}))
    assert (suite.labels, suite.annotations["label"].to_pylist()) == (("0", "1"), ["1", "0", "0"])


def test_ids_of_tracks_are_no_points(tmp_path):
    suite = read_suite(packed(tmp_path / "s.zip", SET))
    tracked = {"labels/a.txt": "1 0.5 0.5 0.2 0.4 0.9 1\n0 0.5 0.5 0.1 0.2 0.25 1\n"}
    outputs = read_outputs(packed(tmp_path / "m.zip", tracked), suite=suite)
    assert objects(outputs.predictions, "label", "score", "polygons") == [("dog", 0.9, None), ("cat", 0.25, None)]
    assert "m.zip: id of a track (2) is not used" in str(outputs.receipt[0])


def test_polygons_rotated_boxes_and_an_image_named_as_a_list_of_classes(tmp_path):
    entries = {name.replace("a.", "class."): value for name, value in SET.items()}
    entries["data.yaml"] = SET["data.yaml"]
    assert read_suite(packed(tmp_path / "s.zip", entries)).cases["case_id"].to_pylist() == ["b", "class", "empty"]
    suite = read_suite(
        packed(tmp_path / "s.zip", SET | {"labels/a.txt": "0 0.1 0.2 0.5 0.2 0.5 0.6 0.1 0.6\n1 0 0 1 0 0.5 1\n"})
    )
    square, triangle, _ = suite.annotations.to_pylist()
    assert [round(value, 9) for value in square["polygons"][0]] == [10, 10, 50, 10, 50, 30, 10, 30]
    assert [square[name] for name in ("x", "y", "width", "height", "area")] == pytest.approx([10, 10, 40, 20, 800])
    assert [triangle[name] for name in ("x", "y", "width", "height", "area")] == pytest.approx([0, 0, 100, 50, 2500])


@pytest.mark.parametrize("make", [packed, unpacked], ids=["zip", "folder"])
def test_predictions(tmp_path, make):
    suite = read_suite(packed(tmp_path / "s.zip", SET))
    outputs = read_outputs(make(tmp_path / "v8.zip", PREDICTIONS), suite=suite)
    assert outputs.models == ("v8",)
    assert len(outputs.outputs) == 3
    rows = objects(outputs.predictions, *BOX[:-1], "score", "prediction_id")
    assert [row[:2] + row[6:] for row in rows] == [("a", "dog", 0.9, 0), ("a", "cat", 0.25, 1), ("b", "cat", 1, 2)]
    assert rows[1][2:6] == pytest.approx((45, 20, 10, 10))
    assert read_outputs(tmp_path / "v8.zip", suite=suite, model_names={tmp_path / "v8.zip": "mine"}).models == ("mine",)


def test_predictions_of_nothing(tmp_path):
    suite = read_suite(packed(tmp_path / "s.zip", SET))
    outputs = read_outputs(packed(tmp_path / "mute.zip", {"labels/a.txt": ""}), suite=suite)
    assert (outputs.models, len(outputs.outputs), len(outputs.predictions)) == (("mute",), 3, 0)


def test_predictions_bring_names_and_sizes_for_other_suites(tmp_path):
    suite = read_suite(write(tmp_path, "s.csv", "image,label,x,y,width,height\na.png,dog,1,1,5,5\nb.png,cat,1,1,5,5\n"))
    with pytest.raises(InputError, match="found no names of the classes; expected the names of the classes, in data"):
        read_outputs(packed(tmp_path / "m.zip", PREDICTIONS), suite=suite)
    named = PREDICTIONS | {"classes.txt": "cat\ndog\n"}
    with pytest.raises(InputError, match=r"m\.zip, 2 files: found no image 'a' \(labels/a\.txt\), no image 'b'"):
        read_outputs(packed(tmp_path / "m.zip", named), suite=suite)
    full = named | {name: value for name, value in SET.items() if "images/" in name}
    outputs = read_outputs(packed(tmp_path / "m.zip", full), suite=suite)
    assert objects(outputs.predictions, "case_id", "label", "width") == [
        ("a.png", "dog", 20), ("a.png", "cat", 10), ("b.png", "cat", 20),
    ]  # fmt: skip


SUITE_PROBLEMS = {
    "arity": ({"labels/a.txt": "0 0.5 0.5 0.2\n"}, ["s.zip/labels/a.txt, row 1: found '0 0.5 0.5 0.2'; expected class xc yc w h, or class x1 y1 x2 y2 x3 y3 …"]),
    "a confidence": ({"labels/a.txt": "0 0.5 0.5 0.2 0.2 0.9\n"}, ["s.zip/labels/a.txt, row 1: found '0 0.5 0.5 0.2 0.2 0.9'; expected class xc yc w h, or class x1 y1 x2 y2 x3 y3 …"]),
    "every problem": ({"labels/a.txt": "7 0.5 0.5 0.2 0.2\n0 0.5 1.5 0.2 0.2\n0 x 0.5 0.2 nan\n"}, [
        "s.zip/labels/a.txt, row 1, column class: found '7'; expected a class from 0 to 1",
        "s.zip/labels/a.txt, row 2, column yc: found '1.5'; expected a number from 0 to 1",
        "s.zip/labels/a.txt, row 3, column xc: found 'x'; expected a number",
        "s.zip/labels/a.txt, row 3, column h: found 'nan'; expected a finite number",
    ]),
    "line ends of Windows": ({"labels/a.txt": "0 0.5 0.5 0.2 0.2\r\n7 0.5 0.5 0.2 0.2\r\n"}, ["s.zip/labels/a.txt, row 2, column class: found '7'; expected a class from 0 to 1"]),
    "class": ({"labels/a.txt": "0.5 0.5 0.5 0.2 0.2\n-1 0.5 0.5 0.2 0.2"}, ["s.zip/labels/a.txt, row 1, column class: found '0.5'; expected a whole number", "s.zip/labels/a.txt, row 2, column class: found '-1'; expected a number of at least 0"]),
    "polygon": ({"labels/a.txt": "0 0 0 1 0 1 1.5"}, ["s.zip/labels/a.txt, row 1, column x1 y1 …: found '0 0 0 1 0 1 1.5'; expected points from 0 to 1"]),
    "no UTF-8": ({"labels/a.txt": b"0 \xff"}, ["s.zip/labels/a.txt: found byte 0xff at offset 2, which is not UTF-8; expected UTF-8 text"]),
    "no names": ({"data.yaml": "nc: 2\n"}, ["s.zip: found no names of the classes; expected an answer, class_names=numbers. Or the names of the classes, in data.yaml, obj.names, classes.txt or labels.txt."]),
    "a name twice": ({"data.yaml": "names: [cat, cat]\n"}, ["s.zip/data.yaml, row 2: found class 1 named 'cat', as another is; expected a different name for each class"]),
    "names that differ": ({"classes.txt": "cat\neel\n"}, ["s.zip/classes.txt: found names that differ from data.yaml; expected the same classes in both"]),
    "names in an unknown form": ({"data.yaml": "names: {0: cat, 2: dog}\n"}, ["s.zip/data.yaml, column names: found names in an unknown form; expected names: [cat, dog] or names: {0: cat, 1: dog}"]),
    "an alias": ({"data.yaml": "a: &a [x, x]\nnames: *a\n"}, ["s.zip/data.yaml: found YAML that cannot be read: an alias (*); expected names: [cat, dog] or names: {0: cat, 1: dog}"]),
    "too deep": ({"data.yaml": "names: " + "[" * 90_000}, ["s.zip/data.yaml: found YAML that cannot be read: more than 100 levels of lists and mappings; expected names: [cat, dog] or names: {0: cat, 1: dog}"]),
    "keypoints": ({"data.yaml": "names: [cat, dog]\nkpt_shape: [17]\n"}, ["s.zip/data.yaml: found kpt_shape ['17']; expected kpt_shape: [17, 3] or [17, 2]"]),
    "an image twice": ({"a.png": picture()}, None),
}  # fmt: skip


@pytest.mark.parametrize(("entries", "texts"), SUITE_PROBLEMS.values(), ids=SUITE_PROBLEMS.keys())
def test_suite_problems(tmp_path, entries, texts):
    found = list_problems(read_suite, packed(tmp_path / "s.zip", SET | entries))
    assert texts is None or found == texts


PREDICTION_PROBLEMS = {
    "no confidence": ({"labels/a.txt": "0 0.5 0.5 0.2 0.2", "labels/b.txt": ""}, ["m.zip: found labels without a confidence; expected lines of class xc yc w h conf (save_conf of Ultralytics)"]),
    "one without": ({"labels/a.txt": "0 0.5 0.5 0.2 0.2"}, ["m.zip/labels/a.txt, row 1: found '0 0.5 0.5 0.2 0.2'; expected class xc yc w h conf, or class x1 y1 x2 y2 x3 y3 … conf"]),
    "confidence": ({"labels/a.txt": "0 0.5 0.5 0.2 0.2 1.5"}, ["m.zip/labels/a.txt, row 1, column conf: found '1.5'; expected a number from 0 to 1"]),
    "unknown image": ({"labels/z.txt": "0 0.5 0.5 0.2 0.2 0.5\n" * 3}, ["m.zip/labels/z.txt: found predictions for 'z'; expected an image of the suite"]),
    "unknown class": ({"classes.txt": "cat\neel\n"}, ["m.zip/labels/a.txt, row 1, column class: found 'eel'; expected a class of the suite"]),
}  # fmt: skip


@pytest.mark.parametrize(("entries", "texts"), PREDICTION_PROBLEMS.values(), ids=PREDICTION_PROBLEMS.keys())
def test_prediction_problems(tmp_path, entries, texts):
    suite = read_suite(packed(tmp_path / "s.zip", SET))
    path = packed(tmp_path / "m.zip", PREDICTIONS | entries)
    assert list_problems(read_outputs, path, suite=suite) == texts
    if "without a confidence" not in texts[0]:
        assert load_outputs(path, suite=suite, keep_good_rows=True).value.left_out > 0


def test_voc100(shared, tmp_path):
    folder = shared / "data" / "voc100"
    suite = read_suite(folder / "gts" / "yolo", images=folder / "images", workspace_media=tmp_path)
    truth = read_suite(folder / "instances.json")
    names = dict(zip(truth.cases["case_id"].to_pylist(), truth.cases["metadata.image_name"].to_pylist(), strict=True))

    def boxes(table):
        rows = [(names.get(row["case_id"], row["case_id"]), row) for row in table.to_pylist()]
        sides = [[round(row[side]) for side in BOX[2:6]] for _, row in rows]
        return sorted(
            (name.removesuffix(".jpg"), row["label"], *own) for (name, row), own in zip(rows, sides, strict=True)
        )

    assert boxes(suite.annotations) == boxes(truth.annotations)
    files = (folder / "gts" / "yolo" / "obj_train_data").glob("*.txt")
    entries = {f"labels/{file.name}": file.read_text().strip().replace("\n", " 0.75\n") + " 0.75" for file in files}
    entries["data.yaml"] = "names: " + json.dumps((folder / "gts" / "yolo" / "obj.names").read_text().split())
    predictions = read_outputs(packed(tmp_path / "m.zip", entries), suite=truth).predictions
    assert boxes(predictions) == boxes(truth.annotations)


def test_texts_beside_a_table_are_no_labels(tmp_path):
    """Prose is not asked about classes; lines of numbers are labels, whatever table lies beside them."""
    table, prose = "id,question,expected_answer\n1,Who?,Ann\n", "The harbour\nopens at 8.\n"
    assert read_suite(packed(tmp_path / "prose.zip", {"suite.csv": table, "book.txt": prose})).task == "text"
    labels = packed(tmp_path / "labels.zip", {"results.csv": table, "a.txt": "0 0.5 0.5 0.2 0.2\n", "b.txt": ""})
    assert "class_names=numbers" in read_refusal(read_suite, labels)
