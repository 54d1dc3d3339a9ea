"""Uploaded files are read in a worker: nothing of a page calls a reader itself."""

import ast
import re
from pathlib import Path

import pytest

FILES = sorted(path for folder in ("components", "pages") for path in Path(folder).rglob("*.py"))
READERS = ("read_", "load_", "inspect", "see_file", "import_")
OF_UPLOADS = ("metrics.ingest", "metrics.library.input", "metrics.reports.archives.read")
# What decodes images where nobody gave it a process with limits; the pictures of `_small` are of our own making
DECODERS = ("metrics/ingest/", "metrics/text/agents/artifacts.py", "components/data/pictures.py")
OPENED = re.compile(r"\bImage\.open\(|\bopen_image\(|ImageFile\.Parser")


def direct_calls(source: str) -> list[str]:
    """Return the readers of metrics.ingest and metrics.library.input_data that are called, not given to a worker."""
    tree = ast.parse(source)
    names = {
        name.asname or name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(OF_UPLOADS)
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


@pytest.mark.attack(
    "suite author",
    "an image, or the archive of a run, is opened by the page itself",
    "one law over all pages: uploads are read, and images decoded, in processes with limits",
)
def test_no_page_or_report_decodes_an_image_itself():
    files = [*FILES, *Path("metrics").rglob("*.py")]
    opening = [path.as_posix() for path in files if OPENED.search(path.read_text(encoding="utf-8"))]
    assert [path for path in opening if not path.startswith(DECODERS)] == []
    assert {"metrics/ingest/media/images.py", "components/data/pictures.py"} <= set(opening)


def test_a_direct_call_is_found():
    assert direct_calls("from metrics import ingest\ningest.load_suite(path)") == ["ingest.load_suite"]
    assert direct_calls("from metrics.ingest import inspect as look\nlook(path)") == ["look"]
