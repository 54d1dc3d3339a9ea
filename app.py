"""The studio: `streamlit run app.py`. The server imports this file for its gate; each visit runs it to draw a page."""

import streamlit as st
from streamlit import runtime

if runtime.exists():
    from components.data import storage_told
    from components.widgets.damaged_run import told
    from components.widgets.frame import navigation

    with storage_told():
        page = navigation()
        with told():
            page.run()
else:
    from components.server.start import gate_options

    app = st.App("app.py", **gate_options())
    if __name__ == "__main__":
        app.run()
