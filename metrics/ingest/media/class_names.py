"""The names and colours of classes beside masks: labels.txt, classes.txt, *.names, class_dict.csv or a JSON file.

Text has one name a line, for the classes 0, 1, 2, …, or an id and a name (`7 road`, `7: road`, `7,road`). JSON is a
list of names, an object {id: name} or {name: id}, or a list of objects with id and name; it may be under classes,
labels, names or categories. Classes that a detector numbers in its own way are those of the suite in one of several
numberings.
"""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from metrics.core.receipt import FileQuestion
from metrics.core.suite import Suite
from metrics.ingest.media.archive import Entry
from metrics.ingest.media.bundle import Bundle
from metrics.ingest.source import Problems

FILE = re.compile(r"(.*[-_ ])?(labels?|class(es)?|names|categories|label[-_ ]?map|class[-_ ]?names)", re.IGNORECASE)
NUMBERED = re.compile(r"(\d{1,6})\s*[\s:,;=]\s*(\S.*)")
COLOURED = re.compile(  # a line of CVAT's labelmap.txt: name, colour, parts, actions; or of CamVid's class_dict.csv
    r"([^:]+):(?:(\d+),(\d+),(\d+))?:[^:]*:[^:]*|([^,]+),\s*(\d+),\s*(\d+),\s*(\d+)"
)
TABLE = re.compile(r"(.*[-_ ])?class[-_ ]?dict", re.IGNORECASE)
TABLE_HEAD = re.compile(r"name,\s*r,\s*g,\s*b", re.IGNORECASE)
HIGHEST = 65_535  # the highest id that 16 bits of grey can say
EXPECTED = "a name a line, lines of id and name, or JSON {id: name}"
BYTES = 4 << 20
# the ids of the 80 classes of COCO 2017, which number them from 1 to 90 with gaps
COCO_GAPS = {12, 26, 29, 30, 45, 66, 68, 69, 71, 83}
COCO_IDS = tuple(number for number in range(1, 91) if number not in COCO_GAPS)


def names_files(bundle: Bundle) -> list[Entry]:
    """Return the files of a bundle that name classes."""
    texts = bundle.ending(".txt", ".json")
    tables = [entry for entry in bundle.ending(".csv") if TABLE.fullmatch(entry.stem)]
    return [*bundle.ending(".names"), *(entry for entry in texts if FILE.fullmatch(entry.stem)), *tables]


def class_colours(bundle: Bundle, problems: Problems) -> dict[int, int]:
    """Return the id of the class of each colour, R + 256 G + 65,536 B, of the files of class names that give some."""
    found: dict[int, int] = {}
    for entry in names_files(bundle):
        lines = _lines(bundle.text(entry, problems, BYTES) or "")
        matches = [match for line in lines if (match := COLOURED.fullmatch(line)) is not None]
        for number, match in enumerate(matches if len(matches) == len(lines) else ()):
            if red := match[2] or match[6]:
                found[int(red) + 256 * int(match[3] or match[7]) + 65_536 * int(match[4] or match[8])] = number
    return found


def class_names(bundle: Bundle, problems: Problems) -> dict[int, str] | None:
    """Return the classes by id, None where no file names them; unreadable and differing files are fatal."""
    found: dict[int, str] | None = None
    source = ""
    for entry in names_files(bundle):
        text = bundle.text(entry, problems, BYTES)
        try:
            pairs = [] if text is None else _from_json(text) if entry.suffix == ".json" else _from_lines(text)
        except (ValueError, RecursionError):
            problems.add(bundle.file(entry), "names that cannot be read", EXPECTED, fatal=True)
            continue
        names = dict(pairs)
        if len(names) < len(pairs) or len(set(names.values())) < len(pairs):
            earlier = ((pair, pairs[:place]) for place, pair in enumerate(pairs))
            again = next(pair for pair, others in earlier if any({*pair} & {*other} for other in others))
            what = f"class {again[0]} named {again[1]!r}: the id or the name is used already"
            problems.add(bundle.file(entry), what, "a different id and name for each class", fatal=True)
        if found is not None and names and found != names:
            problems.add(bundle.file(entry), "names that differ from " + source, "the same classes in both", fatal=True)
        if names:
            found, source = names, entry.name
    problems.stop()
    return found


