"""Zips and folders of indexed PNG masks: classes, images, models by file or folder, and everything wrong at once."""
# ruff: noqa: E501 - a table reads better with one line a case

import io
import struct
from typing import Any, ClassVar

import numpy as np
import pytest
from PIL import Image

from metrics.core.errors import InputError
from metrics.core.suite import Outputs, Suite
from metrics.evaluators.segmentation.segmentation_iou import SegmentationIouParameters, segmentation_iou
from metrics.ingest import Reading, inspect, load_outputs, load_suite, read_outputs, read_suite
from metrics.ingest.media import png_maps
from metrics.vision import rle
from tests.ingest.files import list_problems, packed, picture, read_refusal, unpacked, write

A = [[0, 0, 1, 1], [0, 0, 1, 2]]
B = [[1, 1, 1, 1], [0, 0, 0, 255]]


def mask(rows: Any, mode: str = "P", **how: Any) -> bytes:
    """A PNG whose palette indices, or grey values, are those numbers."""
    kind = {"I;16": np.uint16, "1": bool}.get(mode, np.uint8)
    image = Image.fromarray(np.asarray(rows).astype(kind))
    if mode == "P":
        image.putpalette([channel for index in range(256) for channel in (index, 255 - index, 7)])
    buffer = io.BytesIO()
    image.save(buffer, "PNG", **how)
    return buffer.getvalue()


def pixels(suite_or_outputs: Any, case: str) -> dict[str, list[int]]:
    """The run lengths of each label of a case."""
    rows = getattr(suite_or_outputs, "annotations", None)
    rows = suite_or_outputs.predictions if rows is None else rows
    return {row["label"]: rle.decode(row["rle"]) for row in rows.to_pylist() if row["case_id"] == case}


def set_of(**files: bytes) -> dict[str, Any]:
    return {f"{name}.png": data for name, data in files.items()}


SET = set_of(a=mask(A), b=mask(B))


