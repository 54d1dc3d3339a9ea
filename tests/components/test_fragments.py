"""Parts of a page that run again by a timer."""

import ast

from tests.conftest import PROJECT

SOURCES = [path for folder in ("components", "pages") for path in (PROJECT / folder).rglob("*.py")]


def timed(tree: ast.AST) -> set[str]:
    """Return the names of the functions that `st.fragment` runs again by a timer."""
    found = {
        node.name: decorator
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
    }
    found |= {ast.unparse(node.args[0]): node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args}
    return {name for name, call in found.items() if "fragment(" in (text := ast.unparse(call)) and "run_every" in text}


def test_what_runs_by_a_timer_opens_no_other_page():
    """The timer goes on while the other page is opened, and its request, which names the first page, empties it."""
    opening, seen = [], set()
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = timed(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name in names:
                seen.add(node.name)
                opening += [node.name for call in ("url.go", "switch_page") if call in ast.unparse(node)]
    assert {"_follow_samples", "_follow"} <= seen
    assert opening == []
