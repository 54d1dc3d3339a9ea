"""What describes YOLO labels: the names of the classes, and the form of key points, in data.yaml or lists of names."""

import re
from collections.abc import Sequence
from typing import Any

from metrics.core.classes import ClassFacts
from metrics.core.plain_yaml import plain_yaml
from metrics.core.receipt import FileQuestion
from metrics.ingest.formats.yolo_poses import PoseShape, named_points, shape_of
from metrics.ingest.media.archive import Entry
from metrics.ingest.media.bundle import Bundle
from metrics.ingest.media.class_names import names_files
from metrics.ingest.source import Problems

NUMBER = re.compile(r"\d{1,6}")
FIRST = re.compile(r"^[ \t]*(\d{1,4})[ \t]", re.MULTILINE)
YAML_BYTES = 100_000  # a data.yaml of 1,200 classes has 30,000
NAMES = "names: [cat, dog] or names: {0: cat, 1: dog}"
NO_NAMES = "the names of the classes, in data.yaml, obj.names, classes.txt or labels.txt"
READ_KEYS = ("names", "nc", "kpt_shape", "kpt_names")
NUMBERED = FileQuestion("class_names", f"Or {NO_NAMES}.", ("numbers",))


def name_lists(bundle: Bundle) -> list[Entry]:
    """Return the lists of class names, a name a line: classes.txt, labels.txt, obj.names, …; they are of no image."""
    images = {image.stem for image in bundle.images}
    return [entry for entry in names_files(bundle) if entry.suffix != ".json" and entry.stem not in images]


def class_names(bundle: Bundle, problems: Problems) -> tuple[str, ...] | None:
    """Return the classes by number, None where no file names them; differing files and repeated names are fatal."""
    found: tuple[str, ...] | None = None
    source = ""
    for entry in described_in(bundle):
        if entry.suffix in (".txt", ".names"):
            text = bundle.text(entry, problems, YAML_BYTES * 10) or ""
            names = tuple(line.strip() for line in text.rstrip().splitlines())
        else:
            names = _yaml_names(bundle, entry, problems)
        if not names:
            continue
        seen: set[str] = {""}
        for place, name in enumerate(names):
            if name in seen:
                what = f"class {place} named {name!r}" + (", as another is" if name else "")
                problems.add(bundle.file(entry), what, "a different name for each class", place + 1, fatal=True)
            seen.add(name)
        if found is not None and found != names:
            problems.add(bundle.file(entry), "names that differ from " + source, "the same classes in both", fatal=True)
        found, source = names, entry.name
    problems.stop()
    return found


def numbered_names(bundle: Bundle, labels: Sequence[Entry], problems: Problems) -> tuple[str, ...]:
    """Return the numbers of the classes as their names, where a person says so; else it is a fatal problem."""
    if problems.ask(bundle.name, NUMBERED, "no names of the classes") is None:
        problems.stop()
    texts = (bundle.text(entry, problems) or "" for entry in labels)
    first = [int(found[1]) for text in texts for found in FIRST.finditer(text)]
    return tuple(map(str, range(max(first, default=-1) + 1)))


def pose_shape(bundle: Bundle, problems: Problems) -> PoseShape | None:
    """Return the kpt_shape of the data.yaml, None where there is none; one in an unknown form is fatal."""
    for entry in bundle.ending(".yaml", ".yml"):
        value = _yaml(bundle, entry, problems).get("kpt_shape")
        if value not in (None, "", "null", "~"):
            shape = shape_of(value)
            if shape is None:
                raise problems.fail(bundle.file(entry), f"kpt_shape {value!r}"[:80], "kpt_shape: [17, 3] or [17, 2]")
            return shape
    return None


def point_names(bundle: Bundle, problems: Problems, names: Sequence[str], shape: PoseShape) -> dict[str, ClassFacts]:
    """Return the names of key points in the data.yaml that has some, by class."""
    listed = (_yaml(bundle, entry, problems).get("kpt_names") for entry in bundle.ending(".yaml", ".yml"))
    return next((named_points(value, names, shape.points) for value in listed if value is not None), {})


def _yaml(bundle: Bundle, entry: Entry, problems: Problems) -> dict[str, Any]:
    """Return the content of a data.yaml, whose values are texts, lists and mappings; empty where it has no names."""
    text = bundle.text(entry, problems, YAML_BYTES)
    if text is None or "names" not in text:
        return {}
    try:
        document = plain_yaml(text)
    except ValueError as error:
        problems.add(bundle.file(entry), f"YAML that cannot be read: {error}", NAMES, fatal=True)
        return {}
    return document if isinstance(document, dict) else {}


def _yaml_names(bundle: Bundle, entry: Entry, problems: Problems) -> tuple[str, ...]:
    """Return the names in a data.yaml: a list, or numbers and names; empty where it has none."""
    document = _yaml(bundle, entry, problems)
    if "names" not in document:
        problems.note(bundle.file(entry), entry.base, "unused", "it names no classes")
        return ()
    names = document["names"]
    unread = [key for key in document if key not in READ_KEYS]
    if unread:
        why = "the files of this upload are read, and nothing that it refers to"
        problems.note(bundle.file(entry), ", ".join(unread)[:200], "unused", why, len(unread))
    count = document.get("nc")
    if isinstance(count, str) and count.strip() != str(len(names)):
        problems.note(bundle.file(entry), "nc", "unused", f"there are {len(names)} names", 1, count)
    if isinstance(names, dict):
        numbered = {int(key): name for key, name in names.items() if isinstance(key, str) and NUMBER.fullmatch(key)}
        if sorted(numbered) == list(range(len(names))):
            names = [numbered[number] for number in range(len(names))]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        problems.add(bundle.file(entry), "names in an unknown form", NAMES, column="names", fatal=True)
        return ()
    return tuple(name.strip() for name in names)


def described_in(bundle: Bundle) -> list[Entry]:
    """Return the files that may name the classes."""
    return [*bundle.ending(".yaml", ".yml"), *name_lists(bundle)]