class TestGroundTruth:
    @pytest.mark.parametrize("make", [packed, unpacked], ids=["zip", "folder"])
    def test_a_suite(self, tmp_path, make):
        suite = read_suite(make(tmp_path / "masks.zip", SET))
        assert (suite.name, suite.task) == ("masks", "segmentation")
        assert (suite.labels, suite.category_ids) == (("0", "1", "2", "255"), (0, 1, 2, 255))
        columns = ["case_id", "image_width", "image_height", "image", "metadata.image_name"]
        assert [tuple(row.values()) for row in suite.cases.select(columns).to_pylist()] == [
            ("a", 4, 2, None, "a"), ("b", 4, 2, None, "b"),
        ]  # fmt: skip
        assert pixels(suite, "a") == {"0": [0, 4, 4], "1": [4, 3, 1], "2": [7, 1]}
        row = suite.annotations.to_pylist()[1]
        assert [row[name] for name in ("x", "y", "width", "height", "area", "is_crowd")] == [2, 0, 2, 2, 3, False]

    def test_that_the_class_0_counts_is_said(self, tmp_path):
        """Masks without names of classes do not say whether 0 is background."""
        zeros = load_suite(packed(tmp_path / "zeros.zip", SET)).notes
        assert zeros[0].startswith("The class '0', value 0, counts in every mean over classes; the parameter ignore_la")
        others = set_of(a=mask([[1, 2], [2, 1]]))
        assert load_suite(packed(tmp_path / "others.zip", others)).notes == ()

    @pytest.mark.parametrize(("mode", "how"),
        [("P", {}), ("L", {}), ("I;16", {}), ("P", {"bits": 2}), ("P", {"bits": 4})],
        ids=["palette", "grey", "16 bits of grey", "palette of 2 bits", "palette of 4 bits"])  # fmt: skip
    def test_a_pixel_is_its_index_or_its_grey(self, tmp_path, mode, how):
        suite = read_suite(packed(tmp_path / "m.zip", set_of(a=mask(A, mode, **how))))
        assert suite.labels == ("0", "1", "2")

    def test_grey_in_three_channels_is_grey(self, tmp_path):
        grey = np.asarray(A, np.uint8)
        files = {f"{kind}.png": io.BytesIO() for kind in ("RGB", "RGBA")}
        for kind, buffer in zip(("RGB", "RGBA"), files.values(), strict=True):
            Image.fromarray(grey).convert(kind).save(buffer, "PNG")
        data = {name: buffer.getvalue() for name, buffer in files.items()} | set_of(a=mask(A))
        suite = read_suite(packed(tmp_path / "m.zip", data))
        assert pixels(suite, "RGB") == pixels(suite, "RGBA") == pixels(suite, "a")

    def test_sixteen_bits_hold_large_ids(self, tmp_path):
        wide = np.asarray(A) * 700
        assert read_suite(packed(tmp_path / "m.zip", set_of(a=mask(wide, "I;16")))).category_ids == (0, 700, 1400)

    @pytest.mark.parametrize("bits", [1, 2, 4])
    def test_few_bits_of_grey_are_not_stretched(self, tmp_path, bits):
        """Pillow writes no such files: the rows packed by hand, the highest value in the last pixel."""
        import zlib

        row = (2**bits - 1) << (8 - 4 * bits) % 8 if bits < 4 else 0
        lines = bytes([0, row]) if bits < 4 else bytes([0, 0, 2**bits - 1])
        chunks = [
            (b"IHDR", struct.pack(">IIBBBBB", 4, 1, bits, 0, 0, 0, 0)), (b"IDAT", zlib.compress(lines)), (b"IEND", b""),
        ]  # fmt: skip
        data = png_maps.SIGNATURE + b"".join(
            struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
            for name, body in chunks
        )
        suite = read_suite(packed(tmp_path / "m.zip", set_of(a=data)))
        assert suite.category_ids == (0, 2**bits - 1)

    @pytest.mark.parametrize(("name", "content"), [
        ("labels.txt", "road\nsky\ntree\n"), ("m_classes.txt", "# ids\n0 road\n1: sky\n2,tree\n"),
        ("labelmap.txt", "# label:color_rgb:parts:actions\nroad:0,0,0::\nsky:128,0,0::\ntree:0,128,0::\n"),
        ("obj.names", "road\nsky\ntree"), ("classes.json", '["road", "sky", "tree"]'),
        ("labels.json", '{"0": "road", "1": "sky", "2": "tree"}'),
        ("labels.json", '{"road": 0, "sky": 1, "tree": 2}'),
        ("names.json", '{"classes": [{"id": 0, "name": "road"}, {"id": 2, "name": "tree"}, {"id": 1, "name": "sky"}]}'),
    ], ids=["lines", "ids and names", "CVAT's", "names", "list", "by id", "by name", "objects"])  # fmt: skip
    def test_the_names_of_classes(self, tmp_path, name, content):
        suite = read_suite(packed(tmp_path / "m.zip", SET | {name: content}))
        assert (suite.labels, suite.category_ids) == (("road", "sky", "tree", "255"), (0, 1, 2, 255))
        assert set(pixels(suite, "b")) == {"road", "sky", "255"}

    def test_images_beside_the_masks_and_of_their_own(self, tmp_path):
        files = {f"masks/{name}": data for name, data in SET.items()}
        files |= {"images/a.png": picture(4, 2), "images/b.jpg": picture(4, 2, "JPEG")}
        loaded = load_suite(packed(tmp_path / "m.zip", files), workspace_media=tmp_path / "media")
        assert loaded.value.cases["metadata.image_name"].to_pylist() == ["images/a.png", "images/b.jpg"]
        assert loaded.value.cases["image"].null_count == 0
        assert loaded.value.cases["case_id"].to_pylist() == ["a", "b"]
        images = packed(tmp_path / "i.zip", {"a.jpg": picture(4, 2, "JPEG"), "b.png": picture(4, 3)})
        problems = list_problems(read_suite, packed(tmp_path / "m.zip", SET), images=images, workspace_media=tmp_path)
        assert problems[0] == "i.zip, column image_height: found b with image_height 3; expected 2, as the suite says"


