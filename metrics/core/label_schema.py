"""The tables of labels and of preferences that people and judges give: columns, keys, how cases were sampled."""

from datetime import UTC, datetime
from typing import Literal

import pyarrow as pa

Sampling = Literal["random", "drawn", "weighted", "picked", "seen", "unknown"]
SAMPLINGS: dict[Sampling, str] = {
    "random": "the file's cases are a random sample of the suite's, or all of them",
    "drawn": "the studio drew the case at random and asked for it",
    "weighted": "the queue, or `labels next`, drew the cases with stored chances, higher where scores leave doubt",
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
By = Literal["people", "judge"]
CRITERION = "quality"  # where nobody names another
BOTH_BAD = "both bad"  # the note of a tie of two bad answers
PREFERENCES = pa.schema(
    [
        ("case_id", pa.string()),
        ("model_a", pa.string()),  # of the two models, the one whose name sorts first
        ("model_b", pa.string()),
        ("rater", pa.string()),  # a person, or the judge
        ("by", pa.string()),  # see By
        ("criterion", pa.string()),
        ("outcome", pa.float64()),  # 1: model_a's answer is preferred, 0: model_b's, 0.5: a tie
        ("shown_first", pa.string()),  # the model whose answer stood first or left; null: unknown
        ("note", pa.string()),  # BOTH_BAD, or the judge's reason
        ("given", pa.string()),  # ISO 8601, UTC
        ("number", pa.int64()),  # counts the rows added to a run's preferences; null before they are
        ("turn", pa.string()),  # of a judge, who compares both orders, shown_first; else ""
    ]
)
# of two preferences with the same key, the later number counts
PREFERENCE_KEY = ("case_id", "model_a", "model_b", "rater", "by", "criterion", "turn")


def now() -> str:
    """Return the current time as column `given` holds it: ISO 8601, UTC, to the microsecond."""
    return datetime.now(UTC).isoformat()


def preference(
    case_id: str,
    one: str,
    other: str,
    outcome: float,
    *,
    rater: str,
    by: By = "people",
    criterion: str = CRITERION,
    shown_first: str | None = None,
    note: str = "",
) -> dict[str, object]:
    """Return a row of PREFERENCES, not yet given nor numbered; `outcome` is that of `one`: 1, 0.5 or 0."""
    a, b = sorted((one, other))
    return {
        "case_id": case_id,
        "model_a": a,
        "model_b": b,
        "rater": rater,
        "by": by,
        "criterion": criterion,
        "outcome": outcome if a == one else 1 - outcome,
        "shown_first": shown_first,
        "note": note,
        "turn": (shown_first or "") if by == "judge" else "",
    }
