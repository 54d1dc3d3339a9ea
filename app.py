"""The studio: `streamlit run app.py`. The server imports this file for its gate; each visit runs it to draw a page."""

import streamlit as st
from streamlit import runtime

if runtime.exists():
    from components.server.loaded import keep_loaded
    from components.widgets.frame import navigation
    from components.widgets.page_error import guard_page

    with guard_page():
        navigation().run()
    keep_loaded()
else:
    from components.server.start import gate_options
    from metrics.core.terminal_escapes import protect
    from metrics.judge.keys import redact

    protect(redact)  # a traceback holds texts of others
    app = st.App("app.py", **gate_options())
    if __name__ == "__main__":
        app.run()
