"""What a page of all models of a suite begins with, the way there from one run, and what its models lack."""

import streamlit as st

from components.data import boards, evaluation_inputs, visitors, workspace_runs
from components.widgets import url
from metrics.presentation import format

SHOWN = 3  # models that lack something, above the fold
TEXTS = ("name", "family", "model", "prompt")  # columns of the names that people write
EVERY = (
    "Each model also as it was in earlier runs with other answers or other settings, with the run's id behind its name."
)


def draw(run: str) -> None:
    """Draw of a board what it is made of; of a run the way to the board, where other finished runs are of its suite;
    and what models of other versions of the suite can be compared on.
    """
    _draw_head(run)
    if words := boards.shared_words(run):
        with st.container(horizontal=True, vertical_alignment="center", key="other-versions"):
            st.text(words, width="content")
            if visitors.may("editor") and st.button("Compare on these", icon=":material/difference:"):
                url.go("leaderboard", run=boards.compare_versions(run))


def _draw_head(run: str) -> None:
    if not boards.is_board(run):
        facts = workspace_runs.run_facts(run)
        others = len(boards.same_suite(run)) - 1
        if others and facts.state == "finished":
            label = f"{format.plural(others, 'other run')} of this suite: all models side by side"
            url.link(label, "leaderboard", icon=":material/view_list:", run=boards.board_of(facts))
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(boards.head_line(run), width="content")
        if visitors.may("editor"):
            label = "Names and order"
            with st.popover(label, icon=":material/edit_note:", key="board-names", on_change="rerun") as names:
                if names.open:
                    _draw_names(run)
        every = boards.has_every(run)
        if st.toggle("Earlier evaluations too", every, help=EVERY) != every:
            url.put(run=boards.other_address(run), cell=None, of=None)
            st.rerun()


def _draw_names(run: str) -> None:
    """Draw what a board calls its models, what each is made of, the baseline, and what it leaves out."""
    found = boards.board_names(run)
    st.text("Shown names, families, and model × prompt. They are kept with the suite; the runs stay as they are.")
    if found.proposed:
        st.caption("Model and prompt are read from the names. Save to accept them, or clear them.")
    columns = {
        "entry": "In the runs",
        "name": "Shown name",
        "family": "Family",
        "model": "Model",
        "prompt": "Prompt",
        "hidden": "Hidden",
    }
    rows = st.data_editor(
        [row._asdict() for row in found.rows],
        column_config=columns,
        disabled=["entry"],
        hide_index=True,
        key=f"names-{run}",
        width="stretch",
    )
    entries = [row.entry for row in found.rows]
    baseline = st.selectbox(
        "Baseline",
        entries,
        entries.index(found.baseline) if found.baseline in entries else None,
        key=f"baseline-{run}",
        placeholder="None: the best model stands first",
        help="The model that others are measured against.",
    )
    archived = st.multiselect(
        "Archived runs",
        list(found.runs),
        found.archived,
        found.runs.__getitem__,
        key=f"archived-{run}",
        placeholder="None",
        help="The board leaves their numbers out. They stay on the page Runs.",
    )
    if st.button("Save", type="primary", key="save-board-names"):
        kept = [boards.BoardRow(**{**row, **{name: row[name] or "" for name in TEXTS}}) for row in rows]
        wrong = boards.keep_board_names(
            run, found._replace(rows=tuple(kept), baseline=baseline, archived=tuple(archived))
        )
        if not wrong:
            st.rerun()
        st.code(wrong, language=None, wrap_lines=True)


def draw_lacks(run: str) -> None:
    """Draw which models of a board lack numbers made as the others' are, each with a link that begins such a run."""
    found = boards.lacks(run)
    for place, lack in enumerate(found[:SHOWN]):
        with st.container(horizontal=True, vertical_alignment="center", key=f"lack-{place}", gap="small"):
            st.text(f"{format.middle(lack.model, 40)} · {lack.why}", width="stretch")
            if visitors.may("editor"):
                asked = evaluation_inputs.asked_alike(run, lack.model, lack.evaluators)
                url.link("Evaluate alike", "evaluate", icon=":material/add:", **asked)
    if len(found) > SHOWN:
        st.caption(f"And {format.plural(len(found) - SHOWN, 'more model')} with such numbers.")
