"""What the pages are made of: pure builders of tables and figures, each with a thin Streamlit call."""
