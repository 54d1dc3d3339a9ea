"""Arrow columns as NumPy arrays without pandas, whose import the start page cannot wait for."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def numbers(column: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    """Return the numbers [n] of a column without nulls; Arrow's own `to_numpy` would import pandas."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    whole = pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole
    return np.from_dlpack(whole) if len(whole) else np.zeros(0, np.int64)
