"""Whatever the documentation names of the library is there, in a process that has imported nothing else."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import PROJECT
from tests.docs.blocks import FILES, blocks

IN_TEXT = re.compile(r"`(metrics(?:\.\w+)+)")
FRESH = """
import sys
from importlib import import_module
import metrics

for name in sorted(sys.argv[1:], key=lambda name: (name.split(".")[1] in metrics._PUBLIC, name)):  # least imports first
    first, *more = name.split(".")[1:]
    found = getattr(metrics, first, None)
    for place, part in enumerate(more, 2):
        if not hasattr(found, part):
            try:
                import_module(".".join(name.split(".")[: place + 1]))
            except ImportError:
                pass
        found = getattr(found, part, None)
    if found is None:
        print(name)
"""


def names_in(file: Path) -> Iterator[str]:
    """Yield the names in the Python blocks and in the text of a page: `metrics.ingest.read_suite`."""
    yield from IN_TEXT.findall(file.read_text(encoding="utf-8"))
    for block in blocks(file):
        if block.language == "python":
            yield from names_of(ast.parse(block.text))


def names_of(tree: ast.AST) -> Iterator[str]:
    aliases = {"metrics": "metrics"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            aliases |= {one.asname: one.name for one in node.names if one.asname and one.name.startswith("metrics")}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "metrics":
            own = {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
            yield from own.values()
            aliases |= {name: whole for name, whole in own.items() if name.islower()}  # modules, such as analysis
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in aliases:
            yield f"{aliases[node.value.id]}.{node.attr}"


def test_every_name_of_the_library_is_there():
    names = {name for file in FILES for name in names_in(file)}
    assert {"metrics.evaluators", "metrics.log", "metrics.ingest.suite_from_frame"} <= names
    environment = os.environ | {"PYTHONPATH": str(PROJECT)}
    done = subprocess.run(
        [sys.executable, "-c", FRESH, *names], cwd=PROJECT, env=environment, check=True, capture_output=True, text=True
    )
    assert done.stdout == ""
