"""KITTI labels: a .txt an image with `type truncated occluded alpha left top right bottom …` (15 fields) and a score.

The box in the image is read, the three-dimensional one is not. KITTI ignores detections of which a DontCare region
covers enough; such a region is a crowd of every class, for which COCO's rule is the same.
"""

from metrics.ingest.formats.annotation_reader import Purpose, annotation_reader, label_texts, mostly
from metrics.ingest.formats.dota import first_lines, label_files
from metrics.ingest.leaf_notes import UNSCORED
from metrics.ingest.media.drawn_objects import SPELLED, DrawnObjects, Faulty, Thing, corner_box, number, score_of
from metrics.ingest.reader import Upload

FIELDS = ("left", "top", "right", "bottom")
LENGTHS = (15, 16)  # without and with a score
EXPECTED = "type truncated occluded alpha left top right bottom height width length x y z rotation_y, and a score"
USED = {"type": "label", "left": "x", "top": "y", "right": "width", "bottom": "height"}
UNUSED = ("truncated", "occluded", "alpha", "height", "width", "length", "x", "y", "z", "rotation_y")
DONT_CARE = "dontcare"


def recognises(upload: Upload) -> bool:
    """Return whether the first label files of a folder or zip have lines of KITTI's length that begin with a name."""
    if upload.bundle is None:
        return False
    return mostly(len(fields) in LENGTHS and not SPELLED.fullmatch(fields[0]) for fields in first_lines(upload))


def _gather(found: DrawnObjects, upload: Upload, purpose: Purpose) -> None:
    regions = 0
    for image, text in label_texts(found, upload, label_files(upload)):
        for row, line in enumerate(text.splitlines(), 1):
            if not line.strip():
                continue
            if line.split()[0].lower() == DONT_CARE:
                regions += 1
                if purpose == "outputs":
                    continue
            found.add(image, row, _thing, line)
    scored = sum(score is not None for score in found.scores())
    for name, field in USED.items() if len(found) else ():
        found.problems.note(found.file, name, "used", field, len(found))
    for name in UNUSED if len(found) else ():
        found.problems.note(found.file, name, "unused", "the box in the image is evaluated, no other field", len(found))
    if scored and purpose == "suite":
        found.problems.note(found.file, "score", "unused", UNSCORED, scored)
    elif scored:
        found.problems.note(found.file, "score", "used", "score", scored)
    if regions:
        found.notes.append(f"DontCare regions: {regions:,}. Detections inside them are ignored.")


def _thing(line: str) -> Thing:
    fields = line.split()
    if len(fields) not in LENGTHS:
        raise Faulty(repr(line.strip()[:80]), EXPECTED)
    box = corner_box(*(number(value, name) for value, name in zip(fields[4:8], FIELDS, strict=True)))
    ignored = fields[0].lower() == DONT_CARE
    score = score_of(fields[15]) if len(fields) == max(LENGTHS) else None
    return Thing(None if ignored else fields[0], box, score, crowd=ignored)


READER = annotation_reader("kitti", recognises, _gather, "KITTI labels (.txt)", "the 16th field of each line")
