"""The table of upload formats. A new format is a file in formats/ that exports its Reader, and a line here."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from metrics.ingest.formats import (
    arrow,
    beir,
    braintrust,
    class_folders,
    coco_files,
    coco_panoptic,
    createml,
    cvat,
    delimited,
    detector_files,
    dota,
    h2o,
    hugging_face,
    inspect_logs,
    json_records,
    kitti,
    label_studio,
    labelme,
    langfuse,
    langsmith,
    lm_eval,
    mask_images,
    mlflow,
    open_rag_eval,
    openai_evals,
    opik,
    parquet,
    phoenix,
    promptfoo,
    promptfoo_config,
    promptfoo_grid,
    promptfoo_table,
    trace_files,
    trec,
    voc,
    workbook,
    yolo,
)
from metrics.ingest.media.bundle import open_bundle
from metrics.ingest.named_refusals import refuse_by_name, refuse_pickles, xml_refusal
from metrics.ingest.reader import Reader, Upload
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import AS_IT_SEEMS, Problems, Reading

# In order of recognition: the first reader that recognises an upload reads it.
EITHER: tuple[Reader, ...] = (  # a file by itself, or a folder or zip of them
    label_studio.READER, createml.READER, labelme.READER, cvat.READER, labelme.XML_READER, detector_files.READER,
)  # fmt: skip
FOLDERS: tuple[Reader, ...] = (
    inspect_logs.EVAL, beir.READER, hugging_face.READER, coco_panoptic.READER, class_folders.READER, mask_images.READER,
    dota.READER, kitti.READER, yolo.READER, voc.READER, trace_files.FOLDER,
)  # fmt: skip
FILES: tuple[Reader, ...] = (  # also of the only table in a folder or zip
    inspect_logs.LOG, coco_files.GROUND_TRUTH, coco_files.RESULTS, promptfoo.READER, promptfoo_config.READER,
    promptfoo_grid.READER, promptfoo_table.READER, h2o.SUITE, h2o.LAB, lm_eval.READER, openai_evals.LOG,
    openai_evals.DATASET, langsmith.READER, langfuse.READER, braintrust.READER, phoenix.READER, mlflow.READER,
    opik.READER, open_rag_eval.READER, trace_files.DOCUMENT, trace_files.LINES, json_records.JSON, json_records.YAML,
    json_records.JSONL, parquet.READER, arrow.READER, workbook.READER, trec.JUDGED, trec.RANKED,
    delimited.READER,  # takes any text
)  # fmt: skip
GENERIC = (json_records.JSON, json_records.YAML, delimited.READER)  # take what no other reader knows
TABLE = "one CSV, JSON, JSONL, Parquet, Arrow or Excel file"
CONTENTS = ", ".join(reader.contents for reader in (*FOLDERS, *EITHER)) + f" or {TABLE}, beside images"


@contextmanager
def open_upload(path: str | Path, filename: str | None = None, reading: Reading = AS_IT_SEEMS) -> Iterator[Upload]:
    """Yield the upload at `path`, a folder or zip readable inside the block; InputError for a damaged or unsafe zip."""
    with open_bundle(path, CONTENTS, reading.label or filename) as bundle:
        yield Upload(path, filename, bundle, reading)


def reader_of(upload: Upload) -> Reader:
    """Return the reader of the upload's format; InputError for an unknown or unreadable one, or several at once."""
    refuse_pickles(upload)
    for reader in EITHER if upload.bundle is None else (*EITHER, *FOLDERS):
        if reader.recognises(upload):
            return reader
    if upload.bundle is not None and not upload.tables:
        entries = upload.bundle.entries
        some = ", ".join(entry.name for entry in entries[:3]) + ", …" * (len(entries) > 3)
        raise upload.error(f"{len(entries):,} files ({some})" if entries else "no files", CONTENTS)
    if upload.bundle is None and upload.name.lower().endswith(".xml"):
        raise xml_refusal(upload)
    reader = next(reader for reader in FILES if reader.recognises(upload))
    if reader in GENERIC:
        refuse_by_name(upload)
    return reader


def read_table(
    path: str | Path, filename: str | None, problems: Problems, reading: Reading = AS_IT_SEEMS
) -> tuple[Sheet, list[str]]:
    """Return the records of a file as a table, whatever its format, and notes; InputError where it is no table."""
    upload = Upload(path, filename, reading=reading)
    sheets = (reader.sheet for reader in FILES if reader.sheet is not None and reader.recognises(upload))
    return next(sheets)(upload.source, problems), upload.source.notes
