"""The evidence of a monitor: every sample passes through its session to the current pass rates."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from metrics.monitoring.current_rate import BLOCK, CurrentRate
from metrics.monitoring.health import Limits
from metrics.monitoring.monitor_status import ALONE, PASSED, UNSCORED, Judged, Key
from metrics.monitoring.sessions import Sessions

Known = tuple[float, float, str]  # the ends of the confidence sequence, and the status


class Evidence:
    """The current pass rate of every key, and the sessions that are still open."""

    def __init__(self, keys: Sequence[Key], limits: Limits, kept: Mapping[str, Any] | None = None):
        kept = kept or {"rates": [], "sessions": []}
        rates = {(evaluator, metric): rate for evaluator, metric, rate in kept["rates"]}
        self.rates = {key: CurrentRate(limits, rates.get(key)) for key in keys}
        self.sessions = Sessions(kept["sessions"] if list(rates) == list(keys) else ())

    @property
    def health(self) -> str:
        """The status of all together."""
        return next(iter(self.rates.values())).health.value

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON, from which it continues."""
        rates = [[*key, rate.as_json()] for key, rate in self.rates.items()]
        return {"rates": rates, "sessions": self.sessions.as_json()}

    def add(self, judged: Judged) -> list[list[Known]]:
        """Add samples, the oldest first; return what is known of each key after each of them."""
        found, rates = [], list(self.rates.values())
        for place, number in enumerate(judged.number.tolist()):
            at, session, passes = judged.at[place], int(judged.session[place]), judged.passes[place]
            moment, own = None if np.isnan(at) else float(at), None if session == ALONE else session
            for unit in self.sessions.add(number, moment, own, passes == PASSED, passes != UNSCORED):
                for rate, value in zip(rates, unit.values.tolist(), strict=True):
                    if value == value:  # not NaN
                        rate.add(value, number)
            if number % BLOCK == BLOCK - 1:
                for rate in rates:
                    rate.look()
            found.append([(*rate.bounds, rate.health.value) for rate in rates])
        return found


def with_bands(rows: pa.Table, known: Sequence[tuple[float | None, float | None, str | None]]) -> pa.Table:
    """Return rows of samples or scores with what is known after each; its columns are the last three."""
    bands = [pa.array([one[place] for one in known], rows.schema.types[place - 3]) for place in range(3)]
    return pa.table([*rows.columns[:-3], *bands], schema=rows.schema)