WHITE = [[0, 0, 255, 255]] * 2
WHITES = {  # masks, what lies beside them, the answer → labels, ids, what is asked or said
    "two values": ({"a": WHITE}, {}, None, None, "found 4 pixels of 255 and no other value but 0; expected an answer, mask_255=class or mask_255=ignored"),
    "255 alone": ({"a": [[255] * 4] * 2}, {}, None, None, "found 8 pixels of 255 and no other value but 0"),
    "a class": ({"a": WHITE}, {}, "class", (("0", "foreground"), (0, 256)), "mask_255=class, as you said"),
    "ignored": ({"a": WHITE}, {}, "ignored", (("0", "255"), (0, 255)), "mask_255=ignored, as you said"),
    "of a name": ({"a": WHITE}, {"labels.txt": "sky\nroad\n"}, "class", (("sky", "road"), (0, 256)), "as you said"),
    "named": ({"a": WHITE}, {"labels.txt": "0 sky\n255 road\n"}, None, (("sky", "road"), (0, 256)), "mask_255=class, as it seems"),
    "named void": ({"a": WHITE}, {"labels.txt": "0 sky\n255 void\n"}, None, (("sky", "void"), (0, 255)), "mask_255=ignored, as it seems"),
    "beside levels of grey": ({"a": [[0, 128, 255, 255]] * 2}, {}, None, None, "found 4 pixels of 255; expected an answer, mask_255=class or mask_255=ignored"),
    "beside levels of grey with names": ({"a": [[0, 128, 255, 255]] * 2}, {"labels.txt": "0 sky\n128 road\n"}, None, (("sky", "road", "255"), (0, 128, 255)), "mask_255=ignored, as it seems"),
    "beside others": ({"a": B}, {}, None, (("0", "1", "255"), (0, 1, 255)), "mask_255=ignored, as it seems"),
}  # fmt: skip


class TestWhite:
    """Pixels of 255 are a class or ignored: that is asked, unless other values or names say it."""

    @pytest.mark.parametrize(("masks", "beside", "answer", "classes", "said"), WHITES.values(), ids=WHITES.keys())
    def test_what_255_is(self, tmp_path, masks, beside, answer, classes, said):
        path = packed(tmp_path / "m.zip", set_of(**{name: mask(rows) for name, rows in masks.items()}) | beside)
        reading = Reading(answers={} if answer is None else {"mask_255": answer})
        if classes is None:
            assert said in read_refusal(read_suite, path, reading=reading)
            return
        suite = read_suite(path, reading=reading)
        assert (suite.labels, suite.category_ids) == classes
        assert said in "\n".join(map(str, suite.receipt))

    @pytest.mark.parametrize("rows", [WHITE, [[0, 0, 1, 1]] * 2], ids=["255", "1"])
    def test_predictions_of_white(self, tmp_path, rows):
        path = packed(tmp_path / "m.zip", set_of(a=mask(WHITE)))
        suite = read_suite(path, reading=Reading(answers={"mask_255": "class"}))
        outputs = read_outputs(packed(tmp_path / "unet.zip", set_of(a=mask(rows))), suite=suite)
        assert pixels(outputs, "a") == pixels(suite, "a") == {"0": [0, 4, 4], "foreground": [4, 4]}
        assert score_of(suite, outputs) == 1

    def test_white_for_the_class_1(self, tmp_path):
        suite = read_suite(packed(tmp_path / "m.zip", set_of(a=mask([[0, 0, 1, 1]] * 2))))
        outputs = read_outputs(packed(tmp_path / "unet.zip", set_of(a=mask([[0, 255, 255, 255]] * 2))), suite=suite)
        assert score_of(suite, outputs) == pytest.approx((1 / 2 + 2 / 3) / 2)
        assert "unet.zip: value 255 is the class '1', as 1 is in the ground truth" in map(str, outputs.receipt)


