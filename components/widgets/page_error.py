"""Errors of a page as cards of our own: what happened, what is left, and what to do.

The server imports this before it runs, so components.data, whose caches want a running one, is imported on use.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from itertools import count

import streamlit as st
from streamlit.errors import StreamlitAPIException

from components.widgets import url
from components.widgets.literal import literal

TITLE = "✗ An error of Assay stopped this view"
KEPT = "Nothing that was computed or saved is lost: runs, suites and uploads are on disk, and what is running goes on."
ADVICE = (
    "Try again, or go on from the runs. If it happens again, report it with these details, which hold nothing of your "
    "data. The traceback is in the studio's log at {}: the terminal that it was started in, or `docker logs`."
)
_numbers = count(1)  # of cards: several fragments of a page may fail in one place


@contextmanager
def guard_page() -> Iterator[None]:
    """Draw what a page cannot use, such as a damaged run, in place of the rest of it; other errors go on.

    It says what its user can do, so the server's log has no traceback of it. What an unfinished run had so far may go
    while it is read: the page is drawn again.
    """
    try:
        yield
    except Exception as failure:
        from components.widgets import unfinished_run

        if unfinished_run.was_overtaken():
            st.rerun()
        if not draw_refusal(failure):
            raise


def draw_error(failure: Exception) -> bool:
    """Draw an error that nothing has caught, in place of Streamlit's box; return True: it is drawn.

    The server gives it to Streamlit (`on_script_error`), which calls it for scripts, fragments and callbacks of every
    page, after it has written the traceback to the log.
    """
    if not draw_refusal(failure):
        draw_card(failure)
    return True


def draw_refusal(failure: Exception) -> bool:
    """Draw an error whose text is written for the user; return False for any other."""
    from components.data import storage
    from components.widgets import damaged_run
    from metrics.core.errors import AssayError, RunCorrupt

    if isinstance(failure, RunCorrupt):
        damaged_run.draw_damage(failure)
    elif storage.draw_storage_error(failure):
        return True
    elif isinstance(failure, AssayError):
        st.error(literal(str(failure)))
    else:
        return False
    return True


def draw_card(failure: Exception) -> None:
    """Draw an error of the program itself, with the details for a report."""
    from components.data import error_reports

    page = (st.context.url or "").rpartition("/")[2]
    with st.container(border=True):
        st.subheader(TITLE, anchor=False)
        st.text(KEPT)
        st.text(ADVICE.format(datetime.now().strftime("%H:%M:%S")))
        st.code(error_reports.error_report(failure, page if page in url.PAGES else ""), language=None, wrap_lines=True)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button("Try again", key=f"reload-{next(_numbers)}", icon=":material/refresh:", type="primary")
            with suppress(StreamlitAPIException):  # of a server without the studio's pages
                url.link("Runs", "runs", icon=":material/arrow_forward:")
