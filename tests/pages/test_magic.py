"""Streamlit's magic, which prints every bare expression, is off, and nothing depends on that."""

import ast
import tomllib
from pathlib import Path

import pytest

from tests.pages.conftest import PROJECT

SCRIPTS = [
    PROJECT / "app.py",
    *sorted((PROJECT / "pages").glob("*.py")),
    *sorted((PROJECT / "components").rglob("*.py")),
]


def printed(source: str) -> list[int]:
    """Lines of the expressions that magic would print: all but docstrings, calls, `...`, awaits and yields."""
    tree = ast.parse(source)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0]) for node in ast.walk(tree) if isinstance(node, documented) and ast.get_docstring(node)
    }
    silent = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom)
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and id(node) not in docstrings
        if not isinstance(node.value, silent) and not (isinstance(node.value, ast.Constant) and node.value.value is ...)
    ]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: str(path.relative_to(PROJECT)))
def test_no_script_has_a_bare_expression(script: Path) -> None:
    assert printed(script.read_text(encoding="utf-8")) == []


def test_a_bare_expression_is_found() -> None:
    assert printed('"""Doc."""\nx = 1\nx\nprint(x)\nx if x else print(x)\n...\n"text"\n') == [3, 5, 7]


def test_magic_is_off_in_the_shipped_configuration() -> None:
    config = tomllib.loads((PROJECT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert config["runner"]["magicEnabled"] is False
