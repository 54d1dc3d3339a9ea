"""What every chart of the leaderboard is drawn from, and where its numbers lead."""

from collections.abc import Sequence

import streamlit as st

from components.data import workspace_runs
from components.views.curves import curve_parts
from components.widgets import drilldown_filters, filters, url
from metrics.analysis import Cell, Column, Leaderboard
from metrics.presentation import format


class View:
    """What every chart is drawn from: the run, and the columns and models that the sidebar leaves, best first."""

    def __init__(self, run: str, tag: str | None, columns: Sequence[Column], models: Sequence[str], board: Leaderboard):
        self.run, self.tag, self.columns, self.cells = run, tag, columns, board.cells
        self.models, self.leading = list(models), list(models)
        self.colours = curve_parts.colours_of(workspace_runs.run_facts(run).models)

    def restrict(self, most: int) -> None:
        """Keep only the models chosen in the sidebar, else the first `most`; a caption says what is left out."""
        picked = filters.many("Models in the chart", self.leading, "shown", filters.unasked(self.leading, most))
        self.models = picked or self.leading[:most]
        if len(self.models) < len(self.leading):
            which = "that you chose" if picked else "that lead"
            st.caption(
                f"The {format.plural(len(self.models), 'model')} {which}, of {format.count(len(self.leading))}. "
                "Choose which in the sidebar."
            )

    def cell(self, model: str, column: Column) -> Cell | None:
        """Return a model's number; None where there is none."""
        return self.cells.get((model, column.key))

    def open(self, model: str, key: str, **more: url.Value) -> None:
        """Open the cases (or the objects) behind a number."""
        column = next(column for column in self.columns if column.key == key)
        page, where = drilldown_filters.place(self.run, column, model, self.tag, **more)
        url.go(page, **where)
