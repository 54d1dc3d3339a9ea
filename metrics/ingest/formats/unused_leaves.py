"""What of the records of a tool no row has: each path is said to be unused, with its count and an example."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from metrics.ingest.problems import Problems
from metrics.ingest.tables.columns import fold
from metrics.ingest.tables.values import text_of

RECORDS = 1_000  # that are looked through; of more the rest has the same paths, but for rare ones
DEEPEST = 40  # levels of a record
PATHS = 500  # that are said
TELLING = 4  # characters of a text that is hardly elsewhere by chance
MAIN = ("case_id", "question", "answer", "expected_answers", "model", "criteria", "choices", "reference_contexts",
        "retrieved_contexts", "tags", "group")  # fmt: skip  # columns of texts, in which a short one counts, too
LONG = 6  # characters of a cell that may have others in it, such as a trace
SEARCHED = 1 << 18  # characters of such cells
SEARCHES = 200  # for texts in them
WHY = "no column has it"


@dataclass
class _Seen:
    """The leaves of a path that no row has."""

    count: int = 0
    example: str = ""
    known: dict[str, bool] = field(default_factory=dict)  # text → whether a row has it


def note_leaves(
    file: str, problems: Problems, records: Sequence[Any], made: Iterable[Mapping[str, Any]],
    used: Collection[str] = (), root: str = "", summed: Collection[str] = (), main: Collection[int] | None = None,
) -> None:  # fmt: skip
    """Record as unused each path of `records` (a.b[].c, below `root`) of which no row in `made` has the value.

    A row has a value that stands in one of its cells, or in the name of a column. A short one (true, 0) has to stand in
    a column that is named like a part of its path; a short text may also stand in one of the main columns, as an id in
    that of the cases. `used`: ends of paths, folded and without brackets, that a row is made from in another way, with
    all below them; where several records make a row, only of those at the places `main`, `summed` of any.
    """
    rows = [row for row, _ in zip(made, range(RECORDS * 2), strict=False)]
    cells = [(name, text) for row in rows for name, value in row.items() for text in _cell_texts(value)]
    columns = {name: [fold(part) for part in name.split(".")] for name in dict.fromkeys(name for name, _ in cells)}
    texts = {text for _, text in cells}.union(*(name.split(".") for name in columns))
    named = {(part, text) for name, text in cells if len(text) < TELLING for part in columns[name]}
    shorts = {text for name, text in cells if name in MAIN}
    long = "\n".join(dict.fromkeys(text for text in texts if len(text) >= LONG))[:SEARCHED]
    left = [SEARCHES]

    def has(path: str, value: Any, text: str) -> bool:
        if len(text) < TELLING:
            parts = [fold(part) for part in path.replace("[]", "").split(".")]
            told = isinstance(value, str) and text in shorts
            return (
                told
                or any((part, text) in named for part in parts)
                or (parts[-1].endswith("id") and ("case_id", text) in named)
            )
        if text in texts:
            return True
        left[0] -= 1
        return left[0] < 0 or text in long or orjson.dumps(text).decode()[1:-1] in long

    seen: dict[str, _Seen] = {}
    known: dict[tuple[str, bool], bool] = {}
    for place, record in enumerate(records[:RECORDS]):
        whole = main is None or place in main
        for path, value in leaves_of(record, root):
            key = path, whole
            if key not in known:
                known[key] = _is_used(path, (*used, *summed) if whole else summed) or len(seen) >= PATHS
            if known[key]:
                continue
            own = seen.setdefault(path, _Seen())
            text = str(text_of(value)).strip()
            if text not in own.known and len(own.known) < RECORDS:
                own.known[text] = has(path, value, text)
            if not own.known.get(text, True):
                own.count, own.example = own.count + 1, own.example or text
    for path, own in seen.items():
        if own.count:
            count = own.count if len(records) <= RECORDS else None
            problems.note(file, path, "unused", WHY, count, own.example)


def _is_used(path: str, used: Collection[str]) -> bool:
    if not used:
        return False
    plain = "." + ".".join(map(fold, path.replace("[]", "").split("."))) + "."
    return any(f".{name}." in plain for name in used)


def leaves_of(value: Any, path: str, depth: int = DEEPEST) -> Iterator[tuple[str, Any]]:
    """Yield path and value of all that is no object or list; nothing of what is empty."""
    if isinstance(value, Mapping) and depth:
        for key, inner in value.items():
            yield from leaves_of(inner, f"{path}.{key}" if path else str(key), depth - 1)
    elif isinstance(value, list) and depth:
        for inner in value:
            yield from leaves_of(inner, path + "[]", depth - 1)
    elif value is not None and value not in ("", {}, []):
        yield path, value


def _cell_texts(value: Any) -> Iterator[str]:
    for one in value if isinstance(value, list) else (value,):
        text = text_of(one)
        if text is not None:
            yield text.strip()
