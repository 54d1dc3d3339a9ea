"""The measured agreement of the known local judge with people.

Measured by `python -m tests.benchmarks.bench_local_judge`. The thresholds were chosen on the bundled sample alone; of
two wordings of the question about claims, the better one on twelve MT-RAG answers.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measured:
    """A statistic with its 95 % interval: of which metric, what it is, on how many answers of which data."""

    metric: str
    what: str
    value: float
    low: float
    high: float
    n: int
    data: str


MEASURED = (
    Measured(
        "no_answer", "Share of answers and refusals classified correctly", 0.963, 0.936, 0.979, 300,
        "CLAPNQ's answers and refusals in eight wordings of our own",
    ),
    Measured(
        "faithfulness", "Spearman's ρ with the mean of three raters", 0.491, 0.167, 0.688, 99,
        "MT-RAG, the cases with the shortest passages",
    ),
)  # fmt: skip
