"""The weights of a GGUF file of the user: by their sha256 replies are kept and runs know their judge, not by a name."""

import re
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from metrics.core.files import sha256_of

MOST_PARTS = 200
PART = re.compile(r"(?P<name>.+)-(?P<number>\d{5})-of-(?P<parts>\d{5})\.gguf", re.IGNORECASE)
State = tuple[tuple[Path, int, int, int], ...]  # of each file: path, inode, bytes, nanoseconds of the last change


def parts_of(file: Path) -> list[Path]:
    """Return the files of a model whose first file this is, there or not: one, or those numbered -00001-of-0000N."""
    part = PART.fullmatch(file.name)
    if part is None:
        return [file]
    count = min(int(part["parts"]), MOST_PARTS)
    return [file.with_name(f"{part['name']}-{number:05}-of-{part['parts']}.gguf") for number in range(1, count + 1)]


def state_of(file: Path) -> State:
    """Return what changes with the files of a model; OSError where one is absent."""
    states = ((part, part.stat()) for part in parts_of(file))
    return tuple((part.absolute(), state.st_ino, state.st_size, state.st_mtime_ns) for part, state in states)


def weights_of(file: Path) -> str | None:
    """Return the sha256 of a model's file, of several the sha256 of their sha256s; None where one cannot be read.

    Gigabytes are read once for each state of the files.
    """
    try:
        return _weights(state_of(file))
    except OSError:
        return None


@lru_cache(maxsize=64)
def _weights(state: State) -> str:
    hashes = [sha256_of(path) for path, *_ in state]
    return hashes[0] if len(hashes) == 1 else sha256("".join(hashes).encode()).hexdigest()
