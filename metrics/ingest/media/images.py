"""Images from a folder or zip: looked up by name, limited in size, fully decoded once, stored under generated
names; and a stored image as it is shown: decoded within limits, the right way up, without metadata.

Annotation tools draw on the image as it is displayed, turned as its EXIF orientation says, so boxes refer to displayed
pixels. Where a suite states the size of the stored, unturned pixels instead, boxes refer to those, and the image is
shown unturned. A mirrored image, or one turned by half, has one size either way and is displayed.
"""

from __future__ import annotations

import hashlib
import io
import os
import threading
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar

import numpy as np

from metrics.core.errors import InputError, InputProblem, StorageError, stored_at
from metrics.core.files import make_file, make_folder, open_regular
from metrics.core.jpeg_scans import MAX_SCANS, count_scans
from metrics.core.reading_worker import Limits, read_in_worker
from metrics.ingest.media.archive import MAX_RATIO, UNREADABLE, Entry, open_entries
from metrics.ingest.source import first_line

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL.Image import Image

FORMATS = {"PNG": ".png", "JPEG": ".jpg", "WEBP": ".webp", "BMP": ".bmp", "GIF": ".gif", "TIFF": ".tif"}
MAX_PIXELS = 150_000_000
MAX_SCANNED = 3_000_000_000  # pixels of all scans of a JPEG
SHOWING = Limits(30, 2 << 30)  # what decoding an image to show it may take
LARGE = threading.Lock()  # one image of more than MANY_PIXELS is decoded at a time
MANY_PIXELS = 20_000_000  # from here on an image must not be compressed more than an entry of an archive may be
SUFFIXES = (*FORMATS.values(), ".jpeg", ".jpe", ".tiff")
EXPECTED = "a " + ", ".join(list(FORMATS)[:-1]) + " or TIFF image"
ORIENTATION = 0x0112  # the tag in EXIF
SIDEWAYS = (5, 6, 7, 8)  # values that swap width and height

Size = tuple[int, int]  # width, height
TILE = 1024  # pixels of a side
T = TypeVar("T")
_SLOTS = threading.BoundedSemaphore(2)  # images that are decoded at a time to show them
_REFUSED: dict[tuple[str, int], str] = {}  # path and time of an image → why it is not decoded


class UnreadableImage(ValueError):
    """An image that cannot be shown, and why."""


@dataclass(frozen=True)
class Images:
    """What was found: wanted name → file name in `folder` (hash of the content), and its (width, height) in pixels.

    The size is that of the image as it is displayed; the pixels of those `sideways` are stored with width and height
    swapped. `problems` are those of the folder or zip as a whole; `unusable` says which images are missing or broken.
    Of a broken one the size is known where its header has it.
    """

    folder: Path
    files: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, tuple[int, int]] = field(default_factory=dict)
    sideways: frozenset[str] = frozenset()
    problems: tuple[InputProblem, ...] = ()
    unusable: tuple[InputProblem, ...] = ()


