"""Writes data/samples/rag: suite.csv and outputs.csv, from the handbook and the cases written by hand beside them.

The three models fail differently. heron-small is terse and mostly right. heron-large is fluent, but adds what the
handbook does not say, loops now and then and gives away contact and bank data. kestrel-rag retrieves the wrong
passages, answers in English what was asked in another language and breaks the JSON it was asked for. Run as
`python make_rag.py [FOLDER]`.
"""

import csv
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

SOURCE = Path(__file__).parent / "rag"
Block = dict[str, list[str]]


@dataclass(frozen=True)
class Model:
    """A model: its name, the line of a case with its answer, whose retriever it uses, its pace and its price."""

    name: str
    line: str
    retriever: str
    start: float  # seconds before the first character
    pace: float  # seconds a character
    price: float  # dollars for a million characters read; a character written costs four times that


MODELS = (
    Model("heron-small", "small", "heron", 0.35, 0.0021, 0.04),
    Model("heron-large", "large", "heron", 0.9, 0.0052, 0.75),
    Model("kestrel-rag", "kestrel-rag", "kestrel", 0.6, 0.0034, 0.22),
)


def blocks(text: str) -> dict[str, list[str]]:
    """The lines below each `= name` line."""
    found: dict[str, list[str]] = {}
    for line in filter(None, text.splitlines()):
        if line.startswith("= "):
            lines = found[line.removeprefix("= ")] = []
        else:
            lines.append(line)
    return found


def fields(lines: list[str]) -> Block:
    """The values of `key: value` lines, by key."""
    found: Block = {}
    for line in lines:
        key, _, value = line.partition(": ")
        found.setdefault(key, []).append(value)
    return found


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Iterable[Any]]) -> None:
    """Write a CSV file of these rows, and its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def make(folder: Path) -> None:
    """Write suite.csv and outputs.csv into `folder`."""
    handbook = {name: " ".join(lines) for name, lines in blocks((SOURCE / "handbook.txt").read_text("utf-8")).items()}
    cases = {name: fields(lines) for name, lines in blocks((SOURCE / "cases.txt").read_text("utf-8")).items()}
    suite, outputs = [], []
    for name, case in cases.items():
        suite.append(
            {
                "case_id": name,
                "question": case["Q"][0],
                "expected_answers": json.dumps(case["E"], ensure_ascii=False),
                "conditions": case["if"][0],
                "json_schema": case.get("schema", [""])[0],
                "tags": json.dumps(case["tags"][0].split(", ")),
            }
        )
    for model in MODELS:
        random = Random(model.name)  # noqa: S311
        for name, case in cases.items():
            contexts = [handbook[passage] for passage in case[model.retriever][0].split()]
            answer = case[model.line][0]
            read = len(case["Q"][0]) + sum(map(len, contexts))
            pause = 3.5 if random.random() < 0.03 else 0.0  # now and then a provider is slow
            duration = (
                model.start * random.uniform(0.8, 1.4) + model.pace * len(answer) * random.uniform(0.9, 1.2) + pause
            )
            outputs.append(
                {
                    "case_id": name,
                    "model": model.name,
                    "answer": answer,
                    "retrieved_contexts": json.dumps(contexts, ensure_ascii=False),
                    "duration_s": f"{duration:.2f}",
                    "cost_usd": f"{(read + 4 * len(answer)) * model.price / 1e6:.6f}",
                }
            )
    for name, rows in (("suite.csv", suite), ("outputs.csv", outputs)):
        write_csv(folder / name, list(rows[0]), [row.values() for row in rows])


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else SOURCE)
