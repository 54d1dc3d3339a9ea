"""The files of the viewers: NAME.html, NAME.css and NAME.js in this folder."""

from collections.abc import Sequence
from pathlib import Path

FOLDER = Path(__file__).parent
# More below shows as a fade until one has scrolled there; without an overflow the timeline is idle and nothing fades.
FADE = """@keyframes fade { 0%, 99% { mask-image: linear-gradient(#000 calc(100% - 28px), transparent); }
  100% { mask-image: none; } }
"""
COMMON = "page_parts"
WITH_CASES = ("case_rows",)  # what the leaderboard's drawer and the list of cases have in common


def viewer_parts(name: str, css: str = "", shared: Sequence[str] = ()) -> tuple[str, str, str]:
    """Return the HTML, the style (with `css` added) and the script of a viewer.

    The styles and scripts that all have in common and those of the `shared` names come before its own, which use them.
    """
    style, script = ("\n".join(_text(f"{each}.{kind}") for each in (COMMON, *shared, name)) for kind in ("css", "js"))
    return _text(f"{name}.html"), FADE + style + css, script


def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
