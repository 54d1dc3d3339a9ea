"""What a page shows where the machine refuses to store or to read: a full disk, a lost one, no permission."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from metrics.core.errors import storage_error


def draw_storage_error(failure: BaseException) -> bool:
    """Draw in words what the machine refuses; return False for an error of another kind."""
    refusal = storage_error(failure)
    if refusal is None:
        return False
    st.error("The workspace cannot be used.", icon=":material/hard_drive:")
    st.text(str(refusal))
    return True


@contextmanager
def stop_at_storage_error() -> Iterator[None]:
    """Show what the machine refuses as one message in place of the rest of the page, and stop the page.

    In a thread that no page runs in StorageError is raised.
    """
    try:
        yield
    except Exception as failure:
        refusal = storage_error(failure)
        if refusal is None:
            raise
        if get_script_run_ctx(suppress_warning=True) is None:
            raise refusal from failure
        draw_storage_error(refusal)
        st.stop()
