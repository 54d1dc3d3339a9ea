"""Pascal VOC XML: one file per image with its size and objects {name, difficult, bndbox {xmin, ymin, xmax, ymax}}.

Boxes are converted as COCO's converters do: x = xmin, width = xmax − xmin. `difficult` objects are marked: voc_ap
ignores them as VOC's own evaluation does; other evaluators count them like any object, as in COCO's conversions.
"""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.suite import Suite
from metrics.ingest.arrays import only
from metrics.ingest.leaf_notes import Leaves
from metrics.ingest.media.archive import Entry
from metrics.ingest.media.bundle import Bundle, Rows, case_ids, image_names, need_unique, pair
from metrics.ingest.media.drawn_objects import Faulty, difficult_note, side_of
from metrics.ingest.media.splits import splits_of, suite_of_split, with_splits
from metrics.ingest.media.spoiled_images import without_spoiled
from metrics.ingest.media.suite_images import IMAGE_NAME, SuiteImages, annotations_of
from metrics.ingest.media.xml_files import parse
from metrics.ingest.output_parts import Part
from metrics.ingest.problems import Loaded, Problems
from metrics.ingest.reader import Preview, Reader, Request, Upload, need_images
from metrics.ingest.tables.object_tables import CORNERS, box_areas, box_columns
from metrics.vision.coco_columns import FARTHEST

PATHS = {"name": "name", **{corner: "bndbox/" + corner for corner in CORNERS}, "difficult": "difficult"}
EXPECTED = "an <annotation> with size and objects"
USED = {
    "annotation.filename": "metadata.image_name", "annotation.size.width": "image_width",
    "annotation.size.height": "image_height", "annotation.object.name": "label",
    "annotation.object.difficult": "difficult", **{f"annotation.object.bndbox.{corner}": corner for corner in CORNERS},
}  # fmt: skip
WHY = {
    "annotation.object": "no evaluator reads it", "annotation.object.part": "parts of objects are not evaluated",
    "annotation.object.polygon": "the box is read", "annotation": "it describes the image",
}  # fmt: skip

RENAMED = "no image has this name, the image is that with the name of the file"


def read_suite(upload: Upload, request: Request, pictures: SuiteImages) -> Loaded[Suite]:
    """Return the suite: the cases by name, the annotations in file order, and the classes by name."""
    problems = request.problems
    bundle = suite_of_split(upload, problems).folder
    sheet, facts, unread = read_objects(bundle, problems)
    files = bundle.ending(".xml")
    ids = case_ids(files)
    need_unique(bundle, files, ids, problems)
    images = bundle.images if pictures.images == bundle.path else []
    by_base = {image.base: image for image in images}
    found = [by_base.get(str(fact["image"])) or image for fact, image in zip(facts, pair(files, images), strict=True)]
    known = image_names([str(fact["image"] or case) for fact, case in zip(facts, ids, strict=True)], found, images)
    unknown = [fact["image"] for fact, image in zip(facts, found, strict=True) if image and fact["image"] != image.base]
    if unknown:
        problems.note(bundle.name, "annotation.filename", "unused", RENAMED, len(unknown), unknown[0])
    cases = pa.table(
        {
            "case_id": pa.array(ids, pa.string()),
            IMAGE_NAME: pa.array(known, pa.string()),
            "image_width": pa.array([fact["width"] for fact in facts], pa.int32()),
            "image_height": pa.array([fact["height"] for fact in facts], pa.int32()),
        }
    )
    kept = np.ones(len(files), bool)
    kept[unread] = False
    columns = _objects(sheet)
    sheet.leave_out()
    problems.left_out += len(unread)
    kept &= (sheet.count() == 0) | (sheet.count(good=True) > 0)
    annotations = annotations_of(cases, sheet.which, columns)
    order = np.argsort(np.array(ids, object)[kept], kind="stable")
    spoiled = {ids[place] for place in sheet.which[sheet.bad].tolist()}
    cases, annotations = without_spoiled(
        problems, bundle.name, only(cases, kept).take(pa.array(order)), only(annotations, ~sheet.bad), spoiled
    )
    labels = tuple(sorted(set(annotations["label"].to_pylist())))
    notes: tuple[str, ...] = ()
    if "difficult" in columns:
        notes = (difficult_note(int(pc.sum(annotations["difficult"]).as_py() or 0)),)
    cases = pictures.take(cases)
    name, task = request.suite_name or upload.stem, request.task or "detection"
    return pictures.suite(bundle.name, name, task, cases, annotations, labels, notes=notes)


