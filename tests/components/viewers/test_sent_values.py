"""What a script of ours sends back can be anything, as a browser runs it: it is refused or passed over, never an error.

One law over all of them: each name that a component sends is read here with values that no script of ours sends.
"""

import base64
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
import streamlit as st

from components.data import agreements
from components.viewers import browser_parts, image_viewer, tile_gallery
from components.views.judge import label_entry
from tests.pages.conftest import PROJECT

KEYS = ["k1", "k2"]
DIGEST = tile_gallery._digest(KEYS)
ABOUT = {"criterion": "good", "scale": "pass", "only": None}


def token(*parts: Any) -> str:
    return base64.b64encode(json.dumps(parts).encode()).decode()


def entry(do: str, output: Any, value: Any = 1) -> list[dict[str, Any]]:
    return [{"id": "1", "do": do, "output": output, "value": value}]


VALUES: list[Any] = [
    None, True, 0, -1, 1.5, float("inf"), "", "x", "\u202e\x00", [], [None], [[]], [{}], ["x", 1, ["x"]], {},
    {"x": []}, {"of": DIGEST}, {"of": DIGEST, "tiles": "many"}, {"of": DIGEST, "tiles": float("inf")},
    {"of": [], "tiles": 3}, "k1", [{"id": []}], [{"id": "1", "do": "label"}],
    entry("erase", token("c", "m", "drawn", ABOUT)),
    *(
        entry(do, output, value)
        for do in ("label", "put off", "take back")
        for output, value in (
            ("%", 1), ([], 1), (token(), 1), (token("c", "m"), 1), (token("c", "m", "drawn", {}), 1),
            (token("c", [], "drawn", ABOUT), 1), (token("c", "m", "chosen", ABOUT), 1),
            (token("c", "m", "drawn", {**ABOUT, "scale": [1]}), 1),
            (token("c", "m", "drawn", {**ABOUT, "only": "x"}), 1), (token("c", "m", "drawn", ABOUT), []),
        )
    ),
]  # fmt: skip


def read_heatmap(sent: Any, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(browser_parts, "draw_in_browser", lambda *_, **__: dict.fromkeys(("sort", "columns", "cells"), sent))
    asked = browser_parts.heatmap({})
    assert isinstance(asked.sort, str | None)
    assert isinstance(asked.cells, str | None)
    assert asked.columns is None or all(isinstance(one, str) for one in asked.columns)


def read_gallery(sent: Any, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(st, "session_state", {"gallery": dict.fromkeys(("ticked", "seen", "more"), sent)})
    assert tile_gallery.ticked(KEYS) == []
    assert tile_gallery.seen(KEYS) == tile_gallery.FIRST


def read_viewer(sent: Any, patch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []
    patch.setattr(st, "session_state", {"viewer": {"sharp": sent}})
    patch.setattr(image_viewer, "draw_in_browser", lambda _, data, *__, **___: drawn.append(data))
    detail: Any = type("Detail", (), {"sent": 1, "tiles": lambda _: pytest.fail("nobody asked for this picture")})()
    image_viewer.viewer({"key": "a picture"}, detail)
    assert drawn[0]["tiles"] is None


def read_labels(sent: Any, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(st, "session_state", {label_entry.KEY: {"given": sent}})
    for name in ("give_label", "withdraw_label"):
        patch.setattr(agreements, name, lambda *_, **__: pytest.fail("nothing that a script of ours sends"))
    assert label_entry.store_entries("run", "ann") == []


READERS: dict[str, Callable[[Any, pytest.MonkeyPatch], None]] = {
    "viewers/browser_parts.py": read_heatmap, "viewers/tile_gallery.py": read_gallery,
    "viewers/image_viewer.py": read_viewer, "views/judge/label_entry.py": read_labels,
}  # fmt: skip


@pytest.mark.parametrize("file", READERS)
def test_what_no_script_sends_is_passed_over(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for sent in VALUES:
        READERS[file](sent, monkeypatch)


@pytest.mark.parametrize("scale", ["", "x", "1-x", "1-inf", "1-1e+999", "0-1e+99", "1.2.3-4", "5-1", "-", "\x00"])
def test_a_scale_of_a_browser_has_few_buttons(scale: str) -> None:
    assert len(label_entry.buttons(scale)) <= label_entry.MOST_GRADES + 2


def test_every_component_that_sends_is_read_here() -> None:
    sends = re.compile(r"\bsends=|on_(?!change)\w+_change=|draw_in_browser\([^\n]*_fields\)")
    found = {
        str(path.relative_to(PROJECT / "components"))
        for path in (PROJECT / "components").rglob("*.py")
        if path.name != "browser_component.py" and sends.search(path.read_text(encoding="utf-8"))
    }
    assert found == {*READERS}
