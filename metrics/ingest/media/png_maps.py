"""PNG files as maps: the class or segment of every pixel, read within bounds, as a mask for each."""

import io
import os
import struct
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from metrics.core.array_types import Ints
from metrics.ingest.media.archive import Entry
from metrics.ingest.media.bundle import Bundle, Rows
from metrics.ingest.source import Problems, first_line
from metrics.ingest.tables.object_tables import POLYGONS, box_columns
from metrics.vision.masks import encode
from metrics.vision.segmentation import regions

SIGNATURE = b"\x89PNG\r\n\x1a\n"
HEADER = struct.Struct(">IIBB")  # width, height, bits, kind of colour; from the 17th byte on
HEAD = 26  # bytes up to there
COLOURS = {0: "grey", 2: "RGB", 3: "palette", 4: "grey and alpha", 6: "RGBA"}
COMPLETE = "a complete PNG"
MOST_PIXELS = 7_680 * 4_320  # of one mask: an 8K frame
ALL_PIXELS = 1 << 37
INDEXED = (
    "an indexed PNG: a palette, or 8 or 16 bits of grey, whose values are class ids; or RGB, with the colours of the "
    "classes in labelmap.txt (name:r,g,b::) or class_dict.csv (name,r,g,b) beside the masks"
)
COLOURED = "a PNG of 8 bits a colour, whose id is R + 256 G + 65,536 B, or of grey"


@dataclass(frozen=True, slots=True)
class Found:
    """What a mask holds: its size, and a region for each class id. `wrong`: what was found and expected instead."""

    width: int = 0
    height: int = 0
    ids: tuple[int, ...] = ()
    pixels: tuple[int, ...] = ()
    boxes: tuple[tuple[float, ...], ...] = ()
    codes: tuple[str, ...] = ()
    wrong: tuple[str, str] | None = None


def read_maps(
    bundle: Bundle, entries: Sequence[Entry], problems: Problems,
    check: Callable[[int, Found], tuple[str, str] | None], coloured: bool = False,
    colours: Mapping[int, int] | None = None,
) -> tuple[Rows, list[Found]]:  # fmt: skip
    """Return every map; wrong ones, also by `check`, are recorded as problems and marked in the sheet.

    A map is INDEXED, its colours mapped to ids by `colours`, or `coloured`: then it is COLOURED, and the pixels of id 0
    have no region.
    """
    sheet = Rows(
        bundle.name, pa.table({"mask": [entry.name for entry in entries]}), [1] * len(entries), range(len(entries)),
        bundle.names(entries), problems,
    )  # fmt: skip
    found = []
    left = ALL_PIXELS
    with warnings.catch_warnings(), ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as threads:
        warnings.simplefilter("ignore")
        for place, mask in enumerate(threads.map(lambda entry: _decoded(entry, coloured, colours or {}), entries)):
            left -= mask.width * mask.height
            wrong = mask.wrong or check(place, mask)
            if left < 0:
                raise problems.fail(bundle.name, "too many masks to read", f"at most {ALL_PIXELS:,} pixels in all")
            if wrong is not None:
                problems.add(sheet.files[place], *wrong)
                sheet.bad[place] = True
            found.append(mask)
    return sheet, found


def _decoded(entry: Entry, coloured: bool, colours: Mapping[int, int]) -> Found:
    expected, kinds = (COLOURED, (0, 2, 6)) if coloured else (INDEXED, (0, 2, 3, 6))
    try:
        data = entry.read()
        if not data.startswith(SIGNATURE) or len(data) < HEAD:
            return Found(wrong=("no PNG file", expected))
        wide, high, bits, colour = HEADER.unpack_from(data, 16)
        if colour not in kinds or (colour in (2, 6) and bits != 8):
            return Found(wrong=(f"{COLOURS.get(colour, 'unknown')} pixels", expected))
        if wide * high > MOST_PIXELS:
            return Found(wrong=(f"{wide:,} × {high:,} pixels", f"a mask of at most {MOST_PIXELS:,} pixels"))
        codes = _codes(data, bits if colour == 0 else 8)
        if colour in (2, 6) and colours:
            own, place = np.unique(codes, return_inverse=True)
            if unknown := [code for code in own.tolist() if code not in colours]:
                shown = [f"{code & 255},{code >> 8 & 255},{code >> 16}" for code in unknown]
                return Found(wrong=(f"pixels of the colours {listed(shown, 3)}", "the colours of classes, in the file"))
            codes = np.array([colours[code] for code in own.tolist()], np.uint16)[place]
        elif colour in (2, 6) and not coloured:  # grey in three channels
            if (codes % 0x10101).any():
                return Found(wrong=(f"{COLOURS[colour]} pixels", expected))
            codes //= 0x10101
        return _found(codes, wide, high, coloured)
    except Exception as error:  # decoders raise all kinds of errors on damaged data
        return Found(wrong=(f"a mask that cannot be read ({first_line(error)})", COMPLETE))


def _codes(data: bytes, bits: int) -> NDArray[Any]:
    """Return the id of each pixel, column by column; the decoder's scaling of 2 and 4 bits to 8 is undone."""
    from PIL import Image

    with Image.open(io.BytesIO(data), formats=["PNG"]) as image:
        image.load()
        pixels = np.asarray(image)
        if pixels.ndim == 3:
            pixels = pixels[..., :3].astype(np.int32) @ np.array([1, 1 << 8, 1 << 16], np.int32)
        values = np.ascontiguousarray(pixels.T).ravel()
    return values // {2: 85, 4: 17}[bits] if bits in (2, 4) else values


def _found(codes: NDArray[Any], wide: int, high: int, void: bool) -> Found:
    ids, masks = regions(codes, high)
    first = int(void and ids[:1].tolist() == [0])  # the ids rise
    columns = (ids.tolist(), masks.area.tolist(), map(tuple, masks.box.tolist()), encode(masks))
    return Found(wide, high, *(tuple(column)[first:] for column in columns))


def listed(values: Sequence[Any], most: int = 12) -> str:
    """Return the first values in a line."""
    return ", ".join(map(str, values[:most])) + (", …" if len(values) > most else "")


def region_columns(found: Sequence[Found], classes: Sequence[Mapping[int, str]]) -> tuple[Ints, dict[str, pa.Array]]:
    """Return the map of each region, and the columns of the regions; `classes` has the names of each map's ids."""
    which = np.repeat(np.arange(len(found)), [len(mask.ids) for mask in found])
    boxes = np.array([box for mask in found for box in mask.boxes], float).reshape(-1, 4)
    columns: dict[str, pa.Array] = {
        "label": pa.array(
            [names[number] for mask, names in zip(found, classes, strict=True) for number in mask.ids], pa.string()
        ),
        **box_columns(boxes),
        "area": pa.array([float(area) for mask in found for area in mask.pixels], pa.float64()),
        "polygons": pa.nulls(len(which), POLYGONS),
        "rle": pa.array([code for mask in found for code in mask.codes], pa.string()),
    }
    return which, columns
