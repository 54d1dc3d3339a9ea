"""The names of the tables of a run as `export` knows them; light enough for the command line."""

from typing import Literal, get_args

What = Literal[
    "aggregates", "scores", "curves", "matches", "judgements", "problems", "insights", "flips", "flip_rates",
    "compliance", "slices",
]  # fmt: skip
WHATS: tuple[What, ...] = get_args(What)
