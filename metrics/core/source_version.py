"""Which Assay this is: its version and its source, and what its numbers rest on besides."""

import hashlib
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path

LIBRARIES = ("numpy", "pyarrow", "pandas", "pydantic")
PACKAGE = Path(__file__).parents[1]


@cache
def source_version() -> dict[str, str]:
    """Return by name what must be the same wherever one run is computed: Assay, its source, Python and LIBRARIES.

    The source is 12 hex digits of the sha256 of every module; of Python the first two numbers count.
    """
    from metrics import __version__

    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        digest.update(f"{path.relative_to(PACKAGE).as_posix()}\n".encode() + path.read_bytes())
    own = {"Assay": __version__, "source of Assay": digest.hexdigest()[:12]}
    python = {"Python": ".".join(map(str, sys.version_info[:2]))}
    return own | python | library_versions()


@cache
def library_versions() -> dict[str, str]:
    """Return the versions of LIBRARIES that are installed."""
    return {name: version(name) for name in LIBRARIES}
