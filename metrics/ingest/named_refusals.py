"""Files that belong to a known format but cannot be read by themselves, or not at all: each refused by its name."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from metrics.core.errors import InputError
from metrics.ingest.formats.delimited import header
from metrics.ingest.reader import COMPANIONS, DESCRIPTIONS, Upload
from metrics.ingest.source import Source
from metrics.ingest.tables.columns import SUITE_ALIASES, fold

LINES = 50  # of a text that are looked at
NUMBERS = r"-?\d[\d.eE+-]*"
YOLO_LINE = re.compile(rf"\d{{1,6}}(?:\s+{NUMBERS}){{4,}}\s*")
DOTA_LINE = re.compile(rf"{NUMBERS}(?:\s+{NUMBERS}){{7}}\s+\S+(?:\s+[0-2])?\s*")
KITTI_LINE = re.compile(rf"[A-Za-z_]+(?:\s+{NUMBERS}){{14,15}}\s*")
IMAGE_LINE = re.compile(r"\S+\.(?:jpe?g|png|bmp|tiff?|webp)(?:\s.*)?", re.IGNORECASE)
LISTED = re.compile(r"[\w./-]+(?:\s+-?\d+)*\s*")
MOT_LINE = re.compile(rf"\d{{1,7}},\s*-?\d{{1,7}}(?:,\s*{NUMBERS}){{5,8}}")
LABELS = "a zip of all label files with the images and the names of the classes"
RESULTS = "its results as JSON: coco_instances_results.json of Detectron2, .bbox.json of MMDetection, predictions.json"
FRAMES = "one image a frame, with a table of image, label and box: tracking through video is not evaluated"
AUTOML = (
    "a first line such as set,image,label,xmin,ymin,,,xmax,ymax,, (boxes of 0–1), or the JSON lines of its predictions"
)
OPEN_IMAGES = "the table of boxes (…-annotations-bbox.csv); a zip of it may hold this file too"
TASKS = (
    "tasks of objects in images: a table of case_id, text and label for texts, and outputs of any tool as CSV or JSON"
)
CLASSES = "case_id in place of filename, and label.CLASS in place of each class (each is then evaluated by itself)"
KINDS = {  # Label Studio's kinds of results that are no objects in images
    "choices": "classification", "labels": "spans of text", "textarea": "texts", "rating": "ratings",
    "taxonomy": "taxonomies", "number": "numbers", "pairwise": "comparisons", "ranker": "rankings",
    "hypertextlabels": "spans of HTML", "paragraphlabels": "spans of dialogues", "timeserieslabels": "time series",
    "videorectangle": "videos", "keypointlabels": "keypoints", "vectorlabels": "vectors", "paragraphs": "dialogues",
    "datetime": "dates", "relation": "relations",
}  # fmt: skip
Reason = tuple[str, str]  # what the file is, and what to upload instead


def refuse_by_name(upload: Upload) -> None:
    """Raise InputError for a file that no reader of tables should guess at: what it is, and what to upload instead."""
    source = upload.source
    if source.format in ("json", "yaml"):
        reason = _refuse_document(source.document)
    elif source.format == "csv":
        reason = _refuse_text(source)
    else:
        return
    if reason is not None:
        raise upload.error(*reason)


def refuse_pickles(upload: Upload) -> None:
    """Raise InputError for what PyTorch saves: a zip around a pickle, as Detectron2's instances_predictions.pth is."""
    if upload.bundle is not None and any(entry.base == "data.pkl" for entry in upload.bundle.entries):
        raise upload.error("a file of PyTorch (a pickle, which is never read: it can run code)", RESULTS)


def xml_refusal(upload: Upload) -> InputError:
    """Return the error for an XML file that is neither CVAT's nor LabelMe's."""
    head = upload.source.data[: 1 << 14].to_pybytes()
    voc = b"<annotation" in head and (b"<object>" in head or b"<filename>" in head)
    found = "one Pascal VOC annotation" if voc else "XML that is neither CVAT's nor LabelMe's"
    return upload.error(found, "Pascal VOC annotations as a zip of all their files")


