"""TREC files: qrels (query 0 id grade, also BEIR's table) as suites, runs (query Q0 id rank score tag) as outputs.

The order of a run is that of its scores, in single precision, and of equal ones that of the ids downwards, as in
trec_eval; the column of ranks is not read. An id that is there again counts at its first rank. A query of the suite
that a run lacks found nothing: it scores 0, as with trec_eval -c. Queries that the suite lacks are left out, with a
note. Lines that begin with # are comments; judgements may lack the column that is 0, runs the tag (the model is then
named by the file); further columns are not read.
"""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.suite import STRINGS, Suite
from metrics.ingest.arrays import as_mask, flat
from metrics.ingest.formats.table_reader import table_reader
from metrics.ingest.output_parts import Part
from metrics.ingest.reader import Request, Upload
from metrics.ingest.sheet import Sheet
from metrics.ingest.sheet_reader import part_of
from metrics.ingest.source import HEAD, Problems, Source
from metrics.ingest.tables.contexts import AGAIN

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
QRELS = re.compile(rf"\S+\s+(?:Q?0\s+\S+\s+{NUMBER}|0\s+\S+\s+-?\d+\s+\S+)")
SHORT_QRELS = re.compile(r"\S+\s+\S+\s+-?\d{1,2}")  # without the column that is 0 in all lines
RUN = re.compile(rf"\S+\s+(?:Q0\s+\S+\s+\d+\s+{NUMBER}(?:\s+\S.*)?|0\s+\S+\s+\d+\s+{NUMBER}\s+\S+)")
SHORT = (".qrels", ".qrel", ".trec", ".txt", ".tsv")  # files that may be judgements of three columns
LOOKED_AT = 50
BEIR = ["query-id", "corpus-id", "score"]  # the header of BEIR's judgements
ONCE = "each id once for each query"
SORTED = (
    "{}: the ids of a query are in the order of their scores, equal ones by falling id, as trec_eval sorts them; "
    "the column of ranks is not read."
)
Row = tuple[int, list[str]]  # the number of a line, and its fields


def read_qrels(source: Source, problems: Problems) -> Sheet:
    """Return a row a query, with the ids that were judged for it and their grades."""
    judged: dict[str, dict[str, str]] = {}
    rows: list[int] = []
    spoiled: set[str] = set()  # queries that lack a judgement: every number of theirs would be another
    lines = _lines(source, problems)
    first = next((fields for _, fields in lines), [])
    width = 3 if len(first) == 3 else 4
    for number, fields in lines:
        if fields == BEIR:
            continue
        if len(fields) not in (width, max(width, len(first))) or not re.fullmatch(NUMBER, fields[width - 1]):
            expected = "query, 0, id and grade" if width == 4 else ", ".join(BEIR)
            problems.skip(source.name, " ".join(fields)[:80], expected, number)
            spoiled.add(fields[0])
            continue
        _note_rest(source, problems, fields, width)
        fields = fields[:width]
        query, name, grade = fields[0], fields[-2], fields[-1]
        if query not in judged:
            judged[query] = {}
            rows.append(number)
        if name in judged[query]:
            problems.skip(source.name, f"{name!r} again for query {query!r}", ONCE, number)
            spoiled.add(query)
            continue
        judged[query][name] = grade
    lost = [query in spoiled for query in judged]
    if any(lost) and problems.keep_good_rows:
        problems.note(source.name, "queries", "unused", "an invalid judgement of theirs was skipped", sum(lost))
        rows = [row for row, gone in zip(rows, lost, strict=True) if not gone]
        judged = {query: own for query, own in judged.items() if query not in spoiled}
    table = pa.table(
        {
            "case_id": pa.array(judged, pa.string()),
            "reference_context_ids": pa.array(map(list, judged.values()), STRINGS),
            "reference_grades": pa.array([list(own.values()) for own in judged.values()], STRINGS),
        }
    )
    return Sheet(source.name, table, np.array(rows, np.int64), problems)


