"""The names of classes beside indexed masks: labels.txt, classes.txt, *.names or a JSON file.

Text has one name a line, for the classes 0, 1, 2, …, or an id and a name (`7 road`, `7: road`, `7,road`). JSON is a
list of names, an object {id: name} or {name: id}, or a list of objects with id and name; it may be under classes,
labels, names or categories.
"""

import json
import re
from typing import Any

from metrics.ingest.media.archive import Entry
from metrics.ingest.media.bundle import Bundle
from metrics.ingest.problems import Problems

FILE = re.compile(r"(.*[-_ ])?(labels?|class(es)?|names|categories|label[-_ ]?map|class[-_ ]?names)", re.IGNORECASE)
NUMBERED = re.compile(r"(\d{1,6})\s*[\s:,;=]\s*(\S.*)")
COLOURED = re.compile(r"[^:]+:(\d+,\d+,\d+)?:[^:]*:[^:]*")  # in CVAT's labelmap.txt: name, colour, parts, actions
HIGHEST = 65_535  # the highest id that 16 bits of grey can say
EXPECTED = "a name a line, lines of id and name, or JSON {id: name}"
BYTES = 4 << 20


def names_files(bundle: Bundle) -> list[Entry]:
    """Return the files of a bundle that name classes."""
    texts = bundle.ending(".txt", ".json")
    return [*bundle.ending(".names"), *(entry for entry in texts if FILE.fullmatch(entry.stem))]


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
            again = next(pair for place, pair in enumerate(pairs) if _clashes(pair, pairs[:place]))
            what = f"class {again[0]} named {again[1]!r}: the id or the name is used already"
            problems.add(bundle.file(entry), what, "a different id and name for each class", fatal=True)
        if found is not None and names and found != names:
            problems.add(bundle.file(entry), "names that differ from " + source, "the same classes in both", fatal=True)
        if names:
            found, source = names, entry.name
    problems.stop()
    return found


def _clashes(pair: tuple[int, str], before: list[tuple[int, str]]) -> bool:
    return any(pair[0] == number or pair[1] == name for number, name in before)


def _from_lines(text: str) -> list[tuple[int, str]]:
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    if all(map(COLOURED.fullmatch, lines)):
        lines = [line.partition(":")[0] for line in lines]
    matches = [NUMBERED.fullmatch(line) for line in lines]
    if all(matches):
        return [_pair(match[1], match[2]) for match in matches if match is not None]
    return [_pair(place, line) for place, line in enumerate(lines)]


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
    """Return id and name; ValueError where they are not an id and a name."""
    if not isinstance(number, int | str) or isinstance(number, bool) or not isinstance(name, str) or not name.strip():
        raise ValueError(name)
    if not 0 <= int(number) <= HIGHEST:
        raise ValueError(number)
    return int(number), name.strip()
