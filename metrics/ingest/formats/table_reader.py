"""A reader of a format that is a table of records: it only says how the records are read."""

from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa

from metrics.core.suite import Outputs, Suite
from metrics.ingest.formats.open_images import name_classes
from metrics.ingest.media.suite_images import SuiteImages
from metrics.ingest.output_parts import Part
from metrics.ingest.reader import Preview, Reader, Request, Upload
from metrics.ingest.sheet import Loaded, Problems, Sheet
from metrics.ingest.sheet_preview import preview_of
from metrics.ingest.sheet_reader import combined_of, part_of, suite_of
from metrics.ingest.source import Source

WHOLE_BYTES = 32 << 20  # up to here a text file is read whole for a preview, so its rows can be counted
HEAD_BYTES = 8 << 20  # of a larger one

ReadSheet = Callable[[Source, Problems], Sheet]
ReadHead = Callable[[Source, Problems], tuple[Sheet, int | None]]


def table_reader(
    name: str, recognises: Callable[[Source], bool], sheet: ReadSheet, head: ReadHead | None = None
) -> Reader:
    """Return the reader of a table. `sheet` reads it; `head`, for a preview, its beginning and the number of rows."""

    def preview(upload: Upload, request: Request) -> Preview:
        if head is None:
            first = sheet(upload.source, request.problems)
            return preview_of(upload.source, first, len(first), request)
        return preview_of(upload.source, *head(upload.source, request.problems), request)

    def read(upload: Upload, request: Request) -> Sheet:
        found = sheet(upload.source, request.problems)
        if upload.bundle is not None:
            name_classes(found, upload.bundle)
        return found

    def suite(upload: Upload, request: Request, pictures: SuiteImages) -> Loaded[Suite]:
        found = read(upload, request)
        return suite_of(found, request.suite_name or upload.stem, request.task, request.mapping, pictures)

    def outputs(upload: Upload, request: Request, suite: Suite) -> Part:
        return part_of(read(upload, request), suite, request.mapping, upload.stem, request.model)

    def combined(upload: Upload, request: Request) -> Loaded[tuple[Suite, Outputs]]:
        found = sheet(upload.source, request.problems)
        names = request.suite_name or upload.stem, request.model or upload.stem
        return combined_of(found, names[0], request.task, request.mapping, names[1])

    return Reader(name, lambda upload: recognises(upload.source), preview, suite, outputs, combined, sheet)


def beginning_of(sheet: ReadSheet) -> ReadHead:
    """Return the reader of the first lines of a text file, without their number where it is large."""

    def head(source: Source, problems: Problems) -> tuple[Sheet, int | None]:
        if source.data.size <= WHOLE_BYTES:
            whole = sheet(source, problems)
            return whole, len(whole)
        cut = source.data[:HEAD_BYTES].to_pybytes()
        part = replace(source, data=pa.py_buffer(cut[: cut.rfind(b"\n") + 1]))
        return sheet(part, problems), None

    return head
