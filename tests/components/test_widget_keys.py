"""A widget that is drawn in a loop has a key that says what it is about: Streamlit refuses two that are alike."""

import ast
from collections.abc import Iterator
from functools import cache

from tests.conftest import PROJECT

WIDGETS = {
    "button", "checkbox", "data_editor", "download_button", "file_uploader", "form", "menu_button", "multiselect",
    "number_input", "pills", "plotly_chart", "radio", "segmented_control", "select_slider", "selectbox", "slider",
    "text_area", "text_input", "toggle",
}  # fmt: skip
LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
Place = tuple[str, str]  # module and function; "" for the module's own lines


@cache
def calls() -> dict[Place, list[tuple[ast.Call, bool]]]:
    """Return the calls in each function of pages and components, and whether each stands in a loop."""
    found: dict[Place, list[tuple[ast.Call, bool]]] = {}
    for path in (file for folder in ("pages", "components") for file in (PROJECT / folder).rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.Module):
                found.setdefault((path.stem, getattr(node, "name", "")), []).extend(_calls_in(node, False))
    return found


def _calls_in(node: ast.AST, looped: bool) -> Iterator[tuple[ast.Call, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            continue
        if isinstance(child, ast.Call):
            yield child, looped
        yield from _calls_in(child, looped or isinstance(child, LOOPS))


def _called(place: Place, call: ast.Call) -> Place:
    """Return the place of the function that is called: `draw(…)` of the same module, `module.draw(…)` of another."""
    if isinstance(call.func, ast.Attribute):
        return getattr(call.func.value, "id", ""), call.func.attr
    return place[0], getattr(call.func, "id", "")


def _has_own_key(call: ast.Call) -> bool:
    """Return whether the key of a widget is made from something; an argument `key` may stand in its place."""
    words = {word.arg: word.value for word in call.keywords}
    given = [words["key"]] if "key" in words else [arg for arg in call.args if getattr(arg, "id", "") == "key"]
    formatted = [arg for arg in call.args if isinstance(arg, ast.JoinedStr)]
    return any(not isinstance(key, ast.Constant) for key in (*given, *formatted))


def test_widgets_in_loops_have_keys_of_their_own() -> None:
    """Also those in a function that a loop calls, and in the functions that it calls."""
    waiting = [_called(place, call) for place, made in calls().items() for call, looped in made if looped]
    repeated: set[Place] = set()
    while waiting:
        place = waiting.pop()
        if place not in repeated and place in calls():
            repeated.add(place)
            waiting += [_called(place, call) for call, _ in calls()[place]]
    alike = [
        f"{place[0]}.py:{call.lineno} {ast.unparse(call)[:60]}"
        for place, made in calls().items()
        for call, looped in made
        if isinstance(call.func, ast.Attribute) and call.func.attr in WIDGETS
        if (looped or place in repeated) and not _has_own_key(call)
    ]
    assert alike == []
    assert len(repeated) > 100, "the walk finds what loops call"
