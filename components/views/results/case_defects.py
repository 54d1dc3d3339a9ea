"""Defects of single cases: a list of files that are not intact and answers too short to compare."""

import pandas as pd
import streamlit as st

from components import data
from components.widgets import filters, url
from components.widgets.tables import header, records
from metrics.presentation import format

KINDS = {"artifact": "Broken file", "empty": "Too short to compare"}


def show_defects(run: str, found: pd.DataFrame) -> None:
    """Draw the defects; a click opens the case, or the first of several."""
    if found.empty:
        st.info("No broken file and no empty answer was found. Agent sanity checks files; evaluators that compare by "
                "embeddings report answers without a sentence.")  # fmt: skip
        return
    models = filters.many("Models", list(found["model"].unique()), "model")
    filters.reset(["model"])
    shown = found[found["model"].isin(models)] if models else found
    shown = shown.reset_index(drop=True)
    st.text(f"{format.plural(len(shown), 'defect')} in {format.plural(shown['model'].nunique(), 'model')}.")
    table = pd.DataFrame(
        {
            "kind": shown["kind"].map(KINDS), "model": shown["model"],
            "evaluator": shown["evaluator"].map(data.title_of), "message": shown["message"],
            "affected": shown["affected"],
        }
    )  # fmt: skip
    columns = {
        "kind": header("Defect", 150),
        "model": header("Model", 130),
        "evaluator": header("Evaluator", 150),
        "message": header("What is wrong", 420),
        "affected": st.column_config.NumberColumn("Cases", help="how many cases it is about", width=60),
    }
    clicked = records(table, columns, "defects", tallest=430)
    st.caption("Click a defect to see its case.")
    if clicked is not None:
        row = shown.iloc[clicked]
        about = {name: row[name] for name in ("evaluator", "metric", "model")}
        url.go("example", run=run, case=row["case_ids"][0], **about)
