"""What stands out in a run: each insight with its severity, evidence, standards and cases."""

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from components.data import run_reads
from components.viewers import blocks
from components.widgets import filters, url
from components.widgets.tables import header, records
from metrics.presentation import format
from metrics.presentation.blocks import Head, table_of

STANDARDS = "standards that its evaluators give evidence for"
SEVERITIES = {"high": "Act on it", "low": "Look at it", "info": "Good to know"}
TOPICS = {
    "best and worst": (
        "leading_model",
        "best_model",
        "tied_models",
        "untested_model",
        "worst_model",
        "worse_model",
        "no_difference",
        "most_accurate",
        "least_accurate",
        "best_metric",
        "worst_metric",
    ),
    "retrieval": ("best_retrieval", "worst_retrieval", "retrieval_cause", "generation_cause"),
    "grounding": ("least_grounded",),
    "hard cases": ("hardest_case", "weakest_tag", "shifted_boxes", "confused_classes"),
    "time and cost": (
        "fastest_model",
        "slowest_model",
        "cheapest_model",
        "most_expensive_model",
        "slowest_case",
        "dearest_case",
        "total_time",
        "total_cost",
    ),
}


def show_insights(run: str) -> None:
    """Draw the insights, and the cases of the selected one."""
    every = run_reads.insights(run)
    if every.empty:
        st.info("Nothing stands out. Insights need thresholds, tags, contexts, durations or costs, or several models.")
        return
    kinds = {topic: every["kind"].isin(of) for topic, of in TOPICS.items()}
    topics = {topic: f"{topic.capitalize()} ({held.sum()})" for topic, held in kinds.items() if held.any()}
    topic = filters.one("About", topics, "about")
    counts = every["severity"].value_counts()
    offered = {name: f"{title} ({counts[name]})" for name, title in SEVERITIES.items() if name in counts}
    severity = filters.one("Severity", offered, "severity")
    filters.reset(["about", "severity"])
    shown = every[kinds[topic]] if topic else every
    shown = shown[shown["severity"] == severity] if severity else shown
    shown = shown.reset_index(drop=True)
    if shown.empty:
        st.info("No insight fits the filters in the sidebar. Clear them to see all.")
        return
    st.text(f"{format.plural(len(shown), 'insight')}, {int((shown['severity'] == 'high').sum())} to act on.")
    rows = shown.to_dict("records")
    affected = [format.MISSING if pd.isna(row["affected"]) else format.count(int(row["affected"])) for row in rows]
    table = table_of(
        "insights",
        (Head("Severity", width=100), [SEVERITIES[row["severity"]] for row in rows]),
        (Head("Insight", width=560), [row["message"] for row in rows]),
        (Head("Cases", True, "how many cases it is about", 60), affected),
        (Head("Evidence", False, "what it rests on", 300), [row["evidence"] for row in rows]),
        (Head("Standards", False, STANDARDS, 260), [", ".join(row["standards"]) or format.MISSING for row in rows]),
    )
    clicked = blocks.pick_row(table, 36 + 35 * 8)
    keys = [_key(row) for row in rows]
    if clicked is not None:
        url.put(insight=keys[clicked])
    asked = keys[clicked] if clicked is not None else url.param("insight")
    _show(run, shown.iloc[keys.index(asked) if asked in keys else 0].to_dict())


def _key(row: Mapping[Hashable, Any]) -> str:
    """Return the name of an insight in the address."""
    return ":".join(str(row[name]) for name in ("kind", "evaluator", "model") if isinstance(row[name], str))


def _show(run: str, row: Mapping[Hashable, Any]) -> None:
    st.subheader(SEVERITIES[row["severity"]], anchor=False)
    st.text(row["message"])
    st.text(f"Evidence: {row['evidence']}.")
    if row["standards"]:
        st.text(f"Evidence for {', '.join(row['standards'])}.")
    about = {name: row[name] for name in ("evaluator", "metric", "model") if isinstance(row[name], str)}
    measured = "evaluator" in about and "metric" in about
    if not len(row["case_ids"]):
        if measured and st.button("See the cases", icon=":material/arrow_forward:", type="primary"):
            url.go("cases", run=run, **about)
        return
    listed = run_reads.case_texts(run, tuple(row["case_ids"]))
    columns = {"case_id": header("Case", 150), "preview": header("Case text", "large")}
    clicked = records(listed, columns, f"insight-{_key(row)}", tallest=36 + 35 * 6)
    if len(listed) < row["affected"]:
        st.caption(f"The worst {format.count(len(listed))} of {format.plural(int(row['affected']), 'case')}.")
        worse = row["kind"] in ("worst_model", "worse_model")
        if worse and st.button("See all of them", icon=":material/arrow_forward:"):
            url.go("cases", run=run, failing=True, **about)
    if st.button("Open the first case", icon=":material/arrow_forward:", type="primary"):
        clicked = 0
    if clicked is not None:
        url.go("case", run=run, case=listed["case_id"].iloc[clicked], **about if measured else {})
