"""COCO panoptic segmentation: a JSON with segments_info, and the PNG maps that it names, as a folder or zip.

The id of a pixel is R + 256 G + 65,536 B of its map, 0 where no segment is. Predictions come in the same form, one
folder or zip a model; they need neither images nor categories.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from metrics.core.array_types import Ints
from metrics.core.suite import Suite
from metrics.ingest.formats.coco_keys import CATEGORY_KEYS, UNUSED_KEYS, note_document
from metrics.ingest.formats.coco_listing import Ids, Listing, class_facts, names
from metrics.ingest.leaf_notes import Leaves
from metrics.ingest.media.archive import UNREADABLE, Entry
from metrics.ingest.media.bundle import Bundle, Rows
from metrics.ingest.media.png_maps import Found, listed, read_maps, region_columns
from metrics.ingest.media.suite_images import IMAGE_NAME, SuiteImages
from metrics.ingest.output_parts import Part
from metrics.ingest.reader import Preview, Reader, Request, Upload, need_images
from metrics.ingest.sheet import FALSE, TRUE
from metrics.ingest.source import MAX_JSON_BYTES, Loaded, Problems, Source, load_json
from metrics.ingest.tables.columns import Role
from metrics.ingest.tables.object_tables import sizes_of
from metrics.ingest.tables.values import whole_number
from metrics.vision.coco_columns import Fault, category_faults, codes_of, id_faults, member_faults

SEGMENTS = b'"segments_info"'
IMAGE, OWN_IMAGE = "the id of an image in images", "the id of an image of the suite"
MAP = "the name of a PNG in the folder or zip"
SEGMENT = "a list of {id, category_id}: ids from 1, each once, and categories of the ground truth"
Segments = Mapping[int, tuple[int, bool]]  # the categories of an image's segments and whether they are crowds, by id
SEGMENT_KEYS = {"segments_info[].id": "the pixels of the map", "segments_info[].category_id": "label",
                "segments_info[].iscrowd": "is_crowd"}  # fmt: skip
PIXELS = "the pixels of the map say it"


@dataclass(frozen=True, eq=False, slots=True)
class _Maps:
    """M maps: a row of the sheet each; the ids of their images, what the maps hold, what the JSON says of it."""

    sheet: Rows
    image_ids: Ints
    found: list[Found]
    segments: list[Segments]

    def regions(self, labels: Mapping[int, str]) -> tuple[Ints, dict[str, pa.Array], list[bool]]:
        """Return the map of each segment, its columns, and whether it is a crowd; none of maps that are wrong."""
        held = [Found() if bad else found for found, bad in zip(self.found, self.sheet.bad.tolist(), strict=True)]
        kinds = [{id: labels[category] for id, (category, _) in own.items()} for own in self.segments]
        crowds = [own[id][1] for found, own in zip(held, self.segments, strict=True) for id in found.ids]
        return *region_columns(held, kinds), crowds


def recognises(upload: Upload) -> bool:
    """Return whether a folder or zip has PNG files and a JSON with segments_info."""
    return bool(upload.folder.ending(".png")) and bool(_documents(upload.folder))


def picture_files(bundle: Bundle) -> list[Entry]:
    """Return the images that are no PNG: those are the maps."""
    return [entry for entry in bundle.images if entry.suffix != ".png"]


def read_suite(upload: Upload, request: Request, pictures: SuiteImages) -> Loaded[Suite]:
    """Return the suite: the cases by image id, a row for each segment, and the classes with thing or stuff."""
    problems = request.problems
    source, document = _document(upload)
    categories = Listing(source, "categories", document.get("categories"), problems)
    images = Listing(source, "images", document.get("images"), problems)
    problems.stop()
    known, image_ids = Ids(), Ids()
    numbers, texts = categories.ids("id", known, new=True), categories.values("name")
    categories.apply(category_faults(numbers, names(texts)))
    ids, files = images.ids("id", image_ids, new=True), images.values("file_name")
    images.apply(id_faults(ids))
    problems.fatal |= bool(categories.bad.any() or images.bad.any())  # annotations rest on them
    problems.stop()
    labels = {int(numbers[place]): texts[place] for place in np.argsort(numbers, kind="stable")}
    note_document(source, document, problems)
    categories.note_keys(CATEGORY_KEYS, UNUSED_KEYS)
    sides = dict.fromkeys(("width", "height"), PIXELS)
    keys = {"id": "case_id", "file_name": IMAGE_NAME}
    beside = images.keep_others(keys, UNUSED_KEYS | sides)
    images.note_keys(keys, UNUSED_KEYS | sides)
    maps = _read(upload, source, document, problems, np.sort(ids), image_ids, IMAGE, set(labels), known, {})
    maps.sheet.leave_out()
    order = [place for place in np.argsort(maps.image_ids, kind="stable").tolist() if not maps.sheet.bad[place]]
    row_of = {id: row for row, id in enumerate(ids.tolist())}
    rows = [row_of[int(maps.image_ids[place])] for place in order]
    case_ids = image_ids.texts(maps.image_ids)
    cases = pa.table(
        {
            "case_id": case_ids.take(pa.array(order, pa.int64())),
            IMAGE_NAME: pa.array([name if isinstance(name := files[row], str) else None for row in rows], pa.string()),
            "image_width": pa.array([maps.found[place].width for place in order], pa.int32()),
            "image_height": pa.array([maps.found[place].height for place in order], pa.int32()),
            **{name: column.take(pa.array(rows, pa.int64())) for name, column in beside.items()},
        }
    )
    which, columns, crowds = maps.regions(labels)
    annotations = pa.table(
        {
            "case_id": case_ids.take(pa.array(which)),
            "annotation_id": np.arange(1, len(which) + 1),
            **columns,
            "is_crowd": pa.array(crowds, pa.bool_()),
        }
    )
    loaded = pictures.suite(
        upload.name, request.suite_name or upload.stem, "segmentation", pictures.take(cases), annotations,
        tuple(labels.values()), () if known else tuple(labels), empty=("no usable map", "at least one"),
    )  # fmt: skip
    return replace(loaded, value=replace(loaded.value, classes=class_facts(document["categories"], named=bool(known))))


def read_outputs(upload: Upload, request: Request, suite: Suite) -> Part:
    """Return the maps with their cases, and the segments in them; categories go by the suite's numbers."""
    need_images(upload, suite)
    named = {facts.id: label for label, facts in suite.classes.items() if facts.id is not None}
    if suite.task != "segmentation" or not (suite.category_ids or named):
        expected = "ground truth that is COCO panoptic, too: its numbers name classes"
        raise upload.error("COCO panoptic segments", expected)
    source, document = _document(upload)
    categories, image_ids = Ids(), Ids()
    labels = {categories.number_of(id, True): label for id, label in named.items()} or dict(
        zip(suite.category_ids, suite.labels, strict=True)
    )
    by_id = {image_ids.number_of(case, True): case for case in suite.cases["case_id"].to_pylist()}
    known = np.sort(np.fromiter(by_id, np.int64, len(by_id)))
    stated = sizes_of(suite.cases)
    sizes = {id: stated[case] for id, case in by_id.items() if case in stated}
    maps = _read(upload, source, document, request.problems, known, image_ids, OWN_IMAGE, {*labels}, categories, sizes)
    table = pa.table(
        {
            "case_id": pa.array([by_id[id] for id in maps.image_ids.tolist()], pa.string()),
            "model": pa.repeat(request.model or upload.model, len(maps.found)),
            "run": pa.array(np.ones(len(maps.found), np.int32)),
        }
    )
    which, columns, _ = maps.regions(labels)
    return Part(maps.sheet, table, pa.table(columns), which)


