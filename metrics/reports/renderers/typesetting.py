"""Typesetting by typst: reports as PDF, single figures as PNG, SVG or PDF. No browser, no network, no system fonts."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, get_args

from metrics.core.errors import MissingResource
from metrics.core.files import scratch_folder
from metrics.core.installation import missing_extra
from metrics.presentation.palette import MUTED, SURFACE
from metrics.reports.renderers.figures import Figure, svg

PictureFormat = Literal["png", "svg", "pdf"]
PICTURE_FORMATS: tuple[PictureFormat, ...] = get_args(PictureFormat)
FIGURE, PICTURE = (Path(__file__).with_name(name) for name in ("figure.typ", "picture.typ"))
FONT_PACKAGES = ("manimgx_fonts", "noto_cjk_sans_otc")
FIRST_FONTS = ("Noto Sans", "Noto Sans CJK SC")
LAST_FONTS = ("Noto Sans Symbols", "Noto Emoji")
DOTS_PER_INCH = 216  # of a PNG: three pixels a unit


def typeset(template: Path, inputs: Mapping[str, str], format: PictureFormat, timestamp: int = 0) -> bytes:
    """Return a template, to which `figure-of` is known, compiled with those inputs: equal ones give equal bytes.

    MissingResource where typst or its fonts are missing.
    """
    typst = _typst()
    with scratch_folder("report") as private:  # all that the template could ever read
        compiled: bytes = typst.compile(
            FIGURE.read_bytes() + template.read_bytes(),
            root=private,
            font_paths=fonts()[0],
            sys_inputs=dict(inputs),
            package_path=private,
            package_cache_path=private,
            timestamp=timestamp,
            format=format,
            ppi=DOTS_PER_INCH,
        )
    return compiled


def picture_of(figure: Figure, format: PictureFormat) -> bytes:
    """Return a figure as a picture on white. MissingResource as of `typeset`."""
    data = {"figure": figure_data(figure), "surface": SURFACE[False], "muted": MUTED[False], "fonts": fonts()[1]}
    return typeset(PICTURE, {"picture": json.dumps(data, ensure_ascii=False)}, format)


def figure_data(figure: Figure) -> dict[str, Any]:
    """Return a figure as `figure-of` reads it."""
    return {
        "svg": svg(figure), "width": figure.width, "height": figure.height,
        "labels": [asdict(label) for label in figure.labels], "alternative": figure.alternative,
    }  # fmt: skip


def _typst() -> ModuleType:
    if reason := missing_extra("typesetting", "pdf", "typst", *FONT_PACKAGES):
        raise MissingResource(reason)
    return import_module("typst")


@cache
def fonts() -> tuple[Any, tuple[str, ...]]:
    """Return the fonts, and their families in order of preference."""
    typst = _typst()
    folders: list[str] = []
    for package in FONT_PACKAGES:
        folders += getattr(find_spec(package), "submodule_search_locations", None) or []
    found = typst.Fonts(include_system_fonts=False, include_embedded_fonts=True, font_paths=folders)
    scripts = sorted({name for name in found.families() if name.startswith("Noto Sans ") and "CJK" not in name})
    return found, (*FIRST_FONTS, *[name for name in scripts if name not in LAST_FONTS], *LAST_FONTS)
