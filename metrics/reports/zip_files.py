"""Files as a zip in memory: equal files give equal bytes."""

import io
import zipfile
from collections.abc import Iterable

EPOCH = (1980, 1, 1, 0, 0, 0)  # the time of every file


def pack(files: Iterable[tuple[str, bytes]]) -> bytes:
    """Return a zip of files, each its name and content, in their order."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files:
            archive.writestr(zipfile.ZipInfo(name, EPOCH), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