def read_run(source: Source, problems: Problems) -> Sheet:
    """Return a row a query and run, with the ids that it retrieved, the highest score first."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    rows: list[int] = []
    lines = _lines(source, problems)
    least = 5 if lines and len(lines[0][1]) == 5 else 6
    for number, fields in lines:
        if len(fields) < least or not re.fullmatch(NUMBER, fields[4]):
            problems.skip(source.name, " ".join(fields)[:80], "query, Q0, id, rank, score and tag", number)
            continue
        _note_rest(source, problems, fields, 6)
        query, _, name, _, score, tag = (*fields[:6], "")[:6]
        if (query, tag) not in found:
            found[query, tag] = {}
            rows.append(number)
        if name in found[query, tag]:
            problems.note(source.name, "lines", "unused", AGAIN, 1, " ".join(fields))
        found[query, tag][name] = max(float(score), found[query, tag].get(name, -np.inf))
    ranked = []
    for own in found.values():
        with np.errstate(over="ignore"):  # what is too large for it is infinite, as in C
            single = np.array(list(own.values()), np.float32).tolist()
        ranked.append([name for _, name in sorted(zip(single, own, strict=True), reverse=True)])
    problems.note(source.name, "column 4", "unused", "ranks are those of the scores", sum(map(len, found.values())))
    stem = Path(source.name).stem
    table = pa.table(
        {
            "case_id": pa.array([query for query, _ in found], pa.string()),
            "model": pa.array([tag or stem for _, tag in found], pa.string()),
            "context_ids": pa.array(ranked, STRINGS),
        }
    )
    source.notes.append(SORTED.format(source.name))
    return Sheet(source.name, table, np.array(rows, np.int64), problems)


def _lines(source: Source, problems: Problems) -> list[Row]:
    found: list[Row] = []
    for number, line in enumerate(_texts(source), 1):
        fields = line.split()
        if _is_comment(line):
            problems.note(source.name, "lines with #", "unused", "they are comments", 1, line)
        elif fields:
            found.append((number, fields))
    return found


def _texts(source: Source, most: int | None = None) -> list[str]:
    data = source.data if most is None else source.data[:most]
    text: str = data.to_pybytes().decode("utf-8", "replace")
    return text.split("\n")


def _is_comment(line: str) -> bool:
    """Return whether a line begins with # and is no row of a query whose id does."""
    text = line.strip()
    return text.startswith("#") and not QRELS.fullmatch(text) and not RUN.fullmatch(text)


def _note_rest(source: Source, problems: Problems, fields: list[str], width: int) -> None:
    for place, text in enumerate(fields[width:], width + 1):
        problems.note(source.name, f"column {place}", "unused", f"TREC's files have {width} columns", 1, text)


def _begins_with(source: Source, line: re.Pattern[str], header: list[str] | None = None) -> bool:
    if source.format != "csv":
        return False
    lines = [text for one in _texts(source, HEAD) if (text := one.strip()) and not _is_comment(one)]
    if lines and (lines[0].split() == header or line.fullmatch(lines[0]) is not None):
        return True
    short = header is not None and len(lines) > 1 and source.name.lower().endswith(SHORT)
    return short and all(map(SHORT_QRELS.fullmatch, lines[:LOOKED_AT]))


def _outputs(upload: Upload, request: Request, suite: Suite) -> Part:
    """Return the runs in a file for the queries of the suite; those that a run lacks have an empty list."""
    sheet = read_run(upload.source, request.problems)
    ids = suite.cases["case_id"]
    known = as_mask(pc.is_in(sheet.table["case_id"], flat(ids)))
    if known.any() and not known.all():
        queries = len(sheet.table["case_id"].filter(pa.array(~known)).unique())
        upload.source.notes.append(f"{upload.name}: {queries:,} queries that the suite does not have were left out.")
        sheet.take(np.flatnonzero(known))
    for tag in sheet.table["model"].unique().to_pylist() if known.any() else ():
        own = sheet.table.filter(pc.equal(sheet.table["model"], tag))["case_id"]
        absent = ids.filter(pc.invert(pc.is_in(ids, flat(own))))
        if not len(absent):
            continue
        upload.source.notes.append(f"{upload.name}: {tag} has nothing for {len(absent):,} queries: they score 0.")
        nothing = pa.array([[]] * len(absent), STRINGS)
        empty = {"case_id": absent, "model": pa.repeat(tag, len(absent)), "context_ids": nothing}
        rows = np.concatenate([sheet.rows, np.zeros(len(absent), np.int64)])
        sheet = Sheet(sheet.file, pa.concat_tables([sheet.table, pa.table(empty)]), rows, request.problems)
    return part_of(sheet, suite, request.mapping, upload.model, request.model)


JUDGED = table_reader("trec_qrels", lambda source: _begins_with(source, QRELS, BEIR), read_qrels)
RANKED = replace(table_reader("trec_run", lambda source: _begins_with(source, RUN), read_run), outputs=_outputs)
