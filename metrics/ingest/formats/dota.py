"""DOTA labels: a .txt an image with `x1 y1 x2 y2 x3 y3 x4 y4 class difficult` in pixels, a rotated box of four corners.

Lines such as `imagesource:…` and `gsd:…` are skipped. A model's files are those of DOTA's server: Task1_CLASS.txt with
`image score x1 y1 … x4 y4`, or Task2_CLASS.txt with `image score xmin ymin xmax ymax`. Difficult objects are
marked: oriented_ap ignores them as DOTA's server does.
"""

import re
from collections import Counter

from metrics.ingest.formats.annotation_reader import LOOKED_AT, Purpose, annotation_reader, label_texts, mostly
from metrics.ingest.media.archive import Entry
from metrics.ingest.media.drawn_objects import (
    SPELLED,
    DrawnObjects,
    Faulty,
    Picture,
    Thing,
    corner_box,
    difficult_note,
    label_of,
    number,
    polygon,
)
from metrics.ingest.reader import Upload
from metrics.ingest.source import Problems

RESULT = re.compile(r"task[12]_(?P<label>.+)", re.IGNORECASE)
HEADER = re.compile(r"\s*(imagesource|gsd|acquisition dates)\s*:", re.IGNORECASE)
LISTS = re.compile(r"(train|val|valid|test|trainval|classes|names|labels|readme.*|licen[cs]e)", re.IGNORECASE)
LINE = "x1 y1 x2 y2 x3 y3 x4 y4 class difficult"
RESULT_LINE = "image score x1 y1 x2 y2 x3 y3 x4 y4, or image score xmin ymin xmax ymax"


def recognises(upload: Upload) -> bool:
    """Return whether a folder or zip has only DOTA's result files, or label files with eight numbers and a name."""
    if upload.bundle is None:
        return False
    if _result_files(upload):
        return True
    return mostly(
        len(fields) in (9, 10) and all(map(SPELLED.fullmatch, fields[:8])) and not SPELLED.fullmatch(fields[8])
        for fields in first_lines(upload)
    )


def _gather(found: DrawnObjects, upload: Upload, _: Purpose) -> None:
    results = _result_files(upload)
    if results:
        _gather_results(found, upload, results)
        return
    difficult = others = 0
    headers: Counter[str] = Counter()
    for image, text in label_texts(found, upload, label_files(upload)):
        for row, line in _lines(text):
            found.add(image, row, _thing, line)
            last = line.split()[9:]
            difficult += last == ["1"]
            others += bool(last) and last not in (["0"], ["1"])
        headers.update(match[1] for line in text.splitlines() if (match := HEADER.match(line)))
    for name, count in headers.items():
        found.problems.note(found.file, name, "unused", "it describes the image", count)
    if others:
        found.problems.note(found.file, "difficult", "unused", "only 1 marks a difficult object, and 0 others", others)
    if difficult:
        found.notes.append(difficult_note(difficult))


def _gather_results(found: DrawnObjects, upload: Upload, entries: list[Entry]) -> None:
    bundle, images = upload.folder, dict[str, int]()
    for entry in entries:
        text = bundle.text(entry, found.problems)
        if text is None:
            continue
        found.add_file(bundle.file(entry))
        match = RESULT.fullmatch(entry.stem)
        label = match["label"] if match else ""
        for row, line in _lines(text):
            fields = line.split()
            if fields[0] not in images:
                images[fields[0]] = found.add_picture(Picture(fields[0]))
            found.add(images[fields[0]], row, _prediction, (label, fields))


def _thing(line: str) -> Thing:
    fields = line.split()
    if len(fields) not in (9, 10):
        raise Faulty(repr(line.strip()[:80]), LINE)
    ring = [number(value, "x1 y1 …") for value in fields[:8]]
    return Thing(label_of(fields[8], "class"), polygon([ring]), difficult=fields[9:] == ["1"])


def _prediction(record: tuple[str, list[str]]) -> Thing:
    label, fields = record
    if len(fields) not in (6, 10):
        raise Faulty(repr(" ".join(fields)[:80]), RESULT_LINE)
    score, *values = (number(value, "score" if place == 0 else "box") for place, value in enumerate(fields[1:]))
    shape = polygon([values]) if len(values) == 8 else corner_box(values[0], values[1], values[2], values[3])
    return Thing(label, shape, score)


def _lines(text: str) -> list[tuple[int, str]]:
    return [(row, line) for row, line in enumerate(text.splitlines(), 1) if line.strip() and not HEADER.match(line)]


def label_files(upload: Upload) -> list[Entry]:
    """Return the files of labels, without lists of images and classes."""
    return [entry for entry in upload.folder.ending(".txt") if not LISTS.fullmatch(entry.stem)]


def _result_files(upload: Upload) -> list[Entry]:
    """Return the files of results; none where there are others beside them."""
    files = label_files(upload)
    return files if all(RESULT.fullmatch(entry.stem) for entry in files) else []


def first_lines(upload: Upload) -> list[list[str]]:
    """Return the fields of the first lines of the first label files."""
    texts = (upload.folder.text(entry, Problems()) or "" for entry in label_files(upload)[:LOOKED_AT])
    return [line.split() for text in texts for _, line in _lines(text)[:LOOKED_AT]]


READER = annotation_reader(
    "dota", recognises, _gather, "DOTA labels (.txt)", "files Task1_CLASS.txt, as DOTA's server takes"
)