def score_of(suite: Suite, outputs: Outputs) -> float | None:
    evaluated = segmentation_iou(suite, outputs, SegmentationIouParameters(resamples=1))
    return next(row.value for row in evaluated.aggregates if row.metric == "miou")


class TestPredictions:
    @pytest.fixture
    def suite(self, tmp_path):
        return read_suite(packed(tmp_path / "truth.zip", SET | {"labels.txt": "road\nsky\ntree\nsea\n"}))

    def test_a_model_a_zip(self, tmp_path, suite):
        first = packed(tmp_path / "unet.zip", set_of(a=mask(A), b=mask(A)))
        loaded = load_outputs([first, unpacked(tmp_path / "other", set_of(b=mask(B)))], suite=suite)
        outputs = loaded.value
        assert outputs.models == ("unet", "other")
        assert [(row["case_id"], row["model"]) for row in outputs.outputs.to_pylist()] == [
            ("a", "unet"), ("b", "unet"), ("b", "other"),
        ]  # fmt: skip
        assert loaded.missing == 1
        assert pixels(outputs.restricted("unet"), "b") == {"road": [0, 4, 4], "sky": [4, 3, 1], "tree": [7, 1]}
        assert outputs.predictions["prediction_id"].to_pylist() == [0, 1, 2, 3, 4, 5, 0, 1, 2]

    @pytest.mark.parametrize("top", ["", "predictions/"], ids=["at the top", "in a folder"])
    def test_a_model_a_folder(self, tmp_path, suite, top):
        files = {f"{top}{model}/{name}": data for model in ("unet", "vit") for name, data in SET.items()}
        path = packed(tmp_path / "all.zip", files)
        assert read_outputs(path, suite=suite, model_names={path: "renamed"}).models == ("unet", "vit")
        assert inspect(path, "outputs").models == ("unet", "vit")

    def test_folders_of_the_ground_truth_are_no_models(self, tmp_path):
        files = {"train/1.png": mask(A), "val/1.png": mask(A)}
        suite = read_suite(packed(tmp_path / "two.zip", files), reading=Reading(sheet="all"))
        path = packed(tmp_path / "unet.zip", files)
        outputs = read_outputs(path, suite=suite)
        assert outputs.models == ("unet",)
        assert outputs.outputs["case_id"].to_pylist() == ["train/1", "val/1"]
        suite = read_suite(packed(tmp_path / "two.zip", files))
        assert suite.cases["case_id"].to_pylist() == ["1"], "one split is read, as of other formats"
        assert "1" in read_refusal(read_outputs, path, suite=suite)
        outputs = read_outputs(path, suite=suite, readings={path: Reading(sheet="val")})
        assert outputs.outputs["case_id"].to_pylist() == ["1"]
        assert inspect(path).sheets == ("train", "val", "all")

    COLOURS: ClassVar[dict[str, str]] = {
        "labelmap.txt": "# label:color_rgb:parts:actions\nsky:0,0,0::\nsea:250,30,200::\nroad:128,64,128::\n",
        "class_dict.csv": "name,r,g,b\nsky,0,0,0\nsea,250,30,200\nroad,128,64,128\n",
    }

    @pytest.mark.parametrize("table", COLOURS)
    def test_colours_with_a_table(self, tmp_path, table):
        files = {"a.png": picture(4, 2, colour=250), "b.png": mask([[0, 1, 2, 2]] * 2)}
        suite = read_suite(packed(tmp_path / "s.zip", files | {table: self.COLOURS[table]}))
        assert (suite.labels, suite.category_ids) == (("sky", "sea", "road"), (0, 1, 2))
        assert (pixels(suite, "a"), list(pixels(suite, "b"))) == ({"sea": [0, 8]}, ["sky", "sea", "road"])
        files |= {"a.png": picture(4, 2, colour=9), table: self.COLOURS[table]}
        assert "pixels of the colours 9,30,200" in read_refusal(read_suite, packed(tmp_path / "t.zip", files))

    def test_names_beside_the_predictions_and_masks_for_a_suite_of_rows(self, tmp_path, suite):
        files = set_of(a=mask([[5, 5, 6, 6]] * 2)) | {"labels.txt": "5 sky\n6 sea\n"}
        assert set(pixels(read_outputs(packed(tmp_path / "m.zip", files), suite=suite), "a")) == {"sky", "sea"}
        rows = 'image,label,image_width,image_height,rle\na,1,4,2,"[4, 4]"\na,2,4,2,"[0, 4, 4]"\n'
        suite = read_suite(write(tmp_path, "s.csv", rows), task="segmentation")
        outputs = read_outputs(packed(tmp_path / "m.zip", set_of(a=mask([[1, 1, 2, 2]] * 2))), suite=suite)
        assert pixels(outputs, "a") == {"1": [0, 4, 4], "2": [4, 4]}

    def test_rows_for_a_suite_of_masks(self, tmp_path, suite):
        records = [
            {"image": "a", "label": "road", "rle": {"size": [2, 4], "counts": [0, 4, 4]}},
            {"image": "a.png", "label": "sky", "rle": {"size": [2, 4], "counts": rle.encode([4, 4])}},
            {"image": "b", "label": "sky", "polygon": "POLYGON((0 0, 2 0, 2 2, 0 2))"},
        ]
        outputs = read_outputs(write(tmp_path, "vit.jsonl", records), suite=suite)
        assert pixels(outputs.restricted("vit", case_ids=outputs.outputs["case_id"].slice(0, 1)), "a") == {
            "road": [0, 4, 4], "sky": [4, 4],
        }  # fmt: skip
        assert outputs.predictions["score"].null_count == 3
        assert len(outputs.outputs) == 2, "who lists regions saw every image"