def read_outputs(upload: Upload, _: Request, suite: Suite) -> Part:
    """Raise InputError: annotations are no predictions."""
    need_images(upload, suite)
    raise upload.error("Pascal VOC annotations, which have no scores", "YOLO labels with confidences, or a table")


def preview(upload: Upload, request: Request) -> Preview:
    """Return the preview: the objects in the annotation files."""
    chosen = suite_of_split(upload, request.problems)
    sheet, facts, _ = read_objects(chosen.folder, request.problems)
    note = f"{len(facts):,} annotation files, {len(chosen.folder.images):,} images"
    seen = Preview.of_objects(upload, "pascal_voc", "suite", "detection", sheet.with_files(), note)
    return with_splits(seen, splits_of(upload), splits_of(chosen))


def read_objects(bundle: Bundle, problems: Problems) -> tuple[Rows, list[dict[str, Any]], list[int]]:
    """Return every object as a row of texts, the image and size of every file, and which files could not be read."""
    files = bundle.ending(".xml")
    columns: dict[str, list[str | None]] = {name: [] for name in PATHS}
    facts: list[dict[str, Any]] = []
    rows: list[int] = []
    which: list[int] = []
    unread: list[int] = []
    leaves = Leaves()
    for place, entry in enumerate(files):
        root = _parse(bundle, entry, problems)
        fact: dict[str, Any] = {"image": None, "width": None, "height": None}
        facts.append(fact)
        if root is None:
            unread.append(place)
            continue
        leaves.add_element(root)
        fact["image"] = (_text(root, "filename") or "").replace("\\", "/").rsplit("/", 1)[-1].strip() or None
        try:
            fact |= {side: side_of(_text(root, "size/" + side), f"size.{side}") for side in ("width", "height")}
        except Faulty as fault:
            problems.add(bundle.file(entry), fault.found, fault.expected, column=fault.column)
            unread.append(place)
        else:
            for number, item in enumerate(root.findall("object"), 1):
                rows.append(number)
                which.append(place)
                for name, path in PATHS.items():
                    columns[name].append(_text(item, path))
    leaves.note(problems, bundle.name, USED, WHY)
    table = pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})
    return Rows(bundle.name, table, rows, which, bundle.names(files), problems), facts, unread


def _parse(bundle: Bundle, entry: Entry, problems: Problems) -> Any:
    """Return the root of the file's XML; None and a problem where it is not an annotation."""
    data = bundle.data(entry, problems)
    root = None if data is None else parse(bundle.file(entry), data, EXPECTED, problems)
    if root is not None and root.tag != "annotation":
        problems.add(bundle.file(entry), f"a root element <{root.tag[:60]}>", EXPECTED)
        return None
    return root


def _text(element: Any, path: str) -> str | None:
    found = element.findtext(path)
    return None if found is None or not found.strip() else found.strip()


def _objects(sheet: Rows) -> dict[str, pa.Array]:
    """Return label, box, area and difficult of each object; invalid ones are recorded as problems."""
    label = sheet.required("name", "the class of the object")
    difficult = sheet.flags("difficult")
    ends = [sheet.numbers(name, low=-FARTHEST, high=FARTHEST, need=True) for name in CORNERS]
    corners = np.stack(ends, axis=1)
    boxes = np.concatenate((corners[:, :2], corners[:, 2:] - corners[:, :2]), axis=1)
    with np.errstate(invalid="ignore"):
        for place in (2, 3):
            name = CORNERS[place]
            wrong = (boxes[:, place] < 0) & ~sheet.bad
            sheet.report(wrong, name, sheet.table[name], f"a number not before {CORNERS[place - 2]}")
    columns = {"label": label, **box_columns(boxes), "area": pa.array(box_areas(boxes))}
    if difficult.any():
        columns["difficult"] = pa.array(difficult, pa.bool_())
    return columns


READER = Reader(
    "pascal_voc", lambda upload: bool(upload.folder.ending(".xml")), preview, read_suite, read_outputs,
    contents="Pascal VOC annotations (.xml)",
)  # fmt: skip
