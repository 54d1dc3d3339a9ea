"""From uploads and data frames to previews, suites and outputs: the format's reader does the work."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from metrics.core.errors import InputError
from metrics.core.suite import Outputs, Suite, Task
from metrics.ingest.format_table import open_upload, reader_of
from metrics.ingest.media.suite_images import SuiteImages
from metrics.ingest.output_parts import Part, outputs_of
from metrics.ingest.reader import Preview, Request
from metrics.ingest.sheet import Loaded, Problems
from metrics.ingest.tables.columns import Role

PathLike = str | Path


def inspect(
    path: PathLike, role: Role | Literal["auto"] = "auto", filename: str | None = None,
    *, task: Task | None = None, mapping: Mapping[str, str] | None = None,
) -> Preview:  # fmt: skip
    """Return how an upload would be read: format, kind, mapping, questions, first rows, list cells.

    InputError where it cannot be read at all; bad rows are no error here, the readers list them.
    """
    request = Request(Problems(keep_good_rows=True), task, mapping, role)
    with open_upload(path, filename) as upload:
        return reader_of(upload).preview(upload, request)


def load_suite(
    path: PathLike, *, task: Task | None = None, mapping: Mapping[str, str] | None = None,
    images: PathLike | None = None, name: str | None = None, keep_good_rows: bool = False,
    workspace_media: PathLike | None = None,
    filename: str | None = None, images_filename: str | None = None,
) -> Loaded[Suite]:  # fmt: skip
    """Return the suite in an upload, with the problems of the rows left out. See `read_suite`."""
    request = Request(Problems(keep_good_rows), task, mapping, "suite", suite_name=name)
    with open_upload(path, filename) as upload:
        reader = reader_of(upload)
        if images is None and upload.bundle is not None and reader.images(upload.bundle):
            images, images_filename = upload.bundle.path, upload.bundle.name
        pictures = SuiteImages(images, workspace_media, images_filename, request.problems)
        return reader.suite(upload, request, pictures)


def load_outputs(
    paths: PathLike | Sequence[PathLike], *, suite: Suite, mapping: Mapping[str, str] | None = None,
    model_names: Mapping[PathLike, str] | None = None, keep_good_rows: bool = False,
    filenames: Mapping[PathLike, str] | None = None,
) -> Loaded[Outputs]:  # fmt: skip
    """Return the outputs in one or many uploads, with the problems of the rows left out. See `read_outputs`."""
    problems = Problems(keep_good_rows)
    names = {str(path): name for path, name in (filenames or {}).items()}
    models = {str(path): name for path, name in (model_names or {}).items()}
    parts: list[Part] = []
    for path in [paths] if isinstance(paths, str | Path) else paths:
        request = Request(problems, suite.task, mapping, "outputs", model=models.get(str(path)))
        try:
            with open_upload(path, names.get(str(path))) as upload:
                parts.append(reader_of(upload).outputs(upload, request, suite))
        except InputError as error:
            problems.absorb(error)
    problems.stop()
    return outputs_of(parts, suite, problems)


def load_combined(
    path: PathLike, *, task: Task | None = None, mapping: Mapping[str, str] | None = None, name: str | None = None,
    model_name: str | None = None, keep_good_rows: bool = False, filename: str | None = None,
) -> Loaded[tuple[Suite, Outputs]]:  # fmt: skip
    """Return suite and outputs from one file, with the problems of the rows left out. See `read_combined`."""
    request = Request(Problems(keep_good_rows), task, mapping, "combined", name, model_name)
    with open_upload(path, filename) as upload:
        return reader_of(upload).combined(upload, request)