class TestProblems:
    BAD: ClassVar[dict[str, Any]] = {
        "ok.png": mask(A), "rgb.png": picture(4, 2), "cut.png": mask(np.arange(64).reshape(8, 8))[:-40],
        "none.png": b"no image", "bomb.png": mask(np.zeros((8000, 5000))), "id.png": mask([[9, 9, 1, 255]]),
        "labels.txt": "road\nsky\ntree\n",
    }  # fmt: skip

    def test_everything_at_once(self, tmp_path):
        path = packed(tmp_path / "m.zip", self.BAD)
        problems = list_problems(read_suite, path)
        indexed = f"expected {png_maps.INDEXED}"
        assert [problem for problem in problems if "cut.png" not in problem] == [
            f"m.zip/rgb.png: found RGB pixels; {indexed}", f"m.zip/none.png: found no PNG file; {indexed}",
            "m.zip/bomb.png: found 5,000 × 8,000 pixels; expected a mask of at most 33,177,600 pixels",
            "m.zip/id.png: found class id 9 in 2 pixels; expected an id that the file of class names has",
        ]  # fmt: skip
        assert any(problem.startswith("m.zip/cut.png: found a mask that cannot be read (") for problem in problems)
        loaded = load_suite(path, keep_good_rows=True)
        assert loaded.value.cases["case_id"].to_pylist() == ["ok"]
        assert (loaded.value.left_out, len(loaded.problems)) == (5, 5)

    def test_predictions_and_two_masks_of_one_image(self, tmp_path):
        suite = read_suite(packed(tmp_path / "t.zip", SET))
        files = set_of(a=mask([[0, 1]] * 2), b=mask([[0, 1, 7, 8]] * 2), c=mask(A))
        path = packed(tmp_path / "m.zip", files)
        assert list_problems(read_outputs, path, suite=suite) == [
            "m.zip/a.png: found 2 × 2 pixels; expected 4 × 2, as the ground truth has",
            "m.zip/b.png: found class id 7, 8 in 4 pixels; expected a class id of the ground truth (0, 1, 2, 255), or names of classes beside the masks",
            "m.zip/c.png: found a mask of 'c'; expected an image of the suite",
        ]
        path = packed(tmp_path / "m.zip", {"masks/a.png": mask(A), "labels/a.png": mask(A)})
        assert list_problems(read_suite, path) == [
            "m.zip/labels/a.png: found 'a' again, first in masks/a.png; expected one file per image"
        ]

    @pytest.mark.parametrize(("files", "found"), [
        ({"labels.txt": "road\nroad\n"}, "labels.txt: found class 1 named 'road': the id or the name is used already"),
        ({"labels.txt": "road\nsky\n", "classes.txt": "sky\nroad\n"}, "classes.txt: found names that differ from labels.txt"),
        ({"labels.json": "[1, 2]"}, "labels.json: found names that cannot be read"),
        ({"labels.json": "[" * 100_000}, "labels.json: found names that cannot be read"),
        ({"labels.json": '{"-1": "road"}'}, "labels.json: found names that cannot be read"),
    ], ids=["a name twice", "two files differ", "no names", "deep", "an id below 0"])  # fmt: skip
    def test_names(self, tmp_path, files, found):
        path = packed(tmp_path / "m.zip", SET | dict(sorted(files.items(), reverse=True)))
        assert read_refusal(read_suite, path).startswith(f"m.zip/{found}")

    def test_what_is_no_map_of_the_suite(self, tmp_path, monkeypatch):
        rows = "image,label,x,y,width,height\na,cat,1,2,3,4\n"
        suite = read_suite(write(tmp_path, "s.csv", rows))
        said = read_refusal(read_outputs, packed(tmp_path / "m.zip", SET), suite=suite)
        assert said.startswith("m.zip: found images, and no labels")
        monkeypatch.setattr("metrics.vision.segmentation.MOST_RUNS", 2)
        said = "m.zip, 2 files: found a mask that cannot be read (3 runs of pixels, more than 2) (a.png), "
        assert read_refusal(read_suite, packed(tmp_path / "m.zip", SET)).startswith(said)
        monkeypatch.undo()
        monkeypatch.setattr(png_maps, "ALL_PIXELS", 10)
        said = read_refusal(read_suite, packed(tmp_path / "m.zip", SET))
        assert "m.zip: found too many masks to read; expected at most 10 pixels in all" in said


