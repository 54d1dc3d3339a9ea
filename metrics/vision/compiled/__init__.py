"""The loops of object detection, compiled by numba and kept in its on-disk cache. Import on use: numba takes a while.

Objects are named by their row in the input. Loops release the interpreter lock, so threads share the work; numba's own
threads stay out of it, since a process pool may fork.
"""

import importlib
import importlib.util
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]
Bytes = NDArray[np.uint8]
Function = TypeVar("Function", bound=Callable[..., Any])
ARRAYS = "numba.np.arraymath"
BLAS = "scipy.linalg.cython_blas"


def compiled(function: Function) -> Function:
    """`function` as machine code, compiled at the first call on this machine.

    The cache is beside the source or, where that is read-only, in the user's cache folder or $NUMBA_CACHE_DIR.
    """
    try:
        machine_code = njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # no folder can be written: every process compiles for itself
        machine_code = njit(nogil=True, error_model="numpy")(function)
    return cast(Function, machine_code)


def warm_up(part: int | None = None) -> None:
    """Compile every loop, or one of PARTS, into numba's cache on disk: seconds now, milliseconds ever after."""
    for compile_part in PARTS if part is None else PARTS[part : part + 1]:
        compile_part()


def _compile_matching() -> None:
    from metrics.stats import draws
    from metrics.vision import image_resampling, matching, objects, outcomes, precision_recall

    box = np.array([[0.0, 0.0, 10.0, 10.0]])
    one = objects.prepare(
        images=1, classes=1, truth_image=[0], truth_class=[0], truth_box=box,
        prediction_image=[0], prediction_class=[0], prediction_box=box, score=[0.5],
    )  # fmt: skip
    found = matching.match(one)
    precision_recall.accumulate(one, found)
    outcomes.outcomes(one, found, iou=0.5)
    ranking = precision_recall.Ranking.of(one, found)
    for precision in (True, False):
        weights = draws.draw_weights(one.truth_image, 1)
        image_resampling.resample(one, found, ranking, weights, precision=precision)


def _compile_the_rest() -> None:
    from metrics.vision import masks, segmentation
    from metrics.vision.compiled import coco_results, ranked

    zero, flag, count = np.zeros(1, np.int32), np.zeros(1, np.uint8), np.zeros(1, np.int64)
    drawn = masks.draw(masks.Shapes.of(box=np.array([[0.0, 0.0, 10.0, 10.0]])), 10, 10)
    masks.mask_iou(drawn, drawn)
    masks.encode(drawn)
    codes = segmentation.label_map(drawn, 0, 1, zero, 100, 1)
    segmentation.tally(codes, codes, 10, 1, 1)
    number = np.empty(4)
    coco_results.scan_results(flag, np.empty(1, np.int64), np.empty(1, np.int64), number, number)
    ranked.stand(zero, count, count, 1, 1, 1)
    ranked.rank_right(zero, flag, zero, flag, zero, 1)


PARTS = (_compile_matching, _compile_the_rest)  # of about the same length: as many processes compile at once


def _without_blas() -> None:
    """Load numba's array functions, which look for scipy's BLAS: no loop here needs it, and loading it takes 0.15 s.

    Only where no other thread could import scipy meanwhile.
    """
    if {BLAS, ARRAYS} & sys.modules.keys() or threading.active_count() > 1:
        return
    sys.modules[BLAS] = None  # type: ignore[assignment]  # an import of it fails at once
    try:
        arrays: Any = importlib.import_module(ARRAYS)
    finally:
        del sys.modules[BLAS]
    arrays._HAVE_BLAS = importlib.util.find_spec("scipy") is not None  # for whoever else uses numba in this process


_without_blas()
