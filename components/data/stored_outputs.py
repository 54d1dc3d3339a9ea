"""What a stored suite has been answered by before, and its cases to be answered."""

from __future__ import annotations

import streamlit as st

from components.data.workspace_runs import workspace, workspace_path


def answers_on_file(suite: str) -> dict[str, str]:
    """Return the outputs of earlier runs that answer cases of a stored suite: fingerprint → models, cases, run."""
    runs = workspace().runs()
    return _on_file(str(workspace_path()), suite, tuple(run.id for run in runs))


@st.cache_data(max_entries=64, show_spinner=False)
def _on_file(folder: str, suite: str, runs: tuple[str, ...]) -> dict[str, str]:  # noqa: ARG001 - the key
    from metrics.presentation import format
    from metrics.suites.outputs_on_file import outputs_on_file

    stored = workspace().suite(suite)
    found = outputs_on_file((workspace().run(run) for run in runs), stored)
    return {
        each.fingerprint: f"{format.shorten(', '.join(each.models), 60)} · {format.count(each.cases)} of "
        f"{format.plural(len(stored), 'case')} · {format.shorten(each.run, 40)}, {format.moment(each.created)}"
        for each in found
    }


def cases_to_answer(suite: str) -> bytes | None:
    """Return the cases of a stored suite as a CSV to be filled with answers; None where they are images."""
    from metrics.store.export_formats import write
    from metrics.suites.outputs_on_file import to_answer

    frame = to_answer(workspace().suite(suite))
    return None if frame is None else bytes(write(frame, "csv"))
