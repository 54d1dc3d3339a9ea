"""A monitor's results as tables: the pass rate window by window, and the latest failures."""

from typing import TYPE_CHECKING

from metrics.monitoring.monitor_status import OVERALL, Key, Standing, judged_metrics
from metrics.monitoring.monitor_store import Monitor

if TYPE_CHECKING:
    import pandas as pd

WINDOWS = 200  # of a trend, the latest
FAILURES = 50
OVERALL_SQL = """
    SELECT "window", count(*) FILTER (passed) AS passed, count(passed) AS judged, count(*) AS sampled,
           min("at") AS first_at, min(number) AS first_number
    FROM samples GROUP BY "window" ORDER BY "window" DESC LIMIT ?"""
METRIC_SQL = """
    SELECT "window", count(*) FILTER (scores.passed) AS passed, count(scores.passed) AS judged, count(*) AS sampled,
           min("at") AS first_at, min(number) AS first_number
    FROM scores JOIN samples USING (number) WHERE evaluator = ? AND metric = ?
    GROUP BY "window" ORDER BY "window" DESC LIMIT ?"""


def trend(monitor: Monitor, key: Key = OVERALL, most: int = WINDOWS) -> "pd.DataFrame":
    """Return the latest windows, the oldest first: window, begins, passed, judged, sampled, unscored, rate, low, high,
    health.

    `begins` is a moment for windows of time and for lines with a time, else None; `first_number` is the number of the
    first sample. `low` and `high` are Wilson's 95 % interval. `key`: all together, or one evaluator and metric.
    """
    import pandas as pd

    asked = [most] if key == OVERALL else [*key, most]
    frame = monitor.query(OVERALL_SQL if key == OVERALL else METRIC_SQL, asked).iloc[::-1].reset_index(drop=True)
    window, minimum = monitor.window, monitor.spec.minimum
    rows = []
    for row in frame.to_dict("records"):
        judged, sampled = int(row["judged"]), int(row["sampled"])
        standing = Standing.of(key, int(row["passed"]), judged, sampled - judged, minimum)
        begins = window.begins(int(row["window"])) or (
            None if pd.isna(row["first_at"]) else row["first_at"].tz_localize("UTC")
        )
        rows.append(
            {
                "window": int(row["window"]), "begins": begins, "first_number": int(row["first_number"]),
                "sampled": sampled,
                "passed": standing.passed, "judged": standing.judged, "unscored": standing.unscored,
                "rate": standing.rate, "low": standing.low, "high": standing.high, "health": standing.health.value,
            }
        )  # fmt: skip
    names = "window begins first_number sampled passed judged unscored rate low high health".split()
    return pd.DataFrame(rows, columns=names)


def failures(monitor: Monitor, window: int | None = None, most: int = FAILURES) -> "pd.DataFrame":
    """Return the latest samples, or those of one window, that did not pass, the newest first.

    `failed` names the evaluators that the case fails, with the values of their primary metrics. Texts are previews, cut
    at 200 characters and without secrets.
    """
    held = judged_metrics(monitor.spec.chosen).items()
    primary = [f"{evaluator}.{name}" for (evaluator, name), (metric, _) in held if metric.primary]
    return monitor.query(
        """WITH latest AS (SELECT * FROM samples WHERE passed = false AND coalesce("window" = ?, true)
                           ORDER BY number DESC LIMIT ?)
           SELECT latest.number, "at", source, line, id, model, question, answer,
                  string_agg(scores.evaluator || ' ' || printf('%.3g', scores.value), ', ' ORDER BY scores.evaluator)
                      FILTER (scores.passed = false) AS failed
           FROM latest JOIN scores USING (number)
           WHERE list_contains(?, scores.evaluator || '.' || scores.metric)
           GROUP BY ALL ORDER BY latest.number DESC""",
        [window, most, primary],
    )
