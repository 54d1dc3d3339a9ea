"""Which Assay this is: its version and its source, and the libraries that its numbers rest on."""

import hashlib
from functools import cache
from importlib.metadata import version
from pathlib import Path

LIBRARIES = ("numpy", "pyarrow", "pandas", "pydantic")
PACKAGE = Path(__file__).parents[1]


@cache
def source_version() -> dict[str, str]:
    """Return version and source (12 hex digits of the sha256 of every module) of Assay, and LIBRARIES, by name."""
    from metrics import __version__

    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        digest.update(f"{path.relative_to(PACKAGE).as_posix()}\n".encode() + path.read_bytes())
    return {"Assay": __version__, "source of Assay": digest.hexdigest()[:12]} | {
        name: version(name) for name in LIBRARIES
    }
