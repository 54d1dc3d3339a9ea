"""Sets of preferences between two models' answers, by file, rater and judge; see metrics.store.given_rows."""

from collections.abc import Mapping, Sequence
from typing import Any

from metrics.core.preference_schema import PREFERENCE_KEY, PREFERENCES
from metrics.store.given_rows import GivenRows


class Preferences(GivenRows):
    """The preferences of a run's data (schema PREFERENCES), the same for every run of the same suite and outputs."""

    kind = "preferences"
    schema = PREFERENCES
    key = PREFERENCE_KEY

    def give(self, row: Mapping[str, Any]) -> None:
        """Store a person's preference (see preference_schema.preference) in place of the earlier one."""
        self.keep([row], row["rater"])

    def withdraw(self, row: Mapping[str, Any]) -> None:
        """Remove a person's preference; nothing happens where there is none."""
        self.drop(tuple(row[name] for name in PREFERENCE_KEY), row["rater"])

    def judged(self, rows: Sequence[Mapping[str, Any]], judge: str) -> None:
        """Store a judge's preferences in place of its earlier ones of the same cases, pairs and orders."""
        if rows:
            self.keep(rows, judge, "judge")
