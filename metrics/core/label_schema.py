"""The table of labels that people give to outputs: its columns, its key, and how the labelled outputs were sampled."""

from datetime import UTC, datetime
from typing import Literal

import pyarrow as pa

Sampling = Literal["random", "drawn", "picked", "seen", "unknown"]
SAMPLINGS: dict[Sampling, str] = {
    "random": "the file's cases are a random sample of the suite's, or all of them",
    "drawn": "the studio drew the case at random and asked for it",
    "picked": "the case was picked for what it is",
    "seen": "a person chose the output and saw the judge's verdict",
    "unknown": "the file does not say how its cases were chosen",
}
LABELS = pa.schema(
    [
        ("case_id", pa.string()),
        ("model", pa.string()),
        ("rater", pa.string()),
        ("criterion", pa.string()),
        ("value", pa.float64()),  # pass 1, fail 0, or a grade; null: unsure
        ("low", pa.float64()),  # the scale the label was given on: 0 … 1 for pass and fail; null: unknown
        ("high", pa.float64()),
        ("sampling", pa.string()),  # how the case came to be labelled, see SAMPLINGS: random ones stand for the others
        ("given", pa.string()),  # ISO 8601, UTC
        ("number", pa.int64()),  # counts the rows added to a run's labels; null before they are, and in older files
    ]
)
LABEL_KEY = ("case_id", "model", "rater", "criterion")  # of two labels with the same key, the later number counts


def now() -> str:
    """Return the current time as column `given` holds it: ISO 8601, UTC, to the microsecond."""
    return datetime.now(UTC).isoformat()
