"""The list of runs: a card for each with what can be done with it, the bin, and runs that cannot be read."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from components.data import evaluation_inputs, visitors, workspace_runs
from components.data.workspace_runs import RunFacts
from components.views.judge import judge_calls
from components.widgets import damaged_run, run_progress, unfinished_run, url
from components.widgets.literal import literal
from metrics.presentation import format, run_names
from metrics.presentation.run_names import GOING

MOST_NAMED = 3  # models
JUDGE_DOWN = "JudgeDown"  # how the failure of a run begins whose judge does not answer
KINDS = {"queued": "queued", "starting": "running", "running": "running", "finished": "finished"}
EDIT, CLONE, ARCHIVE, DELETE = "Name, notes and tags", "Clone with changes", "Archive", "Move to the bin"


def matches(run: RunFacts, wanted: str, tags: Sequence[str], states: Sequence[str]) -> bool:
    """Return whether a run has every word of a text in what its card shows, any of the tags and any of the states."""
    asked = (run.suite["name"], *run.models, run_names.evaluator_line(run.evaluators, len(run.evaluators)))
    shown = " ".join((run.name, run.id, run.notes, *run.tags, *asked)).casefold()
    return (
        all(word in shown for word in wanted.casefold().split())
        and (not tags or bool({*tags} & {*run.tags}))
        and (not states or run.state in states)
    )


def is_before(run: RunFacts, other: RunFacts) -> bool:
    """Return whether an older run is one to compare a run with: finished, of the same suite, with one of its models."""
    same = run.suite["fingerprint"] == other.suite["fingerprint"]
    return same and other.state == "finished" and not {*run.models}.isdisjoint(other.models)


def counts(runs: Sequence[RunFacts], damaged: Mapping[str, str]) -> str:
    """Return how many runs are in which state: `1 running · 3 queued · 0 stopped · 12 finished · 1 damaged`."""
    found = Counter(KINDS.get(run.state, "stopped") for run in runs)
    shown = ("running", *(["queued"] if found["queued"] else []), "stopped", "finished")
    broken = sum("://" not in run_id for run_id in damaged)
    return " · ".join([*(f"{found[kind]} {kind}" for kind in shown), *([f"{broken} damaged"] if broken else [])])


def card(run: RunFacts, before: str | None, board: str | None) -> Any:
    """Draw a run: its name, what it was asked, how far it is, its buttons; `before`: the run to compare it with.

    board: that of its suite, if other finished runs are of it.

    Returns the place for its result line, which is drawn once every card stands.
    """
    result = None
    finished = run.state == "finished"
    with st.container(border=True, gap="xsmall", key=f"card-{run.id}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(run.name, width="stretch")
            st.text(unfinished_run.state_words(run))
        st.caption(format.shorten(run_names.evaluator_line(run.evaluators), 140))
        st.text(facts_line(run))
        if finished:
            result = st.empty()
        if run.tags:
            st.text("  ".join(f"#{tag}" for tag in run.tags))
        if run.notes:
            st.text(format.shorten(run.notes, 300))
        if not finished:
            _progress(run)
        with st.container(horizontal=True, vertical_alignment="center"):
            _buttons(run, before, board)
    return result


def facts_line(run: RunFacts) -> str:
    """Return what a run is of: `mtrag: 159 cases · small, large · 21 Nov 2026, 10:28 · 20261121-102805-a1b2c3`.

    The suite's name is left out where the run has it as well.
    """
    cases = format.plural(run.suite["cases"], "case")
    if run.suite["name"].casefold() != run.name.casefold():
        cases = f"{format.shorten(run.suite['name'], 60)}: {cases}"
    models = ", ".join(format.middle(model, 30) for model in run.models[:MOST_NAMED])
    if len(run.models) > MOST_NAMED:
        models += f" and {len(run.models) - MOST_NAMED} more"
    return " · ".join((cases, models, format.moment(run.created), run.id))


def _progress(run: RunFacts) -> None:
    if run.state in GOING:
        unfinished_run.follow(run)
        return
    now = workspace_runs.progress(run.id)
    st.text(run_progress.summary(now.progress, going=False))
    if spent := judge_calls.spend_line(now.judges, now.spend, now.budget):
        st.text(spent)
    failure = workspace_runs.failure(run.id)
    if failure and failure.startswith(JUDGE_DOWN):
        st.text("The judge does not answer. Its replies so far are kept: Continue asks only for the missing ones.")
    if failure:
        st.code(failure, language=None, wrap_lines=True, height=120 if len(failure) > 300 else "content")
    else:
        st.text("What it has computed is kept; Resume continues from there.")


def _buttons(run: RunFacts, before: str | None, board: str | None) -> None:
    finished = run.state == "finished"
    if st.button("Open the overview" if finished else "See its numbers so far", key=f"open-{run.id}"):
        url.go("leaderboard", run=run.id)
    if not finished:
        unfinished_run.stop_button(run)
    elif st.button("Report", key=f"report-{run.id}"):
        url.go("report", run=run.id)
    if board and st.button("All models of its suite", key=f"board-{run.id}"):
        url.go("leaderboard", run=board)
    if finished and before:
        other = workspace_runs.run_facts(before)
        shared = next(model for model in run.models if model in other.models)
        what = f"{shared} in {format.shorten(other.name, 40)}, {format.moment(other.created)}"
        if st.button("Compare with the run before", key=f"compare-{run.id}", help=literal(what)):
            url.go("compare", run=before, other=run.id, a=shared, b=shared)
    may_edit = visitors.may("editor")
    options = [EDIT, CLONE] if may_edit else []
    options += [ARCHIVE] if finished else []
    options += [DELETE] if may_edit and run.state not in GOING else []
    chosen = st.menu_button("More", options, key=f"more-{run.id}") if options else None
    does: Mapping[str, Callable[[], object]] = {
        EDIT: partial(edit, run), CLONE: partial(clone, run.id), ARCHIVE: partial(archive, run),
        DELETE: partial(delete, run.id),
    }  # fmt: skip
    if chosen:
        does[chosen]()


@st.dialog(EDIT)
def edit(run: RunFacts) -> None:
    """Ask for the name, notes and tags of a run."""
    st.text_input("Name", run.name, max_chars=200, key=f"name-{run.id}")
    st.text_area("Notes", run.notes, key=f"notes-{run.id}", height=140)
    known = sorted({tag for other in workspace_runs.runs() for tag in other.tags})
    st.multiselect(
        "Tags", known, run.tags, key=f"tags-{run.id}", accept_new_options=True, placeholder="type one, then Enter"
    )
    st.caption("They stand beside the run: its numbers and what it was asked stay as they are.")
    if st.button("Save", type="primary", key=f"save-{run.id}", on_click=_save, args=(run.id,)):
        st.rerun()


def _save(run_id: str) -> None:
    said = (st.session_state[f"{field}-{run_id}"] for field in ("name", "notes", "tags"))
    if refused := workspace_runs.describe_run(run_id, *said):
        st.session_state[unfinished_run.REFUSED] = refused


@st.dialog(ARCHIVE)
def archive(run: RunFacts) -> None:
    """Offer the archive of a finished run."""
    from components.views.results import run_archive

    st.text(run.name)
    run_archive.draw_button(run.id)


def clone(run_id: str) -> None:
    """Open Evaluate with the suite, outputs, evaluators and parameters of a run."""
    url.go("evaluate", **evaluation_inputs.asked_of(run_id))


def delete(run_id: str) -> None:
    """Move a run to the bin and draw the page again."""
    unfinished_run.act(run_id, "delete")
    st.rerun()


def draw_damaged(damaged: Mapping[str, str]) -> None:
    """Draw why each run that cannot be opened cannot, with buttons that evaluate it again and move it to the bin.

    Of a remote workspace that cannot be listed there is the URL in place of a run.
    """
    for run_id, why in damaged.items():
        is_url = "://" in run_id
        with st.container(border=True):
            st.text(f"✗ {'not listed' if is_url else 'damaged'} · {run_id}")
            st.code(why, language=None, wrap_lines=True)
            if is_url:
                continue
            with st.container(horizontal=True, vertical_alignment="center"):
                damaged_run.draw_repair(run_id)
                if visitors.may("editor") and st.button(DELETE, key=f"delete-{run_id}"):
                    delete(run_id)


def draw_bin(deleted: Sequence[RunFacts]) -> None:
    """Draw the deleted runs, each to be restored, and the button that removes them for good."""
    if not deleted or not visitors.may("editor"):
        return
    with st.expander(f"Bin ({len(deleted)})", icon=":material/delete:"):
        for run in deleted:
            with st.container(horizontal=True, vertical_alignment="center", key=f"bin-{run.id}"):
                st.text(f"{run.name} · {facts_line(run)}" if run.suite else f"{run.id} · damaged", width="stretch")
                st.button("Restore", key=f"restore-{run.id}", on_click=unfinished_run.act, args=(run.id, "restore"))
        if visitors.may("admin") and st.button("Empty the bin …", icon=":material/delete_forever:", key="empty-bin"):
            empty_bin([run.id for run in deleted])


@st.dialog("Empty the bin")
def empty_bin(run_ids: Sequence[str]) -> None:
    """Ask whether these runs are to be removed for good."""
    st.text(f"{format.plural(len(run_ids), 'run')} will be removed for good. Suites, outputs and labels stay.")
    if st.button(
        "Remove for good", type="primary", key="empty-bin-sure", on_click=workspace_runs.empty_bin, args=(run_ids,)
    ):
        st.rerun()
