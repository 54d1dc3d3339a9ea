"""A faster import of numba, for processes that only run the loops of this folder.

numba's array module tries to import scipy's BLAS, on which its matrix products rest. No loop here has one, and that
import is a quarter of the start-up of a fresh process (.84 s of processor time without it, 1.14 s with it).
"""

import importlib
import importlib.util
import sys
import threading
from typing import Any

ARRAYS = "numba.np.arraymath"
BLAS = "scipy.linalg.cython_blas"


def import_numba_without_blas() -> None:
    """Import numba's array functions while an import of scipy's BLAS fails at once.

    Nothing is done where either is imported already, or where another thread could import scipy in the meantime.
    """
    if {BLAS, ARRAYS} & sys.modules.keys() or threading.active_count() > 1:
        return
    sys.modules[BLAS] = None  # type: ignore[assignment]  # makes an import of it fail
    try:
        arrays: Any = importlib.import_module(ARRAYS)
    finally:
        del sys.modules[BLAS]
    arrays._HAVE_BLAS = importlib.util.find_spec("scipy") is not None  # for other users of numba in this process