def preview(upload: Upload, request: Request) -> Preview:
    """Return the preview: the maps and how many segments each has. Without images it is a model's."""
    _, document = _document(upload)
    given = document.get("annotations")
    listing = [record for record in given if isinstance(record, dict)] if isinstance(given, list) else []
    segments = [record.get("segments_info") for record in listing]
    files = [str(record.get("file_name"))[:200] for record in listing]
    counts = [len(one) if isinstance(one, list) else 0 for one in segments]
    role: Role = "suite" if document.get("images") and request.role != "outputs" else "outputs"
    note = f"{len(listing):,} panoptic maps, {sum(counts):,} segments, {len(picture_files(upload.folder)):,} images"
    table = pa.table({"file": files, "segments": counts})
    return Preview.of_objects(upload, "coco_panoptic", role, "segmentation", table, note)


def _documents(bundle: Bundle) -> list[Entry]:
    """Return the JSON files with segments_info."""
    found = []
    for entry in bundle.ending(".json"):
        try:
            if entry.size <= MAX_JSON_BYTES and SEGMENTS in entry.read():
                found.append(entry)
        except UNREADABLE:
            continue
    return found


def _document(upload: Upload) -> tuple[Source, dict[str, Any]]:
    """Return the JSON with segments_info, parsed; InputError where there are several, or it is no object."""
    entries = _documents(upload.folder)
    if len(entries) > 1:
        several = ", ".join(entry.name for entry in entries[:5])
        raise upload.error(f"{len(entries)} panoptic files: {several}", "one, or each in a folder or zip of its own")
    source = upload.source_of_entry(entries[0])
    document = load_json(source)
    if not isinstance(document, dict):
        raise source.error(f"a JSON {type(document).__name__}", "an object with annotations of segments_info")
    return source, document


