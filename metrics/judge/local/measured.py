"""How far the known local judge can be trusted: its verdicts against people's, as measured, good or bad.

Made by `python -m tests.benchmarks.bench_local_judge`, on data that no question or threshold was chosen by.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measured:
    """A figure with its 95 % interval: of which metric, what it is, on what data, of how many answers."""

    metric: str
    what: str
    value: float
    low: float
    high: float
    n: int
    data: str


MEASURED: tuple[Measured, ...] = ()
