from functools import partial

import streamlit as st

from components.data import run_archives, run_reads, workspace_runs
from components.viewers import blocks
from components.views.results import replacement, run_archive, weighted_view
from components.widgets import url
from components.widgets.controls import download
from components.widgets.frame import frame

FORMATS = {  # name: label, icon, file ending, MIME type, what it is for
    "html": ("HTML", ":material/html:", "html", "text/html", "one file for a browser"),
    "csv": ("CSV", ":material/table:", "csv.zip", "application/zip", "every table, for a spreadsheet"),
    "parquet": ("Parquet", ":material/dataset:", "parquet.zip", "application/zip", "every table, lossless"),
    "json": ("JSON", ":material/data_object:", "json", "application/json", "the report as data"),
}
PAGES = (
    "Pages that open in a browser without a server: leaderboard, cases with evidence and images, curves. "
    "For a CI artifact, a web host, or a colleague without Assay."
)
DOCUMENTS = ("html", "json")

run = frame("report", "What do I share with others?")
leading, sections = run_reads.answer(run, "which_leads"), workspace_runs.report_sections()
assert leading is not None  # every run has a headline
replacing = replacement.asked_for(run)
chosen = [name for name, (*_, usual) in sections.items() if st.session_state.get(f"section-{name}", usual)]
weighed = weighted_view.notes(run)
stem = run.replace(":", "-").partition("@")[0]
render = partial(workspace_runs.render_report, run, sections=chosen, asked=replacing, notes=weighed)
with st.container(border=True):
    st.text(leading.sentences[0].text)
    if replacing is not None:
        st.text(f"{workspace_runs.replacement(run, replacing).answer}.")
    for sentence in weighed[:1]:
        st.text(sentence)
    with st.container(horizontal=True, vertical_alignment="center"):
        download(
            "Download the PDF", partial(render, "pdf"), f"assay-{stem}.pdf", icon=":material/picture_as_pdf:",
            mime="application/pdf", type="primary", disabled=not chosen,
        )  # fmt: skip
        for name, (label, icon, ending, mime, purpose) in FORMATS.items():
            file, key, off = f"assay-{stem}.{ending}", f"download-{name}", name in DOCUMENTS and not chosen
            download(label, partial(render, name), file, key, icon, mime=mime, help=purpose, disabled=off)
        bundle, file = partial(run_archives.bundle_run, run), f"assay-{stem}-pages.zip"
        download("Web page (zip)", bundle, file, "download-pages", ":material/web:", mime="application/zip", help=PAGES)
        run_archive.draw_button(run)
run_archive.draw_exports(run, workspace_runs.run_facts(run).models)
left, right = st.columns([3, 5])
with left:
    st.subheader("What is in it", anchor=False)
    st.caption("Sections of the PDF, the HTML and the JSON; sections without data in this run are left out.")
    for name, (title, holds, usual) in sections.items():
        st.checkbox(f"**{title}** · {holds}", value=usual, key=f"section-{name}")
with right:
    st.subheader("Leading models", anchor=False)
    for table in leading.tables:
        blocks.draw_table(table, run, "report")
    if not leading.tables:
        st.info("No metric of this run has a better end, so no model leads.")
missed = any(cell.problem for cell in run_reads.leaderboard(run).cells.values())
if missed and st.button("See the problems", icon=":material/arrow_forward:"):
    url.go("problems", run=run)
