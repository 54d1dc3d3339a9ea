"""A production monitor in words and tables: status, each metric's pass rate, failures, drift, bad lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from components.charts.passing import WORDS
from components.widgets.tables import draw_columns, header, numeric, show_columns
from metrics.core.conventions import limit
from metrics.presentation import format
from metrics.presentation.format import DIRECTIONS, MISSING, aligned, count, interval, moment, number, plural, title
from metrics.presentation.guarantee_words import footnotes, since, threshold_lines
from metrics.presentation.monitor_words import dependence_words, drift_words, reason
from metrics.presentation.phrases import with_interval

if TYPE_CHECKING:
    from components.data import MetricDrift
    from components.data.monitors import Monitored, MonitoredMetric

GLYPHS = {"healthy": "✓", "warning": "▲", "critical": "✗", "insufficient_data": "○"}
COMMAND = """tail -F app.jsonl | python -m metrics monitor --name chat --evaluators pii_leakage
python -m metrics monitor app.jsonl --name nightly --rate 0.05 --window 1h \\
       --evaluators rubric --judge gpt-4o-mini --reference latest --on-alert 'notify-send Assay'"""
LINE = '{"id": "r-1", "timestamp": "2026-11-21T10:00:00Z", "question": "…", "answer": "…", "contexts": ["…"]}'

ALL = "All metrics together"
STATUS = (
    "It changes only when the interval of the pass rate excludes a limit: for each metric with at most 5 % risk of "
    "ever a false alarm, however often you look."
)
PLAIN = (
    "The pass rate of all judged samples as it is, below one of the limits above or not. It may cross a limit by "
    "chance at any look; the status of the monitor is that of the confidence sequence."
)
RATE = "Share on the good side of the threshold, since it last changed."
INTERVAL = "Confidence sequence of the pass rate: holds at every look, at 95 %."
UNITS = "Sessions, and lines without one, since the pass rate last changed."
UNSCORED = "Cases of the latest window without a value."
PASSES = "The threshold in force; that of a primary metric is a parameter."
MEAN = "Mean score of the latest window; of all metrics together there is none."
DRIFTED = (
    "Drifted: of some stretch of production, the confidence sequence of a share of scores and the interval of the "
    "reference's have nothing in common. The risk of ever a false alarm, over all metrics and looks, is at most 5 %."
)
WHEN = "Of the latest line before the change; when it was read, if lines have no time."
HOOK = "The --on-alert command is called once per change."
KS = "Kolmogorov–Smirnov: largest distance of the two distribution functions, 0 to 1; not 0 by chance alone."
PSI = "Population stability index over ten bins of about as many scores each; of 100 scores about .1 by chance alone."


def status_words(health: str) -> str:
    """Return a status with its glyph: `✗ critical`; `damaged` is a monitor whose files cannot be read."""
    return "✗ damaged" if health == "damaged" else f"{GLYPHS[health]} {WORDS[health]}"


def headline(facts: Monitored) -> str:
    """Return the status of the monitor in one line."""
    if not facts.metrics or not facts.metrics[0].standing.judged:
        return "Nothing judged yet"
    overall = facts.metrics[0].standing
    words = WORDS[overall.health].capitalize()
    share = with_interval(overall.rate, overall.low, overall.high)
    return f"{GLYPHS[overall.health]} {words}: {share} pass"


def why(facts: Monitored) -> str:
    """Return in one sentence why the status is what it is."""
    return reason(facts.metrics[0].standing, facts.warning, facts.critical)


def evidence(facts: Monitored, shown: MonitoredMetric) -> str:
    """Return what a metric's status rests on: the units, since when, and the guarantee."""
    standing = shown.standing
    if standing.since is None:
        return "No session, and no line without one, has been counted."
    when = facts.since.get(standing.since)
    since = f"since {moment(when)}" if when else f"since sample {count(standing.since + 1)}"
    waiting = len((facts.state.evidence or {}).get("sessions", ()))
    return (
        f"{count(standing.units)} sessions, or lines without one, {since}: {number(standing.rate)} pass, and the pass "
        f"rate is within {interval(standing.low, standing.high)}. That interval is a confidence sequence: with 95 % it "
        "is right at every look, for as long as the monitor runs. A session counts once, by the share of its lines "
        "that pass; a line without one counts by itself, as if independent of the others."
        + (f" {plural(waiting, 'session')} not over yet: not counted." if waiting else "")
    )


