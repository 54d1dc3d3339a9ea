from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import pandas as pd
import streamlit as st

from components import data
from components.views.results import run_archive
from components.widgets import url
from components.widgets.frame import frame
from components.widgets.tables import header, numeric
from metrics.presentation import format

FORMATS = {  # name: label, icon, file ending, MIME type, what it is for
    "html": ("HTML", ":material/html:", "html", "text/html", "one file for a browser"),
    "csv": ("CSV", ":material/table:", "csv.zip", "application/zip", "every table, for a spreadsheet"),
    "parquet": ("Parquet", ":material/dataset:", "parquet.zip", "application/zip", "every table, lossless"),
    "json": ("JSON", ":material/data_object:", "json", "application/json", "the report as data"),
}


def contents(counts: Mapping[str, int]) -> pd.DataFrame:
    """Return the sections of the report and what each holds."""
    images = f", {format.plural(counts['images'], 'image')} with boxes" if counts["images"] else ""
    rows = [
        ("Data and run", f"{format.plural(counts['facts'], 'fact')}, with fingerprints and versions"),
        ("Leaderboard", f"{format.plural(counts['models'], 'model')} × {format.plural(counts['metrics'], 'metric')}"),
        ("Problems", format.plural(counts["problems"], "threshold missed", "thresholds missed")),
        ("Insights", format.count(counts["insights"])),
        ("Charts", format.plural(counts["charts"], "chart")),
        ("Worst cases", format.plural(counts["worst"], "case") + images),
        ("Methods", f"{format.plural(counts['methods'], 'evaluator')}: formula, parameters, sources"),
    ]
    empty = {name for name, key in (("Insights", "insights"), ("Charts", "charts")) if not counts[key]}
    return pd.DataFrame([row for row in rows if row[0] not in empty], columns=["section", "holds"])


run = frame("Report", "What do I share with others?")
outline = data.report_outline(run)
with st.container(border=True):
    st.text(outline.headline)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            "Download the PDF", data=partial(data.render_report, run, "pdf"), file_name=f"assay-{run}.pdf",
            mime="application/pdf", type="primary", icon=":material/picture_as_pdf:", on_click="ignore",
        )  # fmt: skip
        for name, (label, icon, ending, mime, purpose) in FORMATS.items():
            st.download_button(
                label, data=partial(data.render_report, run, name), file_name=f"assay-{run}.{ending}",
                mime=mime, icon=icon, on_click="ignore", help=purpose, key=f"download-{name}",
            )  # fmt: skip
        run_archive.draw_button(run)
left, right = st.columns([4, 5])
with left:
    st.subheader("What is in it", anchor=False)
    st.dataframe(contents(outline.sections), hide_index=True, column_config={"section": "Section", "holds": "Contents"})
    for note in outline.notes:
        st.text(note)
with right:
    st.subheader("Leading models", anchor=False)
    table = outline.standings
    if table.empty:
        st.info("No metric of this run has a better end, so no model leads.")
    else:
        shown = pd.DataFrame(
            {
                "evaluator": table["evaluator"], "metric": table["metric"], "best": table["best"],
                "value": format.aligned(table["value"].tolist()),
                "interval": [format.interval(*edges) for edges in zip(table["low"], table["high"], strict=True)],
                "level": table["level"], "n": table["n"],
            }
        )  # fmt: skip
        headers = {
            "evaluator": header("Evaluator", 122), "metric": header("Metric", 110), "best": header("Best", 84),
            "value": numeric("Value", 52), "interval": numeric("95 % interval", 96), "level": "Tied for best",
        }  # fmt: skip
        st.dataframe(shown, hide_index=True, column_config=headers)
if outline.sections["problems"] and st.button("See the problems", icon=":material/arrow_forward:"):
    url.go("problems", run=run)
