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


def test_picture_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "MOST_PIXELS", 99)
    path = tmp_path / "a.png"
    Image.new("L", (10, 10)).save(path)
    with pytest.raises(ValueError, match="10 × 10 pixels; at most 99 are shown"):
        pictures.picture(path)
