"""Images of a suite as the browser gets them."""

import base64
import io
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st
from streamlit.runtime import get_instance

from components.data.run_reads import thumbnails
from components.data.workspace_runs import open_run
from metrics.core.arrow import stored_columns
from metrics.core.suite import METADATA

LONGEST_SIDE = 1600  # pixels sent to the browser; boxes stay in the image's own pixels
SIDE = 120  # pixels of the longer side
SECONDS = 4.0  # of a script run that new thumbnails may take; a list shows what is ready
IMAGE_NAME = METADATA + "image_name"


@st.cache_data(max_entries=32, show_spinner=False)
def picture(path: str | Path, size: tuple[int, int] | None = None, longest: int = LONGEST_SIDE) -> tuple[str, int, int]:
    """Return an image as a data URI, upright for objects in an image of `size`, and its width and height in pixels.

    It is encoded again, without any metadata. ValueError if the file is no image or too large.
    """
    from metrics.ingest.media.images import shown_image

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
    from metrics.ingest.media.images import TILE

    columns, parts = _made(path, size)
    files = get_instance().media_file_mgr
    urls = [files.add(part, "image/jpeg", f"{path} {size} {place}") for place, part in enumerate(parts)]
    return {"side": TILE, "columns": columns, "urls": [url.lstrip("/") for url in urls]}  # below the page's own base


@st.cache_resource(max_entries=4, show_spinner=False)
def _made(path: str, size: tuple[int, int] | None) -> tuple[int, list[bytes]]:
    from metrics.ingest.media.images import tiles

    return tiles(path, size)


class CasePicture(NamedTuple):
    """The name of a case's image file, "" where it has none, and a small picture as a data URI, where it is shown."""

    name: str
    source: str | None


def case_pictures(run_id: str, case_ids: Sequence[str]) -> Mapping[str, CasePicture]:
    """Return the picture of each of these cases that has an image or names one."""
    run = open_run(run_id)
    named_too = {IMAGE_NAME} & {*stored_columns(run.input_path("suite/cases.parquet"))}
    images = run.case_columns(["image", *named_too])
    if not named_too and images["image"].null_count == len(images):
        return {}
    cases = images.add_column(0, "case_id", run.case_columns(["case_id"])["case_id"])
    rows = cases.filter(pc.is_in(cases["case_id"], pa.array(list(case_ids), pa.string()))).to_pylist()
    there = sorted((row for row in rows if row["image"]), key=lambda row: case_ids.index(row["case_id"]))
    made = thumbnails(run_id, [(row["image"], None) for row in there], SECONDS)
    small = {row["case_id"]: _small(one) for row, one in zip(there, made, strict=True) if isinstance(one, bytes)}
    named = {row["case_id"]: row.get(IMAGE_NAME) or "" for row in rows}
    return {case: CasePicture(name, small.get(case)) for case, name in named.items()}


def add_pictures(run_id: str, rows: Sequence[dict[str, Any]]) -> None:
    """Give each row of a list, which has an `id`, the `image` of its case and, unless it is the id, its `file`."""
    found = case_pictures(run_id, [row["id"] for row in rows])
    for row in rows:
        if (picture := found.get(row["id"])) is not None:
            row["image"] = picture.source
            row["file"] = picture.name if picture.name != row["id"] else ""


@st.cache_data(max_entries=2048, show_spinner=False)
def _small(picture: bytes) -> str:
    """Return a picture at most SIDE pixels wide and high as a data URI."""
    from PIL import Image

    with Image.open(io.BytesIO(picture), formats=("JPEG",)) as image:
        image.thumbnail((SIDE, SIDE))
        buffer = io.BytesIO()
        image.convert("RGB").save(buffer, "JPEG", quality=80)
    return "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode()
