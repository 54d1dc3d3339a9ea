"""Images of a suite as the browser gets them."""

import base64
import io
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st
from streamlit.runtime import get_instance

LONGEST_SIDE = 1600  # pixels sent to the browser; boxes stay in the image's own pixels


@st.cache_data(max_entries=32, show_spinner=False)
def picture(path: str | Path, size: tuple[int, int] | None = None, longest: int = LONGEST_SIDE) -> tuple[str, int, int]:
    """Return an image as a data URI, upright for objects in an image of `size`, and its width and height in pixels.

    It is encoded again, without any metadata. ValueError if the file is no image or too large.
    """
    from metrics.ingest.media.shown_images import shown_image

    try:
        shown, (width, height) = shown_image(path, size, longest)
    except FileNotFoundError:
        raise ValueError("the image cannot be read: FileNotFoundError") from None
    buffer = io.BytesIO()
    shown.save(buffer, "JPEG", quality=88)
    return "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode(), width, height


class Detail(NamedTuple):
    """What is sharper than the picture sent first, whose longer side has `sent` pixels.

    `tiles` makes the full resolution: {side, columns, urls}, tiles row by row, which the browser fetches when they are
    looked at.
    """

    sent: int
    tiles: Callable[[], dict[str, Any]]


def detail(path: str | Path, width: float, height: float, size: tuple[int, int] | None = None) -> Detail | None:
    """Return the full resolution of an image of that width and height; None where `picture` sends it all."""
    return None if max(width, height) <= LONGEST_SIDE else Detail(LONGEST_SIDE, partial(_tiles, str(path), size))


def _tiles(path: str, size: tuple[int, int] | None) -> dict[str, Any]:
    from metrics.ingest.media.shown_images import TILE

    columns, parts = _made(path, size)
    files = get_instance().media_file_mgr
    urls = [files.add(part, "image/jpeg", f"{path} {size} {place}") for place, part in enumerate(parts)]
    return {"side": TILE, "columns": columns, "urls": [url.lstrip("/") for url in urls]}  # below the page's own base


@st.cache_resource(max_entries=4, show_spinner=False)
def _made(path: str, size: tuple[int, int] | None) -> tuple[int, list[bytes]]:
    from metrics.ingest.media.shown_images import tiles

    return tiles(path, size)
