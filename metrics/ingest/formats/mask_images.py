"""Indexed PNG masks: one mask an image, the palette index or grey value is the class of a pixel, matched by file name.

Ground truth is a folder or zip of masks; predictions are one folder or zip a model, or one with a folder for each
model. Class names come from a file beside the masks (see class_names), else the id is the name. Images may be in the
same place: in other formats than PNG, or outside the folder (masks, labels, …) that then holds the masks.
"""

import io
import os
import struct
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from metrics.core.array_types import Ints
from metrics.core.suite import Suite
from metrics.ingest.media.archive import UNREADABLE, Entry
from metrics.ingest.media.bundle import Bundle, Rows, need_unique
from metrics.ingest.media.class_names import class_names, names_files
from metrics.ingest.media.images import header_size
from metrics.ingest.media.suite_images import IMAGE_NAME, SuiteImages, annotations_of
from metrics.ingest.output_parts import Part
from metrics.ingest.reader import Preview, Reader, Request, Upload, need_images
from metrics.ingest.sheet import Loaded, Problems, first_line, only
from metrics.ingest.tables.columns import Role
from metrics.ingest.tables.object_tables import POLYGONS, box_columns, find_cases
from metrics.vision.masks import encode
from metrics.vision.segmentation import regions

MASKS = {
    "mask", "masks", "label", "labels", "annotation", "annotations", "gt", "ground_truth", "groundtruth",
    "segmentation", "segmentations", "segmentationclass",
}  # fmt: skip
IMAGES = {"image", "images", "img", "imgs", "jpegimages"}
OTHER_LABELS = (".xml", ".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".yaml", ".yml")
TEXTS = ("readme", "license", "licence", "notes", "train", "val", "valid", "test", "trainval")
SIGNATURE = b"\x89PNG\r\n\x1a\n"
HEADER = struct.Struct(">IIBB")  # width, height, bits, kind of colour; from the 17th byte on
HEAD = 26  # bytes up to there
LOOKED_AT = 100
COLOURS = {0: "grey", 2: "RGB", 3: "palette", 4: "grey and alpha", 6: "RGBA"}
INDEXED = "an indexed PNG: a palette, or 8 or 16 bits of grey, whose values are class ids"
COMPLETE = "a complete PNG"
NAMED = "an id that the file of class names has"
MOST_PIXELS = 7_680 * 4_320  # of one mask: an 8K frame
ALL_PIXELS = 1 << 37
VOID = 255  # the id of ignored pixels in VOC and Cityscapes: it needs no name


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


def recognises(upload: Upload) -> bool:
    """Return whether a folder or zip is of this format: PNG files with nothing beside them but images and class names.

    Without class names one of the first LOOKED_AT files must be indexed, so a zip of photographs is not recognised.
    """
    bundle = upload.folder
    if not bundle.ending(".png") or bundle.ending(*OTHER_LABELS):
        return False
    names = names_files(bundle)
    rest = [entry for entry in bundle.ending(".txt", ".json") if entry not in names]
    if any(entry.suffix == ".json" or entry.stem.lower() not in TEXTS for entry in rest):
        return False
    return bool(names) or any(map(_is_indexed, mask_files(bundle)[:LOOKED_AT]))


def mask_files(bundle: Bundle) -> list[Entry]:
    """Return the masks: the PNG files in folders for masks where only some are in such a folder, else all PNG files."""
    files = bundle.ending(".png")
    within = [entry for entry in files if any(part.lower() in MASKS for part in _folders(entry))]
    return within or files


def picture_files(bundle: Bundle) -> list[Entry]:
    """Return the images that are not masks."""
    masks = {entry.name for entry in mask_files(bundle)}
    return [entry for entry in bundle.images if entry.name not in masks]


def read_suite(upload: Upload, request: Request, pictures: SuiteImages) -> Loaded[Suite]:
    """Return the suite: the cases by name, one region for each class in an image, and the classes by id."""
    bundle, problems = upload.folder, request.problems
    names = class_names(bundle, problems)
    entries = mask_files(bundle)
    ids = _ids([_parts(entry) for entry in entries])
    need_unique(bundle, entries, ids, problems)
    known = None if names is None else {*names, VOID}
    sheet, found = _read(bundle, entries, problems, lambda _, mask: _unknown_ids(mask, known, NAMED))
    sheet.leave_out()
    images = {entry.stem: entry for entry in picture_files(bundle)} if pictures.images == bundle.path else {}
    cases = pa.table(
        {
            "case_id": pa.array(ids, pa.string()),
            IMAGE_NAME: [
                images[entry.stem].name if entry.stem in images else case
                for entry, case in zip(entries, ids, strict=True)
            ],
            "image_width": pa.array([mask.width for mask in found], pa.int32()),
            "image_height": pa.array([mask.height for mask in found], pa.int32()),
        }
    )
    cases = pictures.take(only(cases, ~sheet.bad))
    good = [mask for mask, bad in zip(found, sheet.bad.tolist(), strict=True) if not bad]
    there = sorted({number for mask in good for number in mask.ids} | set(names or ()))
    classes = {number: (names or {}).get(number, str(number)) for number in there}
    which, regions = _regions(good, classes)
    annotations = annotations_of(cases, which, regions)
    return pictures.suite(
        bundle.name, request.suite_name or upload.stem, "segmentation", cases, annotations,
        tuple(classes.values()), tuple(classes), empty=("no valid mask", "at least one"),
    )  # fmt: skip


def read_outputs(upload: Upload, request: Request, suite: Suite) -> Part:
    """Return the masks with their cases and models, and the regions in them.

    Class ids are those of the ground truth's masks, unless class names beside the predictions say otherwise; without
    either, labels that are numbers are the ids. Where folders do not name the models, the model is the upload's.
    """
    need_images(upload, suite)
    if suite.task != "segmentation":
        raise upload.error("images, and no labels", "YOLO labels with confidences, or a table")
    bundle, problems, model = upload.folder, request.problems, request.model or upload.stem
    names = class_names(bundle, problems) or dict(zip(suite.category_ids, suite.labels, strict=False))
    names = names or {int(label): label for label in suite.labels if label.isdecimal()}
    classes = {number: name for number, name in names.items() if name in suite.labels}
    expected = f"a class id of the ground truth ({_listed(sorted(classes))}), or names of classes beside the masks"
    entries = mask_files(bundle)
    parts = [_parts(entry) for entry in entries]
    known = set(suite.cases["case_id"].to_pylist())
    apart = None if any("/".join(each) in known for each in parts if len(each) > 1) else _models(parts)
    models, ids = apart or ([model] * len(entries), _ids(parts))
    places = find_cases(pa.array(ids, pa.string()), suite.cases).to_pylist()
    sides = [suite.cases[name].to_pylist() for name in ("image_width", "image_height")]

    def check(place: int, mask: Found) -> tuple[str, str] | None:
        case = places[place]
        if case is None:
            return f"a mask of {ids[place]!r}", "an image of the suite"
        wide, high = sides[0][case], sides[1][case]
        if (wide, high) != (mask.width, mask.height) and None not in (wide, high):
            return f"{mask.width:,} × {mask.height:,} pixels", f"{wide:,} × {high:,}, as the ground truth has"
        return _unknown_ids(mask, set(classes), expected)

    sheet, found = _read(bundle, entries, problems, check)
    case_ids = suite.cases["case_id"].to_pylist()
    named = [ids[place] if case is None else case_ids[case] for place, case in enumerate(places)]
    table = pa.table(
        {
            "case_id": pa.array(named, pa.string()),
            "model": pa.array(models, pa.string()),
            "run": pa.array(np.ones(len(entries), np.int32)),
        }
    )
    held = [Found() if bad else mask for mask, bad in zip(found, sheet.bad.tolist(), strict=True)]
    which, regions = _regions(held, classes)
    return Part(sheet, table, pa.table(regions), which)


def preview(upload: Upload, request: Request) -> Preview:
    """Return the preview: the masks and their sizes, and the models that have a folder."""
    bundle = upload.folder
    entries = mask_files(bundle)
    sizes = [header_size(entry) for entry in entries]
    names = class_names(bundle, request.problems)
    table = {
        "file": [entry.name for entry in entries],
        "pixels": ["unreadable" if size is None else f"{size[0]} × {size[1]}" for size in sizes],
    }
    models = tuple(dict.fromkeys((_models([_parts(entry) for entry in entries]) or ((), ()))[0]))
    classes = "no names of classes" if names is None else f"{len(names):,} classes"
    note = f"{len(entries):,} masks, {classes}, {len(picture_files(bundle)):,} images"
    note += f", models by folder: {', '.join(models)}" if models else ""
    role: Role = "outputs" if request.role == "outputs" else "suite"
    return Preview.of_objects(upload, "masks", role, "segmentation", pa.table(table), note, models=models)


def _is_indexed(entry: Entry) -> bool:
    try:
        with entry.open() as stream:
            head = stream.read(HEAD)
    except UNREADABLE:
        return False
    return len(head) == HEAD and head.startswith(SIGNATURE) and head[HEAD - 1] in (0, 3)


def _folders(entry: Entry) -> tuple[str, ...]:
    return PurePosixPath(entry.name).parts[:-1]


def _parts(entry: Entry) -> tuple[str, ...]:
    """Return the folders that do more than separate images from masks, and the name without its extension."""
    return (*(part for part in _folders(entry) if part.lower() not in MASKS | IMAGES), entry.stem)


def _ids(parts: Sequence[tuple[str, ...]]) -> list[str]:
    """Return a name for each mask, without folders where these names are unique."""
    stems = [each[-1] for each in parts]
    return stems if len(set(stems)) == len(stems) else ["/".join(each) for each in parts]


def _models(parts: Sequence[tuple[str, ...]]) -> tuple[list[str], list[str]] | None:
    """Return the model and name of each mask where folders are models, that is where the same names recur in them."""
    while all(len(each) > 1 for each in parts) and len({each[0] for each in parts}) == 1:
        parts = [each[1:] for each in parts]
    if not all(len(each) > 1 for each in parts) or len({each[-1] for each in parts}) == len(parts):
        return None
    if len(set(parts)) < len(parts):
        return None
    return [each[0] for each in parts], ["/".join(each[1:]) for each in parts]


def _read(
    bundle: Bundle, entries: Sequence[Entry], problems: Problems,
    check: Callable[[int, Found], tuple[str, str] | None],
) -> tuple[Rows, list[Found]]:  # fmt: skip
    """Return every mask; wrong ones are recorded as problems and marked in the sheet."""
    sheet = Rows(
        bundle.name, pa.table({"mask": [entry.name for entry in entries]}), [1] * len(entries), range(len(entries)),
        bundle.names(entries), problems,
    )  # fmt: skip
    found = []
    left = ALL_PIXELS
    with warnings.catch_warnings(), ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as threads:
        warnings.simplefilter("ignore")
        for place, mask in enumerate(threads.map(_decoded, entries)):
            left -= mask.width * mask.height
            wrong = mask.wrong or check(place, mask)
            if left < 0:
                raise problems.fail(bundle.name, "too many masks to read", f"at most {ALL_PIXELS:,} pixels in all")
            if wrong is not None:
                problems.add(sheet.files[place], *wrong)
                sheet.bad[place] = True
            found.append(mask)
    return sheet, found


def _decoded(entry: Entry) -> Found:
    try:
        data = entry.read()
        if not data.startswith(SIGNATURE) or len(data) < HEAD:
            return Found(wrong=("no PNG file", INDEXED))
        wide, high, bits, colour = HEADER.unpack_from(data, 16)
        if colour not in (0, 3):
            return Found(wrong=(f"{COLOURS.get(colour, 'unknown')} pixels", INDEXED))
        if wide * high > MOST_PIXELS:
            return Found(wrong=(f"{wide:,} × {high:,} pixels", f"a mask of at most {MOST_PIXELS:,} pixels"))
        return _found(_codes(data, bits if colour == 0 else 8), wide, high)
    except Exception as error:  # decoders raise all kinds of errors on damaged data
        return Found(wrong=(f"a mask that cannot be read ({first_line(error)})", COMPLETE))


def _codes(data: bytes, bits: int) -> NDArray[Any]:
    """Return the class of each pixel, column by column; the decoder's scaling of 2 and 4 bits to 8 is undone."""
    from PIL import Image

    with Image.open(io.BytesIO(data), formats=["PNG"]) as image:
        image.load()
        values = np.ascontiguousarray(np.asarray(image).T).ravel()
    return values // {2: 85, 4: 17}[bits] if bits in (2, 4) else values


def _found(codes: NDArray[Any], wide: int, high: int) -> Found:
    ids, masks = regions(codes, high)
    return Found(
        wide, high, tuple(ids.tolist()), tuple(masks.area.tolist()), tuple(map(tuple, masks.box.tolist())),
        tuple(encode(masks)),
    )  # fmt: skip


def _unknown_ids(mask: Found, known: set[int] | None, expected: str) -> tuple[str, str] | None:
    """Return what was found and expected where a mask has class ids that are not `known`; None where it has not."""
    unknown = {} if known is None else {a: n for a, n in zip(mask.ids, mask.pixels, strict=True) if a not in known}
    if not unknown:
        return None
    return f"class id {_listed(list(unknown))} in {sum(unknown.values()):,} pixels", expected


def _listed(values: Sequence[Any], most: int = 12) -> str:
    return ", ".join(map(str, values[:most])) + (", …" if len(values) > most else "")


def _regions(found: Sequence[Found], classes: dict[int, str]) -> tuple[Ints, dict[str, pa.Array]]:
    """Return the mask of each region, and the columns of the regions."""
    which = np.repeat(np.arange(len(found)), [len(mask.ids) for mask in found])
    boxes = np.array([box for mask in found for box in mask.boxes], float).reshape(-1, 4)
    columns: dict[str, pa.Array] = {
        "label": pa.array([classes[number] for mask in found for number in mask.ids], pa.string()),
        **box_columns(boxes),
        "area": pa.array([float(area) for mask in found for area in mask.pixels], pa.float64()),
        "polygons": pa.nulls(len(which), POLYGONS),
        "rle": pa.array([code for mask in found for code in mask.codes], pa.string()),
    }
    return which, columns


READER = Reader(
    "masks", recognises, preview, read_suite, read_outputs, images=picture_files,
    contents="indexed PNG masks (a palette or grey, not RGB)",
)  # fmt: skip
