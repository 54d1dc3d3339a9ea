"""Files at a URL, by name and written whole, by cloud.py or files.py; a copy of one that the user names."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol
from urllib.parse import urlsplit

from metrics.core.errors import InputError, InputProblem, MissingResource
from metrics.core.files import make_file, temporary_folder
from metrics.core.installation import missing_extra

CLOUD = ("s3", "s3a", "gs", "az", "azure", "adl", "abfs", "abfss")  # the rest is read by fsspec
SECRETIVE = "a URL without a password, key or token: they belong into the environment or the provider's own settings"


class Objects(Protocol):
    """Objects below a URL. Every method raises RemoteError where the place cannot be used."""

    place: str  # the URL, for messages

    def size(self, name: str) -> int | None:
        """Return the bytes of an object; None where there is none."""

    def read(self, name: str) -> bytes | None:
        """Return a small object, see listing; None where there is none."""

    def copy_to(self, name: str, target: BinaryIO, size: int) -> bool:
        """Write an object of `size` bytes to a file, in pieces; return whether there is one.

        Of one that has more, hardly more is written.
        """

    def send(self, name: str, path: Path) -> None:
        """Store a file as an object, whole or not at all, in place of one of that name."""

    def create(self, name: str, content: bytes) -> bool:
        """Store a small object only where there is none of that name; return whether it did."""

    def names(self, folder: str) -> list[str]:
        """Return the names of the objects directly in a folder."""


def checked_url(url: str) -> str:
    """Return a URL without a slash at its end. InputError where it is none, or holds a password, key or token."""
    parts = urlsplit(url)
    shown = f"{parts.scheme}://{parts.hostname or ''}…"
    if not parts.scheme or not (parts.netloc or parts.path.strip("/")):
        raise InputError([InputProblem("URL", repr(url), "a URL such as s3://bucket/folder")])
    if parts.password or parts.query or parts.fragment:
        raise InputError([InputProblem("URL", shown, SECRETIVE)])
    return url.rstrip("/")


@contextmanager
def opened(url: str) -> Iterator[Objects]:
    """Yield the objects below a URL. What goes wrong with them is a RemoteError in words; InputError for the URL."""
    place = checked_url(url)
    if urlsplit(place).scheme in CLOUD:
        if reason := missing_extra(place, "remote", "obstore"):
            raise MissingResource(reason)
        from metrics.store.remote.cloud import CloudObjects, errors_in_words

        with errors_in_words(place):
            yield CloudObjects(place)
    else:
        from metrics.store.remote.files import FileObjects, errors_in_words

        with errors_in_words(place):
            yield FileObjects(place)


def local_file(path: str | Path) -> Path:
    """Return a file of this machine: the one at `path`, or a copy of the one at a URL, kept while the process lives.

    Only for what the user names: a URL inside a file is never opened. InputError where there is none, RemoteError.
    """
    if isinstance(path, Path) or "://" not in path:
        return Path(path)
    folder, _, name = checked_url(path).rpartition("/")
    with opened(folder) as place:
        size = place.size(name)
        if size is None:
            raise InputError([InputProblem(path, "no such file", "the URL of a file")])
        copy = temporary_folder("inputs") / name
        with make_file(copy).open("wb") as target:
            place.copy_to(name, target, size or sys.maxsize)  # a web server need not say it
    return copy
