"""PNG masks: one an image, whose palette index, grey or colour is the class of a pixel, matched by file name.

Ground truth is a folder or zip of masks; predictions are one folder or zip a model, or one with a folder for each
model. Class names come from a file beside the masks (see class_names), else the id is the name. Images may be in the
same place: in other formats than PNG, or outside the folder (masks, labels, …) that then holds the masks.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

import numpy as np
import pyarrow as pa

from metrics.core.receipt import FileQuestion
from metrics.core.suite import Suite
from metrics.ingest.arrays import only
from metrics.ingest.lint.class_checks import VOID_NAME
from metrics.ingest.media.archive import UNREADABLE, Entry
from metrics.ingest.media.bundle import Bundle, need_unique
from metrics.ingest.media.class_names import class_colours, class_names, names_files
from metrics.ingest.media.images import header_size
from metrics.ingest.media.png_maps import HEAD, SIGNATURE, Found, listed, read_maps, region_columns
from metrics.ingest.media.splits import REST, bundle_of_split, split_of, with_splits
from metrics.ingest.media.suite_images import IMAGE_NAME, SuiteImages, annotations_of
from metrics.ingest.output_parts import Part
from metrics.ingest.reader import Preview, Reader, Request, Upload, need_images
from metrics.ingest.source import Loaded, Problems
from metrics.ingest.tables.columns import Role
from metrics.ingest.tables.object_tables import find_cases

MASKS = {
    "mask", "masks", "label", "labels", "annotation", "annotations", "gt", "ground_truth", "groundtruth",
    "segmentation", "segmentations", "segmentationclass",
}  # fmt: skip
IMAGES = {"image", "images", "img", "imgs", "jpegimages"}
OTHER_LABELS = (".xml", ".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".yaml", ".yml")
TEXTS = ("readme", "license", "licence", "notes", "train", "val", "valid", "test", "trainval")
LOOKED_AT = 100
NAMED = "an id that the file of class names has"
FIRST_GREY = 32  # ids from here on alone, beside 255 and without names, are levels of grey as soon as classes
VOID = 255  # the id of ignored pixels in VOC and Cityscapes: it needs no name
WHITE = 256  # the id of a class whose pixels have the value 255: evaluators ignore what has the id 255
FOREGROUND = "foreground"  # the name of that class, without another
QUESTION = FileQuestion(
    "mask_255", "Are pixels of 255 a class (white on black), or ignored as in VOC and Cityscapes?", ("class", "ignored")
)


def recognises(upload: Upload) -> bool:
    """Return whether a folder or zip is of this format: PNG files with nothing beside them but images and class names.

    Without class names one of the first LOOKED_AT files must be indexed, so a zip of photographs is not recognised.
    """
    bundle = upload.folder
    names = names_files(bundle)
    if not bundle.ending(".png") or any(entry not in names for entry in bundle.ending(*OTHER_LABELS)):
        return False
    rest = [entry for entry in bundle.ending(".txt", ".json") if entry not in names]
    if any(entry.suffix == ".json" or entry.stem.lower() not in TEXTS for entry in rest):
        return False
    return bool(names) or any(map(is_indexed, mask_files(bundle)[:LOOKED_AT]))


def mask_files(bundle: Bundle) -> list[Entry]:
    """Return the masks: the PNG files in folders for masks where only some are in such a folder, else all PNG files."""
    files = bundle.ending(".png")
    return [entry for entry in files if is_in_folder_of_masks(entry)] or files


def is_in_folder_of_masks(entry: Entry) -> bool:
    """Return whether a file is in a folder that is called as those of masks are."""
    return any(part.lower() in MASKS for part in _folders(entry))


def picture_files(bundle: Bundle) -> list[Entry]:
    """Return the images that are not masks."""
    masks = {entry.name for entry in mask_files(bundle)}
    return [entry for entry in bundle.images if entry.name not in masks]


def read_suite(upload: Upload, request: Request, pictures: SuiteImages) -> Loaded[Suite]:
    """Return the suite: the cases by name, one region for each class in an image, and the classes by id."""
    problems = request.problems
    bundle = bundle_of_split(upload, mask_files(upload.folder), problems)
    names = class_names(bundle, problems)
    entries = mask_files(bundle)
    ids = _ids([_parts(entry) for entry in entries])
    need_unique(bundle, entries, ids, problems)
    known = None if names is None else {*names, VOID}
    sheet, found = read_maps(bundle, entries, problems, lambda _, mask: _unknown_ids(mask, known, NAMED),
                             colours=class_colours(bundle, problems))  # fmt: skip
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
    pixels = _note_values(bundle, good, problems)
    names = dict(names or {})
    white = _white_name(bundle, pixels, names, problems)
    if white is not None:
        good = [replace(one, ids=tuple(WHITE if id == VOID else id for id in one.ids)) for one in good]
        names = {number: name for number, name in names.items() if name != white} | {WHITE: white}
    there = sorted({number for mask in good for number in mask.ids} | set(names))
    classes = {number: names.get(number, str(number)) for number in there}
    counted = f"The class {classes[0]!r}, value 0, counts in every mean over classes" if classes.keys() > {0} else ""
    counted += "; the parameter ignore_labels leaves it out, if it is background." if counted else ""
    which, regions = region_columns(good, [classes] * len(good))
    annotations = annotations_of(cases, which, regions)
    return pictures.suite(
        bundle.name, request.suite_name or upload.stem, "segmentation", cases, annotations,
        tuple(classes.values()), tuple(classes), (counted,) if counted else (), ("no valid mask", "at least one"),
    )  # fmt: skip


def read_outputs(upload: Upload, request: Request, suite: Suite) -> Part:
    """Return the masks with their cases and models, and the regions in them.

    Class ids are those of the ground truth's masks, unless class names beside the predictions say otherwise; without
    either, labels that are numbers are the ids. Where folders do not name the models, the model is the upload's.
    """
    need_images(upload, suite)
    if suite.task != "segmentation":
        raise upload.error("images, and no labels", "YOLO labels with confidences, or a table")
    problems, model, files = request.problems, request.model or upload.model, mask_files(upload.folder)
    index = find_cases(pa.array([entry.stem for entry in files], pa.string()), suite.cases).to_pylist()
    of_suite = {entry.name for entry, case in zip(files, index, strict=True) if case is not None}
    bundle = bundle_of_split(upload, files, problems, lambda entry: entry.name in of_suite)
    names = class_names(bundle, problems) or dict(zip(suite.category_ids, suite.labels, strict=False))
    names = names or {int(label): label for label in suite.labels if label.isdecimal()}
    if WHITE in names:  # a model may write 255, or 1 where there is no other class
        names |= {VOID: names[WHITE]} | ({1: names[WHITE]} if names.keys() <= {0, WHITE} else {})
    classes = {number: name for number, name in names.items() if name in suite.labels}
    expected = f"a class id of the ground truth ({listed(sorted(classes))}), or names of classes beside the masks"
    entries = mask_files(bundle)
    parts = [_parts(entry) for entry in entries]
    known = set(suite.cases["case_id"].to_pylist())
    of_splits = any("/".join(each) in known for each in parts if len(each) > 1) or REST not in map(split_of, entries)
    apart = None if of_splits else _models(parts)
    models, ids = apart or ([model] * len(entries), _ids(parts))
    places = find_cases(pa.array(ids, pa.string()), suite.cases, problems, bundle.name).to_pylist()
    sides = [suite.cases[name].to_pylist() for name in ("image_width", "image_height")]

    def check(place: int, mask: Found) -> tuple[str, str] | None:
        case = places[place]
        if case is None:
            return f"a mask of {ids[place]!r}", "an image of the suite"
        wide, high = sides[0][case], sides[1][case]
        if (wide, high) != (mask.width, mask.height) and None not in (wide, high):
            return f"{mask.width:,} × {mask.height:,} pixels", f"{wide:,} × {high:,}, as the ground truth has"
        return _unknown_ids(mask, set(classes), expected)

    binary = sorted(classes) == [0, 1]  # the model may have written 255 for 1
    sheet, found = read_maps(
        bundle, entries, problems, lambda place, mask: check(place, _of_1(mask) if binary else mask),
        colours=class_colours(bundle, problems),
    )  # fmt: skip
    good = [mask for mask, bad in zip(found, sheet.bad.tolist(), strict=True) if not bad]
    if VOID in _note_values(bundle, good, problems) and binary:
        problems.note(bundle.name, "value 255", "used", f"the class {classes[1]!r}, as 1 is in the ground truth")
        found = [_of_1(mask) for mask in found]
    case_ids = suite.cases["case_id"].to_pylist()
    named = [ids[place] if case is None else case_ids[case] for place, case in enumerate(places)]
    runs = np.ones(len(entries), np.int32)
    table = pa.table({"case_id": pa.array(named, pa.string()), "model": pa.array(models, pa.string()), "run": runs})
    held = [Found() if bad else mask for mask, bad in zip(found, sheet.bad.tolist(), strict=True)]
    which, regions = region_columns(held, [classes] * len(held))
    return Part(sheet, table, pa.table(regions), which)


def preview(upload: Upload, request: Request) -> Preview:
    """Return the preview: the masks and their sizes, and the models that have a folder."""
    whole = mask_files(upload.folder)
    bundle = bundle_of_split(upload, whole, request.problems, bool if request.role == "outputs" else None)
    entries = mask_files(bundle)
    sizes = [header_size(entry) for entry in entries]
    names = class_names(bundle, request.problems)
    pixels = ["unreadable" if size is None else f"{size[0]} × {size[1]}" for size in sizes]
    table = {"file": [entry.name for entry in entries], "pixels": pixels}
    models = tuple(dict.fromkeys((_models([_parts(entry) for entry in entries]) or ((), ()))[0]))
    classes = "no names of classes" if names is None else f"{len(names):,} classes"
    note = f"{len(entries):,} masks, {classes}, {len(picture_files(bundle)):,} images"
    note += f", models by folder: {', '.join(models)}" if models else ""
    role: Role = "outputs" if request.role == "outputs" else "suite"
    seen = Preview.of_objects(upload, "masks", role, "segmentation", pa.table(table), note, models=models)
    return with_splits(seen, *(tuple(dict.fromkeys(map(split_of, files))) for files in (whole, entries)))


def _note_values(bundle: Bundle, masks: Sequence[Found], problems: Problems) -> dict[int, int]:
    """Return how many pixels have each value, and say so."""
    pixels: dict[int, int] = {}
    for mask in masks:
        for number, count in zip(mask.ids, mask.pixels, strict=True):
            pixels[number] = pixels.get(number, 0) + count
    values = listed([f"{number} ({count:,} pixels)" for number, count in sorted(pixels.items())])
    problems.note(bundle.name, "values of the masks", "used", f"ids of classes: {values}", len(masks))
    return pixels


def _white_name(bundle: Bundle, pixels: dict[int, int], names: dict[int, str], problems: Problems) -> str | None:
    """Return the class of pixels of 255 where they are one: as named or answered; None where they are ignored."""
    # Where no other value but 0 is, only a person can say.
    if VOID not in pixels:
        return None
    named = names.get(VOID)
    ids = pixels.keys() - {0, VOID}
    default = "ignored" if ids and (names or min(ids) < FIRST_GREY) else None
    if named is not None:
        default = "ignored" if VOID_NAME.fullmatch(named) else "class"
    found = f"{pixels[VOID]:,} pixels of 255" + ("" if ids else " and no other value but 0")
    answer = problems.ask(bundle.name, QUESTION, found, default=default, place="value 255")
    problems.stop()
    # of two names without one for 255, white is the second
    other = names[1] if names.keys() == {0, 1} and 1 not in pixels else FOREGROUND
    return (named or other) if answer == "class" else None


def _of_1(mask: Found) -> Found:
    """Return a mask of 0 and 255 as one of 0 and 1; any other as it is."""
    return replace(mask, ids=tuple(min(number, 1) for number in mask.ids)) if set(mask.ids) <= {0, VOID} else mask


def is_indexed(entry: Entry) -> bool:
    """Return whether a file is a PNG of grey levels or of a palette, as masks are."""
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


def _unknown_ids(mask: Found, known: set[int] | None, expected: str) -> tuple[str, str] | None:
    """Return what was found and expected where a mask has class ids that are not `known`; None where it has not."""
    unknown = {} if known is None else {a: n for a, n in zip(mask.ids, mask.pixels, strict=True) if a not in known}
    if not unknown:
        return None
    return f"class id {listed(list(unknown))} in {sum(unknown.values()):,} pixels", expected


READER = Reader(
    "masks", recognises, preview, read_suite, read_outputs, images=picture_files,
    contents="PNG masks (a palette or grey; RGB with a table of colours)",
)  # fmt: skip
