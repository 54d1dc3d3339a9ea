"""A monitor's results as tables: the pass rate window by window, the latest failures, and the scores of a sample."""

from typing import TYPE_CHECKING

from metrics.monitoring.monitor_status import OVERALL, Key, Limits, Mean, Standing, judged_metrics
from metrics.monitoring.monitor_store import Monitor

if TYPE_CHECKING:
    import pandas as pd

WINDOWS = 200  # of a trend, the latest
FAILURES = 50
COLUMNS = (
    "window begins first_number sampled passed judged unscored rate low high health mean mean_low mean_high".split()
)


def trend(monitor: Monitor, key: Key = OVERALL, most: int = WINDOWS, limits: Limits | None = None) -> "pd.DataFrame":
    """Return the latest windows, the oldest first: COLUMNS.

    `begins` is a moment for windows of time and for lines with a time, else None; `first_number` is the number of the
    first sample. `low` and `high` are Wilson's 95 % interval; `mean`: the mean score of a metric, with its own (see
    monitor_status.Mean). `key`: all together, or one evaluator and metric. `limits`: others than the monitor's.
    """
    import pandas as pd

    judged = "samples" if key == OVERALL else "scores"
    source = "samples" if key == OVERALL else "scores JOIN samples USING (number) WHERE evaluator = ? AND metric = ?"
    values = "avg(value) AS mean, stddev_samp(value) AS deviation, count(value) AS n"
    if key == OVERALL:
        values = "NULL::DOUBLE AS mean, NULL::DOUBLE AS deviation, 0 AS n"
    frame = monitor.query(
        f"""SELECT "window", count(*) FILTER ({judged}.passed) AS passed, count({judged}.passed) AS judged,
                   {values}, count(*) AS sampled, min("at") AS first_at, min(number) AS first_number
            FROM {source} GROUP BY "window" ORDER BY "window" DESC LIMIT ?""",
        [most] if key == OVERALL else [*key, most],
    )
    windows, limits, rows = monitor.window, limits or monitor.spec.limits, []
    metric, _ = judged_metrics(monitor.spec.chosen).get(key, (None, None))
    for row in frame.iloc[::-1].to_dict("records"):
        window, known, sampled = int(row["window"]), int(row["judged"]), int(row["sampled"])
        mean, deviation = (None if pd.isna(row[name]) else float(row[name]) for name in ("mean", "deviation"))
        average = Mean.of(mean, deviation, int(row["n"]), metric)
        one = Standing.of(key, int(row["passed"]), known, sampled - known, limits, average)
        first = None if pd.isna(row["first_at"]) else row["first_at"].tz_localize("UTC")
        rows.append(
            (window, windows.begins(window) or first, int(row["first_number"]), sampled, one.passed, one.judged,
             one.unscored, one.rate, one.low, one.high, one.health.value, *average)
        )  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS)


def failures(monitor: Monitor, window: int | None = None) -> "pd.DataFrame":
    """Return the latest samples, or those of one window, that did not pass, the newest first.

    `failed` names the evaluators that the case fails, `values` the values of their primary metrics in the same order.
    Texts are previews, cut at 200 characters and without secrets. `failure_count` counts all of them.
    """
    held = judged_metrics(monitor.spec.chosen).items()
    primary = [f"{evaluator}.{name}" for (evaluator, name), (metric, _) in held if metric.primary]
    return monitor.query(
        """WITH latest AS (SELECT * FROM samples WHERE passed = false AND coalesce("window" = ?, true)
                           ORDER BY number DESC LIMIT ?)
           SELECT latest.number, "at", source, line, id, model, question, answer,
                  list(scores.evaluator ORDER BY scores.evaluator) FILTER (scores.passed = false) AS failed,
                  list(scores.value ORDER BY scores.evaluator) FILTER (scores.passed = false) AS "values"
           FROM latest JOIN scores USING (number)
           WHERE list_contains(?, scores.evaluator || '.' || scores.metric)
           GROUP BY ALL ORDER BY latest.number DESC""",
        [window, FAILURES, primary],
    )


def failure_count(monitor: Monitor, window: int | None = None) -> int:
    """Return how many samples, or those of one window, did not pass."""
    counted = monitor.query(
        """SELECT count(*) AS n FROM samples WHERE passed = false AND coalesce("window" = ?, true)""", [window]
    )
    return int(counted["n"].iloc[0])


def sample_scores(monitor: Monitor, number: int) -> "pd.DataFrame":
    """Return every score of a sample: evaluator, metric, value, status, reason, passed (null: no threshold)."""
    return monitor.query(
        "SELECT evaluator, metric, value, status, reason, passed FROM scores WHERE number = ? ORDER BY ALL", [number]
    )
