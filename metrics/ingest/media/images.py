"""Images from a folder or zip: looked up by name, limited in size, fully decoded once, stored under generated names."""

import hashlib
import io
import os
import threading
import warnings
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from metrics.core.errors import InputProblem
from metrics.ingest.media.archive import MAX_RATIO, UNREADABLE, Entry, open_entries
from metrics.ingest.sheet import first_line

FORMATS = {"PNG": ".png", "JPEG": ".jpg", "WEBP": ".webp", "BMP": ".bmp", "GIF": ".gif", "TIFF": ".tif"}
MAX_PIXELS = 80_000_000
MANY_PIXELS = 20_000_000  # from here on an image must not be compressed more than an entry of an archive may be
SUFFIXES = (*FORMATS.values(), ".jpeg", ".jpe", ".tiff")
EXPECTED = "a " + ", ".join(list(FORMATS)[:-1]) + " or TIFF image"


@dataclass(frozen=True)
class Images:
    """What was found: wanted name → file name in `folder` (hash of the content), and its (width, height) in pixels."""

    folder: Path
    files: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, tuple[int, int]] = field(default_factory=dict)
    problems: tuple[InputProblem, ...] = ()


def read_images(
    path: str | Path, wanted_names: Iterable[str], destination: str | Path, filename: str | None = None,
    max_pixels: int = MAX_PIXELS,
) -> Images:  # fmt: skip
    """Copy the wanted images from a folder or zip into `destination`; everything wrong with them is in `problems`.

    A wanted name is looked up in the list of files: the whole name, else a name that ends with it ("train/1.jpg" for
    "1.jpg", or for "1") where only one does; it is never used as a path. Each image is decoded once, so truncated ones
    are found. Stored as sha256 (32 hex digits) and the extension of the actual format.
    """
    place, folder = Path(path), Path(destination)
    file = filename or place.name
    problems: list[InputProblem] = []
    try:
        with open_entries(place, file, problems) as entries:
            if problems:
                return Images(folder, problems=tuple(problems))
            found = _look_up(entries, list(dict.fromkeys(wanted_names)), file, problems)
            return _store(found, folder, file, problems, max_pixels)
    except UNREADABLE as error:
        why = "no such file" if isinstance(error, FileNotFoundError) else f"no readable zip ({error})"
        return Images(folder, problems=(*problems, InputProblem(file, why, "a folder or a zip of images")))


def _store(found: dict[str, Entry], folder: Path, file: str, problems: list[InputProblem], max_pixels: int) -> Images:
    folder.mkdir(parents=True, exist_ok=True)
    files: dict[str, str] = {}
    sizes: dict[str, tuple[int, int]] = {}

    def take(item: tuple[str, Entry]) -> tuple[str, str, tuple[int, int]] | InputProblem:
        name, entry = item
        try:
            data = entry.read()
            kind, size = examine(data, max_pixels)
            stored = hashlib.sha256(data).hexdigest()[:32] + FORMATS[kind]
            write_once(folder / stored, data)
        except Exception as error:  # decoders raise all kinds of errors on damaged data
            return InputProblem(file, f"{entry.name}: {first_line(error)}", EXPECTED, column="image")
        return name, stored, size

    from PIL import Image

    with warnings.catch_warnings(), ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        for outcome in pool.map(take, found.items()):
            if isinstance(outcome, InputProblem):
                problems.append(outcome)
            else:
                files[outcome[0]], sizes[outcome[0]] = outcome[1], outcome[2]
    return Images(folder, files, sizes, tuple(problems))


def examine(data: bytes, max_pixels: int = MAX_PIXELS) -> tuple[str, tuple[int, int]]:
    """Return format and (width, height) of an image that decodes completely; raises whatever the decoder raises."""
    from PIL import Image

    with Image.open(io.BytesIO(data), formats=list(FORMATS)) as image:
        kind, size = str(image.format), image.size
        if size[0] * size[1] > max_pixels:
            raise ValueError(f"{size[0]:,} × {size[1]:,} pixels, more than {max_pixels:,}")
        if size[0] * size[1] > MANY_PIXELS and size[0] * size[1] * len(image.getbands()) > MAX_RATIO * len(data):
            raise ValueError(f"{size[0]:,} × {size[1]:,} pixels, compressed more than {MAX_RATIO} : 1")
        image.draft("RGB", (size[0] // 8 + 1, size[1] // 8 + 1))  # JPEG: read to the end, but build only an eighth
        image.load()
    return ("JPEG" if kind == "MPO" else kind), (int(size[0]), int(size[1]))


def write_once(target: Path, data: bytes) -> None:
    """Write a file named by its content as a whole, unless it exists."""
    if target.exists() and target.stat().st_size == len(data):
        return
    beside = target.with_name(f".{target.name}.{os.getpid()}.{threading.get_ident()}")
    beside.write_bytes(data)
    beside.replace(target)


def _look_up(entries: list[Entry], wanted: list[str], file: str, problems: list[InputProblem]) -> dict[str, Entry]:
    exact = {entry.name: entry for entry in entries}
    by_base: dict[str, list[Entry]] = {}
    by_stem: dict[str, list[Entry]] = {}
    for entry in entries:
        if not entry.hidden:
            by_base.setdefault(entry.base, []).append(entry)
            if entry.suffix in SUFFIXES:
                by_stem.setdefault(entry.base[: -len(entry.suffix)], []).append(entry)
    found: dict[str, Entry] = {}
    for name in wanted:
        plain = name.replace("\\", "/")
        if plain in exact:
            found[name] = exact[plain]
            continue
        base = plain.rsplit("/", 1)[-1]
        same = by_base.get(base, []) or ([] if plain.lower().endswith(SUFFIXES) else by_stem.get(base, []))
        choice = [e for e in same if e.name.endswith("/" + plain) or f"/{plain}." in f"/{e.name}"] or same
        if len(choice) == 1:
            found[name] = choice[0]
        else:
            several = ", ".join(entry.name for entry in choice[:3])
            what = f"no image {name!r}" if not choice else f"{len(choice)} images for {name!r}: {several}"
            problems.append(InputProblem(file, what, "one image of that name", column="image"))
    return found
