"""CVAT's XML 1.1: images with boxes, polygons, ellipses and masks in pixels, or the tracks of a video.

A frame of a video is the image frame_000000, as CVAT names it; shapes are read as the file has them, none is
interpolated. An attribute score or confidence of each shape makes the file a model's.
"""

from collections import Counter
from functools import partial
from typing import Any

import numpy as np

from metrics.ingest.formats.annotation_reader import Document, Purpose, annotation_reader, documents, heads
from metrics.ingest.leaf_notes import UNSCORED, Leaves
from metrics.ingest.media.drawn_objects import (
    MAX_IMAGES,
    DrawnObjects,
    Faulty,
    Picture,
    Shape,
    Thing,
    bitmap_mask,
    corner_box,
    ellipse,
    label_of,
    number,
    polygon,
    rotated_box,
    score_of,
    side_of,
)
from metrics.ingest.media.images import MAX_PIXELS
from metrics.ingest.media.xml_files import elements
from metrics.ingest.reader import Upload

EXPECTED = "CVAT's <annotations> of images or tracks"
CORNERS = ("xtl", "ytl", "xbr", "ybr")
READ = ("box", "polygon", "ellipse", "mask")
OTHERS = ("polyline", "points", "cuboid", "skeleton", "tag")
SCORES = ("score", "confidence")
SHAPE = {
    "label": "label", "frame": "case_id", "outside": "whether the object is there",
    **{f"attribute.{name}": "score" for name in SCORES}, **dict.fromkeys(
        (*CORNERS, "cx", "cy", "rx", "ry", "rotation", "points", "left", "top", "width", "height", "rle"), "the shape"
    ),
}  # fmt: skip
USED = {
    "image.name": "metadata.image_name", "image.width": "image_width", "image.height": "image_height",
    "image.subset": "tells images of one name apart", "track.label": "label",
    "meta.task.labels.label.name": "the classes", "meta.project.labels.label.name": "the classes",
    "meta.task.original_size": "image_width, image_height", "meta.task.size": "the number of frames",
    **{f"{place}.{shape}.{name}": SHAPE[name] for place in ("image", "track") for shape in READ for name in SHAPE},
}  # fmt: skip
WHY = {
    "meta": "it describes the task",
    **{f"{place}.{shape}": "it is no object" for place in ("image", "track") for shape in OTHERS},
}


def recognises(upload: Upload) -> bool:
    """Return whether one of the first XML files has <annotations> as its root."""
    return any(b"<annotations>" in head or b"<annotations " in head for head in heads(upload, ".xml"))


def _gather(found: DrawnObjects, upload: Upload, purpose: Purpose) -> None:
    whole = _Whole(found, purpose)
    for document in documents(upload, found.problems, ".xml"):
        found.add_file(document.name)
        file = _File(whole, document)
        for event, element in elements(document.name, document.data, ("start", "end"), EXPECTED, found.problems):
            if event == "broken":
                found.lost += 1
            elif not file.begun:
                file.begun = True
                if element.tag != "annotations":
                    found.problems.add(document.name, f"a root element <{element.tag[:60]}>", EXPECTED, fatal=True)
                    break
            elif event == "end" and element.tag in file.readers:
                file.readers[element.tag](element)
                whole.leaves.add_element(element)
                element.clear()
            elif event == "end" and element.tag == "version":
                whole.leaves.add_element(element)
    whole.finish()


class _Whole:
    """What is known of an upload as its files are read: the labels, the subset of each image, what was skipped."""

    def __init__(self, found: DrawnObjects, purpose: Purpose):
        self.found, self.purpose = found, purpose
        self.labels: dict[str, None] = {}
        self.subsets: list[str] = []
        self.skipped: Counter[str] = Counter()
        self.leaves = Leaves()

    def add_picture(self, picture: Picture, subset: str) -> int:
        """Return the number of a new image of a subset."""
        self.subsets.append(subset)
        return self.found.add_picture(picture)

    def finish(self) -> None:
        """Tell images of one name apart by their subset, and say which labels there are and what was not read."""
        found = self.found
        names = [picture.name for picture in found.pictures]
        why = dict(WHY)
        if len(set(names)) < len(names):
            found.pictures = [
                picture._replace(name=f"{subset}/{picture.name}") if subset else picture
                for picture, subset in zip(found.pictures, self.subsets, strict=True)
            ]
        else:
            why["image.subset"] = "the names of the images tell them apart"
        if self.purpose == "suite":
            why |= dict.fromkeys((path for path, field in USED.items() if field == "score"), UNSCORED)
        self.leaves.note(found.problems, found.file, USED, why)
        used = {thing.label for thing in found.things if thing is not None and thing.label}
        found.labels = (*self.labels, *sorted(used - self.labels.keys()))
        if self.skipped:
            listed = ", ".join(f"{count:,} {kind}" for kind, count in sorted(self.skipped.items()))
            found.notes.append(f"Shapes that are no objects were not read: {listed}.")


