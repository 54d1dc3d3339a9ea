"""The keys of COCO's documents: which field each is, or why it is not used."""

from typing import Any

from metrics.ingest.leaf_notes import UNKNOWN, note_unused
from metrics.ingest.source import Problems, Source

CROWDS = ("iscrowd", "is_crowd", "isCrowd")
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
            note_unused(problems, source.name, key, [value], DESCRIBES.get(key, UNKNOWN))
