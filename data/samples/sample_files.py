"""The files of samples as they are written: one record a line, so that a change shows as one."""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Iterable[Any]]) -> None:
    """Write a CSV file of these rows, and its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def write_json(path: Path, content: Mapping[str, Any] | Sequence[Any]) -> None:
    """Write a JSON file of a list, or of an object whose lists have a line for each record."""
    if isinstance(content, Mapping):
        text = "{\n" + ",\n".join(f"{json.dumps(key)}: {_lines(own)}" for key, own in content.items()) + "\n}"
    else:
        text = _lines(content)
    path.write_text(text + "\n")


def _lines(value: Any) -> str:
    return "[\n" + ",\n".join(map(json.dumps, value)) + "\n]" if isinstance(value, list) else json.dumps(value)
