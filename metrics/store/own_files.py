"""What may be in a workspace: files and folders of its own, and the names of those that a sealed run consists of.

Whoever else can write to it, such as a tool that unpacks or synchronises, could make a run's table a link to a file of
another place, which would be shown, exported or sent; or a pipe, which is never read to its end. So below a workspace's
folder, which may be a link itself, no link is followed.
"""

import os
import re
import time
from functools import lru_cache
from pathlib import Path

from metrics.core.errors import RunCorrupt
from metrics.core.files import PRIVATE
from metrics.store.manifest import SETTLED

REMOTE = "remote.json"  # in a workspace that is the local copy of one at a URL: which
RUN_FILES = ("spec.json", "manifest.json", "progress.json", "judge.json")
SUITE_FILES = ("suite.json", "cases.parquet", "annotations.parquet")
OUTPUTS_FILES = ("outputs.json", "targets.json", "outputs.parquet", "predictions.parquet")
INPUTS = tuple(  # the tables of suite and outputs
    f"{kind}/{name}"
    for kind, names in (("suite", SUITE_FILES), ("outputs", OUTPUTS_FILES))
    for name in names
    if name.endswith(".parquet")
)
MEDIA, ARTIFACTS = "suite/media/", "outputs/artifacts/"
NAMES = "|".join(  # a pattern of every name; the part of a name that is not ours is a plain file name
    (
        rf"run/(?:{'|'.join(map(re.escape, RUN_FILES))})",
        r"run/tables/[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)?\.parquet",
        rf"suite/(?:{'|'.join(map(re.escape, SUITE_FILES))})",
        rf"outputs/(?:{'|'.join(map(re.escape, OUTPUTS_FILES))})",
        r"suite/media/[A-Za-z0-9_-][A-Za-z0-9_.-]*",
        r"outputs/artifacts/[0-9a-f]{32}",
    )
)

# all that a workspace has; its folder may have been there before, and have other things of the user's
FOLDERS = (
    "bin", "boards", "cache", "completions", "drafts", "groups", "labels", "listings", "logs", "monitors", "outputs",
    "plugins", "preferences", "questions", "reviews", "runs", "suites", "targets", "thumbnails", "turns", "uploads",
)  # fmt: skip


def own_folder(root: Path, *names: str) -> Path:
    """Return the folder of these names below the workspace's folder `root`, missing or not.

    Raises RunCorrupt where it is reached by a link, or anything in it is a link, a pipe or a device.
    """
    folder = root
    for name in names:
        folder = folder / name
        if folder.is_symlink():
            raise _refused(folder)
    if (found := _foreign(folder)) is not None:
        raise _refused(Path(found))
    return folder


def tighten(root: Path) -> None:
    """Make the folders of a workspace readable by their owner only; earlier versions left that to the umask."""
    for name in FOLDERS:
        folder = root / name
        if folder.is_dir() and not folder.is_symlink() and folder.stat().st_mode & 0o077:
            folder.chmod(PRIVATE)


def _refused(path: Path) -> RunCorrupt:
    kind = f"a link to {os.readlink(path)}" if path.is_symlink() else "a pipe or a device"
    return RunCorrupt(f"{path} is {kind}; in a workspace only its own files are read: remove it, or put the file there")


def _foreign(folder: Path | str) -> str | None:
    """Return the first path in a folder and those below that is neither a file nor a folder; None without one."""
    try:
        changed = os.stat(folder).st_mtime_ns
    except (FileNotFoundError, NotADirectoryError):
        return None
    look = _entries if time.time_ns() - changed > SETTLED else _entries.__wrapped__
    foreign, folders = look(str(folder), changed)
    return foreign or next(filter(None, map(_foreign, folders)), None)


@lru_cache(maxsize=4096)
def _entries(folder: str, changed: int) -> tuple[str | None, tuple[str, ...]]:  # noqa: ARG001 - a part of the cache's key
    """Return the first entry that is neither a file nor a folder, and the folders."""
    folders = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            elif not entry.is_file(follow_symlinks=False):
                return entry.path, ()
    return None, tuple(folders)
