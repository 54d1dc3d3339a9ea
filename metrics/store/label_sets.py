"""Sets of people's labels of outputs, by file and by rater; see metrics.store.given_rows."""

from metrics.core.label_schema import LABEL_KEY, LABELS, Sampling
from metrics.store.given_rows import GivenRows


class Labels(GivenRows):
    """The labels of a run's data (schema LABELS), the same for every run of the same suite and outputs."""

    kind = "labels"
    schema = LABELS
    key = LABEL_KEY

    def give(
        self, case_id: str, model: str, rater: str, criterion: str, value: float | None, sampling: Sampling,
        scale: tuple[float, float] = (0.0, 1.0),
    ) -> None:  # fmt: skip
        """Store one label that a rater gives on the page, on a scale; it replaces the rater's earlier one."""
        row = {
            "case_id": case_id, "model": model, "rater": rater, "criterion": criterion, "value": value,
            "low": scale[0], "high": scale[1], "sampling": sampling,
        }  # fmt: skip
        self.keep([row], rater)

    def withdraw(self, case_id: str, model: str, rater: str, criterion: str) -> None:
        """Remove a label that a rater gave on the page; nothing happens where there is none."""
        self.drop((case_id, model, rater, criterion), rater)
