"""Thumbnails of a suite's images and of parts of them: made once, as small JPEG files, when they are first shown."""

from __future__ import annotations

import hashlib
import io
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.files import make_file, make_folder
from metrics.core.suite import Suite
from metrics.store import Run

if TYPE_CHECKING:
    from PIL.Image import Image

    from metrics.ingest.media.images import Size

SIDE = 320  # pixels of the longer side
SUFFIXES = (".jpg", ".txt")  # the thumbnail; why there is none

Window = tuple[int, int, int, int]  # left, top, right, bottom in the image's pixels


def thumbnails(
    run: Run, wanted: Sequence[tuple[str, Window | None]], seconds: float = float("inf")
) -> list[bytes | str | None]:
    """Return JPEG bytes of each (image of the suite's media, window), the whole image where the window is None.

    In place of one that cannot be made there is the reason, a text. What is not there yet is made, each image decoded
    once for all of its windows, until `seconds` are over, at least one image; the rest is None: ask again.
    """
    return suite_thumbnails(run.workspace.path, run.suite, run.spec.suite.fingerprint, wanted, seconds)


def suite_thumbnails(
    workspace: Path, suite: Suite, fingerprint: str, wanted: Sequence[tuple[str, Window | None]], seconds: float
) -> list[bytes | str | None]:
    """Return what `thumbnails` does, of the images of a stored suite."""
    folder = workspace / "thumbnails" / fingerprint
    paths = [folder / _name(image, window) for image, window in wanted]
    results = [_stored(path) for path in paths]
    missing: dict[str, list[tuple[Path, Window | None]]] = {}
    for (image, window), path, result in zip(wanted, paths, results, strict=True):
        if result is None:
            missing.setdefault(image, []).append((path, window))
    if not missing:
        return results
    until = time.monotonic() + seconds
    rows = suite.cases.filter(pc.is_in(suite.cases["image"], pa.array(list(missing), pa.string())))
    columns = (rows[name].to_pylist() for name in ("image", "image_width", "image_height"))
    sizes = {image: (wide, high) for image, wide, high in zip(*columns, strict=True) if wide and high}
    make_folder(folder)

    def make(place: int, image: str) -> None:
        if place == 0 or time.monotonic() < until:
            _make(suite.media / image if suite.media else None, sizes.get(image), missing[image])

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(make, range(len(missing)), missing))
    return [_stored(path) if result is None else result for path, result in zip(paths, results, strict=True)]


def _name(image: str, window: Window | None) -> str:
    """Return a file name of our own: that of the image is the user's."""
    digest = hashlib.sha256(f"{image}\x00{window}".encode()).hexdigest()[:32]
    return f"{digest[:2]}/{digest[2:]}"


def _stored(path: Path) -> bytes | str | None:
    picture, reason = (path.with_name(path.name + suffix) for suffix in SUFFIXES)
    with suppress(FileNotFoundError):
        return picture.read_bytes()
    with suppress(FileNotFoundError):
        return reason.read_text(encoding="utf-8")
    return None


def _make(source: Path | None, size: Size | None, wanted: Sequence[tuple[Path, Window | None]]) -> None:
    """Write the thumbnails of one image, or why there are none."""
    from metrics.ingest.media.images import shown_image

    try:
        if source is None:
            raise FileNotFoundError
        whole = all(window is None for _, window in wanted)
        picture, _ = shown_image(source, size, 2 * SIDE if whole else None)
        for path, window in wanted:
            buffer = io.BytesIO()
            _cut(picture, window).save(buffer, "JPEG", quality=82)
            _write(path, ".jpg", buffer.getvalue())
    except FileNotFoundError:
        _refuse(wanted, "the image is not there")
    except ValueError as failure:
        _refuse(wanted, str(failure))


def _cut(picture: Image, window: Window | None) -> Image:
    """Return a part of a picture at most SIDE pixels wide and high; small parts keep their pixels."""
    from PIL.Image import Resampling

    part = picture if window is None else picture.crop(window)
    scale = SIDE / max(part.size)
    if scale >= 1:
        return part
    size = tuple(max(1, round(edge * scale)) for edge in part.size)
    return part.resize(size, Resampling.LANCZOS, reducing_gap=2.0)  # type: ignore[arg-type]


def _refuse(wanted: Sequence[tuple[Path, Window | None]], reason: str) -> None:
    for path, _ in wanted:
        _write(path, ".txt", reason.encode())


def _write(path: Path, suffix: str, content: bytes) -> None:
    """Write whole or not at all; not synced to the disk, as a lost thumbnail is made again."""
    make_folder(path.parent)
    beside = path.with_name(f".{path.name}.{os.getpid()}.{time.monotonic_ns()}")
    make_file(beside).write_bytes(content)
    beside.replace(path.with_name(path.name + suffix))
