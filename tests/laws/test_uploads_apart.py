"""Uploaded files are read in a worker: nothing of a page calls a reader itself."""

import ast
from pathlib import Path

import pytest

FILES = sorted(path for folder in ("components", "pages") for path in Path(folder).rglob("*.py"))
READERS = ("read_", "load_", "inspect", "see_file")


def direct_calls(source: str) -> list[str]:
    """Return the readers of metrics.ingest and metrics.library.input_data that are called, not given to a worker."""
    tree = ast.parse(source)
    names = {
        name.asname or name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").startswith(("metrics.ingest", "metrics.library.input"))
        for name in node.names
        if name.name.startswith(READERS)
    }
    called = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [
        ast.unparse(func)
        for func in called
        if (isinstance(func, ast.Name) and func.id in names)
        or (isinstance(func, ast.Attribute) and ast.unparse(func.value) == "ingest" and func.attr.startswith(READERS))
    ]


@pytest.mark.parametrize("path", FILES, ids=str)
def test_a_page_reads_no_upload_itself(path):
    assert direct_calls(path.read_text(encoding="utf-8")) == []


def test_a_direct_call_is_found():
    assert direct_calls("from metrics import ingest\ningest.load_suite(path)") == ["ingest.load_suite"]
    assert direct_calls("from metrics.ingest import inspect as look\nlook(path)") == ["look"]
