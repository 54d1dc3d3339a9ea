"""The key of a leaderboard's column: evaluator/metric, and ?name=value for a metric's own columns."""

import json
from functools import lru_cache


@lru_cache(maxsize=4096)
def column_key(evaluator: str, metric: str, own: str) -> str:
    """Return the key of a metric's column; `own` is its own columns as stored, in JSON."""
    suffix = "&".join(f"{name}={short(value)}" for name, value in json.loads(own).items() if value is not None)
    return f"{evaluator}/{metric}" + (f"?{suffix}" if suffix else "")


def short(value: object) -> str:
    """Return a value of a metric's own column as text, a float without needless digits."""
    return f"{value:g}" if isinstance(value, float) else str(value)
