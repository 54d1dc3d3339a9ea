"""Files that a user names: opened without waiting, and only where they are files.

A pipe without a writer would wait for ever, a device such as /dev/zero has no end; inputs are also read twice, by their
first bytes to tell the format, which a pipe cannot be.
"""

import errno
import os
import stat
from io import BufferedReader, TextIOWrapper
from pathlib import Path

PIPE = "a pipe, which can be read only once: save it to a file first"
OTHER = {stat.S_IFDIR: "a folder", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}


def open_regular(path: str | Path, follow: bool = True) -> BufferedReader:
    """Return the file, open for reading its bytes; a link leads to its file, unless `follow` is False.

    Raises OSError, whose `strerror` says why, for what is no regular file: a folder, pipe, socket or device. What was
    opened is looked at, not the path, which may be another file by then.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC  # without O_NONBLOCK a pipe would wait here
    descriptor = os.open(path, flags if follow else flags | os.O_NOFOLLOW)
    kind = stat.S_IFMT(os.fstat(descriptor).st_mode)
    if kind != stat.S_IFREG:
        os.close(descriptor)
        code = errno.EISDIR if kind == stat.S_IFDIR else errno.EINVAL
        raise OSError(code, PIPE if kind == stat.S_IFIFO else OTHER.get(kind, "no regular file"), str(path))
    return os.fdopen(descriptor, "rb")


def bytes_of(path: str | Path) -> bytes:
    """Return the bytes of a regular file; OSError as `open_regular`."""
    with open_regular(path) as stream:
        return stream.read()


def text_of(path: str | Path, encoding: str = "utf-8") -> str:
    """Return the text of a regular file, every line end as "\\n"; OSError as `open_regular`, or UnicodeDecodeError."""
    with TextIOWrapper(open_regular(path), encoding=encoding) as stream:
        return stream.read()
