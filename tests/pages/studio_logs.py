"""What the studios of the browser tests write to standard error, while they run."""

import tempfile
from pathlib import Path

READ: dict[Path, int] = {}  # log → how much of it has been read


def new() -> Path:
    """Return the file for the standard error of one more studio."""
    with tempfile.NamedTemporaryFile(prefix="studio-", suffix=".log", delete=False) as file:
        READ[Path(file.name)] = 0
    return Path(file.name)


def unread() -> str:
    """Return what all studios have written since this was last asked for."""
    said = []
    for log, start in READ.items():
        content = log.read_bytes()
        said.append(content[start:].decode(errors="replace"))
        READ[log] = len(content)
    return "".join(said)