def rule(facts: Monitored) -> str:
    """Return the rule of the status."""
    kept = "the status stays what it was" if facts.own else "the status is not known"
    return (
        f"Critical when the whole interval of the current pass rate is below {facts.critical:g}, warning when it is "
        f"below {facts.warning:g}, healthy when it is above. While the interval contains a limit, {kept}. No status "
        f"below {count(facts.minimum)} judged. A case passes when the primary metric of every evaluator that applies "
        "to it is on the good side of its threshold."
    )


def counts(facts: Monitored) -> list[tuple[str, str, str]]:
    """Return the counts: name, number, meaning."""
    share = f"{facts.rate:.3g} of the ids, chosen by a hash of the id (seed {facts.seed}), so replays sample the same."
    return [
        ("Lines read", count(facts.state.read), "Lines that are not blank, since the monitor was created."),
        ("Sampled", count(facts.state.sampled), share),
        (
            "Unscored", count(facts.state.unscored),
            "Sampled cases without a verdict: no evaluator applies to them, or one that does gave no value.",
        ),
        (
            "Sampled before", count(facts.state.duplicates),
            "Sampled lines whose id and model were sampled before; they are not judged twice.",
        ),
        ("Bad lines", count(facts.state.bad), "Lines that could not be used; the latest are listed below."),
    ]  # fmt: skip


def metric_name(shown: MonitoredMetric) -> str:
    """Return a metric with its evaluator."""
    if shown.metric is None:
        return ALL
    return shown.title if shown.metric.primary else f"{shown.title} · {format.metric_name(shown.metric.name)}"


def draw_standings(metrics: Sequence[MonitoredMetric], key: str, tallest: int) -> int | None:
    """Draw a row per metric, all together first; return the one just clicked."""
    found = [shown.standing for shown in metrics]
    means = [interval(one.mean_low, one.mean_high) or MISSING for one in found]
    columns: dict[str, Any] = {
        "metric": (header("Metric", 160, "Click a row to see its pass rate over time."), list(map(_row_name, metrics))),
        "health": (header("Status", 100, STATUS), [status_words(one.health) for one in found]),
        "rate": (numeric("Pass rate", 76, RATE), aligned([one.rate for one in found])),
        "interval": (numeric("Interval", 92, INTERVAL), [interval(one.low, one.high) or MISSING for one in found]),
        "units": (header("n", 48, UNITS), [one.units for one in found]),
        "judged": (header("Window n", 75, "Cases judged in the latest window."), [one.judged for one in found]),
        "unscored": (header("Unscored", 75, UNSCORED), [one.unscored for one in found]),
        "passes": (header("Passes if", 130, PASSES), list(map(_passes, metrics))),
        "mean": (numeric("Mean", 70, MEAN), aligned([one.mean for one in found])),
        "mean_interval": (numeric("95 % interval", 92, "Of the mean: Student's t, Wilson's for shares."), means),
    }
    return draw_columns(columns, key, tallest)


def _row_name(shown: MonitoredMetric) -> str:
    """Return a short name: a metric that is not primary is listed below its evaluator's primary one."""
    if shown.metric is None or shown.metric.primary:
        return metric_name(shown)
    return f"· {format.metric_name(shown.metric.name)}"


def _passes(shown: MonitoredMetric) -> str:
    return "every primary metric" if shown.metric is None else limit(shown.threshold, shown.metric.direction.value)


def meaning(shown: MonitoredMetric) -> str:
    """Return when a case passes a metric."""
    if shown.metric is None:
        return "A case passes when the primary metric of every evaluator that applies to it is on its good side."
    direction = DIRECTIONS[shown.metric.direction.value].capitalize()
    words = f"{shown.metric.description} {direction}. A case passes if it is {_passes(shown)}."
    if shown.column is None or not shown.column.by_model:
        return words
    return f"{words} {'. '.join(threshold_lines(shown.column))}."


def notes(facts: Monitored) -> list[str]:
    """Return what is to be known of the intervals, and of thresholds that belong to models."""
    changed = [
        f"{facts.evaluators[one.evaluator]} · {format.metric_name(one.metric, one.evaluator)}: "
        f"{since(one.own, one.now)}."
        for one in facts.recalibrated
    ]
    dependence = [] if facts.dependence is None else [dependence_words(facts.dependence)]
    return [*dependence, *footnotes(facts.columns), *changed]


