"""Images as the browser gets them."""

import base64
import io
from pathlib import Path

import pytest
from PIL import Image

from components.data import pictures


def test_picture_is_reencoded_and_bounded(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    Image.new("RGBA", (3000, 1000), (10, 20, 30, 255)).save(path)
    uri, width, height = pictures.picture(path)
    assert (width, height) == (3000, 1000)
    sent = Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2])))
    assert (sent.format, sent.size) == ("JPEG", (1600, 533))


@pytest.mark.parametrize(
    "content", [b"", b"not an image", b"\x89PNG\r\n\x1a\n broken"], ids=["empty", "text", "broken"]
)
def test_picture_that_cannot_be_read(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="the image cannot be read"):
        pictures.picture(path)


def test_picture_that_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    Image.new("1", (30_000, 5_001)).save(path)
    with pytest.raises(ValueError, match="30,000 × 5,001 pixels; at most 150,000,000 are shown"):
        pictures.picture(path)


@pytest.mark.parametrize(("size", "shown"), [(None, (20, 40)), ((20, 40), (20, 40)), ((40, 20), (40, 20))])
def test_a_picture_is_turned_as_its_annotations_mean(tmp_path: Path, size, shown) -> None:
    """Stored 40 × 20 and displayed 20 × 40: the size that the suite states tells which of them boxes refer to."""
    path = tmp_path / "a.jpg"
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (40, 20)).save(path, exif=exif)
    uri, *found = pictures.picture(path, size)
    sent = Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2])))
    assert tuple(found) == sent.size == shown
    assert not sent.getexif()


def test_a_very_large_picture_is_sent_small(tmp_path: Path) -> None:
    """10,000 × 10,000 pixels: the browser gets a small picture, never the 300 MB."""
    path = tmp_path / "a.jpg"
    Image.new("L", (10_000, 10_000)).save(path, quality=50)
    uri, width, height = pictures.picture(path)
    assert (width, height) == (10_000, 10_000)
    assert len(uri) < 1_000_000
