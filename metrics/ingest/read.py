"""The readers for most callers: they return the value alone, or raise InputError."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from metrics.core.suite import Outputs, Suite, Task
from metrics.ingest.load import load_combined, load_outputs, load_suite
from metrics.ingest.media.suite_images import SuiteImages
from metrics.ingest.output_parts import outputs_of
from metrics.ingest.sheet import Problems
from metrics.ingest.sheet_reader import part_of, suite_of
from metrics.ingest.tables.native_types import frame_sheet

if TYPE_CHECKING:
    import pandas as pd


def read_suite(
    path: str | Path, *, task: Task | None = None, mapping: Mapping[str, str] | None = None,
    images: str | Path | None = None, name: str | None = None, keep_good_rows: bool = False,
    workspace_media: str | Path | None = None,
    filename: str | None = None, images_filename: str | None = None,
) -> Suite:  # fmt: skip
    """Return the suite in a CSV, JSONL, JSON, Parquet or COCO ground-truth file, or in a folder or zip.

    A folder or zip holds YOLO labels, Pascal VOC annotations, indexed PNG masks, or one table such as an Open Images
    CSV, and may hold the images too. JSON may also be an H2O test suite. `mapping` {canonical: column} goes before the
    automatic one; `metadata.NAME` as canonical keeps a column as metadata, `context_#` as column stands for context_1,
    context_2, …. Other columns are kept as metadata.*. `images` is a folder or zip: the images found are stored in
    `workspace_media` (a new temporary folder where None), which becomes `Suite.media`; `cases.image` is then the stored
    file's name, `metadata.image_name` always the upload's. `filename` is the user's name of the file, for messages.
    Rows are numbered where a file has no case ids.

    Raises InputError with every problem; with `keep_good_rows` only where no good row is left or the file as a whole
    cannot be used, and `Suite.left_out` counts the bad rows (`load_suite` also lists them).
    """
    return load_suite(
        path, task=task, mapping=mapping, images=images, name=name, keep_good_rows=keep_good_rows,
        workspace_media=workspace_media, filename=filename, images_filename=images_filename,
    ).value  # fmt: skip


def read_outputs(
    paths: str | Path | Sequence[str | Path], *, suite: Suite, mapping: Mapping[str, str] | None = None,
    model_names: Mapping[str | Path, str] | None = None, keep_good_rows: bool = False,
    filenames: Mapping[str | Path, str] | None = None,
) -> Outputs:  # fmt: skip
    """Return the outputs of one or many models in one or many files, checked against the suite.

    The model is the `model` column, else the file's name without extension; `model_names` {path: name} replaces it, and
    `filenames` {path: name} gives the user's names of the files. In classification the predictions are rows (label,
    score), a score column for each class, or an answer alone (score 1); in detection every case has a row for every
    model. A folder or zip holds YOLO labels with confidences, indexed PNG masks (of one model, or a folder for each),
    or one table. In segmentation a model has an output for each of its masks or, with rows of regions, for every image;
    a region needs no score.

    Unknown cases, unknown classes in detection, and two answers for one case, model and run are problems; cases without
    an answer are not (`load_outputs` counts them in `missing`). InputError as in `read_suite`.
    """
    return load_outputs(
        paths, suite=suite, mapping=mapping, model_names=model_names, keep_good_rows=keep_good_rows, filenames=filenames
    ).value


def read_combined(
    path: str | Path, *, task: Task | None = None, mapping: Mapping[str, str] | None = None, name: str | None = None,
    model_name: str | None = None, keep_good_rows: bool = False, filename: str | None = None,
) -> tuple[Suite, Outputs]:  # fmt: skip
    """Return suite and outputs from one file that has case and answer in every row; each case is taken once.

    promptfoo's results and H2O's test labs are such files. Suite values that differ between rows of one case are
    problems. A metadata column belongs to the cases where it is the same in all rows of every case, else to the
    outputs. Without case ids the questions are numbered. InputError as in `read_suite`.
    """
    return load_combined(
        path, task=task, mapping=mapping, name=name, model_name=model_name, keep_good_rows=keep_good_rows,
        filename=filename,
    ).value  # fmt: skip


def suite_from_frame(
    frame: "pd.DataFrame", *, name: str = "suite", task: Task | None = None, mapping: Mapping[str, str] | None = None,
    images: str | Path | None = None, keep_good_rows: bool = False, workspace_media: str | Path | None = None,
) -> Suite:  # fmt: skip
    """Return the suite in a data frame, as `read_suite`; messages count rows from 1, and the index is not read."""
    sheet = frame_sheet(frame, name, Problems(keep_good_rows))
    pictures = SuiteImages(images, workspace_media, None, sheet.problems)
    return suite_of(sheet, name, task, mapping, pictures).value


def outputs_from_frame(
    frame: "pd.DataFrame", *, suite: Suite, name: str = "outputs", mapping: Mapping[str, str] | None = None,
    model_name: str | None = None, keep_good_rows: bool = False,
) -> Outputs:  # fmt: skip
    """Return the outputs in a data frame, as `read_outputs`; the model is its column `model`, else `model_name` or
    `name`.
    """
    sheet = frame_sheet(frame, name, Problems(keep_good_rows))
    part = part_of(sheet, suite, mapping, model_name or name, None)
    return outputs_of([part], suite, sheet.problems).value
