"""The keys of COCO's documents: which field each is, or why it is not used; and the receipt of what has no meaning."""

from collections.abc import Iterable
from typing import Any

from metrics.ingest.problems import Problems
from metrics.ingest.source import Source

UNKNOWN_KEY = "nothing that is evaluated has this name"
LEAVES = 200  # paths under a key that are named one by one
LISTS = {"neg_category_ids": "negative_labels", "not_exhaustive_category_ids": "not_exhaustive_labels"}  # of LVIS
DESCRIBES = {"info": "it describes the data set", "licenses": "they describe the licenses of the images"}
IMAGE_KEYS = {
    "id": "case_id", "file_name": "metadata.image_name", "width": "image_width", "height": "image_height",
    "tags": "tags", **LISTS,
}  # fmt: skip
SHAPE_KEYS = {
    "bbox": "x, y, width, height", "area": "area", "segmentation": "polygons, rle", "keypoints": "keypoints",
}  # fmt: skip
ANNOTATION_KEYS = SHAPE_KEYS | {
    "id": "annotation_id", "image_id": "case_id", "category_id": "label", "iscrowd": "is_crowd",
}  # fmt: skip
RESULT_KEYS = SHAPE_KEYS | {
    "image_id": "case_id", "file_name": "a check of image_id", "score": "score", "model": "model",
}  # fmt: skip
CATEGORY_KEYS = {
    "id": "the numbers of the classes", "name": "label", "keypoints": "names of key points",
    "skeleton": "lines between key points", "isthing": "thing or stuff", "image_count": "frequency of the class",
}  # fmt: skip
UNUSED_KEYS = {
    "license": "it describes the image", "date_captured": "it describes the image", "flickr_url": "nothing is fetched",
    "coco_url": "nothing is fetched", "supercategory": "classes are compared one by one",
    "num_keypoints": "key points are counted", "category_name": "category_id says the class",
    "label": "category_id says the class", "ignore": "COCO's rules ignore crowds (iscrowd) alone",
    "id": "predictions are numbered in the order of the file",
}  # fmt: skip


def note_document(source: Source, document: dict[str, Any], problems: Problems) -> None:
    """Note what stands beside the arrays of a document."""
    for key, value in document.items():
        if key not in ("images", "annotations", "categories"):
            note_leaves(problems, source.name, key, [value], DESCRIBES.get(key, UNKNOWN_KEY))


def note_leaves(problems: Problems, file: str, place: str, values: Iterable[Any], reason: str) -> None:
    """Note that the leaves of some values, all at one place, are not used: each path with its count and an example."""
    found: dict[str, tuple[int, Any]] = {}
    rest = [(place, value) for value in values]
    while rest:
        path, value = rest.pop()
        if value and isinstance(value, dict):
            rest += [(f"{path}.{key}", inner) for key, inner in value.items()]
        elif value and isinstance(value, list) and isinstance(value[0], dict | list):
            rest += [(f"{path}[]", inner) for inner in value]
        elif path in found or len(found) < LEAVES:
            found[path] = found.get(path, (0, value))[0] + 1, value
        else:
            found[place] = found.get(place, (0, value))[0] + 1, value
    for path, (count, example) in found.items():
        problems.note(file, path, "unused", reason, count, example)
