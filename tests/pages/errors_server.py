"""A server that draws errors as the studio's does, with a page that fails."""

import streamlit as st

from components.widgets.page_error import draw_error

app = st.App("errors_page.py", on_script_error=draw_error)
