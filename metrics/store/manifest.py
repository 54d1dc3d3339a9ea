"""The manifest that seals a run, and checksums of stored files: computed when a file is first opened, and again only
when it has changed since.

`sha256` in it is that of everything else in it. Manifests of earlier versions have none, and are read without.
"""

import hashlib
import json
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import lru_cache, wraps
from pathlib import Path
from stat import S_ISREG
from typing import Any, TypeVar

from metrics.core.errors import stored_at
from metrics.core.files import is_half_made, sha256_of, write_json
from metrics.store.stored_facts import OWN, SealFacts, facts_of, plain_of

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
    found = sorted(
        (path.name, path.stat().st_size) for path in folder.iterdir() if path.is_file() and not is_half_made(path.name)
    )
    return {"files": len(found), "bytes": sum(size for _, size in found), "sha256": content_digest(found)}


FILE = "manifest.json"


def own_digest(facts: Mapping[str, Any], without: Collection[str] = (OWN,)) -> str:
    """Return the sha256 (hex) of a stored file's facts, but for its own and others that may change."""
    return content_digest({name: value for name, value in facts.items() if name not in without})


def write_manifest(folder: Path, facts: Mapping[str, Any]) -> None:
    """Seal a run: write its manifest, with a checksum of its own."""
    write_sealed(folder / FILE, facts)


def write_sealed(path: Path, facts: Mapping[str, Any]) -> None:
    """Write facts as JSON with a checksum of their own, whole or not at all."""
    plain = json.loads(json.dumps(facts))
    write_json(path, plain | {OWN: own_digest(plain)})


def read_sealed(path: Path) -> Any:
    """Return the facts in a file that `write_sealed` or, without a checksum, an earlier version wrote; None without it.

    Raises ValueError saying what is wrong with them.
    """
    with suppress(FileNotFoundError), stored_at(path):
        found = plain_of(path.read_text(encoding="utf-8"))
        if isinstance(found, dict) and found.pop(OWN, None) not in (None, own_digest(found)):
            raise ValueError(f"it was changed: its own {OWN} differs")
        return found
    return None


def check_digest(path: Path, sealed: str | None) -> Path:
    """Return a file that has the sha256 that was sealed; None: an earlier version sealed none. Raises ValueError."""
    if sealed is not None and digest_of(path) != sealed:
        raise ValueError("it was changed: it differs from its seal")
    return path


def read_manifest(folder: Path) -> Mapping[str, Any] | None:
    """Return the manifest in a folder, shared and read-only; None without one.

    Raises ValueError saying what is wrong with it, OSError where it cannot be read.
    """
    try:
        return _read_manifest(folder / FILE)
    except FileNotFoundError:
        return None


def has_manifest(folder: Path) -> bool:
    """Return whether there is a manifest in a folder that can be read."""
    try:
        return read_manifest(folder) is not None
    except (OSError, ValueError, RecursionError):
        return False


@cache_by_file
def _read_manifest(path: Path) -> Mapping[str, Any]:
    return checked(path.read_text(encoding="utf-8"))


def checked(text: str) -> Mapping[str, Any]:
    """Return the manifest with that text. Raises ValueError saying what is wrong with it."""
    return facts_of(text, SealFacts, own_digest)
