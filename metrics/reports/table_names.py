"""The names of the tables of a run and of the formats they are written in; light enough for the command line."""

from typing import Literal, get_args

What = Literal[
    "aggregates", "scores", "curves", "matches", "judgements", "problems", "insights", "flips", "flip_rates",
    "compliance", "slices",
]  # fmt: skip
Format = Literal["json", "csv", "parquet"]
WHATS: tuple[What, ...] = get_args(What)
FORMATS: tuple[Format, ...] = get_args(Format)
