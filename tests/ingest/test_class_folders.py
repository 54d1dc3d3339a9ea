"""Classified images: a folder per class, or a table with a column of images beside a zip."""

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from metrics.core.errors import InputError
from metrics.ingest import inspect, read_outputs, read_suite


def pictures(path: Path, *names: str) -> Path:
    """Write a zip of small images under these names, each of its own colour."""
    with zipfile.ZipFile(path, "w") as file:
        for place, name in enumerate(names):
            buffer = io.BytesIO()
            Image.new("RGB", (8 + place, 6), (place, 0, 0)).save(buffer, "PNG")
            file.writestr(name, buffer.getvalue())
    return path


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        pytest.param(["cat/1.png", "dog/2.png"], {"1": "cat", "2": "dog"}, id="plain"),
        pytest.param(["cat/1.png", "dog/1.png"], {"cat/1": "cat", "dog/1": "dog"}, id="names-again"),
        pytest.param(["v/images/cat/1.png", "v/images/dog/2.png"], {"1": "cat", "2": "dog"}, id="in-images"),
        pytest.param(["train/cat/1.png", "val/cat/2.png", "val/train/3.png"], {"2": "cat", "3": "train"}, id="split"),
    ],
)
def test_the_folder_is_the_true_class(tmp_path: Path, names: list[str], expected: dict[str, str]) -> None:
    zipped = pictures(tmp_path / "set.zip", *names)
    suite = read_suite(zipped, workspace_media=tmp_path / "media")
    cases = suite.cases.to_pylist()
    assert {case["case_id"]: case["label"] for case in cases} == expected
    assert (suite.task, suite.labels) == ("classification", tuple(sorted(set(expected.values()))))
    assert suite.media is not None
    assert all((suite.media / case["image"]).exists() for case in cases)
    seen = inspect(zipped)
    assert (seen.role, seen.task, seen.rows) == ("suite", "classification", len(expected))


def test_grey_digits_are_no_masks_and_masks_are_no_classes(tmp_path: Path) -> None:
    grey = np.random.default_rng(0).integers(0, 256, (4, 20, 20)).astype(np.uint8)
    for name, values in (("digits", grey), ("masks", grey % 5)):
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as file:
            for place, pixels in enumerate(values):
                buffer = io.BytesIO()
                Image.fromarray(pixels).save(buffer, "PNG")
                file.writestr(f"{place % 2}/{place}.png", buffer.getvalue())
    assert [inspect(tmp_path / f"{name}.zip").task for name in ("digits", "masks")] == [
        "classification",
        "segmentation",
    ]


@pytest.mark.parametrize(
    "names", [["cat/1.png", "2.png"], ["cat/1.png", "cat/2.png"], ["train/1.png", "val/2.png"], ["cat/1.png", "d/x.md"]]
)
def test_other_folders_of_images_are_no_classes(tmp_path: Path, names: list[str]) -> None:
    with pytest.raises(InputError, match="images in a folder for each class"):
        read_suite(pictures(tmp_path / "set.zip", *names))


def test_outputs_name_an_image_by_its_path_its_file_or_its_stem(tmp_path: Path) -> None:
    suite = read_suite(pictures(tmp_path / "set.zip", "cat/1.png", "dog/2.png", "dog/3.png"))
    table = tmp_path / "m.csv"
    table.write_text("image,prediction\n/data/cat/1.png,cat\n2.png,cat\n3,dog\n")
    assert read_outputs(table, suite=suite).outputs["case_id"].to_pylist() == ["1", "2", "3"]
    with pytest.raises(InputError, match="a table of image and predicted class"):
        read_outputs(tmp_path / "set.zip", suite=suite)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("image,label\n1.png,cat\n2.png,dog\n", ["1.png", "2.png"], id="named-by-images"),
        pytest.param("id,image,label\na,1.png,cat\nb,2.png,dog\n", ["1.png", "2.png"], id="a-column"),
        pytest.param("id,label\n1,cat\n9,dog\n", ["1", "9"], id="named-by-ids"),
        pytest.param("id,question,image\na,What?,1.png\nb,Who?,9.png\n", ["1.png", "9.png"], id="questions-of-images"),
    ],
)
def test_a_table_says_which_image_is_of_which_case(tmp_path: Path, text: str, shown: list[str]) -> None:
    (tmp_path / "s.csv").write_text(text)
    zipped = pictures(tmp_path / "images.zip", "1.png", "2.png")
    suite = read_suite(tmp_path / "s.csv", images=zipped, workspace_media=tmp_path / "media")
    assert suite.cases["metadata.image_name"].to_pylist() == shown
    stored = [image is not None for image in suite.cases["image"].to_pylist()]
    assert stored == [name[0] in "12" for name in shown]
    assert suite.media == tmp_path / "media"