@pytest.mark.parametrize("code", ['"[0, 4, 4]"', '"{""size"": [2, 4], ""counts"": [0, 4, 4]}"', "044"],
    ids=["a list", "with its size", "compressed"])  # fmt: skip
def test_run_lengths_in_a_table(tmp_path, code):
    rows = f"image,label,image_width,image_height,rle\na,cat,4,2,{code}\n"
    suite = read_suite(write(tmp_path, "s.csv", rows), task="segmentation")
    assert (suite.task, pixels(suite, "a")) == ("segmentation", {"cat": [0, 4, 4]})


@pytest.mark.parametrize(
    "code",
    [
        '"[0, 4, 5]"', '"[0, 4.5, 3.5]"', '"[true, 7]"', '"{""size"": [4, 2], ""counts"": [0, 4, 4]}"',
        '"{""counts"": [8]}"', '"[-1, 9]"', "[[[", "[5]", '"{""size"": [2, 4], ""counts"": null}"',
    ],
    ids=["too many", "no whole numbers", "no numbers", "turned", "no size", "negative", "no list", "one run", "null"],
)  # fmt: skip
def test_wrong_run_lengths_in_a_table(tmp_path, code):
    rows = f"image,label,image_width,image_height,rle\na,cat,4,2,{code}\n"
    with pytest.raises(InputError, match="expected COCO run lengths of the image's size"):
        read_suite(write(tmp_path, "s.csv", rows), task="segmentation")
