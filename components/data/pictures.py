"""Images of a suite as the browser gets them."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import streamlit as st

LONGEST_SIDE = 1600  # pixels sent to the browser; boxes stay in the image's own pixels
MOST_PIXELS = 120_000_000


@st.cache_data(max_entries=32, show_spinner=False)
def picture(path: str | Path, longest: int = LONGEST_SIDE) -> tuple[str, int, int]:
    """Return an image as a data URI, and the width and height of its file in pixels.

    It is encoded again, without EXIF rotation or any other metadata. ValueError if the file is no image or too large.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as source:
            width, height = source.size
            if width * height > MOST_PIXELS:
                raise ValueError(f"the image has {width:,} × {height:,} pixels; at most {MOST_PIXELS:,} are shown")
            source.draft("RGB", (longest, longest))
            shown = source.convert("RGB")
            shown.thumbnail((longest, longest))
    except (UnidentifiedImageError, OSError, Image.DecompressionBombError) as failure:
        raise ValueError(f"the image cannot be read: {type(failure).__name__}") from None
    buffer = io.BytesIO()
    shown.save(buffer, "JPEG", quality=88)
    return "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode(), width, height
