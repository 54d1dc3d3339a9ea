"""Files in a folder or zip: listed before anything is read, with every limit and every unsafe name checked."""

import gzip
import io
import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any

import pyarrow as pa

from metrics.core.errors import InputError, InputProblem
from metrics.core.files import open_regular
from metrics.ingest.decoded_size import CELL, Decoded, Kind

MAX_ENTRIES = 200_000
MAX_FILE_BYTES = 200 << 20
MAX_RATIO = 200  # unpacked : packed, of entries above RATIO_FROM bytes
RATIO_FROM = 10 << 20
ZSTANDARD = 93  # a zip's number of this compression, which the standard library does not unpack
ARCHIVES = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".zst")
UNREADABLE = (OSError, ValueError, NotImplementedError, RuntimeError, EOFError, zipfile.BadZipFile, zlib.error)
WORKBOOK = "an Excel workbook"
CONTENT_TYPES = "[Content_Types].xml"  # in every document of Microsoft Office
OPEN_DOCUMENT = {"mimetype", "content.xml"}  # in every document of OpenOffice and LibreOffice
KINDS = {  # an entry, and what the document then is
    "xl/workbook.xml": WORKBOOK,
    "xl/workbook.bin": "a binary Excel workbook (.xlsb; save it as .xlsx)",
    "word/document.xml": "a Word document",
    "ppt/presentation.xml": "a PowerPoint presentation",
}
MAGIC = b"\x1f\x8b"
GZIP_CHUNK = 1 << 20


@dataclass(frozen=True)
class Entry:
    """A file in a folder or zip; `name` is relative to it, with forward slashes."""

    name: str
    size: int
    open: Callable[[], IO[bytes]]
    _accounted: set[bool] = field(default_factory=set, compare=False, repr=False)

    @property
    def is_accounted(self) -> bool:
        """Whether it was read as a whole, or the receipt says why not."""
        return bool(self._accounted)

    def account(self) -> None:
        """Say that it needs no further line in the receipt."""
        self._accounted.add(True)

    def read(self) -> bytes:
        """Return the bytes; ValueError where there are more than allowed, or not as many as declared."""
        self.account()
        if self.size > MAX_FILE_BYTES:
            raise ValueError(f"{self.size:,} bytes, more than {MAX_FILE_BYTES:,}")
        with self.open() as stream:
            data = stream.read(self.size + 1)
        if len(data) != self.size:
            raise ValueError(f"{len(data):,} bytes where {self.size:,} are declared")
        return data

    @property
    def base(self) -> str:
        """The name without folders."""
        return self.name.rsplit("/", 1)[-1]

    @property
    def stem(self) -> str:
        """The name without folders and extension."""
        return os.path.splitext(self.base)[0]

    @property
    def suffix(self) -> str:
        """The extension in lower case, with its dot."""
        return os.path.splitext(self.base)[1].lower()

    @property
    def hidden(self) -> bool:
        """Whether the operating system made the file: .DS_Store, __MACOSX/…"""
        return any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(self.name).parts)


@contextmanager
def open_entries(place: Path, file: str, problems: list[InputProblem]) -> Iterator[list[Entry]]:
    """Yield the files of a folder or zip, readable inside the block; refused entries are added to `problems`.

    Raises one of UNREADABLE where there is neither a folder nor a zip.
    """
    if place.is_dir():
        yield _folder_entries(place, file, problems)
        return
    with open_regular(place) as file_of_zip, zipfile.ZipFile(file_of_zip) as archive:
        yield zip_entries(archive, file, problems)


def _folder_entries(folder: Path, file: str, problems: list[InputProblem]) -> list[Entry]:
    entries: list[Entry] = []
    for root, folders, names in os.walk(folder):  # does not follow links to folders
        folders.sort()
        for place in (Path(root) / base for base in sorted(names)):
            if place.is_symlink() or not place.is_file():
                continue
            name = place.relative_to(folder).as_posix()
            # opened without following: it may have become a link or a pipe since
            entries.append(Entry(name, place.stat().st_size, partial(open_regular, place, follow=False)))
            if len(entries) > MAX_ENTRIES:
                problems.append(InputProblem(file, f"more than {MAX_ENTRIES:,} files", f"at most {MAX_ENTRIES:,}"))
                return []
    return entries


