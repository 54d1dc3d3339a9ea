"""The page of tools behind the gate, as the studio's own pages are."""

import streamlit as st
from starlette.middleware import Middleware

from components.server.access import access_of
from components.server.gate import Gate

access = access_of({"ASSAY_NO_TOKEN": "1"}, "127.0.0.1", {})
app = st.App("tools_page.py", middleware=[Middleware(Gate, access=access)])
