"""Downloads of a run's tables and of other tools' formats: each that suits the run, made when it is clicked."""

from functools import partial
from itertools import groupby
from mimetypes import guess_type

import streamlit as st

from components.data import run_archives
from components.data.run_archives import Exporter, Format
from components.widgets.controls import download

FORMATS: dict[Format, str] = {"csv": "CSV", "json": "JSON", "parquet": "Parquet"}
LOGGED = "MLflow and Weights & Biases take a run by the command: python -m metrics export RUN --to mlflow, --to wandb."


def draw_exports(run: str, models: tuple[str, ...]) -> None:
    """Draw the tables, then what other tools read."""
    fitting = run_archives.fitting_exports(run)
    tables = [one for one in fitting if not one.tool and one.flag == "what"]
    others = sorted((one for one in fitting if one not in tables), key=lambda one: (one.flag == "to", one.tool))
    with st.expander(f"Single tables ({len(tables)})", icon=":material/table_view:"):
        form = st.segmented_control(
            "Format", list(FORMATS), format_func=FORMATS.__getitem__, default="csv", required=True, key="export-format"
        )
        _draw_buttons(run, tables, form)
    with st.expander(f"Formats of other tools ({len(others)})", icon=":material/output:"):
        model = None
        if len(models) > 1 and any(one.by_model for one in others):
            model = st.selectbox("Model of the result CSV", models, key="export-model", width=300)
        for tool, own in groupby(others, key=lambda one: one.tool or "Whole run"):
            st.caption(tool)
            _draw_buttons(run, list(own), "csv", model)
        st.caption(LOGGED)


def _draw_buttons(run: str, exports: list[Exporter], form: Format, model: str | None = None) -> None:
    with st.container(horizontal=True):
        for one in exports:
            file = f"assay-{run}-{one.id}.{form if one.form == 'table' else one.ending or 'zip'}"
            words = f"{one.help[:1].upper()}{one.help[1:]}."
            format = form if one.form == "table" else None
            make = partial(run_archives.export_run, run, one.id, format, model if one.by_model else None)
            download(one.title, make, file, f"export-{one.id}", mime=guess_type(file)[0], help=words)
    for one in exports:
        for text in run_archives.export_notes(run, one.id, model if one.by_model else None):
            st.text(f"{one.title}: {text}")