def _from_lines(text: str) -> list[tuple[int, str]]:
    lines = _lines(text)
    coloured = [match for line in lines if (match := COLOURED.fullmatch(line)) is not None]
    if len(coloured) == len(lines):
        lines = [(match[1] or match[5]).strip() for match in coloured]
    matches = [NUMBERED.fullmatch(line) for line in lines]
    if all(matches):
        return [_pair(match[1], match[2]) for match in matches if match is not None]
    return [_pair(place, line) for place, line in enumerate(lines)]


def _lines(text: str) -> list[str]:
    lines = [line.strip() for line in text.splitlines()]
    return [line for line in lines if line and not line.startswith("#") and not TABLE_HEAD.fullmatch(line)]


def _from_json(text: str) -> list[tuple[int, str]]:
    document = json.loads(text)
    if isinstance(document, dict):
        keys = [
            key for key in ("classes", "labels", "names", "categories") if isinstance(document.get(key), dict | list)
        ]
        document = document[keys[0]] if keys else document
    if isinstance(document, dict):
        return [_pair(name, key) if isinstance(name, int) else _pair(key, name) for key, name in document.items()]
    if not isinstance(document, list):
        raise ValueError(text)
    if all(isinstance(entry, dict) for entry in document):
        return [_pair(entry.get("id"), entry.get("name")) for entry in document]
    return [_pair(place, name) for place, name in enumerate(document)]


def _pair(number: Any, name: Any) -> tuple[int, str]:
    if not isinstance(number, int | str) or isinstance(number, bool) or not isinstance(name, str) or not name.strip():
        raise ValueError(name)
    if not 0 <= int(number) <= HIGHEST:
        raise ValueError(number)
    return int(number), name.strip()


def class_numberings(suite: Suite) -> dict[str, dict[int, str]]:
    """Return the classes of a suite by number, in each numbering that a detector may use."""
    numberings = {"from_0": dict(enumerate(suite.labels)), "from_1": dict(enumerate(suite.labels, 1))}
    if suite.category_ids:
        numberings = {"ids": dict(zip(suite.category_ids, suite.labels, strict=True))} | numberings
    if len(suite.labels) == len(COCO_IDS):
        numberings["coco_ids"] = dict(zip(COCO_IDS, suite.labels, strict=True))
    return numberings


def classes_by_number(
    problems: Problems, file: str, place: str, numbers: Iterable[int], suite: Suite
) -> dict[int, str]:
    """Return the class of each number in the only numbering that has all of them, else in that of an answer.

    Where several fit and mean different classes it is asked; {} where none fits.
    """
    found = set(numbers)
    fitting = {name: classes for name, classes in class_numberings(suite).items() if found <= classes.keys()}
    different = {tuple(classes[place] for place in sorted(found)): name for name, classes in reversed(fitting.items())}
    if not different:
        return {}
    names = sorted(different.values(), key=list(fitting).index)
    text = "Which numbers have the classes: the suite's ids, or their places in its list, from 0 or from 1?"
    span = f"classes by number, {min(found)} to {max(found)}"
    question = FileQuestion("class_numbers", text, tuple(fitting))
    chosen = names[0] if len(names) == 1 else None
    if chosen == "ids":
        return fitting[chosen]  # as the ground truth has them
    answer = problems.ask(file, question, span, default=chosen, place=place)
    return fitting[answer] if answer else {}


def result_classes(problems: Problems, file: str, results: Sequence[Any], suite: Suite) -> dict[int, str]:
    """Return the class of each `category_id` in COCO's results: the suite's ids, else as trainers number theirs.

    A suite of YOLO numbers its classes from 0. Ultralytics writes results that number them from 1, or as COCO does
    where there are its 80 classes: seen where a number is none of the suite's, and 0 is not there.
    """
    known = dict(zip(suite.category_ids, suite.labels, strict=False))
    if suite.category_ids != tuple(range(len(known))):
        return known
    given = [result.get("category_id") for result in results if isinstance(result, dict)]
    numbers = {number for number in given if isinstance(number, int) and not isinstance(number, bool)}
    if not numbers or 0 in numbers or numbers <= known.keys():
        return known
    return classes_by_number(problems, file, "[].category_id", numbers, suite) or known