def read_images(
    path: str | Path, wanted_names: Iterable[str], destination: str | Path, filename: str | None = None
) -> Images:
    """Copy the wanted images from a folder or zip into `destination`, and say which of them cannot be used.

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
            unusable: list[InputProblem] = []
            found = _look_up(entries, list(dict.fromkeys(wanted_names)), file, unusable)
            return _store(found, folder, file, unusable)
    except UNREADABLE as error:
        why = "no such file" if isinstance(error, FileNotFoundError) else f"no readable zip ({error})"
        return Images(folder, problems=(*problems, InputProblem(file, why, "a folder or a zip of images")))


def _store(found: dict[str, Entry], folder: Path, file: str, unusable: list[InputProblem]) -> Images:
    make_folder(folder)
    files: dict[str, str] = {}
    sizes: dict[str, tuple[int, int]] = {}

    sideways: set[str] = set()

    def take(item: tuple[str, Entry]) -> tuple[str, str, tuple[int, int], bool] | InputProblem:
        name, entry = item
        try:
            data = entry.read()
            kind, size, on_side = examine(data)
            stored = hashlib.sha256(data).hexdigest()[:32] + FORMATS[kind]
            write_once(folder / stored, data)
        except StorageError:  # nothing is wrong with the image
            raise
        except Exception as error:  # decoders raise all kinds of errors on damaged data
            return InputProblem(file, f"{entry.name}: {first_line(error)}", EXPECTED, column="image")
        return name, stored, size, on_side

    with warnings.catch_warnings(), ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        warnings.simplefilter("ignore")  # also Pillow's of many pixels: `examine` has a limit of its own
        for outcome in pool.map(take, found.items()):
            if isinstance(outcome, InputProblem):
                unusable.append(outcome)
            else:
                name, files[name], sizes[name], on_side = outcome[0], *outcome[1:]
                sideways |= {name} if on_side else set()
    for name, entry in found.items():
        if name not in files and (size := header_size(entry)) is not None:
            sizes[name] = size
    return Images(folder, files, sizes, frozenset(sideways), unusable=tuple(unusable))


def header_size(entry: Entry) -> tuple[int, int] | None:
    """Return (width, height) as displayed, from the image's header, None where it has none; no pixel is decoded."""
    from PIL import Image

    try:
        with entry.open() as stream, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(stream, formats=list(FORMATS)) as image:
                return displayed_size(image)
    except Exception:  # decoders raise all kinds of errors on damaged data
        return None


