"""A monitor's results as tables: the pass rate window by window, the latest failures, and the scores of a sample."""

import math
from typing import TYPE_CHECKING

from metrics.monitoring.health import Health, Limits, next_health
from metrics.monitoring.monitor_status import OVERALL, Key, Mean, judged_metrics
from metrics.monitoring.monitor_store import Monitor
from metrics.stats.sequential import Bounds

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
    first sample. `rate`: the share of the window's judged cases that pass, or the mean of that share over its sessions;
    `low`, `high`, `health`: the confidence sequence of the current pass rate and the status, as known at the window's
    end; None and insufficient_data where an earlier version judged it. `mean`: the mean score of a metric, with its
    interval (see monitor_status.Mean). `key`: all together, or one evaluator and metric. `limits`: others than the
    monitor's; then a window has a status only where its own interval excludes them.
    """
    import pandas as pd

    table = "samples" if key == OVERALL else "scores"
    source = "samples" if key == OVERALL else "scores JOIN samples USING (number) WHERE evaluator = ? AND metric = ?"
    value = "NULL::DOUBLE" if key == OVERALL else "value"
    frame = monitor.query(
        f"""WITH units AS (
              SELECT "window", count(*) FILTER ({table}.passed) AS passed, count({table}.passed) AS judged,
                     count(*) AS sampled, min("at") AS first_at, min(number) AS first_number, max(number) AS last,
                     max_by(struct_pack(low := {table}.low, high := {table}.high, health := {table}.health), number)
                       AS known, coalesce(sum({value}), 0) AS s, count({value}) AS n
              FROM {source} GROUP BY "window", coalesce(session, -1 - number))
            SELECT "window", sum(passed) AS passed, sum(judged) AS judged, sum(sampled) AS sampled,
                   avg(passed / judged) FILTER (judged > 0) AS rate,
                   min(first_at) AS first_at, min(first_number) AS first_number, max_by(known, last) AS known,
                   count(*) FILTER (n > 0) AS units, avg(n) FILTER (n > 0) AS length,
                   sum(s) / nullif(sum(n), 0) AS mean, sum(s * s) AS ss, sum(s * n) AS sn, sum(n * n) AS nn
            FROM units GROUP BY "window" ORDER BY "window" DESC LIMIT ?""",
        [most] if key == OVERALL else [*key, most],
    )
    windows, rows = monitor.window, []
    metric, _ = judged_metrics(monitor.spec.chosen_evaluators).get(key, (None, None))
    for row in frame.iloc[::-1].to_dict("records"):
        window, judged, sampled, units = (int(row[name]) for name in ("window", "judged", "sampled", "units"))
        average = Mean()
        if units and key != OVERALL:
            squares = row["ss"] - 2 * row["mean"] * row["sn"] + row["mean"] ** 2 * row["nn"]
            deviation = math.sqrt(max(0.0, squares) / max(1, units - 1)) / row["length"]
            average = Mean.of(float(row["mean"]), deviation, units, metric)
        known = Bounds(row["known"]["low"], row["known"]["high"])
        health = Health(row["known"]["health"] or Health.INSUFFICIENT_DATA)
        if limits is not None and limits != monitor.spec.limits and known.low is not None:
            health = next_health(Health.INSUFFICIENT_DATA, known, limits)
        first = None if pd.isna(row["first_at"]) else row["first_at"].tz_localize("UTC")
        rate = None if pd.isna(row["rate"]) else float(row["rate"])
        counts = int(row["first_number"]), sampled, int(row["passed"]), judged, sampled - judged
        rows.append((window, windows.begins(window) or first, *counts, rate, *known, health.value, *average))
    return pd.DataFrame(rows, columns=COLUMNS)


def failures(monitor: Monitor, window: int | None = None) -> "pd.DataFrame":
    """Return the latest samples, or those of one window, that did not pass, the newest first.

    `failed` names the evaluators that the case fails, `values` the values of their primary metrics in the same order.
    Texts are previews, cut at 200 characters and without secrets. `failure_count` counts all of them.
    """
    held = judged_metrics(monitor.spec.chosen_evaluators).items()
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
