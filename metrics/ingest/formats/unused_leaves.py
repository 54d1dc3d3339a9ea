"""What of the records of a tool no row has: each path is said to be unused, with its count and an example."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from metrics.ingest.problems import Problems
from metrics.ingest.tables.columns import fold
from metrics.ingest.tables.values import text_of

RECORDS = 2_000  # that are looked through; of more the rest has the same paths, but for rare ones
DEEPEST = 40  # levels of a record
PATHS = 500  # that are said
TELLING = 4  # characters of a text that is hardly elsewhere by chance
MAIN = ("case_id", "question", "answer", "expected_answers", "model", "criteria", "choices", "reference_contexts",
        "retrieved_contexts", "tags")  # fmt: skip  # columns of texts, in which a short one counts, too
LONG = 24  # characters of a cell that may have others in it, such as a trace
SEARCHED = 1 << 20  # characters of such cells
SEARCHES = 400  # for texts in them
WHY = "the reader of this format takes nothing from it"


@dataclass
class _Seen:
    """The leaves of a path that no row has."""

    count: int = 0
    example: str = ""
    known: dict[str, bool] = field(default_factory=dict)  # text → whether a row has it


def note_leaves(
    file: str, problems: Problems, records: Sequence[Any], made: Iterable[Mapping[str, Any]],
    used: Collection[str] = (), root: str = "",
) -> None:  # fmt: skip
    """Record as unused each path of `records` (a.b[].c, below `root`) of which no row in `made` has the value.

    A row has a value that stands in one of its cells; a short one (true, 0) only in a column that ends with its name,
    a short text also in one of the main columns, as an id in that of the cases.
    `used`: paths, folded and without brackets, that a row is made from in another way, with all below them.
    """
    rows = [row for row, _ in zip(made, range(RECORDS * 2), strict=False)]
    cells = [(name, text) for row in rows for name, value in row.items() for text in _cell_texts(value)]
    texts = {text for _, text in cells}
    named = {(fold(name.rpartition(".")[2]), text) for name, text in cells if len(text) < TELLING}
    main = {text for name, text in cells if name in MAIN}
    long = "\n".join(dict.fromkeys(text for text in texts if len(text) >= LONG))[:SEARCHED]
    left = [SEARCHES]

    def has(name: str, value: Any, text: str) -> bool:
        if len(text) < TELLING:
            plain = fold(name)
            told = isinstance(value, str) and text in main
            return told or (plain, text) in named or (plain.endswith("id") and ("case_id", text) in named)
        if text in texts:
            return True
        left[0] -= 1
        return left[0] < 0 or text in long or orjson.dumps(text).decode()[1:-1] in long

    seen: dict[str, _Seen] = {}
    for record in records[:RECORDS]:
        for path, name, value in _leaves(record, root):
            if path not in seen and (len(seen) >= PATHS or _is_used(path, used)):
                continue
            own = seen.setdefault(path, _Seen())
            text = str(text_of(value))
            if text not in own.known and len(own.known) < RECORDS:
                own.known[text] = has(name, value, text)
            if not own.known.get(text, True):
                own.count, own.example = own.count + 1, own.example or text
    for path, own in seen.items():
        if own.count:
            whole = len(records) <= RECORDS
            problems.note(file, path, "unused", WHY, own.count if whole else None, own.example)


def _is_used(path: str, used: Collection[str]) -> bool:
    plain = ".".join(map(fold, path.replace("[]", "").split(".")))
    return any(plain == name or plain.startswith(name + ".") for name in used)


def _leaves(value: Any, path: str, name: str = "", depth: int = DEEPEST) -> Iterator[tuple[str, str, Any]]:
    """Yield path, last name and value of all that is no object or list; nothing of what is empty."""
    if isinstance(value, Mapping) and depth:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else str(key), str(key), depth - 1)
    elif isinstance(value, list) and depth:
        for inner in value:
            yield from _leaves(inner, path + "[]", name, depth - 1)
    elif value is not None and value not in ("", {}, []):
        yield path, name, value


def _cell_texts(value: Any) -> Iterator[str]:
    for one in value if isinstance(value, list) else (value,):
        text = text_of(one)
        if text is not None:
            yield text
