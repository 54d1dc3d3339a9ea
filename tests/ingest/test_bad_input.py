"""Bad input to a detection suite, by number: each kind is listed, and everything else of the upload is kept.

1 truncated images · 3 masks of another size than their image · 4 images that unpack to too much. Zips whose entries
leave them and images of another size than the suite says are in test_images.py, values that rule 10 of vision forbids
in tests/evaluators/test_vision_rules.py.
"""

import io
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image

from metrics.ingest import load_outputs, load_suite, read_suite
from metrics.vision import rle
from tests.ingest.files import packed, picture, write

BOX = {"category_id": 1, "bbox": [1, 1, 2, 2], "iscrowd": 0}
TRUTH: dict[str, Any] = {
    "images": [{"id": number, "file_name": f"{number}.png", "width": 8, "height": 6} for number in (1, 2)],
    "annotations": [{"id": number, "image_id": number, **BOX} for number in (1, 2)],
    "categories": [{"id": 1, "name": "cat"}],
}


def flat(width: int, height: int, kind: str = "PNG", mode: str = "L", **how: Any) -> bytes:
    """A large image of one colour: kilobytes that unpack to tens of millions of bytes."""
    buffer = io.BytesIO()
    Image.new(mode, (width, height)).save(buffer, kind, **how)
    return buffer.getvalue()


BAD_IMAGES: dict[str, tuple[Callable[[], bytes], str]] = {
    "1 a PNG cut short": (lambda: picture()[:-30], "1.png: "),
    "1 a JPEG cut short": (lambda: picture(8, 6, "JPEG")[:-200], "1.png: "),
    "1 a PNG that is all header": (lambda: picture()[:33], "1.png: "),
    "1 an empty file": (lambda: b"", "1.png: "),
    "4 forty megapixels of one colour, PNG": (
        lambda: flat(8_000, 5_000), "1.png: 8,000 × 5,000 pixels, compressed more than 200 : 1",
    ),
    "4 forty megapixels of one colour, TIFF": (
        lambda: flat(8_000, 5_000, "TIFF", compression="tiff_adobe_deflate"),
        "1.png: 8,000 × 5,000 pixels, compressed more than 200 : 1",
    ),
    "4 more than 150 megapixels": (
        lambda: flat(12_500, 12_100, mode="1"), "1.png: 12,500 × 12,100 pixels, more than 150,000,000",
    ),
}  # fmt: skip


@pytest.mark.attack(
    "suite author",
    "an image of kilobytes states 150 million pixels",
    "pixels are limited by the header and by the bytes of the file, before decoding",
)
@pytest.mark.parametrize(("make", "text"), BAD_IMAGES.values(), ids=BAD_IMAGES.keys())
def test_a_bad_image_is_a_note(tmp_path, make, text):
    truth = write(tmp_path, "t.json", TRUTH)
    images = packed(tmp_path / "up.zip", {"1.png": make(), "2.png": picture()})
    loaded = load_suite(truth, images=images, workspace_media=tmp_path / "media")
    assert [image is not None for image in loaded.value.cases["image"].to_pylist()] == [False, True]
    assert len(loaded.value.annotations) == 2
    assert loaded.problems == ()
    assert loaded.notes[0] == "Images that cannot be shown: 1 of 2. No score depends on them."
    assert loaded.notes[1].startswith(f"up.zip: {text}")


def test_a_large_photograph_is_no_bomb(tmp_path):
    noise = Image.effect_noise((500, 400), 60).resize((6_000, 4_000), 0).convert("RGB")
    buffer = io.BytesIO()
    noise.save(buffer, "JPEG", quality=90)
    truth = {**TRUTH, "images": [{"id": 1, "file_name": "1.png", "width": 6_000, "height": 4_000}]}
    truth["annotations"] = truth["annotations"][:1]
    images = packed(tmp_path / "up.zip", {"1.png": buffer.getvalue()})
    suite = read_suite(write(tmp_path, "t.json", truth), images=images, workspace_media=tmp_path / "media")
    assert suite.cases["image"].null_count == 0


BAD_MASKS = {
    "3 run lengths of another size": ({"size": [8, 6], "counts": [10, 5, 33]}, "size [8, 6], the image has [6, 8]"),
    "3 run lengths of too few pixels": ({"size": [6, 8], "counts": [10, 5]}, "runs that cover 15 pixels of (6, 8)"),
    "3 run lengths of too many pixels": ({"size": [6, 8], "counts": [10, 5, 99]}, "runs that cover 114 pixels of"),
    "3 compressed run lengths of another size": (
        {"size": [6, 8], "counts": rle.encode([10, 5, 34])}, "runs that cover 49 pixels of (6, 8)",
    ),
    "3 compressed run lengths cut short": ({"size": [6, 8], "counts": rle.encode([10, 5, 330])[:-1]}, ""),
}  # fmt: skip


@pytest.mark.parametrize(("mask", "text"), BAD_MASKS.values(), ids=BAD_MASKS.keys())
@pytest.mark.parametrize("where", ["truth", "results"])
def test_a_mask_that_does_not_fit_its_image_is_listed_and_the_rest_kept(tmp_path, where, mask, text):
    annotations = [dict(row) for row in TRUTH["annotations"]]
    results = [{"image_id": number, "category_id": 1, "bbox": [1, 1, 2, 2], "score": 0.5} for number in (1, 2)]
    (annotations if where == "truth" else results)[0]["segmentation"] = mask
    truth = write(tmp_path, "t.json", {**TRUTH, "annotations": annotations})
    loaded = load_suite(truth, task="segmentation", keep_good_rows=True)
    outputs = load_outputs([write(tmp_path, "m.json", results)], suite=loaded.value, keep_good_rows=True)
    problems = [*loaded.problems, *outputs.problems]
    lost = where == "truth"  # its image leaves the suite, and with it what was predicted there
    assert (len(problems), problems[0].row, len(loaded.value)) == (1 + lost, 1, 2 - lost)
    assert "segmentation" in str(problems[0].column)
    assert text in problems[0].found
    kept = loaded.value.annotations if where == "truth" else outputs.value.predictions
    assert kept["case_id"].to_pylist() == ["2"]