class _File:
    """One file as it is read: its frames, if it is a video's, and the number of its last shape."""

    def __init__(self, whole: _Whole, document: Document):
        self.whole, self.found, self.name, self.stem = whole, whole.found, document.name, document.stem
        self.begun = False
        self.row = 0
        self.frames: dict[int, int] = {}
        self.size: tuple[int | None, int | None] = (None, None)
        self.readers = {"meta": self.read_meta, "image": self.read_image, "track": self.read_track}

    def read_meta(self, element: Any) -> None:
        """Read the names of the labels and, of a video, its size and number of frames."""
        for label in element.iter("label"):
            name = (label.findtext("name") or "").strip()
            if name and label.find("parent") is None:
                self.whole.labels[name] = None
        task = next(element.iter("task"), None)
        if task is None or task.find("original_size") is None:
            return
        try:
            width, height = (side_of(task.findtext("original_size/" + side), side) for side in ("width", "height"))
            frames = side_of(task.findtext("size"), "size") or 0
        except Faulty as fault:
            self.found.problems.add(self.name, fault.found, fault.expected, column=fault.column, fatal=True)
            return
        self.size = (width, height)
        if (task.findtext("start_frame") or "0").strip() == "0" and not (task.findtext("frame_filter") or "").strip():
            for frame in range(frames):
                self.image_of(frame)

    def image_of(self, frame: int) -> int:
        """Return the number of a frame's image."""
        if frame not in self.frames:
            self.frames[frame] = self.whole.add_picture(Picture(f"frame_{frame:06d}", *self.size), self.stem)
        return self.frames[frame]

    def read_image(self, element: Any) -> None:
        """Read an image with its shapes."""
        name = (element.get("name") or "").strip()
        try:
            width, height = (side_of(element.get(side), side) for side in ("width", "height"))
            if not name:
                raise Faulty("nothing", "the name of the image", "name")
        except Faulty as fault:
            where = element.get("id")
            found = f"{fault.found} in image {where}" if where else fault.found
            self.found.problems.add(self.name, found, fault.expected, column=fault.column)
            self.found.lost += 1
            return
        picture = Picture(name, width, height)
        image = self.whole.add_picture(picture, (element.get("subset") or "").strip())
        for shape in element:
            self.read_shape(image, picture, shape, shape.get("label"))

    def read_track(self, element: Any) -> None:
        """Read the shapes of a track that are inside their frame."""
        for shape in element:
            if shape.get("outside") == "1":
                continue
            frame = (shape.get("frame") or "").strip()
            if not frame.isdecimal() or int(frame) >= MAX_IMAGES:
                self.row += 1
                self.found.problems.add(self.name, repr(frame[:40]), "the number of a frame", self.row, "frame")
                continue
            image = self.image_of(int(frame))
            self.read_shape(image, self.found.pictures[image], shape, element.get("label"))

    def read_shape(self, image: int, picture: Picture, shape: Any, label: str | None) -> None:
        """Read one shape; those that are no objects are counted."""
        if shape.tag in READ:
            self.row += 1
            self.found.add(image, self.row, partial(_thing, picture, label), shape)
        elif shape.tag in OTHERS:
            self.whole.skipped[shape.tag] += 1


def _thing(picture: Picture, label: str | None, shape: Any) -> Thing:
    attributes = {(item.get("name") or "").strip().lower(): item.text for item in shape.iter("attribute")}
    score = next((score_of(attributes[name], name) for name in SCORES if name in attributes), None)
    return Thing(label_of(label), _shape(shape, picture), score)


def _shape(shape: Any, picture: Picture) -> Shape:
    turn = number(shape.get("rotation") or 0, "rotation")
    if shape.tag == "box":
        left, top, right, bottom = (number(shape.get(name), name) for name in CORNERS)
        straight = corner_box(left, top, right, bottom)
        return rotated_box(((left + right) / 2, (top + bottom) / 2), straight.box, turn) if turn else straight
    if shape.tag == "ellipse":
        x, y, wide, high = (number(shape.get(name), name) for name in ("cx", "cy", "rx", "ry"))
        return ellipse(x, y, wide, high, turn)
    if shape.tag == "polygon":
        pairs = [pair.split(",") for pair in (shape.get("points") or "").split(";") if pair.strip()]
        if any(len(pair) != 2 for pair in pairs):
            raise Faulty(repr(shape.get("points"))[:80], "x,y;x,y;…", "points")
        return polygon([[number(value.strip(), "points") for pair in pairs for value in pair]])
    left, top, width, height = (_whole(shape, name) for name in ("left", "top", "width", "height"))
    if width * height > MAX_PIXELS:
        raise Faulty(f"a mask of {width:,} × {height:,} pixels", f"at most {MAX_PIXELS:,}")
    runs = [_run(text) for text in (shape.get("rle") or "").split(",")]
    if sum(runs) != width * height:
        raise Faulty(f"runs that cover {sum(runs):,} pixels", f"{width:,} × {height:,} pixels", "rle")
    pixels = np.repeat(np.arange(len(runs)) % 2 == 1, runs).reshape(height, width)
    return bitmap_mask(pixels, left, top, picture.width, picture.height)


def _whole(shape: Any, name: str) -> int:
    value = number(shape.get(name), name)
    if value < 0 or value != int(value):
        raise Faulty(repr(shape.get(name)), "a whole number of pixels", name)
    return int(value)


def _run(text: str) -> int:
    if not text.strip().isdecimal() or len(text) > 12:
        raise Faulty(repr(text[:40]), "whole numbers of pixels: 0, 12, 3, …", "rle")
    return int(text)


READER = annotation_reader("cvat", recognises, _gather, "CVAT annotations (.xml)", "an attribute score of each shape")
