"""Objects as files of any file system that fsspec knows: a mounted disk, SSH, HDFS, WebDAV, memory."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from metrics.core.errors import AssayError, MissingResource, RemoteError, storage_error
from metrics.core.files import open_regular, sync
from metrics.core.installation import missing_extra
from metrics.store.remote.listing import MAX_SMALL_OBJECT, too_long

PIECE = 8 << 20
SSH = ("ssh", "sftp")  # by sshfs: what fsspec itself has takes any server's key
CHECKED: dict[str, Any] = {"known_hosts": ()}  # of asyncssh: only the servers in ~/.ssh/known_hosts


class FileObjects:
    """The files below a URL."""

    def __init__(self, place: str):
        self.place = place
        options = CHECKED if urlsplit(place).scheme in SSH else {}
        if reason := missing_extra(place, "remote", "fsspec", *(["sshfs"] if options else [])):
            raise MissingResource(reason)
        import fsspec  # type: ignore[import-untyped]

        try:
            self._files, root = fsspec.core.url_to_fs(place, **options)
        except (ImportError, ValueError) as failure:
            raise MissingResource(f"{place}: {failure}") from None
        self._root = root.rstrip("/")

    def size(self, name: str) -> int | None:
        """Return the bytes of an object; None where there is none."""
        try:
            return int(self._files.info(self._path(name))["size"] or 0)  # a web server need not say it
        except FileNotFoundError:
            return None

    def read(self, name: str) -> bytes | None:
        """Return a small object; None where there is none."""
        try:
            with self._opened(name) as source:
                content = bytes(source.read(MAX_SMALL_OBJECT + 1))
        except FileNotFoundError:
            return None
        if len(content) > MAX_SMALL_OBJECT:
            raise too_long(self.place, name)
        return content

    def copy_to(self, name: str, target: BinaryIO, size: int) -> bool:
        """Write an object to a file; return whether there is one."""
        try:
            with self._opened(name) as source:
                left = size + 1  # one more tells that it is another file
                while left > 0 and (piece := source.read(min(left, PIECE))):
                    target.write(piece)
                    left -= len(piece)
        except FileNotFoundError:
            return False
        return True

    def send(self, name: str, path: Path) -> None:
        """Store a file as an object: written beside, then renamed."""
        with self._beside(name) as beside:
            self._files.put_file(str(path), beside)
            self._synced(beside)
            self._files.mv(beside, self._path(name))
            self._name_synced(name)

    def create(self, name: str, content: bytes) -> bool:
        """Store a small object only where there is none of that name; return whether it did.

        On a disk a link is made, which appears whole and fails where the name is taken. Elsewhere the file is opened
        to be created (mode `x`), which SSH and others refuse where it exists.
        """
        with self._beside(name) as beside:
            try:
                if "file" in self._protocols:
                    self._files.pipe_file(beside, content)
                    self._synced(beside)
                    os.link(beside, self._path(name))
                    self._name_synced(name)
                else:
                    with self._files.open(self._path(name), "xb") as target:
                        target.write(content)
            except Exception:
                if self._files.exists(self._path(name)):  # SFTP says only that it failed
                    return False
                raise
        return True

    def names(self, folder: str) -> list[str]:
        """Return the names of the files directly in a folder."""
        try:
            found = self._files.ls(self._path(folder), detail=False)
        except FileNotFoundError:
            return []
        names = [entry.rstrip("/").rpartition("/")[2] for entry in found]
        return [f"{folder}/{name}" for name in names if not name.startswith(".")]

    def _opened(self, name: str) -> Any:
        """Return an object, open for reading; on a disk only what is a file, where a pipe would wait for ever."""
        path = self._path(name)
        return open_regular(path) if "file" in self._protocols else self._files.open(path, "rb")

    @property
    def _protocols(self) -> tuple[str, ...]:
        named: str | tuple[str, ...] = self._files.protocol
        return (named,) if isinstance(named, str) else named

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _synced(self, path: str) -> None:
        """Sync a file or folder of a mounted disk; servers need no sync, they answer once the bytes are stored."""
        if "file" in self._protocols:
            sync(Path(path))

    def _name_synced(self, name: str) -> None:
        """Sync the folder of a file, and the folders above it, which may be new, so that its name is on the disk."""
        folder = Path(self._path(name)).parent
        while folder.is_relative_to(self._root):
            self._synced(str(folder))
            folder = folder.parent
        self._synced(str(folder))

    @contextmanager
    def _beside(self, name: str) -> Iterator[str]:
        """Yield a path for a file that is to become `name`; what is left of it is removed."""
        folder, _, last = self._path(name).rpartition("/")
        self._files.makedirs(folder, exist_ok=True)
        beside = f"{folder}/.{last[:16]}.{token_hex(4)}.part"
        try:
            yield beside
        finally:
            if self._files.exists(beside):
                self._files.rm_file(beside)


@contextmanager
def errors_in_words(place: str) -> Iterator[None]:
    """Put the errors of a file system in words; each has exceptions of its own."""
    try:
        yield
    except (AssayError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except PermissionError:
        raise RemoteError(f"{place}: access is denied") from None
    except Exception as failure:
        if told := storage_error(failure):  # of a disk that is mounted
            raise told from None
        if type(failure).__name__ == "HostKeyNotVerifiable":
            raise RemoteError(
                f"{place}: the server's key is not in ~/.ssh/known_hosts; connect by `ssh` once"
            ) from None
        raise RemoteError(f"{place}: {type(failure).__name__}: {_line(failure)}") from None


def _line(failure: Any) -> str:
    """Return the first line of an error, which may name a host or a file."""
    return (str(getattr(failure, "strerror", None) or failure).splitlines() or ["no reason given"])[0][:200]
