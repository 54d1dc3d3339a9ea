"""A production monitor in words and tables: its status, each metric's standing, failures, drift, bad lines."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from components.charts.passing import WORDS
from metrics.presentation.format import DIRECTIONS, MISSING, aligned, count, interval, moment, number, title

GLYPHS = {"healthy": "✓", "warning": "▲", "critical": "✗", "insufficient_data": "○"}
COMMAND = """tail -F app.jsonl | python -m metrics monitor --name chat --evaluators pii_leakage
python -m metrics monitor app.jsonl --name nightly --rate 0.05 --window 1h \\
       --evaluators rubric --judge gpt-4o-mini --reference latest --on-alert 'notify-send Assay'"""
LINE = '{"id": "r-1", "timestamp": "2026-11-21T10:00:00Z", "question": "…", "answer": "…", "contexts": ["…"]}'

Facts = Mapping[str, Any]  # of components.data.monitored
ALL = "All metrics together"


def status_words(health: str) -> str:
    """Return a status with its glyph: `✗ critical`."""
    return f"{GLYPHS[health]} {WORDS[health]}"


def headline(facts: Facts) -> str:
    """Return how the monitor stands, in one line."""
    if not facts["standings"] or not facts["standings"][0]["judged"]:
        return "Nothing judged yet"
    overall = facts["standings"][0]
    share = f"{number(overall['rate'])} of {count(overall['judged'])} judged pass"
    bounds = interval(overall["low"], overall["high"])
    return f"{GLYPHS[facts['health']]} {WORDS[facts['health']].capitalize()}: {share} (95 % {bounds})"


def rule(facts: Facts) -> str:
    """Return what the status rests on."""
    return (
        f"Of the last {facts['window']}: critical below {facts['critical']:g}, warning below {facts['warning']:g}, and "
        f"no status below {count(facts['minimum'])} judged. A case passes when the primary metric of every evaluator "
        "that applies to it is on the good side of its threshold."
    )


def counts(facts: Facts) -> list[tuple[str, str, str]]:
    """Return the counts: name, number, what it means."""
    share = f"{facts['rate']:.3g} of the ids, chosen by a digest of the id (seed {facts['seed']}): replays agree."
    return [
        ("Lines read", count(facts["read"]), "Lines of production that are not blank, since the monitor began."),
        ("Sampled", count(facts["sampled"]), share),
        (
            "Unscored", count(facts["unscored"]),
            "Sampled cases without a verdict: no evaluator applies to them, or one that does gave no value.",
        ),
        (
            "Sampled before", count(facts["duplicates"]),
            "Sampled lines whose id and model were sampled before: they are not judged twice.",
        ),
        ("Bad lines", count(facts["bad"]), "Lines that could not be used; the latest are listed below."),
    ]  # fmt: skip


def standing_name(standing: Facts) -> str:
    """Return a standing's metric, with its evaluator."""
    if not standing["evaluator"]:
        return ALL
    return standing["title"] if standing["primary"] else f"{standing['title']} · {title(standing['metric'])}"


def standings_table(standings: Sequence[Facts]) -> pd.DataFrame:
    """Return a row a metric, all together first."""
    return pd.DataFrame(
        {
            "metric": [_row_name(standing) for standing in standings],
            "health": [status_words(standing["health"]) for standing in standings],
            "rate": aligned([standing["rate"] for standing in standings]),
            "interval": [interval(standing["low"], standing["high"]) or MISSING for standing in standings],
            "judged": [standing["judged"] for standing in standings],
            "unscored": [standing["unscored"] for standing in standings],
            "passes": [_passes(standing) for standing in standings],
        }
    )


def _row_name(standing: Facts) -> str:
    """Short: a metric that is not the primary one stands below its evaluator's."""
    return standing_name(standing) if standing.get("primary", True) else f"· {title(standing['metric'])}"


def _passes(standing: Facts) -> str:
    if not standing["evaluator"]:
        return "every primary metric"
    return f"{'≤' if standing['direction'] == 'lower' else '≥'} {standing['threshold']:g}"


