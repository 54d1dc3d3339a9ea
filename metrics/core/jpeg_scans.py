"""How many times a JPEG goes over its pixels, by its markers: each scan may be a few bytes, and takes as long as it."""

import re
from typing import IO

START = b"\xff\xd8"
SCAN, END = 0xDA, 0xD9
MAX_SCANS = 100  # of a JPEG that is decoded
MARKER = re.compile(rb"\xff+([^\x00\xd0-\xd7\xff])")  # others are bytes of a scan, or its restarts


def count_scans(file: IO[bytes]) -> int:
    """Return the scans of the JPEG in a file, which is left where it is; 0 for other files."""
    before = file.tell()
    file.seek(0)
    data = file.read() if file.read(2) == START else b""
    file.seek(before)
    scans = place = 0
    while (marker := MARKER.search(data, place)) is not None and marker[1][0] != END:
        scans += marker[1][0] == SCAN
        place = marker.end() + max(2, int.from_bytes(data[marker.end() : marker.end() + 2], "big"))
    return scans
