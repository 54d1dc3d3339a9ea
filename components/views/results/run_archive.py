"""Downloads of a run: its archive, tables and other tools' formats, made on a click; a form opens archives."""

from collections.abc import Mapping
from functools import partial
from itertools import groupby
from mimetypes import guess_type

import streamlit as st

from components.data import boards, run_archives, uploaded_files, visitors
from components.data.run_archives import Exporter, Format
from components.widgets import uploads, url
from components.widgets.controls import download

HOLDS = (
    "One zip with everything the run is based on: cases, outputs, tables, evidence, prompts and the judge's replies. "
    "Another Assay opens it on its page Runs. It contains no keys."
)
FORMATS: dict[Format, str] = {"csv": "CSV", "json": "JSON", "parquet": "Parquet"}
LOGGED = "MLflow and Weights & Biases take a run by the command: python -m metrics export RUN --to mlflow, --to wandb."


def draw_button(run: str) -> None:
    """Draw the button that downloads the archive of a finished run; a board has none: each of its runs has."""
    if boards.is_board(run):
        return
    archive, file = partial(run_archives.archive_run, run), f"assay-{run}-archive.zip"
    download("Archive", archive, file, "download-archive", ":material/archive:", mime="application/zip", help=HOLDS)


def draw_import() -> None:
    """Draw the form that opens an archive, and what came of the last one."""
    if not visitors.may("editor"):
        return
    said = st.session_state.get("archive-said")
    with st.expander("Open an archive", icon=":material/unarchive:", expanded=bool(said or url.params("archive"))):
        if isinstance(said, run_archives.ImportedRun):
            _show(said)
        st.text("A zip that Assay made of a finished run, here or elsewhere. It is checked before anything is kept.")
        tokens = uploads.draw_uploads("The archive of a run, a zip", "archive", uploaded_files.ARCHIVES)
        uploads.draw_refused()
        trusted = visitors.may("admin") and st.checkbox(
            "Add its judge's replies to the cache",
            help="Later runs that ask the same are answered by these replies. Only if you trust who made the archive.",
        )
        if st.button("Open", type="primary", disabled=not tokens, icon=":material/unarchive:"):
            st.session_state["archive-said"] = run_archives.import_run(tokens[0], trusted)
            url.put(archive=[])
            st.rerun()


def _show(said: run_archives.ImportedRun) -> None:
    if said.problems is not None:
        st.text("✗ The archive cannot be opened; nothing of it was kept.")
        st.code(said.problems, language=None, wrap_lines=True)
        return
    st.text(f"✓ {said.name} {'is in this workspace now' if said.added else 'was in this workspace already'}.")
    if said.id is not None and st.button("Open its leaderboard", icon=":material/arrow_forward:"):
        url.go("leaderboard", run=said.id)


def draw_exports(run: str, models: tuple[str, ...]) -> None:
    """Draw the tables, then what other tools read."""
    fitting = run_archives.fitting_exports(run)
    tables = [one for one in fitting if not one.tool and one.flag == "what"]
    others = sorted((one for one in fitting if one not in tables), key=lambda one: (one.flag == "to", one.tool))
    with st.expander(f"Single tables ({len(tables)})", icon=":material/table_view:"):
        form = st.segmented_control(
            "Format", list(FORMATS), format_func=FORMATS.__getitem__, default="csv", required=True, key="export-format"
        )
        _draw_buttons(run, tables, form, {})
    with st.expander(f"Formats of other tools ({len(others)})", icon=":material/output:"):
        given: dict[str, str | None] = {}
        asks = {one.asks for one in others}
        if len(models) > 1 and "model" in asks:
            given["model"] = st.selectbox("Model of the result CSV", models, key="export-model", width=300)
        if "benchmark" in asks:
            sample, words = run_archives.ASKED["benchmark"]
            text = st.text_input("Benchmark of the Hub results", key="export-benchmark", help=words, placeholder=sample)
            given["benchmark"] = text.strip() or None
        for tool, own in groupby(others, key=lambda one: one.tool or "Whole run"):
            st.caption(tool)
            _draw_buttons(run, list(own), "csv", given)
        st.caption(LOGGED)


def _draw_buttons(run: str, exports: list[Exporter], form: Format, given: Mapping[str, str | None]) -> None:
    with st.container(horizontal=True):
        for one in exports:
            file = f"assay-{run}-{one.id}.{form if one.form == 'table' else one.ending or 'zip'}"
            words = f"{one.help[:1].upper()}{one.help[1:]}."
            format = form if one.form == "table" else None
            make = partial(run_archives.export_run, run, one.id, format, given.get(one.asks))
            waits = one.asks == "benchmark" and not given.get(one.asks)
            download(one.title, make, file, f"export-{one.id}", mime=guess_type(file)[0], help=words, disabled=waits)
    for one in exports:
        for text in run_archives.words_of_export(run, one.id, given.get(one.asks)):
            st.text(f"{one.title}: {text}")