def examine(data: bytes) -> tuple[str, tuple[int, int], bool]:
    """Return format, (width, height) as displayed, and whether it is stored on its side, of a complete image.

    Raises whatever the decoder raises.
    """
    from PIL import Image

    with Image.open(io.BytesIO(data), formats=list(FORMATS)) as image:
        kind, size = str(image.format), image.size
        if size[0] * size[1] > MAX_PIXELS:
            raise ValueError(f"{size[0]:,} × {size[1]:,} pixels, more than {MAX_PIXELS:,}")
        if size[0] * size[1] > MANY_PIXELS and size[0] * size[1] * len(image.getbands()) > MAX_RATIO * len(data):
            raise ValueError(f"{size[0]:,} × {size[1]:,} pixels, compressed more than {MAX_RATIO} : 1")
        refuse_slow(io.BytesIO(data), size)
        shown = displayed_size(image)
        image.draft("RGB", (size[0] // 8 + 1, size[1] // 8 + 1))  # JPEG: read to the end, but build only an eighth
        with LARGE if size[0] * size[1] > MANY_PIXELS else nullcontext():
            image.load()
    return ("JPEG" if kind == "MPO" else kind), shown, shown != size


def refuse_slow(file: IO[bytes], size: Size) -> None:
    """Raise UnreadableImage for a JPEG of too many scans: each goes over all pixels and may take no byte."""
    scans = count_scans(file)
    if scans > MAX_SCANS or scans * size[0] * size[1] > MAX_SCANNED:
        raise UnreadableImage(f"a JPEG of {scans:,} scans of {size[0]:,} × {size[1]:,} pixels, more than is decoded")


def write_once(target: Path, data: bytes) -> None:
    """Write a file named by its content as a whole, unless it exists."""
    if target.exists() and target.stat().st_size == len(data):
        return
    beside = target.with_name(f".{target.name}.{os.getpid()}.{threading.get_ident()}")
    with stored_at(target):
        make_file(beside).write_bytes(data)
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


def orientation(image: Image) -> int:
    """Return the EXIF orientation of an image, 1 (as it is) where there is none or none that can be read."""
    try:
        value = image.getexif().get(ORIENTATION, 1)
    except Exception:  # damaged metadata raises all kinds of errors
        return 1
    return value if isinstance(value, int) and 1 <= value <= 8 else 1


def displayed_size(image: Image) -> Size:
    """Return width and height of an image as it is displayed."""
    width, height = image.size
    return (height, width) if orientation(image) in SIDEWAYS else (width, height)


def way_up(image: Image, size: Size | None) -> int:
    """Return the orientation to show an image in, for annotations in an image of `size`, None where that is unknown."""
    found = orientation(image)
    stored = image.size[0] != image.size[1] and size == image.size
    return 1 if found in SIDEWAYS and stored else found


def turned(image: Image, way: int) -> Image:
    """Return an image turned as an EXIF orientation says."""
    from PIL.Image import Transpose

    methods = {
        2: Transpose.FLIP_LEFT_RIGHT, 3: Transpose.ROTATE_180, 4: Transpose.FLIP_TOP_BOTTOM, 5: Transpose.TRANSPOSE,
        6: Transpose.ROTATE_270, 7: Transpose.TRANSVERSE, 8: Transpose.ROTATE_90,
    }  # fmt: skip
    return image.transpose(methods[way]) if way in methods else image


def shown_image(path: str | Path, size: Size | None = None, longest: int | None = None) -> tuple[Image, Size]:
    """Return an image in RGB, upright for annotations in an image of `size`, and its size in their pixels.

    With `longest` it is scaled down to sides of at most so many pixels. FileNotFoundError where there is no file,
    UnreadableImage where it is no image, damaged, larger than MAX_PIXELS, or takes more than SHOWING to decode.
    """
    from PIL import Image

    pixels, displayed = _show(path, partial(_pixels, path, size, longest))
    return Image.fromarray(pixels), displayed


def tiles(path: str | Path, size: Size | None = None, side: int = TILE) -> tuple[int, list[bytes]]:
    """Return an image in full resolution as JPEG tiles, row by row, and how many are in a row.

    A tile has `side` pixels in width and height, those at the right and lower edge what is left. Raises as
    `shown_image`.
    """
    return _show(path, partial(_tiles, path, size, side))


def _show(path: str | Path, call: Callable[[], T]) -> T:
    """Return what a call makes of an image in a process with limits; one that took too much is not tried again."""
    key = str(path), os.lstat(path).st_mtime_ns
    try:
        if key in _REFUSED:
            raise UnreadableImage(_REFUSED[key])
        with _SLOTS:
            return read_in_worker("", call, SHOWING)
    except InputError as failure:
        why = _REFUSED[key] = f"the image cannot be read: {failure.problems[0].found}"
        raise UnreadableImage(why) from None


def _pixels(path: str | Path, size: Size | None, longest: int | None) -> tuple[NDArray[np.uint8], Size]:
    picture, displayed = _decode(path, size, longest)
    return np.asarray(picture), displayed


def _tiles(path: str | Path, size: Size | None, side: int) -> tuple[int, list[bytes]]:
    picture, (width, height) = _decode(path, size, None)
    parts = []
    for top in range(0, height, side):
        for left in range(0, width, side):
            buffer = io.BytesIO()
            part = picture.crop((left, top, min(left + side, width), min(top + side, height)))
            part.save(buffer, "JPEG", quality=85)
            parts.append(buffer.getvalue())
    return -(-width // side), parts


def _decode(path: str | Path, size: Size | None, longest: int | None) -> tuple[Image, Size]:
    from PIL import Image

    try:
        with open_regular(path, follow=False) as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of many pixels, as our own limit is checked below, and of damaged EXIF
            # of these formats alone: of others Pillow starts programs, such as Ghostscript
            source = Image.open(file, formats=list(FORMATS))
            width, height = source.size
            if width * height > MAX_PIXELS:
                raise UnreadableImage(f"the image has {width:,} × {height:,} pixels; at most {MAX_PIXELS:,} are shown")
            refuse_slow(file, source.size)
            way = way_up(source, size)
            if longest is not None:
                source.draft("RGB", (longest, longest))  # a JPEG is decoded at a part of its size
            picture = source.convert("RGB")
            if longest is not None:
                picture.thumbnail((longest, longest))
    except Image.DecompressionBombError:
        raise UnreadableImage(f"the image has too many pixels; at most {MAX_PIXELS:,} are shown") from None
    except (UnreadableImage, MemoryError):
        raise
    except Exception as failure:  # decoders raise all kinds of errors on damaged data
        raise UnreadableImage(f"the image cannot be read: {type(failure).__name__}") from None
    return turned(picture, way), (height, width) if way in SIDEWAYS else (width, height)
