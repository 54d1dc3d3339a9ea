"""A stored image as it is shown: decoded within limits, the right way up, without metadata."""

from __future__ import annotations

import io
import struct
import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from metrics.core.files import open_regular
from metrics.ingest.media.images import FORMATS, LARGE, MANY_PIXELS, MAX_PIXELS, SIDEWAYS, Size, turned, way_up

if TYPE_CHECKING:
    from PIL.Image import Image

TILE = 1024  # pixels of a side


def shown_image(path: str | Path, size: Size | None = None, longest: int | None = None) -> tuple[Image, Size]:
    """Return an image in RGB, upright for annotations in an image of `size`, and its size in their pixels.

    With `longest` it is scaled down to sides of at most so many pixels. FileNotFoundError where there is no file,
    ValueError where it is no image, damaged, or larger than MAX_PIXELS.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        with open_regular(path, follow=False) as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of many pixels, as our own limit is checked below, and of damaged EXIF
            # of these formats alone: of others Pillow starts programs, such as Ghostscript
            source = Image.open(file, formats=list(FORMATS))
            width, height = source.size
            if width * height > MAX_PIXELS:
                raise ValueError(f"the image has {width:,} × {height:,} pixels; at most {MAX_PIXELS:,} are shown")
            way = way_up(source, size)
            with LARGE if width * height > MANY_PIXELS else nullcontext():
                if longest is not None:
                    source.draft("RGB", (longest, longest))  # a JPEG is decoded at a part of its size
                picture = source.convert("RGB")
                if longest is not None:
                    picture.thumbnail((longest, longest))
    except FileNotFoundError:
        raise
    except Image.DecompressionBombError:
        raise ValueError(f"the image has too many pixels; at most {MAX_PIXELS:,} are shown") from None
    except (UnidentifiedImageError, OSError, SyntaxError, struct.error) as failure:  # all that Pillow's decoders raise
        raise ValueError(f"the image cannot be read: {type(failure).__name__}") from None
    return turned(picture, way), (height, width) if way in SIDEWAYS else (width, height)


def tiles(path: str | Path, size: Size | None = None, side: int = TILE) -> tuple[int, list[bytes]]:
    """Return an image in full resolution as JPEG tiles, row by row, and how many are in a row.

    A tile has `side` pixels in width and height, those at the right and lower edge what is left. Raises as
    `shown_image`.
    """
    picture, (width, height) = shown_image(path, size)
    parts = []
    for top in range(0, height, side):
        for left in range(0, width, side):
            buffer = io.BytesIO()
            part = picture.crop((left, top, min(left + side, width), min(top + side, height)))
            part.save(buffer, "JPEG", quality=85)
            parts.append(buffer.getvalue())
    return -(-width // side), parts
