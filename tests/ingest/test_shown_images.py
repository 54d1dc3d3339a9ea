"""Images as they are shown: bounded, upright, and cut into tiles of their full resolution."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from metrics.ingest.media import images
from metrics.ingest.media.images import shown_image, tiles


def stored(folder: Path, width: int, height: int, orientation: int = 1) -> Path:
    """A picture whose red grows to the right and whose green grows downwards, without noise that JPEG would change."""
    across, down = np.meshgrid(np.linspace(0, 255, width), np.linspace(0, 255, height))
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = folder / "a.png"
    Image.fromarray(np.stack([across, down, 0 * down], axis=2).astype(np.uint8)).save(path, exif=exif)
    return path


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


def test_what_cannot_be_shown(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError):
        shown_image(tmp_path / "none.png")
    path = stored(tmp_path, 40, 40)
    monkeypatch.setattr(images, "MAX_PIXELS", 1_599)
    with pytest.raises(ValueError, match="the image has 40 × 40 pixels; at most 1,599 are shown"):
        shown_image(path)
    path.write_bytes(path.read_bytes()[:80])
    monkeypatch.undo()
    with pytest.raises(ValueError, match="the image cannot be read"):
        shown_image(path)
