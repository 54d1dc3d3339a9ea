"""Reports and exports of a finished run: PDF, HTML, JSON, Markdown, tables, JUnit."""

import io
import json
import zipfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from metrics.core.rounding import round_tree
from metrics.presentation.blocks import Block, kind_of
from metrics.reports.zip_files import pack
from metrics.store import Run
from metrics.store.table_files import Format, write

if TYPE_CHECKING:
    from metrics.reports.baseline import Differences
    from metrics.reports.report import Report

DOCUMENTS, ARCHIVES = ("pdf", "html", "json"), ("csv", "parquet")
MARKDOWN = "md"


def render(
    run: Run, format: str, sections: Collection[str] | None = None, against: "Sequence[Differences]" = (),
    notes: Sequence[str] = (),
) -> bytes:  # fmt: skip
    """Return the report of a finished run as pdf, html or json, its summary as md; as csv or parquet a zip of every
    table that has rows but the slices. `sections`: of a report only those with these names, see
    metrics.reports.section_names; `against`: what a report or a summary says of models that may replace others;
    `notes`: sentences of a report below its leaderboard, as on the weighted score that was asked for.

    RunError where the run is not finished, MissingResource where the PDF's packages are not installed, InputError on a
    name that no section has, ValueError on any other format.
    """
    from metrics.reports.build import build
    from metrics.reports.renderers.export_tables import filled_tables
    from metrics.reports.renderers.html import html
    from metrics.reports.renderers.pdf import pdf

    if format in DOCUMENTS:
        return {"pdf": pdf, "html": html, "json": to_json}[format](build(run, sections, against, notes))
    if format == MARKDOWN:
        from metrics.reports.renderers.markdown import markdown

        return markdown(run, against=against).encode()
    if format not in ARCHIVES:
        formats = ", ".join((*DOCUMENTS, MARKDOWN, *ARCHIVES))
        raise ValueError(f"there is no report format {format!r}; there are {formats}")
    return pack((f"{what}.{format}", write(frame, cast(Format, format))) for what, frame in filled_tables(run))


def to_json(report: "Report") -> bytes:
    """Return the report's data as JSON; an image is its file name, a number that is not finite is null."""
    return (json.dumps(round_tree(_plain(report)), ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode()


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        own = {part.name: _plain(getattr(value, part.name)) for part in fields(value)}
        return {"kind": kind_of(value), **own} if isinstance(value, Block) else own
    if isinstance(value, Mapping):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, Path):
        return value.name
    return None if isinstance(value, float) and value - value != 0 else value
