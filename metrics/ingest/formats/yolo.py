"""YOLO labels: a .txt an image with `class xc yc w h [conf]` (or the points of a polygon), 0–1, classes by number.

Class names come from data.yaml, or a list such as obj.names, classes.txt or labels.txt. Polygons are lines of
`class x1 y1 x2 y2 x3 y3 … [conf]`; a rotated box has four points. With a kpt_shape in data.yaml key points follow the
box, see yolo_poses. An image without a label file has no objects.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
import pyarrow as pa

from metrics.core.array_types import Bools, Floats
from metrics.core.receipt import FileQuestion
from metrics.core.suite import Suite
from metrics.ingest import arrays
from metrics.ingest.arrays import is_null, only
from metrics.ingest.formats.yolo_classes import (
    FIRST,
    NO_NAMES,
    class_names,
    described_in,
    name_lists,
    numbered_names,
    point_names,
    pose_shape,
)
from metrics.ingest.formats.yolo_poses import SIDES, PoseShape, poses_of, shape_of_suite
from metrics.ingest.media.archive import Entry
from metrics.ingest.media.bundle import Bundle, Rows, case_ids, image_names, need_unique, pair
from metrics.ingest.media.images import header_size
from metrics.ingest.media.splits import bundle_of_split, split_of, with_splits
from metrics.ingest.media.suite_images import IMAGE_NAME, SuiteImages, annotations_of, without_spoiled
from metrics.ingest.output_parts import Part, objects_part
from metrics.ingest.reader import Preview, Reader, Request, Upload, need_images
from metrics.ingest.source import Loaded, Problems
from metrics.ingest.tables.object_tables import (
    POLYGONS,
    box_areas,
    box_columns,
    check_keypoints,
    check_labels,
    find_cases,
    outline,
    sizes_of,
)

FIELDS = ("class", "xc", "yc", "w", "h")
LINE = "class xc yc w h"
SCORED = LINE + " conf"
RING = "class x1 y1 x2 y2 x3 y3 …"
NO_LABELS = re.compile(
    r"(?i)(classes|names|train|valid?|test|trainval|predefined_classes|readme.*|licen[cs]e|notes|requirements)"
)
NO_IMAGE = "the image of that name, in the same folder or zip or given as images: boxes of 0–1 need its size"
UNKNOWN_CLASS = "class {}"  # of predictions, beyond the names
LOOKED_AT = 20  # files that may be labels, to tell them from other texts
POINTS = FileQuestion(
    "points", "Are these outlines, or boxes and their key points? kpt_shape in data.yaml says so, too.",
    ("polygon", "key_points"),
)  # fmt: skip
POSES = "lines whose points all lie in the box that their first four numbers would be"
FEWEST_POSES, SPREAD = 3, 0.3  # lines that may be boxes and key points, and the share of a box that these spread over
REACH = 0.01  # how far beyond its edge a share of the image may lie and is clipped: rounding, and generous tools
CLIPPED = "up to 1 % beyond the edge of the image, clipped to it"


def label_files(bundle: Bundle) -> list[Entry]:
    """Return the .txt files of labels: those in a folder labels or obj_…_data, else all but lists and readmes."""
    texts = bundle.ending(".txt")
    names = {entry.name for entry in name_lists(bundle)}
    texts = [entry for entry in texts if entry.name not in names]
    within = [entry for entry in texts if _in_labels(entry)]
    return within or [entry for entry in texts if not NO_LABELS.fullmatch(entry.stem)]


def recognises(upload: Upload) -> bool:
    """Return whether a folder or zip has label files; InputError where it has VOC annotations as well."""
    bundle = upload.folder
    labels = label_files(bundle)
    if upload.tables and labels and not described_in(bundle) and not any(map(_in_labels, labels)):
        texts = (bundle.text(entry, Problems(keep_good_rows=True)) for entry in labels[:LOOKED_AT])
        labels = labels if any(text is not None and FIRST.match(text) for text in texts) else []  # prose beside tables
    if not labels or not bundle.ending(".xml"):
        return bool(labels)
    if any(map(_in_labels, labels)) or described_in(bundle):
        raise upload.error("both YOLO labels and Pascal VOC annotations", "one of them")
    return False


def read_suite(upload: Upload, request: Request, pictures: SuiteImages) -> Loaded[Suite]:
    """Return the suite: the cases by name, the annotations in file order, and the classes by number."""
    problems = request.problems
    bundle = bundle_of_split(upload, label_files(upload.folder), problems)
    names = class_names(bundle, problems)
    if names is None:
        names = numbered_names(bundle, label_files(bundle), problems)
    shape = pose_shape(bundle, problems)
    sheet, unread = read_lines(bundle, problems, scored=False, shape=shape)
    images = bundle.images if pictures.images == bundle.path else []
    labels = label_files(bundle)
    found = pair(labels, images)
    taken = {image.name for image in found if image is not None}
    background = [image for image in images if image.name not in taken]
    ids = case_ids([*labels, *background])
    need_unique(bundle, [*labels, *background], ids, problems)
    lone = [entry.name for entry, image in zip(labels, found, strict=True) if image is None] if images else []
    if lone:
        what = "boxes of an image of unknown size"
        problems.note(bundle.name, "*.txt without image", "used", what, len(lone), lone[0])
    if background:
        example = background[0].name
        problems.note(bundle.name, "images without *.txt", "used", "images without objects", len(background), example)
    names_of_images = pa.array(image_names(ids, [*found, *background], upload.folder.images), pa.string())
    cases = pictures.take(pa.table({"case_id": pa.array(ids, pa.string()), IMAGE_NAME: names_of_images}))
    cases = pictures.assume_sizes(cases)
    sizes = _case_sizes(cases)
    columns = _objects(sheet, sizes[sheet.which], names, shape)
    sheet.leave_out()
    problems.left_out += len(unread)
    annotations = annotations_of(cases, sheet.which, columns)
    kept = np.ones(len(cases), bool)
    kept[: len(labels)] = (sheet.count() == 0) | (sheet.count(good=True) > 0)
    kept[unread] = False
    order = np.argsort(np.array(ids, object)[kept], kind="stable")
    spoiled = {ids[place] for place in sheet.which[sheet.bad].tolist()}
    cases, annotations = without_spoiled(
        problems, bundle.name, only(cases, kept).take(pa.array(order)), only(annotations, ~sheet.bad), spoiled
    )
    loaded = pictures.suite(
        bundle.name, request.suite_name or upload.stem, request.task or "detection", cases, annotations, names,
        tuple(range(len(names))),
    )  # fmt: skip
    facts = {} if shape is None else point_names(bundle, problems, names, shape)
    return replace(loaded, value=replace(loaded.value, classes=facts)) if facts else loaded


def read_outputs(upload: Upload, request: Request, suite: Suite) -> Part:
    """Return the predictions in file order, checked against the suite; an empty label file found nothing."""
    need_images(upload, suite)
    problems, model = request.problems, request.model or upload.model
    every = label_files(upload.folder)
    of_suite = find_cases(pa.array([entry.stem for entry in every], pa.string()), suite.cases).to_pylist()
    known_files = {entry.name for entry, case in zip(every, of_suite, strict=True) if case is not None}
    bundle = bundle_of_split(upload, every, problems, lambda entry: entry.name in known_files)
    names = class_names(bundle, problems)
    if names is None and suite.labels and suite.category_ids == tuple(range(len(suite.labels))):
        names = suite.labels  # the suite counts its classes from 0 as YOLO does
    if names is None:
        raise problems.fail(bundle.name, "no names of the classes", NO_NAMES)
    labels = label_files(bundle)
    lines = chain.from_iterable((bundle.text(entry, Problems()) or "").splitlines() for entry in labels)
    shape = pose_shape(bundle, problems) or shape_of_suite(suite, lines)
    sheet, _ = read_lines(bundle, problems, scored=True, shape=shape)
    index = find_cases(pa.array(case_ids(labels), pa.string()), suite.cases, problems, bundle.name)
    known = ~is_null(index)
    for place in np.flatnonzero(~known & (sheet.count() > 0)).tolist():
        problems.add(sheet.files[place], f"predictions for {labels[place].stem!r}", "an image of the suite")
    sheet.bad |= ~known[sheet.which]
    places = np.asarray(index.fill_null(0).to_numpy(zero_copy_only=False), np.int64)
    sizes = _case_sizes(suite.cases)[places] if len(suite) else np.full((len(labels), 2), np.nan)
    for place, image in enumerate(pair(labels, bundle.images)):
        if image is not None and np.isnan(sizes[place, 0]):
            sizes[place] = header_size(image) or (np.nan, np.nan)
    columns = _objects(sheet, sizes[sheet.which], names, shape)
    _blame_sizes(sheet, sizes, labels)
    check_labels(sheet, "class", columns["label"], suite)
    check_keypoints(sheet, "key points", pa.table(columns), suite)
    predictions = pa.table(
        {
            "case_id": suite.cases["case_id"].take(pa.array(places[sheet.which])),
            "model": pa.repeat(model, len(sheet)),
            "score": arrays.floats(sheet.numbers("conf")),
            **columns,
        }
    )
    return objects_part(sheet, predictions, model)


def preview(upload: Upload, request: Request) -> Preview:
    """Return the preview: the lines of the label files."""
    whole = label_files(upload.folder)
    bundle = bundle_of_split(upload, whole, request.problems, bool if request.role == "outputs" else None)
    sheet, _ = read_lines(bundle, request.problems, scored=None, shape=pose_shape(bundle, request.problems))
    scored = sheet.table["conf"].null_count < len(sheet)
    table = sheet.with_files().select(["file", *FIELDS, *(["conf"] if scored else [])])
    names = class_names(bundle, request.problems)
    classes = "no names of classes" if names is None else f"{len(names):,} classes"
    note = f"{len(sheet.files):,} label files, {classes}, {len(bundle.images):,} images"
    seen = Preview.of_objects(upload, "yolo", "outputs" if scored else "suite", "detection", table, note)
    splits, read = (tuple(dict.fromkeys(map(split_of, files))) for files in (whole, label_files(bundle)))
    return with_splits(seen, splits, read)


def read_lines(
    bundle: Bundle, problems: Problems, scored: bool | None, shape: PoseShape | None = None
) -> tuple[Rows, list[int]]:
    """Return every line of the label files, its fields as text, and the files that could not be read.

    `scored`: a confidence must (True) or must not (False) be there; None takes either. `shape`: of the key points.
    """
    labels = label_files(bundle)
    columns: dict[str, list[str | None]] = {name: [] for name in (*FIELDS, "ring", "pose", "conf", "line")}
    rows: list[int] = []
    which: list[int] = []
    texts = [bundle.text(entry, problems) for entry in labels]
    unread = [place for place, text in enumerate(texts) if text is None]
    lines = [re.split(r"\r\n?|\n", text or "") for text in texts]
    tracked = shape is None and scored is not False and _have_tracks(chain.from_iterable(lines))
    for place, own in enumerate(lines):
        for number, line in enumerate(own, 1):
            fields = line.split()
            if not fields:
                continue
            if tracked:
                why = "objects are evaluated frame by frame"
                problems.note(bundle.name, "id of a track", "unused", why, 1, fields[-1])
                fields.pop()
            rows.append(number)
            which.append(place)
            for values, value in zip(columns.values(), _split_line(fields, shape, scored), strict=False):
                values.append(value)
            columns["line"].append(line.strip()[:200])
    table = pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})
    sheet = Rows(bundle.name, table, rows, which, bundle.names(labels), problems)
    whole = table["ring"].drop_null().to_pylist()
    if _are_poses(whole) and problems.ask(bundle.name, POINTS, POSES, place="points") == "key_points":
        problems.note(bundle.name, "key points", "unused", "data.yaml has no kpt_shape", len(whole), whole[0])
        return read_lines(bundle, problems, scored, PoseShape((whole[0].count(" ") - 3) // 2, 2))
    none = is_null(table["xc"]) & is_null(table["ring"])
    unscored = is_null(table["conf"])
    if scored and len(sheet) and unscored.all() and not none.all():
        raise problems.fail(bundle.name, "labels without a confidence", f"lines of {SCORED} (save_conf of Ultralytics)")
    expected = f"{SCORED}, or {RING} conf" if scored else f"{LINE}, or {RING}"
    if shape is not None:
        expected = f"{shape.line}, then conf" if scored else shape.line
    sheet.report(none | (unscored if scored else False), None, table["line"], expected)
    return sheet, unread


def _split_line(fields: list[str], shape: PoseShape | None, scored: bool | None) -> tuple[str | None, ...]:
    """Return class, box, ring, pose and confidence of a line, None for those that it does not have."""
    pose = conf = ring = None
    box: Sequence[str | None] = [fields[0], None, None, None, None]
    if shape is not None:
        if found := shape.split(fields):
            (pose, conf), box = found, fields[:5]
    else:
        conf = fields.pop() if len(fields) % 2 == 0 and len(fields) >= 6 and scored is not False else None
        box = fields if len(fields) == 5 else box
        ring = " ".join(fields[1:]) if len(fields) >= 7 and len(fields) % 2 else None
    return (*box, ring, pose, conf)


def _are_poses(rings: Sequence[str]) -> bool:
    """Return whether rings are boxes and their key points: all have their points in the box, and most spread in it."""
    spread = 0
    for ring in rings:
        points = _points(ring)
        if points is None:
            return False
        centre, sides, rest = points[0], points[1], points[2:][points[2:].any(axis=1)]  # 0 0 is no labelled point
        if not len(rest) or (np.abs(rest - centre) > sides / 2).any():
            return False
        spread += bool((np.ptp(rest, axis=0) > SPREAD * sides).all())
    return len(rings) >= FEWEST_POSES and 2 * spread > len(rings)


def _in_labels(entry: Entry) -> bool:
    folders = [part.lower() for part in entry.name.split("/")[:-1]]
    return any(part == "labels" or (part.startswith("obj_") and part.endswith("_data")) for part in folders)


def _case_sizes(cases: pa.Table) -> Floats:
    """Return (width, height) of each case's image in pixels, NaN where unknown."""
    known = sizes_of(cases)
    return np.array([known.get(case, (np.nan, np.nan)) for case in cases["case_id"].to_pylist()], float).reshape(-1, 2)


