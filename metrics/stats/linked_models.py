"""Which models a chain of common matches or suites links: only those can be compared."""

from collections.abc import Iterable

import numpy as np

from metrics.core.array_types import Ints


def linked_groups(met: Iterable[Ints], models: int) -> Ints:
    """Return a code [m] of the group of each of `models` models: equal where a chain links them, 0 the first's.

    met: the models, 0 … m − 1, of each match or suite.

    >>> linked_groups([np.array([0, 2]), np.array([1, 3]), np.array([3, 4])], 5).tolist()
    [0, 1, 0, 1, 1]
    """
    group = np.arange(models)
    for together in met:
        own = group[together]
        group[np.isin(group, own)] = own.min(initial=models)
    codes: Ints = np.unique(group, return_inverse=True)[1]
    return codes
