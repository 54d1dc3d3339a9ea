"""What processes that died left behind in a workspace: files half written, archives half opened."""

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

UNTOUCHED = 24 * 3600  # seconds; whoever still writes has written since, on this machine or another
DEEPEST = 4  # folders below the workspace that Assay writes in
OPENED = ".import-"  # how the folder of an archive that is being opened begins


def sweep(workspace: Path) -> int:
    """Remove the half-written files and half-opened archives in a workspace that nobody has written for a day.

    Whether their process still lives cannot be asked: it may be one of another machine that shares the disk, and the
    number of a dead process is given again. Files that are whole stay, also those of a pull that broke off, which the
    next one continues. Returns how many were removed.
    """
    removed = 0
    for path in list(_half_made(workspace, DEEPEST)):
        if time.time() - _touched(path) < UNTOUCHED:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
        removed += 1
    return removed


def _half_made(folder: Path, deeper: int) -> Iterator[Path]:
    try:
        entries = list(os.scandir(folder))
    except OSError:  # removed meanwhile, or not ours to read
        return
    for entry in entries:
        is_folder = entry.is_dir(follow_symlinks=False)
        if is_folder and entry.name.startswith(OPENED):
            yield Path(entry.path)
        elif is_folder and deeper:
            yield from _half_made(Path(entry.path), deeper - 1)
        elif entry.name.startswith(".") and entry.name.endswith(".part") and not is_folder:
            yield Path(entry.path)


def _touched(path: Path) -> float:
    """Return when a file, or the last of those in a folder, was written; now where it is just being removed."""
    try:
        return max(one.lstat().st_mtime for one in (path, *path.rglob("*")))
    except FileNotFoundError:
        return time.time()
