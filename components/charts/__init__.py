"""Charts, one file a family: plain tables in, plotly figures out. Streamlit is not needed to make one."""
