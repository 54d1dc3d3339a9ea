"""What a suite that is not yet made could tell."""

from metrics.stats import power
from metrics.stats.power import Aim, Kind


def sample_aim(
    kind: Kind, expected: float, passing: float, group: float, icc: float, repeats: int, noise: float
) -> Aim:
    """Return how precise a number of that kind is by cases in groups, with repeats: see metrics.stats.power."""
    return power.aim(kind, expected, passing, power.design_effect(group, icc, repeats, noise))
