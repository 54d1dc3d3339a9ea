"""The archive of a run: a button that writes it, and a form that opens one."""

from functools import partial

import streamlit as st

from components.data import run_archives, uploaded_files, visitors
from components.widgets import uploads, url
from components.widgets.controls import download

HOLDS = (
    "One zip with everything the run is based on: cases, outputs, tables, evidence, prompts and the judge's replies. "
    "Another Assay opens it on its page Runs. It contains no keys."
)


def draw_button(run: str) -> None:
    """Draw the button that downloads the archive of a finished run."""
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
        trusted = st.checkbox(
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