def standings_columns() -> dict[str, Any]:
    """Return the headers of that table, each with what it means on hover."""
    column = st.column_config.Column
    return {
        "metric": column("Metric", help="Click a row to see its pass rate over time.", width=160),
        "health": column("Status", help="Of the latest window.", width=90),
        "rate": column("Pass rate", help="Share of the judged that are on the good side.", alignment="right", width=76),
        "interval": column("95 % interval", help="Wilson's interval of the pass rate.", alignment="right", width=92),
        "judged": column("n", help="Cases judged.", width=48),
        "unscored": column("Unscored", help="Cases without a value.", width=75),
        "passes": column(
            "Passes if", help="The threshold in force; that of a primary metric is a parameter.", width=130
        ),
    }


def meaning(standing: Facts) -> str:
    """Return what a metric's pass means."""
    if not standing["evaluator"]:
        return "A case passes when the primary metric of every evaluator that applies to it is on its good side."
    direction = DIRECTIONS[standing["direction"]].capitalize()
    return f"{standing['description']} {direction}. A case passes if it is {_passes(standing)}."


def failures_table(failures: pd.DataFrame) -> pd.DataFrame:
    """Return the failures with their time in words; texts of models stay text in a data frame."""
    when = [MISSING if pd.isna(at) else moment(at.isoformat()) for at in failures["at"]]
    places = [f"{source}, line {line:,}" for source, line in zip(failures["source"], failures["line"], strict=True)]
    return failures.assign(when=when, place=places)


def failures_columns() -> dict[str, Any]:
    """Return the headers of that table."""
    column = st.column_config.Column
    return {
        "failed": column(
            "Failed", help="The metrics on the wrong side of their thresholds, with the values.", width=200
        ),
        "question": column("Question", help="The first 200 characters, secrets redacted.", width=250),
        "answer": column("Answer", help="The first 200 characters, secrets redacted.", width=420),
        "when": column("Time", help="The line's own.", width=140),
        "model": column("Model", width=90),
        "id": column("Id", width=110),
        "place": column("Line", help="Where the whole text stands.", width=150),
    }


def drift_table(rows: Sequence[Facts], titles: Mapping[str, str]) -> pd.DataFrame:
    """Return a row a metric: its scores of late and of the reference run, and whether they differ beyond chance."""
    return pd.DataFrame(
        {
            "metric": [f"{titles[row['evaluator']]} · {title(row['metric'])}" for row in rows],
            "verdict": [
                row["reason"] if row["p"] is None else "▲ drifted" if row["drifted"] else "no drift beyond chance"
                for row in rows
            ],
            "mean": aligned([row["mean"] for row in rows]),
            "mean_reference": aligned([row["mean_reference"] for row in rows]),
            "n": [row["n"] for row in rows],
            "n_reference": [row["n_reference"] for row in rows],
            "ks": aligned([row["ks"] for row in rows]),
            "psi": aligned([row["psi"] for row in rows]),
            "p": aligned([row["p"] for row in rows]),
        }
    )


def drift_columns() -> dict[str, Any]:
    """Return the headers of that table."""
    column = st.column_config.Column

    def right(name: str, help: str) -> Any:
        return column(name, help=help, alignment="right", width=95)

    return {
        "metric": column("Metric", width=250),
        "verdict": column("Verdict", help="Drifted: the corrected p is below .05.", width=190),
        "mean": right("Mean", "Of the latest window."),
        "mean_reference": right("Reference", "Mean in the reference run."),
        "n": column("n", help="Scores of the latest window.", width=60),
        "n_reference": column("n reference", help="Scores of the reference run.", width=90),
        "ks": right("KS", "Kolmogorov–Smirnov: the largest distance of the two distribution functions, 0 to 1."),
        "psi": right("PSI", "Population stability index over ten bins of about as many scores each; 0: no difference."),
        "p": right("p", "Smaller of the two permutation tests' p, corrected by Holm over both tests of all metrics."),
    }


def bad_table(bad_lines: Sequence[Facts]) -> pd.DataFrame:
    """Return the latest bad lines, the newest first."""
    return pd.DataFrame(list(bad_lines)[::-1], columns=["file", "row", "column", "found", "expected"])


def changes_table(changes: Sequence[Facts]) -> pd.DataFrame:
    """Return the latest changes of status, the newest first."""
    told = {None: "no hook given", False: "not yet", True: "told"}
    return pd.DataFrame(
        [
            {
                "when": moment(change["at"]), "status": status_words(change["status"]), "sampled": change["sampled"],
                "previous": status_words(change["previous"]), "told": told[change["told"]],
            }
            for change in reversed(changes)
        ],
        columns=["when", "status", "previous", "sampled", "told"],
    )  # fmt: skip