def _read(
    upload: Upload, source: Source, document: dict[str, Any], problems: Problems, known: Ints, texts: Ids,
    expected: str, categories: set[int], category_ids: Ids, sizes: Mapping[int, tuple[int, int]],
) -> _Maps:  # fmt: skip
    """Return the maps of the records that are right; `known`: the ids of images, rising; `sizes`: width and height."""
    # `texts` and `category_ids` are the ids of images and categories that are texts.
    bundle = upload.folder
    listing = Listing(source, "annotations", document.get("annotations"), problems)
    problems.stop()
    image_ids, files = listing.ids("image_id", texts), listing.values("file_name")
    listing.apply(member_faults("image_id", codes_of(image_ids, known), expected))
    again = np.ones(len(image_ids), np.bool_)
    again[np.unique(image_ids, return_index=True)[1]] = False
    listing.apply([Fault("image_id", again, "one map of each image")])
    pngs: dict[str, list[Entry]] = {}
    for entry in bundle.ending(".png"):
        pngs.setdefault(entry.base, []).append(entry)
    entries = [_entry(name, pngs, source.name) for name in files]
    listing.wrong(np.fromiter((entry is None for entry in entries), bool, len(entries)), "file_name", files, MAP)
    given = listing.values("segments_info")
    segments = [_segments(value, categories, category_ids) for value in given]
    shown = [f"{value!r}"[:80] for value in given]
    listing.wrong(np.fromiter((own is None for own in segments), bool, len(segments)), "segments_info", shown, SEGMENT)
    leaves = Leaves("annotations[].segments_info")
    for value in given:
        leaves.add(value)
    fields = {f"annotations[].{key}": field for key, field in SEGMENT_KEYS.items()}
    leaves.note(problems, source.name, fields, reason=PIXELS)
    listing.note_keys({"image_id": "case_id", "file_name": "the map", "segments_info": "the segments"}, UNUSED_KEYS)
    listing.leave_out()
    good = np.flatnonzero(~listing.bad).tolist()
    own = [segments[place] or {} for place in good]
    ids = image_ids[good]

    def check(place: int, found: Found) -> tuple[str, str] | None:
        size = sizes.get(int(ids[place]))
        if size is not None and size != (found.width, found.height):
            return f"{found.width:,} × {found.height:,} pixels", f"{size[0]:,} × {size[1]:,}, as the ground truth has"
        if unknown := [id for id in found.ids if id not in own[place]]:
            return f"pixels of the segments {listed(unknown)}", "ids of the image's segments_info, or 0"
        if missing := sorted(own[place].keys() - set(found.ids)):
            return f"no pixel of the segments {listed(missing)}", "pixels of every segment in segments_info"
        return None

    chosen = [entry for entry in (entries[place] for place in good) if entry is not None]
    sheet, found = read_maps(bundle, chosen, problems, check, coloured=True)
    return _Maps(sheet, ids, found, own)


def _entry(name: Any, pngs: Mapping[str, list[Entry]], document: str) -> Entry | None:
    """Return the PNG of that name; of several the one in the folder that is called as the JSON is, else none."""
    found = pngs.get(str(name).replace("\\", "/").rsplit("/", 1)[-1], []) if isinstance(name, str) else []
    if len(found) > 1:
        stem = document.rsplit("/", 1)[-1].rsplit(".", 1)[0]
        found = [entry for entry in found if entry.name.endswith(f"{stem}/{entry.base}")]
    return found[0] if len(found) == 1 else None


def _segments(value: Any, categories: set[int], known: Ids) -> Segments | None:
    """Return the categories and crowds of a segments_info by the segments' ids; None where it is not SEGMENT."""
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        return None
    found: dict[int, tuple[int, bool]] = {}
    for each in value:
        number, category = whole_number(each.get("id")), known.number_of(each.get("category_id"), False)
        flag = str(each.get("iscrowd") or 0).lower()
        if number is None or not 0 < number < 1 << 24 or number in found or category not in categories:
            return None
        if flag not in (*TRUE, *FALSE):
            return None
        found[number] = category, flag in TRUE
    return found


READER = Reader(
    "coco_panoptic", recognises, preview, read_suite, read_outputs, images=picture_files,
    contents="COCO panoptic segments (a JSON and its PNG maps)",
)  # fmt: skip
