"""A suite or outputs at a URL that the user gave, fetched into a temporary file of the same name."""

import sys
from pathlib import Path

from metrics.core.errors import InputError, InputProblem
from metrics.core.files import make_file, temporary_folder
from metrics.store.remote.objects import checked_url, opened


def local_file(path: str | Path) -> Path:
    """Return a file of this machine: the one at `path`, or a copy of the one at a URL, kept while the process lives.

    Only for what the user names: a URL inside a file is never opened. InputError where there is none, RemoteError.
    """
    if isinstance(path, Path) or "://" not in path:
        return Path(path)
    folder, _, name = checked_url(path).rpartition("/")
    with opened(folder) as place:
        size = place.size(name)
        if size is None:
            raise InputError([InputProblem(path, "no such file", "the URL of a file")])
        copy = temporary_folder("inputs") / name
        with make_file(copy).open("wb") as target:
            place.copy_to(name, target, size or sys.maxsize)  # a web server need not say it
    return copy
