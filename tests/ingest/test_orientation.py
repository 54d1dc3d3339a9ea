"""EXIF orientation: annotations refer to the image as it is displayed, unless the suite states the stored size."""

import io

import numpy as np
import pytest
from PIL import Image, ImageOps

from metrics.ingest import read_suite
from metrics.ingest.media.images import displayed_size, turned, way_up
from tests.ingest.files import packed, write


def photograph(orientation: int, size: tuple[int, int] = (40, 20), kind: str = "PNG") -> bytes:
    """A stored picture whose upper left quarter is white."""
    pixels = np.zeros((size[1], size[0], 3), np.uint8)
    pixels[: size[1] // 2, : size[0] // 2] = 255
    exif = Image.Exif()
    exif[0x0112] = orientation
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, kind, exif=exif)
    return buffer.getvalue()


@pytest.mark.parametrize("value", range(1, 9))
def test_every_orientation_is_turned_as_pillow_does(value):
    image = Image.open(io.BytesIO(photograph(value)))
    expected = ImageOps.exif_transpose(image)
    assert displayed_size(image) == expected.size
    assert np.array_equal(np.asarray(turned(image, way_up(image, None))), np.asarray(expected))


SIZES = {
    "unknown": (6, None, 6), "displayed": (6, (20, 40), 6), "stored": (6, (40, 20), 1), "another": (6, (200, 400), 6),
    "upside down has one size": (3, (40, 20), 3), "upright": (1, (40, 20), 1), "no orientation": (0, (40, 20), 1),
    "beyond the eight": (99, (40, 20), 1),
}  # fmt: skip


@pytest.mark.parametrize("case", SIZES)
def test_the_size_that_a_suite_states_tells_which_pixels_are_meant(case):
    value, size, way = SIZES[case]
    assert way_up(Image.open(io.BytesIO(photograph(value))), size) == way


def coco(width: int, height: int) -> dict:
    return {
        "images": [{"id": 1, "file_name": "1.png", "width": width, "height": height}],
        "categories": [{"id": 1, "name": "a"}], "annotations": [],
    }  # fmt: skip


@pytest.mark.parametrize("size", [(20, 40), (40, 20)], ids=["displayed", "stored"])
def test_both_sizes_of_a_turned_image_are_right(tmp_path, size):
    images = packed(tmp_path / "i.zip", {"1.png": photograph(6)})
    suite = read_suite(write(tmp_path, "t.json", coco(*size)), images=images)
    assert suite.cases.select(["image_width", "image_height"]).to_pylist() == [
        {"image_width": size[0], "image_height": size[1]}
    ]
    assert suite.cases["image"].null_count == 0


def test_shares_are_of_the_displayed_image_and_damaged_metadata_is_none(tmp_path):
    entries = {"classes.txt": "a", "labels/1.txt": "0 0.5 0.5 0.5 0.25", "images/1.png": photograph(6)}
    (row,) = read_suite(packed(tmp_path / "s.zip", entries)).annotations.to_pylist()
    assert [row[side] for side in ("x", "y", "width", "height")] == [5, 15, 10, 10]
    data = (
        photograph(6, kind="JPEG")
        .replace(b"Exif\0\0MM\0*", b"Exif\0\0MM\xff\xff")
        .replace(b"Exif\0\0II*\0", b"Exif\0\0II\xff\xff")
    )
    suite = read_suite(write(tmp_path, "t.json", coco(40, 20)), images=packed(tmp_path / "i.zip", {"1.png": data}))
    assert suite.cases["image"].null_count == 0
