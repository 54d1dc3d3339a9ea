"""A button that removes something once it is pressed twice."""

from collections.abc import Callable

import streamlit as st


def remove_button(key: str, what: str, remove: Callable[[], object]) -> None:
    """Draw a button that asks first: `Remove`, then `Really remove` with `what` that is; only then is it removed."""
    if st.session_state.get(key) and st.button(f"Really remove {what}", key=f"{key}-sure", type="primary"):
        remove()
        st.session_state[key] = False
        st.rerun()
    elif not st.session_state.get(key) and st.button("Remove", key=f"{key}-ask", type="tertiary"):
        st.session_state[key] = True
        st.rerun()
