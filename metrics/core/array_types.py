"""The types of arrays."""

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Int32s = NDArray[np.int32]
Ints = NDArray[np.int64]
Singles = NDArray[np.float32]
Floats = NDArray[np.float64]
Numbers = Int32s | Ints | Floats
