"""How many random data sets a comparison with another implementation takes."""

import os

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"


def seeds(usual: int, every: int) -> range:
    """Return the seeds of `every` data set with the profile `long`, else of the first `usual`."""
    return range(every if LONG else usual)


def least_covered(draws: int) -> int:
    """Return how many of so many 95 % intervals hold the truth, less what chance takes away (3.1 standard errors)."""
    return int(draws * 0.95 - 3.1 * (draws * 0.95 * 0.05) ** 0.5)
