"""Who visits: the page before the sign-in, and the menu with the name, the group, the audit log and Sign out."""

import streamlit as st

from components.data import NotAllowed, visitors
from components.widgets import url
from components.widgets.literal import literal
from components.widgets.tables import ROW, header
from metrics.presentation import format

GROUP = "visitor-group"
WHOLE_LOG = "All of it is in the file audit.jsonl of the studio's workspace."
ROLES = {
    "viewer": "You can read everything and download it.",
    "editor": "You can evaluate, label and change what is in this workspace.",
    "admin": "You can also remove runs for good, change the cache of replies and read the audit log.",
}


def refusal() -> NotAllowed | None:
    """Return why the visitor may see nothing here; None where the pages may be drawn."""
    try:
        visitors.group()
    except NotAllowed as why:
        return why
    return None


def draw_refusal(why: NotAllowed) -> None:
    """Draw why nothing is shown, and what helps: to sign in, or to go to the visitor's own workspace."""
    asks = isinstance(why, visitors.SignIn)
    with st.container(border=True):
        st.subheader("Sign in" if asks else "This is not shown to you", anchor=False)
        st.text(str(why))
        with st.container(horizontal=True):
            if asks:
                st.button("Sign in", type="primary", icon=":material/login:", on_click=visitors.sign_in)
            elif url.param("group"):
                st.button("Open your own workspace", type="primary", on_click=url.put, kwargs={"group": None})
            if visitors.signed_in():
                st.button("Sign out", icon=":material/logout:", on_click=visitors.sign_out)


def draw_menu() -> None:
    """Draw the menu of the visitor who is signed in; nothing where nobody signs in."""
    who = visitors.visitor()
    if who is None:
        return
    with st.popover(literal(format.shorten(who.title, 24)), icon=":material/person:", width="content"):
        st.text(who.name)
        st.text(f"Role: {who.role}", help=ROLES[who.role])
        if len(who.groups) > 1:
            st.selectbox("Group", who.groups, who.groups.index(visitors.group()), key=GROUP, on_change=_open_group)
        elif who.groups:
            st.text(f"Group: {who.groups[0]}")
        if who.may("admin"):
            url.link("Audit log", "runs", icon=":material/history:", log=True)
        st.button("Sign out", icon=":material/logout:", on_click=visitors.sign_out, width="stretch")


def _open_group() -> None:
    """Open the workspace of the chosen group: what the address says is about the old one's."""
    st.query_params.clear()
    st.session_state.pop("last_run", None)
    url.put(group=st.session_state[GROUP])


def draw_log() -> None:
    """Draw the last lines of the audit log."""
    import pandas as pd

    rows = visitors.audit_log()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(f"Audit log, the last {format.plural(len(rows), 'line')}", help=WHOLE_LOG)
        st.button("Close", icon=":material/close:", type="tertiary", on_click=url.put, kwargs={"log": None})
    table = pd.DataFrame(rows)
    table["at"] = table["at"].str[:19].str.replace("T", " ")
    st.dataframe(
        table, hide_index=True, row_height=ROW, height="content" if len(rows) < 12 else 400,
        column_config={
            "at": header("Time, UTC", 150), "who": header("Who", 180), "role": header("Role", 64),
            "group": header("Group", 90), "what": header("What", 190), "about": header("Of what", 190),
            "outcome": header("Outcome", 80, "What was allowed can still have failed, for another reason."),
        },
    )  # fmt: skip