def _refuse_document(document: Any) -> Reason | None:
    if isinstance(document, Mapping):
        names = set(document)
        if "names" in names and names & {"nc", "train", "val", "path", "test"}:
            return "YOLO's list of classes (data.yaml)", LABELS
        if names >= {"lc", "id", "kwargs"}:
            kind = document["id"][-1] if isinstance(document["id"], list) and document["id"] else "object"
            return f"LangChain's {kind}, which holds no cases"[:80], "cases, or runs with their inputs and outputs"
        if names >= {"LabelName", "Subcategory"} or (names == {"LabelName"}):
            return "Open Images' hierarchy of classes", OPEN_IMAGES
        return None
    listed = document if isinstance(document, list) else []
    tasks = [task for task in islice(listed, LINES) if isinstance(task, Mapping)]
    kinds = dict.fromkeys(kind for task in tasks for kind in _label_studio(task))
    if kinds:
        return f"Label Studio tasks of {', '.join(KINDS.get(kind, kind) for kind in kinds)[:80]}", TASKS
    if any(_is_min(value) for task in tasks for value in task.values()):
        return "Label Studio's JSON-MIN, in which tasks have no annotations", "its export as JSON"
    return None


def _label_studio(task: Mapping[str, Any]) -> Iterator[str]:
    answers = [task.get(name) for name in ("annotations", "completions", "predictions")]
    if not isinstance(task.get("data"), Mapping):
        return
    for answer in (one for listed in answers if isinstance(listed, list) for one in listed if isinstance(one, Mapping)):
        results = answer.get("result")
        for result in results if isinstance(results, list) else []:
            if isinstance(result, Mapping) and isinstance(result.get("type"), str) and "value" in result:
                yield result["type"]


def _is_min(value: Any) -> bool:
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, Mapping) and "original_width" in first and any(key.endswith("labels") for key in first)


def _refuse_text(source: Source) -> Reason | None:
    base = source.name.replace("\\", "/").rpartition("/")[2].lower()
    text = source.data[: 1 << 16].to_pybytes().decode("utf-8", "ignore")
    lines = [line for line in text.splitlines() if line.strip()][:LINES]
    names = [fold(name) for name in header(source, source.data)[0]]
    return (
        _refuse_lines(lines) or _refuse_description(base, lines[0]) or _refuse_columns(base, names)
        or _refuse_list(base, lines, names)
    )  # fmt: skip


def _refuse_lines(lines: list[str]) -> Reason | None:
    for kind, pattern in (("DOTA", DOTA_LINE), ("KITTI", KITTI_LINE), ("YOLO", YOLO_LINE)):
        if all(pattern.fullmatch(line.strip()) for line in lines):
            return f"{kind} labels of one image", LABELS
    if all(MOT_LINE.fullmatch(line.strip()) for line in lines):
        return "tracks of objects through the frames of a video (MOT)", FRAMES
    if all("gs://" in ",".join(line.split(",")[:2]) for line in lines):
        return "Google's AutoML table of boxes, which has no header", AUTOML
    return None


def _refuse_description(base: str, first: str) -> Reason | None:
    """Refuse a file that describes others, by the end of its name or its first line."""
    if first.startswith(("imagesource:", "gsd:")):
        return "DOTA labels of one image", LABELS
    if base.endswith(".data") or first.replace(" ", "").startswith("classes="):
        return "Darknet's description of a YOLO data set (obj.data)", LABELS
    if base.endswith(".names") or base in ("classes.txt", "labels.txt"):
        return "a list of classes", LABELS
    if base.endswith(".meta"):
        return "sizes of images", "annotations or a table: sizes are read from the images"
    return None


def _refuse_columns(base: str, names: list[str]) -> Reason | None:
    if names and names[0] == "filename" and base.endswith("_classes.csv"):
        return "Roboflow's multi-label classes of whole images", CLASSES
    if "image_id" in names and ("label_name" in names or "original_url" in names) and "x_min" not in names:
        kinds = {"mask_path": "masks", "original_url": "addresses of images", "confidence": "labels of whole images"}
        kind = next((title for name, title in kinds.items() if name in names), "labels")
        return f"Open Images' {kind}", OPEN_IMAGES
    if DESCRIPTIONS in base or names == ["label_name", "display_name"]:
        return "Open Images' names of classes", OPEN_IMAGES
    return ("an Open Images file without boxes", OPEN_IMAGES) if any(part in base for part in COMPANIONS) else None


def _refuse_list(base: str, lines: list[str], names: list[str]) -> Reason | None:
    known = {name for canonical, aliases in SUITE_ALIASES.items() for name in (canonical, *aliases)}
    listing = all(LISTED.fullmatch(line) for line in lines) and known.isdisjoint(names[:1])
    if base.endswith(".txt") and (listing or all(IMAGE_LINE.fullmatch(line) for line in lines)):
        return "a list of names without columns", "the annotations that it refers to, or a table with named columns"
    return None