def zip_entries(
    archive: zipfile.ZipFile, file: str, problems: list[InputProblem], kind: Kind = "archive"
) -> list[Entry]:
    """Return the archive's files; every refused entry and every exceeded limit is a problem.

    The declared sizes are what counts, since no more than declared is ever read of an entry.
    """
    infos = archive.infolist()
    total = sum(info.file_size for info in infos)
    decoded = Decoded(file, size_of(archive), kind)
    if len(infos) > MAX_ENTRIES:
        problems.append(InputProblem(file, f"{len(infos):,} entries", f"at most {MAX_ENTRIES:,}"))
    if total > decoded.most:
        problems.append(decoded.problem())
    entries: list[Entry] = []
    seen: set[str] = set()
    for info in infos[:MAX_ENTRIES]:
        refused = _refused(info, seen)
        if refused:
            problems.append(InputProblem(file, f"entry {info.filename!r}: {refused}", "a zip of plain files"))
        seen.add(info.filename)
        if not info.filename.endswith("/"):
            entries.append(Entry(info.filename.replace("\\", "/"), info.file_size, partial(_unpacked, archive, info)))
    return entries


def size_of(archive: zipfile.ZipFile) -> int:
    """Return the bytes of the archive itself."""
    file: Any = archive.fp
    return int(file.seek(0, os.SEEK_END))


def _unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> IO[bytes]:
    """Open an entry, also one compressed with Zstandard, of which at most one byte more than declared is unpacked."""
    if info.compress_type != ZSTANDARD:
        return archive.open(info)
    file: Any = archive.fp
    file.seek(info.header_offset)
    header = file.read(30)
    if header[:4] != b"PK\x03\x04":
        raise zipfile.BadZipFile(f"no header of {info.filename!r}")
    file.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), os.SEEK_CUR)
    packed = io.BytesIO(file.read(info.compress_size))
    with pa.CompressedInputStream(packed, "zstd") as stream:
        data = stream.read(info.file_size + 1)
    if zlib.crc32(data) != info.CRC:
        raise zipfile.BadZipFile(f"Bad CRC-32 for file {info.filename!r}")
    return io.BytesIO(data)


def _refused(info: zipfile.ZipInfo, seen: set[str]) -> str:
    name = info.filename.replace("\\", "/")
    if not name:
        return "no name"
    parts = PurePosixPath(name).parts
    if name.startswith("/") or ".." in parts or (parts and ":" in parts[0]) or "\0" in name:
        return "a path that leaves the archive"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "a symbolic link"
    if info.filename in seen:
        return "the same name twice"
    if name.lower().endswith(ARCHIVES):
        return "an archive in the archive"
    if info.flag_bits & 1:
        return "encrypted"
    if info.file_size > MAX_FILE_BYTES:
        return f"{info.file_size:,} bytes, more than {MAX_FILE_BYTES:,}"
    if info.file_size > RATIO_FROM and info.file_size > MAX_RATIO * max(1, info.compress_size):
        return f"compressed more than {MAX_RATIO} : 1"
    return ""


def is_office(names: set[str]) -> bool:
    """Return whether a zip with these entries is an Office document, not a folder of files."""
    return CONTENT_TYPES in names or names >= OPEN_DOCUMENT


def office_kind(data: pa.Buffer) -> str:
    """Return what a zip is, as a noun: the kind of Office document, or an archive."""
    try:
        with zipfile.ZipFile(pa.BufferReader(data)) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return "a damaged zip archive or Office document"
    if names >= OPEN_DOCUMENT:
        return "an OpenDocument file (save a spreadsheet as .xlsx or CSV)"
    return next((kind for entry, kind in KINDS.items() if entry in names), "a zip archive")


def is_gzip(data: pa.Buffer) -> bool:
    """Return whether the bytes begin as gzip's."""
    return bytes(data[: len(MAGIC)]) == MAGIC


def unpacked(name: str, data: pa.Buffer) -> pa.Buffer:
    """Return the content of a gzip file; InputError where it is damaged, too large, or compressed beyond the limit."""
    content, decoded = bytearray(), Decoded(name, data.size, "gzip")
    try:
        with gzip.GzipFile(fileobj=pa.BufferReader(data)) as stream:
            while chunk := stream.read(GZIP_CHUNK):
                decoded.add(len(chunk) + CELL * chunk.count(b","))  # which may be nothing but empty cells
                content += chunk
    except (OSError, EOFError, zlib.error) as error:
        raise _error(name, f"gzip that cannot be read ({error})", "a complete .gz file") from None
    if not content:
        raise _error(name, "an empty file in gzip", "a file with content")
    return pa.py_buffer(content)


def _error(name: str, found: str, expected: str) -> InputError:
    return InputError([InputProblem(name, found, expected)])
