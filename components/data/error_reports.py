"""What is told of an error of the program itself: its type and its place in the code, nothing of a user's data."""

import traceback
from pathlib import Path

from metrics.core.source_version import source_version
from metrics.judge.keys import redact

ROOT = Path(__file__).resolve().parents[2]
OURS = ("pages", "components", "metrics")
PACKAGES = ("site-packages", "dist-packages")


def error_report(failure: BaseException, page: str = "") -> str:
    """Return the details of an error for its report; no text of the error, which may quote what a user has given."""
    about = [f"{name} {version}" for name, version in source_version().items()]
    where = f", on the page {page}" if page else ""
    return redact(f"{type(failure).__name__} at {error_place(failure)}{where}\n{', '.join(about)}")


def error_place(failure: BaseException) -> str:
    """Return where in our code an error came up, and where in a package it was raised, without folders of a user."""
    frames = traceback.extract_tb(failure.__traceback__)
    if not frames:
        return "an unknown place"
    raised = frames[-1]
    ours = next((frame for frame in reversed(frames) if _place(frame).startswith(OURS)), raised)
    text = f"{_place(ours)}:{ours.lineno} in {ours.name}"
    return text if ours is raised else f"{text}, from {_place(raised)}:{raised.lineno}"


def _place(frame: traceback.FrameSummary) -> str:
    parts = Path(frame.filename).parts
    for packages in PACKAGES:
        if packages in parts:
            parts = parts[parts.index(packages) + 1 :]
            return "/".join(parts)
    path = Path(frame.filename)
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name
