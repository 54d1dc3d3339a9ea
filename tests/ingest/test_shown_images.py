"""Images as they are shown: bounded, upright, and cut into tiles of their full resolution."""

import io
import struct
import zlib
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from metrics.core.reading_worker import Limits
from metrics.ingest.media import images
from metrics.ingest.media.images import UnreadableImage, shown_image, tiles
from tests.endless_calls import end_process, endless, fill_memory


def stored(folder: Path, width: int, height: int, orientation: int = 1) -> Path:
    """A picture whose red grows to the right and whose green grows downwards, without noise that JPEG would change."""
    across, down = np.meshgrid(np.linspace(0, 255, width), np.linspace(0, 255, height))
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = folder / "a.png"
    Image.fromarray(np.stack([across, down, 0 * down], axis=2).astype(np.uint8)).save(path, exif=exif)
    return path


def stating(png: bytes, width: int, height: int) -> bytes:
    """Return a PNG whose header states another size."""
    header = b"IHDR" + struct.pack(">II", width, height) + png[24:29]
    return png[:12] + header + struct.pack(">I", zlib.crc32(header)) + png[33:]


@pytest.mark.parametrize(("width", "height", "columns", "rows"),
    [(64, 64, 1, 1), (65, 64, 2, 1), (130, 200, 3, 4)])  # fmt: skip
def test_the_tiles_make_up_the_image(tmp_path, width, height, columns, rows):
    path = stored(tmp_path, width, height)
    found, parts = tiles(path, side=64)
    assert (found, len(parts)) == (columns, columns * rows)
    whole = Image.new("RGB", (width, height))
    for place, part in enumerate(parts):
        whole.paste(Image.open(io.BytesIO(part)), (place % columns * 64, place // columns * 64))
    assert np.abs(np.asarray(whole, int) - np.asarray(Image.open(path), int)).max() < 24


def test_tiles_are_upright_and_small_ones_have_the_size_of_the_whole(tmp_path):
    columns, parts = tiles(stored(tmp_path, 100, 40, 6), side=64)
    assert (columns, [Image.open(io.BytesIO(part)).size for part in parts]) == (1, [(40, 64), (40, 36)])
    columns, parts = tiles(stored(tmp_path, 100, 40, 6), (100, 40), side=64)
    assert (columns, [Image.open(io.BytesIO(part)).size for part in parts]) == (2, [(64, 40), (36, 40)])
    picture, size = shown_image(stored(tmp_path, 100, 40, 6), None, 20)
    assert (picture.size, size) == ((8, 20), (40, 100))


def test_what_cannot_be_shown(tmp_path):
    with pytest.raises(FileNotFoundError):
        shown_image(tmp_path / "none.png")
    path = stored(tmp_path, 40, 40)
    whole = path.read_bytes()
    path.write_bytes(stating(whole, 30_000, 5_001))
    with pytest.raises(ValueError, match="the image has 30,000 × 5,001 pixels; at most 150,000,000 are shown"):
        shown_image(path)
    path.write_bytes(whole[:80])
    with pytest.raises(ValueError, match="the image cannot be read"):
        shown_image(path)


ENDS = {
    "never": (endless, "a file that was not read within 0.5 s"),
    "out of memory": (fill_memory, "a file that takes more than 1,024 MiB to read"),
    "a crash": (end_process, "a file that ends the process that reads it"),
}


@pytest.mark.attack(
    "suite author",
    "an image keeps the decoder busy for ever, fills its memory or crashes it, and with it the page",
    "each image that is shown is decoded in a process with limits; the reason stands in its place",
)
@pytest.mark.parametrize("how", ENDS)
@pytest.mark.parametrize("show", [shown_image, tiles], ids=lambda show: show.__name__)
def test_an_image_that_does_not_end_well_has_a_reason(tmp_path, monkeypatch, show, how):
    decode, reason = ENDS[how]
    path = stored(tmp_path, 40, 40)
    with monkeypatch.context() as changed:
        changed.setattr(images, "_pixels", decode)
        changed.setattr(images, "_tiles", decode)
        changed.setattr(images, "SHOWING", Limits(0.5 if how == "never" else 60, 1 << 30))
        with pytest.raises(UnreadableImage, match=reason):
            show(path)
        changed.setattr(images, "read_in_worker", partial(pytest.fail, "it was decoded again"))
        with pytest.raises(UnreadableImage, match=reason):
            show(path)
    (tmp_path / "b").mkdir()
    assert show(stored(tmp_path / "b", 40, 40))
