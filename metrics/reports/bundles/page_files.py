"""The page of a bundle: its HTML, style and script, and the studio's viewers as a script that needs no server."""

import json
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path

from metrics.presentation.viewers.case_rows import colour_css
from metrics.presentation.viewers.prose_blocks import TINTS
from metrics.presentation.viewers.viewer_files import WITH_CASES, viewer_parts
from metrics.reports.renderers.html import colours

# Modules cannot be loaded from a disk, so each viewer's script is put into a function of its own.
EXPORT = "export default function"
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'"
VIEWERS: dict[str, tuple[Callable[[], str], tuple[str, ...]]] = {  # name: more style, what it shares with others
    "heatmap": (colour_css, WITH_CASES), "case_list": (colour_css, WITH_CASES), "prose": (lambda: TINTS, ()),
    "evidence_list": (str, ()), "image_viewer": (str, ()), "trace": (str, ()),
    "chat": (str, ()),
}  # fmt: skip
SCRIPTS = ("parts", "board", "cases", "case", "curves", "about", "bundle")
FOLDER = Path(__file__).parent


def page_files(title: str) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of the page and of what it is drawn with."""
    templates, viewers = [], []
    for name, (more, shared) in VIEWERS.items():
        html, style, script = viewer_parts(name, more(), shared)
        if script.count(EXPORT) != 1:
            raise ValueError(f"{name}.js exports {script.count(EXPORT)} functions; 1 expected")
        templates.append(f'<template id="viewer-{name}">{html}</template>')
        body = script.replace(EXPORT, "return function")
        viewers.append(f"viewers.{name} = {{ style: {json.dumps(style)}, draw: (() => {{\n{body}}})() }};")
    page = (FOLDER / "page.html").read_text(encoding="utf-8")
    page = page.replace("{policy}", POLICY).replace("{templates}", "\n".join(templates))
    yield "index.html", page.replace("{title}", escape(title)).encode()
    yield "assets/page.css", (colours() + "\n" + (FOLDER / "page.css").read_text(encoding="utf-8")).encode()
    yield "assets/viewers.js", ("const viewers = {};\n" + "\n".join(viewers) + "\n").encode()
    yield "assets/page.js", "\n".join((FOLDER / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS).encode()