def failures_table(failures: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """Return the failures with times and failed evaluators in words; texts of models stay text in a data frame."""
    when = [MISSING if pd.isna(at) else moment(at.isoformat()) for at in failures["at"]]
    places = [f"{source}, line {line:,}" for source, line in zip(failures["source"], failures["line"], strict=True)]
    failed = [
        ", ".join(f"{titles.get(id, id)} {number(value)}" for id, value in zip(ids, values, strict=True))
        for ids, values in zip(failures["failed"], failures["values"], strict=True)
    ]
    return failures.assign(when=when, place=places, failed=failed)


def failures_columns() -> dict[str, Any]:
    """Return the headers of that table."""
    return {
        "failed": header("Failed", 170, "Evaluators on the wrong side of their thresholds, with values."),
        "question": header("Question", 210, "The first 200 characters, secrets redacted."),
        "answer": header("Answer", 270, "The first 200 characters, secrets redacted."),
        "when": header("Time", 130, "Time stamp of the line."),
        "model": header("Model", 90),
        "id": header("Id", 110),
        "place": header("Line", 150, "Where the full text is."),
    }


def draw_failure(row: pd.Series, scores: pd.DataFrame, facts: Monitored) -> None:
    """Draw one sample that failed: its texts and every score, those that fail first."""
    st.text(f"{row['id'] or MISSING} · {row['model']} · {row['when']} · {row['place']}")
    left, right = st.columns(2, gap="medium")
    for place, name in ((left, "question"), (right, "answer")):
        with place:
            st.caption(title(name))
            st.code(row[name] or MISSING, language=None, wrap_lines=True)
    ordered = scores.sort_values("passed", key=lambda passed: passed.map({False: 0, True: 1}).fillna(2), kind="stable")
    verdicts = {True: "✓ passes", False: "✗ fails"}
    scored = [
        f"{facts.evaluators.get(id, id)} · {format.metric_name(metric, id)}"
        for id, metric in zip(ordered["evaluator"], ordered["metric"], strict=True)
    ]
    values = aligned([None if pd.isna(value) else float(value) for value in ordered["value"]])
    passed = [MISSING if pd.isna(passed) else verdicts[bool(passed)] for passed in ordered["passed"]]
    columns: dict[str, Any] = {
        "metric": (header("Metric", 250), scored),
        "value": (numeric("Value", 80), values),
        "verdict": (header("Verdict", 90, "Only metrics with a threshold pass or fail."), passed),
        "reason": (header("Reason", "large"), ordered["reason"].fillna("").tolist()),
    }
    show_columns(columns, None, 300)


def draw_drift(rows: Sequence[MetricDrift], titles: Mapping[str, str], tallest: int) -> None:
    """Draw a row per metric: recent scores, those of the reference run, and whether they differ significantly."""
    metrics = [f"{titles[row.evaluator]} · {format.metric_name(row.metric, row.evaluator)}" for row in rows]
    verdicts = [row.reason or ("▲ drifted" if row.drifted else "no drift found") for row in rows]
    evidence = header("Evidence", 500, "The stretch and the share that say most, each with its interval.")
    references = aligned([row.mean_reference for row in rows])
    columns: dict[str, Any] = {
        "metric": (header("Metric", 200), metrics),
        "verdict": (header("Verdict", 120, DRIFTED), verdicts),
        "evidence": (evidence, list(map(drift_words, rows))),
        "mean": (numeric("Mean", 95, "Of the latest window."), aligned([row.mean for row in rows])),
        "mean_reference": (numeric("Reference", 95, "Mean in the reference run."), references),
        "n": (header("n", 60, "Scores of the latest window."), [row.n for row in rows]),
        "n_reference": (header("n reference", 90, "Scores of the reference run."), [row.n_reference for row in rows]),
        "ks": (numeric("KS", 95, KS), aligned([row.ks for row in rows])),
        "psi": (numeric("PSI", 95, PSI), aligned([row.psi for row in rows])),
    }
    show_columns(columns, "drift", tallest)


def bad_table(bad_lines: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the latest bad lines, newest first."""
    return pd.DataFrame(list(bad_lines)[::-1], columns=["file", "row", "column", "found", "expected"])


def draw_changes(changes: Sequence[Mapping[str, Any]]) -> None:
    """Draw the latest changes of status, newest first."""
    called = {None: "no hook", False: "not yet", True: "called"}
    rows = list(reversed(changes))
    columns: dict[str, Any] = {
        "when": (header("Time", help=WHEN), [moment(one.get("line_at") or one["at"]) for one in rows]),
        "status": (header("Status"), [status_words(one["status"]) for one in rows]),
        "previous": (header("Before"), [status_words(one["previous"]) for one in rows]),
        "sampled": (header("Sampled before"), [one["sampled"] for one in rows]),
        "told": (header("Alert hook", help=HOOK), [called[one["told"]] for one in rows]),
    }
    show_columns(columns, "changes", 400)
