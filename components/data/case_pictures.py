"""Small pictures of cases with images, for lists of them."""

import base64
import io
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from components.data.run_reads import thumbnails
from components.data.workspace_runs import workspace
from metrics.core.suite import METADATA

SIDE = 120  # pixels of the longer side
SECONDS = 4.0  # of a script run that new thumbnails may take; a list shows what is ready
IMAGE_NAME = METADATA + "image_name"


class CasePicture(NamedTuple):
    """The name of a case's image file, "" where it has none, and a small picture as a data URI, where it is shown."""

    name: str
    source: str | None


def case_pictures(run_id: str, case_ids: Sequence[str]) -> Mapping[str, CasePicture]:
    """Return the picture of each of these cases that has an image or names one."""
    cases = workspace().run(run_id).suite.cases
    if IMAGE_NAME not in cases.column_names and cases["image"].null_count == len(cases):
        return {}
    columns = ["case_id", "image", *({IMAGE_NAME} & {*cases.column_names})]
    rows = cases.select(columns).filter(pc.is_in(cases["case_id"], pa.array(list(case_ids), pa.string()))).to_pylist()
    there = sorted((row for row in rows if row["image"]), key=lambda row: case_ids.index(row["case_id"]))
    made = thumbnails(run_id, [(row["image"], None) for row in there], SECONDS)
    small = {row["case_id"]: _small(one) for row, one in zip(there, made, strict=True) if isinstance(one, bytes)}
    named = {row["case_id"]: row.get(IMAGE_NAME) or "" for row in rows}
    return {case: CasePicture(name, small.get(case)) for case, name in named.items()}


def add_pictures(run_id: str, rows: Sequence[dict[str, Any]]) -> None:
    """Give each row of a list, which has an `id`, the `image` of its case and, unless it is the id, its `file`."""
    found = case_pictures(run_id, [row["id"] for row in rows])
    for row in rows:
        picture = found.get(row["id"])
        if picture is not None:
            row["image"] = picture.source
            row["file"] = picture.name if picture.name != row["id"] else ""


@st.cache_data(max_entries=2048, show_spinner=False)
def _small(picture: bytes) -> str:
    """Return a picture at most SIDE pixels wide and high as a data URI."""
    from PIL import Image

    with Image.open(io.BytesIO(picture)) as image:
        image.thumbnail((SIDE, SIDE))
        buffer = io.BytesIO()
        image.convert("RGB").save(buffer, "JPEG", quality=80)
    return "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode()
