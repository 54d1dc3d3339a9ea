"""Retrieval benchmarks as BEIR lays them out: a folder or zip with queries.jsonl, qrels/SPLIT.tsv and corpus.jsonl.

The queries that were judged become cases, with the ids and grades of their judgements; a judged passage's text is a
reference context where it is relevant and there is a corpus. The queries may also be a table of id and text
(queries.tsv), the judgements TREC qrels. Of several splits one is read: the one asked for (as a sheet of a workbook
is), else test, else dev, else the first.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from metrics.core.suite import STRINGS
from metrics.ingest.formats.json_records import line_values
from metrics.ingest.formats.table_reader import bundle_reader, choose_split
from metrics.ingest.formats.trec import read_qrels
from metrics.ingest.media.archive import Entry
from metrics.ingest.reader import Upload
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import Problems
from metrics.ingest.tables.values import text_of

QUERIES = ("queries.jsonl", "queries.tsv")
CORPUS = "corpus.jsonl"
QRELS = "qrels"  # the folder of the judgements, or what the name of their file begins with
PREFERRED = ("test", "dev")
USED = {"_id", "id", "title", "text"}
UNJUDGED = "no judgement that was read asks for it"


def _splits(upload: Upload) -> dict[str, Entry]:
    found = {}
    for entry in upload.folder.ending(".tsv", ".txt", ".qrels", ".trec"):
        folder, stem = entry.name.rpartition("/")[0].rpartition("/")[2], entry.base.rpartition(".")[0]
        if QRELS in (folder, stem, entry.suffix[1:]) or stem.startswith(QRELS + "."):
            found[stem.removeprefix(QRELS + ".")] = entry
    return found


def _named(upload: Upload, *names: str) -> Entry | None:
    return next((entry for entry in upload.folder.entries if entry.base in names), None)


def _recognises(upload: Upload) -> bool:
    return _named(upload, *QUERIES) is not None and bool(_splits(upload))


def _read(upload: Upload, problems: Problems) -> Sheet:
    splits = _splits(upload)
    split = choose_split(upload, splits, PREFERRED)
    if others := ", ".join(name for name in splits if name != split):
        upload.said.append(f"{upload.name}: split {split} was read, not {others}.")
    for name in (name for name in splits if name != split):
        problems.note(upload.name, f"split {name}", "unused", f"split {split} was read")
    judged = read_qrels(upload.source_of_entry(splits[split]), problems)
    ids = judged.table["case_id"].to_pylist()
    asked = dict(_texts(upload, _named(upload, *QUERIES), set(ids).__contains__, problems))
    judged.table = judged.table.append_column("question", pa.array([asked.get(one) for one in ids], pa.string()))
    nameless = [one not in asked for one in ids]
    judged.report_values(nameless, "case_id", ids, "the id of a query in " + " or ".join(QUERIES))
    if corpus := _named(upload, CORPUS):
        pairs = zip(*(judged.table[f"reference_{name}"].to_pylist() for name in ("context_ids", "grades")), strict=True)
        relevant = [[one for one, grade in zip(*own, strict=True) if float(grade) > 0] for own in pairs]
        wanted = {one for own in relevant for one in own}
        passages = dict(_texts(upload, corpus, wanted.__contains__, problems))
        texts = [[passages[one] for one in own if one in passages] or None for own in relevant]
        judged.table = judged.table.append_column("reference_contexts", pa.array(texts, STRINGS))
    return judged


def _texts(
    upload: Upload, entry: Entry | None, wanted: Callable[[str], bool], problems: Problems
) -> Iterator[tuple[str, str]]:
    """Yield the wanted ids of a file with their texts, a title in front; what else it has is said to be unused."""
    assert entry is not None
    source = upload.source_of_entry(entry)
    unread: Counter[str] = Counter()
    if source.format != "jsonl":
        for line in source.data.to_pybytes().decode("utf-8", "replace").splitlines():
            name, _, text = line.partition("\t")
            unread["rows"] += not wanted(name)
            if wanted(name):
                yield name, text
    record: Any
    for _, record in line_values(source, problems) if source.format == "jsonl" else ():
        name = text_of(record.get("_id", record.get("id"))) if isinstance(record, dict) else None
        unread.update(record.keys() - USED if isinstance(record, dict) else ())
        unread["rows"] += name is not None and not wanted(name)
        if name is not None and wanted(name):
            parts = (text_of(record.get(key)) for key in ("title", "text"))
            yield name, "\n".join(part for part in parts if part)
    for place, number in unread.items():
        if number:
            why = UNJUDGED if place == "rows" else "ids, titles and texts are read"
            problems.note(source.name, place, "unused", why, number)


def _head(upload: Upload, problems: Problems) -> tuple[Sheet, int | None]:
    found = _read(upload, problems)
    return found, len(found)


READER = bundle_reader(
    "beir", _recognises, _read, _head, contents="a retrieval benchmark as of BEIR", splits=_splits, preferred=PREFERRED
)
