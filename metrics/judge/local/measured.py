"""The measured agreement of the known local judge with people.

Measured by `python -m tests.benchmarks.bench_local_judge` on data that its calibration has not seen. What is not
measured says so beside its number.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from metrics.judge.local.install import LOCAL


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

    @property
    def short(self) -> str:
        """The figure in a few words."""
        return f"{self.what} {self.value:.2f} [{self.low:.2f}, {self.high:.2f}], n {self.n}, {self.data}"


UNMEASURED = "unmeasured with this judge"
MEASURED = (
    Measured(
        "no_answer", "Share of answers and refusals classified correctly", 0.963, 0.936, 0.979, 300,
        "CLAPNQ's answers and refusals in eight wordings of our own",
    ),
    Measured(
        "faithfulness", "AUC of telling right from wrong answers", 0.905, 0.824, 0.961, 120,
        "answers to questions about passages, written for this",
    ),
    Measured(
        "faithfulness", "AUC of telling attributed responses from others", 0.832, 0.740, 0.928, 60,
        "BEGIN, Wizard of Wikipedia",
    ),
    Measured(
        "answer_relevance", "AUC of telling answers from answers to another question", 0.979, 0.947, 0.999, 90,
        "sentences about passages, written for this",
    ),
    Measured(
        "context_relevance", "AUC of telling passages that answer from others on the subject", 0.918, 0.848, 0.971, 100,
        "CLAPNQ",
    ),
    Measured(
        "context_precision", "Share of contexts classified correctly", 0.917, 0.850, 0.983, 60,
        "a question's own passage and another's, written for this",
    ),
)  # fmt: skip


def agreement(evaluator: str, model: str, prompts: Mapping[str, str]) -> str:
    """Return the measured agreement of a local judge's scores of an evaluator with people, in words, or UNMEASURED.

    Measured is the known model with its own questions, not another file, nor prompts of the user's own.
    """
    found = [row.short for row in MEASURED if row.metric == evaluator] if model == LOCAL and not prompts else []
    return "; ".join(found) or UNMEASURED
