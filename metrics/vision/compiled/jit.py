"""The decorator that compiles a loop, by numba. Import on use, as numba takes half a second."""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import gettempdir
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserWideCacheLocator
from numba.core.runtime import rtsys

from metrics.core.errors import StorageError
from metrics.core.files import PRIVATE, make_folder
from metrics.core.installation import cache_folder

int64 = cast(Callable[[Any], int], np.int64)  # around constants: a loop is compiled again for each one it is given
Function = TypeVar("Function", bound=Callable[..., Any])
HERE = Path(__file__).parent
ROOT = 0  # the user


def compiled(function: Function) -> Function:
    """Return `function` as machine code, built at the first call with arguments of these types and kept on disk.

    Calls release the interpreter lock. numba's own threads are not used, since a process pool may fork.
    """
    loop = njit(nogil=True, error_model="numpy")(function)
    with suppress(RuntimeError, OSError):  # there is no folder to keep code in
        loop._cache = _Kept(function)
    return cast(Function, loop)


class _Locator(UserWideCacheLocator):  # type: ignore[misc]
    """Where code is kept: $NUMBA_CACHE_DIR alone, else in the user's cache, or with temporary files.

    Never beside the source, which may be read-only or shared. A folder of ours that another user owns or can write to
    is passed over: what is in it would be run.
    """

    def __init__(self, function: Any, file: str) -> None:
        super().__init__(function, file)
        self._cache_path = str(_folder() / self.get_suitable_cache_subpath(file))

    def ensure_cache_path(self) -> None:
        os.makedirs(self._cache_path, mode=PRIVATE, exist_ok=True)

    def get_source_stamp(self) -> bytes:
        """Return the digest of the loop's file and of all here: one loop may call another."""
        return _source_digest(self._py_file)


class _Implementation(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Locator,)


class _Kept(FunctionCache):  # type: ignore[misc]
    """numba's cache, for which code that cannot be read or stored is code that has to be built."""

    _impl_class = _Implementation

    def load_overload(self, signature: Any, context: Any) -> Any:
        try:
            rtsys.initialize(context)  # all that kept code needs; numba imports its compiler here, and scipy
            return self._load_overload(signature, context)
        except Exception:  # whatever unpickling makes of a damaged file
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, signature: Any, data: Any) -> None:
        with suppress(Exception):
            super().save_overload(signature, data)


@cache
def _folder() -> Path:
    """Return the folder of compiled code; OSError where none can be had."""
    if given := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(given)
    for folder in _own_folders():
        with suppress(OSError, StorageError):
            status = make_folder(folder).stat()
            if status.st_uid in (ROOT, os.getuid()) and not status.st_mode & 0o022:
                return folder
    raise FileNotFoundError("no folder of this user's own for compiled code")


def _own_folders() -> Iterator[Path]:
    with suppress(RuntimeError):  # a user without a home
        yield cache_folder() / "compiled"
    with suppress(FileNotFoundError):  # no place for temporary files
        yield Path(gettempdir()) / f"assay-{os.getuid()}"


@cache
def _source_digest(file: str) -> bytes:
    return sha256(b"".join(path.read_bytes() for path in [Path(file), *sorted(HERE.glob("*.py"))])).digest()
