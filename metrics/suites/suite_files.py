"""A suite as a file that read_suite reads back as the same suite."""

from pathlib import Path

from metrics.core.errors import InputError, InputProblem
from metrics.core.files import write_export
from metrics.core.suite import Suite
from metrics.store.table_files import check_format, table_bytes


def suite_bytes(suite: Suite, format: str) -> bytes:
    """Return the cases in one of table_files.FORMATS, see table_bytes; InputError for suites about images."""
    if suite.annotations is not None or suite.task in ("detection", "segmentation"):
        expected = "cases with text: objects have no row of a case"
        raise InputError([InputProblem(suite.name, f"a suite of task {suite.task}", expected)])
    return table_bytes(suite.cases, format)


def write_suite(suite: Suite, path: str | Path) -> None:
    """Write a suite to a file, in the format that its name ends in."""
    write_export(Path(path), suite_bytes(suite, check_format(path)))
