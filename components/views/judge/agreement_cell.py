"""The outputs behind a cell of the confusion matrix of people and judge."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from components.data import agreements
from components.views.judge import agreement_tables
from components.widgets import url
from components.widgets.tables import header, numeric, records
from metrics.analysis import Column
from metrics.analysis.labels.judge_agreement import Agreement
from metrics.presentation import format


def draw(run: str, name: str, column: Column, found: Agreement, cell: str, **choice: Any) -> None:
    """Draw the outputs that a cell counts, and the picked ones that belong in it; `choice` says which are compared."""
    only = (column.evaluator, column.metric)
    rows = agreements.cell_outputs(run, name, only, found.threshold or 0.0, cell, **choice)
    people, verdict = agreement_tables.CELLS[cell]
    with st.container(horizontal=True, vertical_alignment="center"):
        relation = "agree" if people == verdict else "differ"
        counted = sum(row["counted"] for row in rows)
        picked = f" and {format.plural(len(rows) - counted, 'picked one')}" if counted < len(rows) else ""
        count = format.plural(counted, "output") + picked
        st.text(f"{count}: people {people}, judge {verdict}: they {relation}", width="stretch")
        if st.button("Close", type="tertiary", icon=":material/close:"):
            url.put(people=None, verdict=None)
            st.rerun()
    if not rows:
        st.text("No output is in this cell.")
        return
    outputs_table(run, column, rows, f"cell-{cell}")


def outputs_table(run: str, column: Column, rows: Sequence[Mapping[str, Any]], key: str) -> None:
    """Draw labelled outputs (see data.cell_outputs) with the judge's score and people's label; a click opens one."""
    table = pd.DataFrame(rows)
    table = table.assign(
        judge=format.aligned(table["judge"].tolist()),
        people=format.aligned(table["people"].tolist()),
        counted=table["counted"].map({True: "random", False: "picked"}),
    )
    shown = {
        "case_id": header("Case", 150),
        "model": header("Model", 140),
        "judge": numeric("Judge", 60),
        "people": numeric("People", 60, "Mean of its labels; where raters differ, one drawn at random counts."),
    }
    if not table["counted"].eq("random").all():
        shown["counted"] = header("Label", 80, "Only labels of a random sample are counted in the cell.")
    clicked = records(table, shown, key, tallest=210)
    if clicked is not None:
        row = rows[clicked]
        url.go(
            "case", run=run, evaluator=column.evaluator, metric=column.metric, case=row["case_id"],
            model=row["model"], compare=row["model"],
        )  # fmt: skip
