"""A page with what stands on every page: the palette and the toolbar, with a box to type in. Run by its tests."""

import streamlit as st

from components.widgets import url
from components.widgets.palette import palette
from components.widgets.toolbar import toolbar

st.title("Tools")
st.text_input("Box")
palette(url.param("run", ""))
toolbar(url.param("run", ""))
