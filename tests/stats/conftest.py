"""Random numbers of the tests of statistics, and bounds that simulations ask for again and again."""

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from metrics.stats import noninferiority


@pytest.fixture
def rng() -> np.random.Generator:
    """Return the same random numbers for each test, whichever tests run before it."""
    return np.random.default_rng(1)


@pytest.fixture(autouse=True, scope="module")
def bounds_once() -> Iterator[None]:
    """Compute Clopper and Pearson's bound of each count once: it is searched for in forty steps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(noninferiority, "exact_upper", cache(noninferiority.exact_upper))
        yield
