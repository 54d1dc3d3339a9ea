"""How large the thumbnail of a part of a picture is, what is in it, and why there is none."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from metrics.analysis.objects.thumbnails import SIDE, _cut, _make, _stored


@pytest.mark.parametrize(("picture", "window", "size"), [
    pytest.param((30, 20), None, (30, 20), id="small pictures keep their pixels"),
    pytest.param((SIDE, SIDE // 2), None, (SIDE, SIDE // 2), id="as large as can be"),
    pytest.param((2 * SIDE, SIDE), None, (SIDE, SIDE // 2), id="wide"),
    pytest.param((SIDE, 4 * SIDE), None, (SIDE // 4, SIDE), id="high"),
    pytest.param((3 * SIDE, 1), None, (SIDE, 1), id="never without a pixel"),
    pytest.param((4 * SIDE, 4 * SIDE), (10, 20, 40, 30), (30, 10), id="a small part of a large picture"),
    pytest.param((4 * SIDE, 4 * SIDE), (0, 0, 2 * SIDE, SIDE), (SIDE, SIDE // 2), id="a large part"),
])  # fmt: skip
def test_thumbnails_are_no_larger_than_their_side(picture, window, size) -> None:
    assert _cut(Image.new("RGB", picture), window).size == size


@pytest.mark.parametrize("suffix", ["png", "jpg"])
def test_parts_are_cut_from_all_pixels_alone_and_beside_the_whole(tmp_path: Path, suffix: str) -> None:
    """A picture of four times SIDE: a thumbnail of the whole alone may be made of fewer pixels, a part may not."""
    pixels = np.random.default_rng(0).integers(0, 256, (4 * SIDE, 4 * SIDE, 3), np.uint8)
    Image.fromarray(pixels).save(source := tmp_path / f"large.{suffix}")
    window = (100, 200, 180, 240)
    _make(source, None, [(tmp_path / "whole", None), (tmp_path / "part", window)])
    _make(source, None, [(tmp_path / "whole alone", None)])
    _make(source, None, [(tmp_path / "part alone", window)])
    expected = io.BytesIO()
    with Image.open(source) as picture:
        picture.crop(window).save(expected, "JPEG", quality=82)
    for part, whole in (("part", "whole"), ("part alone", "whole alone")):
        assert _stored(tmp_path / part) == expected.getvalue()
        with Image.open(tmp_path / f"{whole}.jpg") as picture:
            assert picture.size == (SIDE, SIDE)


@pytest.mark.parametrize(("source", "content", "reason"), [
    pytest.param(None, None, "the image is not there", id="no media"),
    pytest.param("gone.png", None, "the image is not there", id="no file"),
    pytest.param("text.png", b"no picture", None, id="no picture"),
])  # fmt: skip
def test_why_there_is_no_thumbnail(tmp_path, source, content, reason) -> None:
    if source is not None and content is not None:
        (tmp_path / source).write_bytes(content)
    names = (tmp_path / "one", tmp_path / "two")
    _make(None if source is None else tmp_path / source, None, [(names[0], None), (names[1], (0, 0, 1, 1))])
    said = {_stored(name) for name in names}
    assert said == {reason} if reason else all(isinstance(text, str) and text for text in said)
