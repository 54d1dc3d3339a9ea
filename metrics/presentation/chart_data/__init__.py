"""What a chart shows, computed from tables of a run, for the plotly figures of the pages and the figures of reports."""