def _blame_sizes(sheet: Rows, sizes: Floats, labels: list[Entry]) -> None:
    """Record one problem for each file whose lines need the size of an image that is missing."""
    count = sheet.count(good=True)
    for place in np.flatnonzero(np.isnan(sizes[: len(count), 0]) & (count > 0)).tolist():
        sheet.problems.add(sheet.files[place], f"no image {labels[place].stem!r}", NO_IMAGE)
    sheet.bad |= np.isnan(sizes[sheet.which, 0])


def _objects(sheet: Rows, sizes: Floats, names: tuple[str, ...], shape: PoseShape | None = None) -> dict[str, pa.Array]:
    """Return label, box, area, polygon and key points of each line in pixels; invalid lines are problems."""
    number = sheet.numbers("class", low=0, whole=True)
    with np.errstate(invalid="ignore"):
        unknown = (number >= len(names)) & ~sheet.bad
    if not sheet.problems.keep_unknown_classes:
        sheet.report(unknown, "class", sheet.table["class"], f"a class from 0 to {len(names) - 1}")
    sides = []
    clipped = np.zeros(len(sheet), bool)
    for name in FIELDS[1:]:
        side = sheet.numbers(name)
        with np.errstate(invalid="ignore"):
            sheet.report((side < -REACH) | (side > 1 + REACH), name, sheet.table[name], "a number from 0 to 1")
            clipped |= (side < 0) | (side > 1)
        sides.append(side.clip(0, 1))
    values = np.stack(sides, axis=1)
    sheet.numbers("conf", low=0, high=1)
    values[:, :2] -= values[:, 2:] / 2
    boxes = values * np.tile(sizes, 2)
    areas = box_areas(boxes)
    rings: list[list[list[float]] | None] = [None] * len(sheet)
    off = np.zeros(len(sheet), bool)
    for place, text in enumerate(sheet.table["ring"].to_pylist()):
        if text is None or sheet.bad[place]:
            continue
        points = _points(text)
        if points is None:
            off[place] = True
            continue
        clipped[place] = bool(((points < 0) | (points > 1)).any())
        points = points.clip(0, 1) * sizes[place]
        x, y = points.T
        *box, areas[place] = outline([(x, y)])
        boxes[place] = box
        rings[place] = [points.ravel().tolist()]
    sheet.report(off, "x1 y1 …", sheet.table["line"], "points from 0 to 1")
    _note(sheet, "coordinates", clipped & ~sheet.bad, CLIPPED)
    again = arrays.duplicates([pa.array(sheet.which), sheet.table["line"]])[0] & ~sheet.bad
    _note(sheet, "lines again", again, "the same line again in its file: counted as another object")
    poses = {} if shape is None else {"keypoints": poses_of(sheet, shape, sizes)}
    codes, places = np.unique(np.where((number >= 0) & ~sheet.bad, number, 0).astype(np.int64), return_inverse=True)
    label = [names[code] if code < len(names) else UNKNOWN_CLASS.format(code) for code in codes.tolist()]
    return {
        "label": pa.array(label, pa.string()).take(pa.array(places)),
        **box_columns(boxes),
        "area": pa.array(areas),
        "polygons": pa.array(rings, POLYGONS),
        "rle": pa.nulls(len(sheet), pa.string()),
        **poses,
    }


def _points(text: str) -> Floats | None:
    """Return the points of a polygon, None where one is not a number from 0 to 1, or hardly beyond."""
    try:
        points = np.array([float(part) for part in text.split()]).reshape(-1, 2)
    except ValueError:
        return None
    return points if bool(((points >= -REACH) & (points <= 1 + REACH)).all()) else None


def _note(sheet: Rows, place: str, rows: Bools, meaning: str) -> None:
    if rows.any():
        first = int(rows.argmax())
        example = f"{sheet.file_of(first)}, row {sheet.rows[first]}: {sheet.table['line'][first]}"
        sheet.problems.note(sheet.file, place, "used", meaning, int(rows.sum()), example)


def _have_tracks(lines: Iterable[str]) -> bool:
    """Return whether all lines are a box, a confidence and a whole number: the id of a track, not a third point."""
    split = [fields for line in lines if (fields := line.split())]
    return bool(split) and all(len(fields) == SIDES + 2 and fields[-1].isdecimal() for fields in split)


READER = Reader("yolo", recognises, preview, read_suite, read_outputs, contents="YOLO labels (.txt)")
