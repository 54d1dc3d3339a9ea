"""Which way up an image is shown, so that its annotations lie where they belong.

Annotation tools draw on the image as it is displayed, turned as its EXIF orientation says, so boxes refer to displayed
pixels. Where a suite states the size of the stored, unturned pixels instead, boxes refer to those, and the image is
shown unturned. A mirrored image, or one turned by half, has one size either way and is displayed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

ORIENTATION = 0x0112  # the tag in EXIF
SIDEWAYS = (5, 6, 7, 8)  # values that swap width and height

Size = tuple[int, int]  # width, height


def orientation(image: Image) -> int:
    """Return the EXIF orientation of an image, 1 (as it is) where there is none or none that can be read."""
    try:
        value = image.getexif().get(ORIENTATION, 1)
    except Exception:  # damaged metadata raises all kinds of errors
        return 1
    return value if isinstance(value, int) and 1 <= value <= 8 else 1


def displayed_size(image: Image) -> Size:
    """Return width and height of an image as it is displayed."""
    width, height = image.size
    return (height, width) if orientation(image) in SIDEWAYS else (width, height)


def way_up(image: Image, size: Size | None) -> int:
    """Return the orientation to show an image in, for annotations in an image of `size`, None where that is unknown."""
    found = orientation(image)
    stored = image.size[0] != image.size[1] and size == image.size
    return 1 if found in SIDEWAYS and stored else found


def turned(image: Image, way: int) -> Image:
    """Return an image turned as an EXIF orientation says."""
    from PIL.Image import Transpose

    methods = {
        2: Transpose.FLIP_LEFT_RIGHT, 3: Transpose.ROTATE_180, 4: Transpose.FLIP_TOP_BOTTOM, 5: Transpose.TRANSPOSE,
        6: Transpose.ROTATE_270, 7: Transpose.TRANSVERSE, 8: Transpose.ROTATE_90,
    }  # fmt: skip
    return image.transpose(methods[way]) if way in methods else image
