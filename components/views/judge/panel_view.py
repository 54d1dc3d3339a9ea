"""How far the judges of a panel, or the draws of one judge, agree with each other."""

from __future__ import annotations

import streamlit as st

from components import data
from components.views.judge.agreement_tables import HELPS
from components.widgets import url
from components.widgets.tables import header, numeric, records
from metrics.presentation.panel_rows import DISPUTED, LIKE, panel_table

ABOUT = "Judges that contradict each other cannot all be right: look at the cases where they differ first."


def show(run: str) -> None:
    """Draw a row an evaluator and pair of judges; a click opens the evaluator's cases, the most disputed first."""
    found = data.panel_agreement(run)
    if not found:
        st.info("Fewer than three cases have values of two judges, too few for a figure of their agreement.")
        return
    st.text(ABOUT)
    rows = panel_table(found)
    longest = max(map(len, rows["raters"]))
    shown = {
        "metric": header("Metric", 170), "raters": header("Judges", min(280, 30 + 7 * longest)),
        "alike": numeric("Alike", 135, LIKE), "kappa": numeric("κ", 150, HELPS["kappa"]),
        "alpha": numeric("α", 150, HELPS["alpha"]), "disputed": numeric("Disputed", 85, DISPUTED),
    }  # fmt: skip
    clicked = records(rows, shown, "panel", tallest=430)
    if clicked is not None:
        row = rows.iloc[clicked]
        url.go("cases", run=run, evaluator=row["evaluator"], metric=row["metric_name"], order="disputed")
    st.caption("95 % intervals from 1,000 bootstrap samples of the cases. Click a row for its most disputed cases.")
