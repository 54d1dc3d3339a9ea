"""The decorator that compiles a loop."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit

from metrics.vision.compiled.without_blas import import_numba_without_blas

int64 = cast(Callable[[Any], int], np.int64)  # around constants: numba compiles a loop again for each one it is given
Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Return `function` as machine code, compiled at the first call on this machine.

    The cache is beside the source or, where that is read-only, in the user's cache folder or $NUMBA_CACHE_DIR.
    """
    try:
        machine_code = njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # no folder can be written: every process compiles for itself
        machine_code = njit(nogil=True, error_model="numpy")(function)
    return cast(Function, machine_code)


import_numba_without_blas()
