"""Images in a folder per class (torchvision's ImageFolder): the ground truth of a classification of images."""

import io
from pathlib import PurePosixPath

import numpy as np
import pyarrow as pa

from metrics.core.suite import CASES, Suite, conform
from metrics.ingest.formats.mask_images import is_indexed
from metrics.ingest.media.archive import UNREADABLE, Entry
from metrics.ingest.media.bundle import SKIPPED, case_ids, image_names, need_unique
from metrics.ingest.media.images import MANY_PIXELS, SUFFIXES, header_size
from metrics.ingest.media.splits import FOLDER, bundle_of_split, split_of, with_splits
from metrics.ingest.media.suite_images import IMAGE_NAME, SuiteImages
from metrics.ingest.output_parts import Part
from metrics.ingest.reader import Preview, Reader, Request, Upload
from metrics.ingest.source import Loaded

LOOKED_AT = 20  # images, to tell grey photographs from masks
MAX_CLASSES = 48  # of a mask
BESIDE = ("readme", "license", "licence", "notes")  # the stems of texts that say nothing of the images


def class_of(entry: Entry) -> str:
    """Return the class of an image: the innermost folder that is no split and is not named "images"; "" without one."""
    folders = [part for part in PurePosixPath(entry.name).parts[:-1] if part.lower() not in SKIPPED]
    return folders[-1] if folders and (len(folders) > 1 or not FOLDER.fullmatch(folders[0].lower())) else ""


def recognises(upload: Upload) -> bool:
    """Return whether a folder or zip has nothing but images, each in a folder of its class, of two or more."""
    entries = [entry for entry in upload.folder.entries if entry.stem.lower() not in BESIDE]
    if not all(entry.suffix in SUFFIXES for entry in entries):
        return False
    classes = {class_of(entry) for entry in entries}
    return len(classes) > 1 and "" not in classes and all(map(_is_photograph, filter(is_indexed, entries[:LOOKED_AT])))


def _is_photograph(entry: Entry) -> bool:
    """Return whether a grey PNG has more levels than a mask has classes."""
    from PIL import Image

    size = header_size(entry)
    if size is None or size[0] * size[1] > MANY_PIXELS:
        return False
    try:
        with Image.open(io.BytesIO(entry.read()), formats=["PNG"]) as image:
            return len(np.unique(np.asarray(image))) > MAX_CLASSES
    except UNREADABLE:
        return False


def read_suite(upload: Upload, request: Request, pictures: SuiteImages) -> Loaded[Suite]:
    """Return the suite: a case an image, named by its file, with the folder as the true class."""
    bundle = bundle_of_split(upload, upload.folder.images, request.problems)
    entries = bundle.images
    ids = case_ids(entries)
    need_unique(bundle, entries, ids, request.problems)
    names, labels = image_names(ids, list(entries), entries), [class_of(entry) for entry in entries]
    cases = pictures.take(pa.table({"case_id": ids, IMAGE_NAME: names, "label": labels}))
    request.problems.check()
    named = request.suite_name or upload.stem
    suite = Suite(named, "classification", conform(cases, CASES), None, tuple(sorted(set(labels))), pictures.folder)
    return Loaded(suite, request.problems.listed, pictures.notes(len(cases)))


def preview(upload: Upload, request: Request) -> Preview:
    """Return the preview: the images with their classes."""
    whole = upload.folder.images
    entries = bundle_of_split(upload, whole, request.problems).images
    labels = [class_of(entry) for entry in entries]
    table = pa.table({"image": [entry.base for entry in entries], "label": labels})
    note = f"{len(entries):,} images, {len(set(labels)):,} classes"
    seen = Preview.of_objects(upload, READER.name, "suite", "classification", table, note)
    return with_splits(seen, *(tuple(dict.fromkeys(map(split_of, files))) for files in (whole, entries)))


def _refuse(upload: Upload, _: Request, __: Suite) -> Part:
    raise upload.error("images in a folder per class, the ground truth", "a table of image and predicted class")


READER = Reader("class_folders", recognises, preview, read_suite, _refuse, contents="images in a folder for each class")
