"""Checksums of stored files: computed when a file is first opened, and again only when the file has changed since."""

import hashlib
import json
import time
from collections.abc import Callable
from functools import lru_cache, wraps
from pathlib import Path
from stat import S_ISREG
from typing import Any, TypeVar

from metrics.core.files import sha256_of

T = TypeVar("T")
# ns; a file or folder changed since may change again without its times showing it: disks count in ticks
SETTLED = 2_000_000_000


def cache_by_file(function: Callable[[Path], T]) -> Callable[[Path], T]:
    """Return a function of a file whose answers are kept in this process while inode, size and times are the same.

    It raises OSError for what is no file: one would wait for the writer of a pipe.
    """

    @lru_cache(maxsize=4096)
    def answer_of(path: str, *_: int) -> T:
        return function(Path(path))

    @wraps(function)
    def answer(path: Path) -> T:
        facts = path.stat()
        if not S_ISREG(facts.st_mode):
            raise OSError(f"{path.name} is no file")
        changed = max(facts.st_mtime_ns, facts.st_ctime_ns)  # the second cannot be set back
        if time.time_ns() - changed < SETTLED:
            return function(path)
        return answer_of(str(path), facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)

    return answer


@cache_by_file
def digest_of(path: Path) -> str:
    """Return the sha256 (hex) of a file's bytes."""
    return sha256_of(path)


def content_digest(content: Any) -> str:
    """Return the sha256 (hex) of plain data, whatever the order of its keys and the spaces in its file."""
    return hashlib.sha256(canonical(content)).hexdigest()


def canonical(content: Any) -> bytes:
    """Return plain data as JSON that is the same for equal data."""
    return json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def file_facts(path: Path) -> dict[str, Any]:
    """Return bytes and sha256 of a file, as a seal states them."""
    return {"bytes": path.stat().st_size, "sha256": digest_of(path)}


def listing_facts(folder: Path) -> dict[str, Any]:
    """Return number and bytes of the files in a folder, and the sha256 of their names and sizes; images are not read.

    They are shown and not computed with; to read gigabytes of them for each suite would cost more than it tells.
    """
    found = sorted((path.name, path.stat().st_size) for path in folder.iterdir() if path.is_file())
    return {"files": len(found), "bytes": sum(size for _, size in found), "sha256": content_digest(found)}
