"""promptfoo's results as a table (`promptfoo eval -o results.csv`): a row a test, a column an output of each provider.

The column of an output is named `[provider] prompt`; a cell begins with [PASS], [FAIL] or [ERROR], or Status, Score,
Named Scores, Grader Reason and Comment stand behind it. The rest is read as the results in JSON are.
"""

import csv
import io
import re
from itertools import islice
from typing import Any

from metrics.ingest.formats import promptfoo
from metrics.ingest.formats.delimited import FIELD_BYTES, header
from metrics.ingest.formats.promptfoo_assertions import read_value
from metrics.ingest.formats.table_reader import table_reader
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import HEAD, Problems, Source

OUTPUT = re.compile(r"\[(?P<provider>[^\]\n]{1,300})\] (?P<prompt>.+)", re.DOTALL)
VERDICT = re.compile(r"\[(?P<status>PASS|FAIL|ERROR)\](?: \(-?[\d.]{1,20}\))?\s?(?P<text>.*)", re.DOTALL)
MARK = re.compile(rb"\[(?:PASS|FAIL|ERROR)\]")
REASON = "\n---\n"  # between why an output failed, and the output
BESIDE = {"Status": "status", "Score": "score", "Named Scores": "namedScores", "Grader Reason": "failureReason",
          "Comment": "comment"}  # fmt: skip


def _recognises(source: Source) -> bool:
    if source.format != "csv":
        return False
    names = header(source, source.data)[0]
    told = "Status" in names or MARK.search(source.data[:HEAD].to_pybytes()) is not None
    return told and any(map(OUTPUT.fullmatch, names))


def _read(source: Source, problems: Problems) -> Sheet:
    csv.field_size_limit(FIELD_BYTES)
    text = source.data.to_pybytes().decode("utf-8", "replace")
    try:
        names, *rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=header(source, source.data)[1]))
    except csv.Error as error:
        raise source.error(f"a table that cannot be read: {error}", "the CSV that promptfoo writes") from None
    outputs = [place for place, name in enumerate(names) if OUTPUT.fullmatch(name)]
    results = [
        _result(place, number, names, row, start, end)
        for place, row in enumerate(row for row in rows if row)
        for number, (start, end) in enumerate(zip(outputs, [*outputs[1:], len(names)], strict=True))
    ]
    wrong = [number for number, row in enumerate(rows, 2) if row and len(row) != len(names)]
    for number in islice(wrong, 20):
        problems.add(source.name, f"{len(rows[number - 2])} cells", f"{len(names)} cells", number, fatal=True)
    problems.stop()
    return promptfoo.sheet_of(source, results, problems)


def _result(place: int, number: int, names: list[str], row: list[str], start: int, end: int) -> dict[str, Any]:
    """Return the output in the column `start`, up to that of the next one, as a result in JSON."""
    head, cells = OUTPUT.fullmatch(names[start]), dict(zip(names, row, strict=False))
    assert head is not None
    first = next(index for index, name in enumerate(names) if OUTPUT.fullmatch(name))
    beside = dict(zip(names[start + 1 : end], row[start + 1 : end], strict=False))
    told = {BESIDE[name]: value for name, value in beside.items() if name in BESIDE and value}
    text = row[start] if start < len(row) else ""
    match = VERDICT.fullmatch(text)
    if match is not None:
        told["status"] = match["status"]
        text = match["text"]
        if match["status"] != "PASS" and REASON in text:
            told["failureReason"], _, text = text.partition(REASON)
    failed = told.get("status") == "ERROR"
    return {
        "testIdx": place,
        "promptIdx": number,
        "provider": head["provider"],
        "prompt": head["prompt"],
        "vars": {name: cells[name] for name in names[:first] if name in cells},
        "response": {"error": told.get("failureReason") or text} if failed else {"output": text},
        "success": told.pop("status", "") == "PASS",
        **({"error": told.pop("failureReason", "") or text} if failed else {}),
        **told,
        "namedScores": read_value(told.get("namedScores") or None),
    }


def _head(source: Source, problems: Problems) -> tuple[Sheet, int]:
    whole = _read(source, problems)  # a part may end within a cell of several lines
    return whole, len(whole)


READER = table_reader("promptfoo_grid", _recognises, _read, _head)
