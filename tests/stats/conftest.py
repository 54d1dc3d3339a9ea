"""Random numbers of the tests of statistics."""

import numpy as np
import pytest


@pytest.fixture
def rng() -> np.random.Generator:
    """Return the same random numbers for each test, whichever tests run before it."""
    return np.random.default_rng(1)
