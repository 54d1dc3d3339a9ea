"""Bundle: a data set that is a folder or zip of labels and images."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from metrics.core.array_types import Bools, Ints
from metrics.core.errors import InputError, InputProblem
from metrics.core.files import open_regular
from metrics.ingest.decoded_size import Decoded
from metrics.ingest.media.archive import UNREADABLE, Entry, is_office, open_entries
from metrics.ingest.media.images import SUFFIXES
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import Problems

TEXT_BYTES = 16 << 20  # of one label file
SKIPPED = ("images", "labels")  # folders in which YOLO data sets separate images from labels


@dataclass
class Bundle:
    """The files of a folder or zip, without hidden ones; `name` is what the user calls it."""

    path: Path
    name: str
    entries: list[Entry]

    @cached_property
    def _decoded(self) -> Decoded:
        """The bytes read so far, of a zip as much more than its own as is allowed."""
        zipped = self.path.is_file()
        return Decoded(self.name, self.path.stat().st_size if zipped else sum(e.size for e in self.entries), "texts")

    @cached_property
    def images(self) -> list[Entry]:
        """The files that are images by their extension."""
        return [entry for entry in self.entries if entry.suffix in SUFFIXES]

    def ending(self, *suffixes: str) -> list[Entry]:
        """Return the files with one of these extensions."""
        return [entry for entry in self.entries if entry.suffix in suffixes]

    def note_unused(self, problems: Problems, names: Iterable[str | None], why: str, format: str) -> None:
        """Say which files were not read, a line for each extension.

        Images are used where a case has their name (`names`: ids and names of images); `why` says why others are not.
        """
        known = {form for name in names if name for form in (name, PurePosixPath(name).name, PurePosixPath(name).stem)}
        kinds: dict[str, list[str]] = {}
        for entry in self.entries:
            shown = entry.suffix in SUFFIXES and not known.isdisjoint((entry.name, entry.base, entry.stem))
            if not entry.is_accounted and not shown:
                kinds.setdefault(f"*{entry.suffix}" if entry.suffix else entry.base, []).append(entry.name)
        for kind, files in sorted(kinds.items()):
            reason = why if kind[1:] in SUFFIXES else f"the format {format} has no such files"
            problems.note(self.name, kind, "unused", reason, len(files), files[0])

    def file(self, entry: Entry) -> str:
        """Return the name of one of the files in messages."""
        return f"{self.name}/{entry.name}"

    def names(self, entries: Sequence[Entry]) -> list[str]:
        """Return the names of some of the files in messages."""
        return [self.file(entry) for entry in entries]

    def data(self, entry: Entry, problems: Problems, most: int = TEXT_BYTES) -> bytes | None:
        """Return the content of a file; None and a problem where it cannot be read or has more than `most` bytes.

        InputError where the files read so far are too many bytes in all.
        """
        self._decoded.add(min(entry.size, most))
        try:
            if entry.size > most:
                raise ValueError(f"{entry.size:,} bytes, more than {most:,}")
            return entry.read()
        except Exception as error:  # a decompressor raises errors of its own on a damaged zip
            problems.add(self.file(entry), f"a file that cannot be read ({error})", "a complete file")
            return None

    def text(self, entry: Entry, problems: Problems, most: int = TEXT_BYTES) -> str | None:
        """Return the text of a file; None and a problem where it cannot be read or is not UTF-8."""
        data = self.data(entry, problems, most)
        if data is None:
            return None
        try:
            return str(data, "utf-8-sig")
        except UnicodeDecodeError as error:
            found = f"byte 0x{data[error.start]:02x} at offset {error.start:,}, which is not UTF-8"
            problems.add(self.file(entry), found, "UTF-8 text")
            return None


class Rows(Sheet):
    """Records from several files: `which` is the file of each record, `rows` its number in that file."""

    def __init__(
        self, file: str, table: pa.Table, rows: Sequence[int], which: Sequence[int], files: Sequence[str],
        problems: Problems,
    ):  # fmt: skip
        super().__init__(file, table, np.array(rows, np.int64), problems)
        self.which: Ints = np.array(which, np.int64)
        self.files: list[str] = list(files)

    def file_of(self, place: int) -> str:
        """Return the file that the row of that index is in."""
        return self.files[int(self.which[place])]

    def take(self, places: NDArray[np.intp]) -> None:
        """Keep the rows of these indexes, each with its file."""
        super().take(places)
        self.which = self.which[places]

    def _count(self, mask: Bools) -> int:
        return len(np.unique(np.stack([self.which[mask], self.rows[mask]]), axis=1).T)

    def with_files(self) -> pa.Table:
        """Return the records, the file of each first."""
        files = np.array(self.files, object)[self.which]
        return self.table.add_column(0, "file", pa.array(files, pa.string()))

    def count(self, good: bool = False) -> Ints:
        """Return how many records (with `good`, how many that are not bad) each file has."""
        which = self.which[~self.bad] if good else self.which
        return np.bincount(which, minlength=len(self.files))


@contextmanager
def open_bundle(path: str | Path, contents: str, filename: str | None = None) -> Iterator[Bundle | None]:
    """Yield the folder or zip at `path`, readable inside the block; None where it is neither, or an Office document.

    InputError for a damaged zip, and for one with links, archives, paths that leave it, or more than the limits;
    `contents` is what was expected.
    """
    place = Path(path)
    if not place.is_dir() and not _starts_like_a_zip(place):
        yield None
        return
    name = filename or place.name or place.resolve().name
    problems: list[InputProblem] = []
    entries: list[Entry] | None = None
    with ExitStack() as stack:
        try:
            entries = stack.enter_context(open_entries(place, name, problems))
        except UNREADABLE as error:
            if name.lower().endswith(".zip"):
                found = f"no readable zip ({error})"
                raise InputError([InputProblem(name, found, "a folder or a zip of " + contents)]) from None
        if entries is None or is_office({entry.name for entry in entries}):
            yield None
            return
        if problems:
            raise InputError(problems)
        yield Bundle(place, name, [entry for entry in entries if not entry.hidden])


def _starts_like_a_zip(place: Path) -> bool:
    try:
        with open_regular(place) as file:
            return file.read(4) in (b"PK\x03\x04", b"PK\x05\x06")
    except OSError:
        return False


def key_of(entry: Entry) -> str:
    """Return the path without extension and without the folders that separate images from labels: train/1."""
    parts = PurePosixPath(entry.name).with_suffix("").parts
    return "/".join([*(part for part in parts[:-1] if part.lower() not in SKIPPED), parts[-1]])


def pair(entries: list[Entry], images: list[Entry]) -> list[Entry | None]:
    """Return the image of each label file: the one with the same key, else the only one with the same stem."""
    by_key = {key_of(image): image for image in images}
    by_stem: dict[str, list[Entry]] = {}
    for image in images:
        by_stem.setdefault(image.stem, []).append(image)
    found: list[Entry | None] = []
    for entry in entries:
        same = by_stem.get(entry.stem, [])
        found.append(by_key.get(key_of(entry)) or (same[0] if len(same) == 1 else None))
    return found


def case_ids(entries: list[Entry]) -> list[str]:
    """Return a name for each file: without folders and extension where these are unique, else its key."""
    stems = [entry.stem for entry in entries]
    return stems if len(set(stems)) == len(stems) else [key_of(entry) for entry in entries]


def need_unique(bundle: Bundle, entries: list[Entry], ids: list[str], problems: Problems) -> None:
    """Raise InputError where two files belong to one case."""
    first: dict[str, Entry] = {}
    for entry, case in zip(entries, ids, strict=True):
        if case in first:
            again = f"{case!r} again, first in {first[case].name}"
            problems.add(bundle.file(entry), again, "one file per image", fatal=True)
        first.setdefault(case, entry)
    problems.stop()


def image_names(ids: list[str], found: list[Entry | None], images: list[Entry]) -> list[str]:
    """Return the name to find each image by: the file name, with folders where several share it; the id if unknown."""
    count = Counter(image.base for image in images)
    pairs = zip(ids, found, strict=True)
    return [case if image is None else image.name if count[image.base] > 1 else image.base for case, image in pairs]
