"""Labels and preferences from files: how a file was read, all its problems, adding it; and the sets that there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from components.data import inspected_files, uploaded_files, visitors
from components.widgets import column_mapping, problem_list, uploads, url
from metrics.presentation import format

if TYPE_CHECKING:
    from components.data import GivenFile, GivenSet

KINDS = tuple(kind for kind in uploaded_files.TABLES if kind not in uploaded_files.ARCHIVES)


class Given(NamedTuple):
    """Rows of one kind: their words, the canonical columns of a file and which of them holds the value.

    noun: what a row is; title, hint: of the uploader; here: who gave those of the page, in words; choose: draws what
    is to be chosen of a file and returns it for `read`; told: what a file holds, in words.
    """

    noun: str
    title: str
    hint: str
    canonical: Sequence[str]
    value: str
    here: str
    choose: Callable[[], dict[str, Any]]
    read: Callable[..., inspected_files.ReadGiven]
    told: Callable[[GivenFile], str]
    add: Callable[[str, Any, str], None]
    remove: Callable[[str, str], None]
    sets: Callable[[str], list[GivenSet]]


def draw(run: str, given: Given) -> None:
    """Draw the uploader, and below it what each uploaded file holds."""
    tokens = uploads.draw_uploads(given.title, f"{given.noun}s", KINDS, hint=given.hint)
    uploads.draw_refused()
    for token in tokens:
        _draw_file(run, given, token)


def _draw_file(run: str, given: Given, token: str) -> None:
    kind, mapped = f"{given.noun}s", f"{given.noun}s_map"  # the parameters of the uploads and of their columns
    pairs, readings = tuple(url.params(mapped)), tuple(url.params("read"))
    choices = given.choose()
    column_mapping.draw_reading(inspected_files.inspect(token, "outputs", readings=readings))
    found = given.read(run, token, pairs, readings, **choices)
    if found.file is None:
        st.text(f"✗ {problem_list.words(found.problems)} in {found.name}; nothing was added")
        problem_list.draw_problems(found.problems, kind)
        again = "Reads the columns by their names again."
        if uploaded_files.choices_of(token, pairs) and st.button(
            "Reset the columns", type="tertiary", help=again, key=f"reset-{token}"
        ):
            url.put(**{mapped: None})
            st.rerun()
        return
    file = found.file
    st.text(f"✓ {format.plural(len(file.table), given.noun)} {given.told(file)}")
    for note in file.notes:
        st.text(note)
    if file.ignored:
        st.text(f"Ignored: {', '.join(file.ignored)}")
    read = (f"{name} ← {column}" if name != column else name for name, column in file.columns.items())
    with st.expander("Columns: " + " · ".join(read)):
        needed = {given.value: given.value}
        column_mapping.draw_mapping(token, file.columns, given.canonical, file.file_columns, mapped, needed)
    if st.button(f"Add these {kind}", type="primary", icon=":material/add:", key=f"add-{token}"):
        given.add(run, file.table, file.file)
        url.put(**{kind: None, mapped: None})
        st.rerun()


def draw_sets(run: str, given: Given) -> None:
    """Draw the sets of a run, each with a button to remove it."""
    may_remove = visitors.may("editor")
    how = {"page": given.here, "judge": "judged by"}
    for one in given.sets(run):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            rows = format.plural(one.rows, given.noun)
            about = f"{rows}, {format.plural(one.raters, 'rater')}, for {', '.join(one.criteria)}"
            by = how.get(one.kind, "file")
            st.text(f"{by} {one.name} · {about} · {format.moment(one.changed)}", width="stretch")
            if may_remove:
                remove_button(f"remove-{one.id}", rows, partial(given.remove, run, one.id))


def remove_button(key: str, what: str, remove: Callable[[], object]) -> None:
    """Draw a button that asks first: `Remove`, then `Really remove` with `what` that is; only then is it removed."""
    if st.session_state.get(key) and st.button(f"Really remove {what}", key=f"{key}-sure", type="primary"):
        remove()
        st.session_state[key] = False
        st.rerun()
    elif not st.session_state.get(key) and st.button("Remove", key=f"{key}-ask", type="tertiary"):
        st.session_state[key] = True
        st.rerun()
