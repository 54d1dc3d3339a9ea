"""What of the records of a tool no row has: each path is said to be unused, with its count and an example."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import orjson

from metrics.ingest.leaf_notes import Leaves, enclosing_paths, leaves_of
from metrics.ingest.source import Problems
from metrics.ingest.tables.columns import fold
from metrics.ingest.tables.values import text_of

RECORDS = 1_000  # that are looked through; of more the rest has the same paths, but for rare ones
TELLING = 4  # characters of a text that is hardly part of a cell by chance
LONG = 6  # characters of a cell that may have others in it, such as a trace
SEARCHED = 1 << 18  # characters of such cells
SEARCHES = 200  # for texts in them
TAKEN = "*"  # in place of a column: a row is made from it in another way than by its value …
SUMMED = "**"  # … or any of the records that make a row
OTHERS = "*"  # in place of a path: all that are not named
WHY = "no column has it"
Reads = Mapping[str, str]  # a folded path without brackets → columns in which its values, and those below, stand


def note_leaves(
    file: str, problems: Problems, records: Sequence[Any], made: Iterable[Mapping[str, Any]], reads: Reads,
    root: str = "", main: Collection[int] | None = None,
) -> None:  # fmt: skip
    """Record as unused each path of `records` (a.b[].c, below `root`) that `reads` does not name, or no row has.

    A row in `made` has a value that stands in a cell, or in the name, of one of the columns that `reads` has for the
    longest part of its path; one column stands for those below it. `main`: the places of the records that make a row
    each, where several make one.
    """
    rows = [row for row, _ in zip(made, range(RECORDS * 2), strict=False)]
    cells: dict[str, set[str]] = {}
    for row in rows:
        for name, value in row.items():
            cells.setdefault(name, set(name.split("."))).update(_cell_texts(value))
    left = [SEARCHES]

    @cache
    def columns_of(path: str) -> str | None:
        plain = ".".join(map(fold, path.removeprefix(root).replace("[]", "").strip(".").split(".")))
        return next((reads[part] for part in enclosing_paths(plain) if part in reads), reads.get(OTHERS))

    @cache
    def texts_in(columns: str) -> tuple[set[str], str]:
        named = tuple(f"{column}." for column in columns.split())
        texts = set[str]().union(*(own for name, own in cells.items() if f"{name}.".startswith(named)))
        return texts, "\n".join(sorted(text for text in texts if len(text) >= LONG))[:SEARCHED]

    @cache
    def is_in(text: str, columns: str) -> bool:
        texts, long = texts_in(columns)
        if text in texts or len(text) < TELLING:
            return text in texts
        left[0] -= 1
        return left[0] < 0 or text in long or orjson.dumps(text).decode()[1:-1] in long

    leaves = Leaves(root)
    for place, record in enumerate(records[:RECORDS]):
        for path, value in leaves_of(record, root):
            columns, whole = columns_of(path), str(text_of(value)).strip()
            taken = (columns or "").split()
            if SUMMED in taken or (TAKEN in taken and (main is None or place in main)):
                continue
            if columns is None:
                leaves.count(path, whole)
            elif not is_in(whole, columns):
                for text in _cell_texts(value):
                    if not is_in(text, columns):
                        leaves.count(path, text)
    leaves.note(problems, file, reason=WHY, counted=len(records) <= RECORDS)


def _cell_texts(value: Any) -> Iterator[str]:
    for one in value if isinstance(value, list) else (value,):
        text = text_of(one)
        if text is not None:
            yield text.strip()
