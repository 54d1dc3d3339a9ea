"""Tables of records whose rows link to something: a click on any cell of a row selects the row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from metrics.presentation.format import MISSING

if TYPE_CHECKING:
    import pandas as pd

ROW = 35  # pixels
HEAD = 36

Columns = Mapping[str, tuple[Any, Sequence[Any]]]  # name: header, values
Width = int | Literal["small", "medium", "large"] | None  # in pixels


def header(title: str, width: Width = None, help: str | None = None) -> Any:
    """Return the header of a column, with its meaning on hover."""
    return st.column_config.Column(title, width=width, help=help)


def numeric(title: str, width: Width = None, help: str | None = None) -> Any:
    """Return the header of a column of numbers that are written as texts: aligned at their right."""
    return st.column_config.Column(title, width=width, help=help, alignment="right")


def whole(title: str, width: Width = None, help: str | None = None) -> Any:
    """Return the header of a column of whole numbers."""
    return st.column_config.NumberColumn(title, width=width, help=help)


def records(
    frame: pd.DataFrame, columns: Mapping[str, Any], key: str, tallest: int = 520, row_height: int = ROW
) -> int | None:
    """Draw `columns` (name → title or st.column_config) of a frame; return the position of the row just clicked.

    Model texts are safe here: a data frame renders neither Markdown nor HTML.
    """
    clicked = cell_of(frame, columns, key, tallest, row_height=row_height)
    return None if clicked is None else clicked[0]


def draw_columns(columns: Columns, key: str, tallest: int = 520) -> int | None:
    """Draw a table given column by column, each with its header and its values, as `records` does."""
    return records(*parted(columns), key, tallest)


def show_columns(columns: Columns, key: str | None, tallest: int) -> None:
    """Draw such a table whose rows lead nowhere."""
    frame, config = parted(columns)
    height: Literal["content"] | int = "content" if HEAD + ROW * len(frame) <= tallest else tallest
    st.dataframe(frame, hide_index=True, column_config=config, key=key, height=height)


def parted(columns: Columns) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the frame and the headers of such a table."""
    import pandas as pd

    frame = pd.DataFrame({name: values for name, (_, values) in columns.items()})
    return frame, {name: head for name, (head, _) in columns.items()}


def cell_of(
    frame: pd.DataFrame,
    columns: Mapping[str, Any],
    key: str,
    tallest: int = 520,
    styles: pd.DataFrame | None = None,
    row_height: int = ROW,
) -> tuple[int, str] | None:
    """Draw as `records` does, with the CSS of each cell in `styles`; return row and column of the cell just clicked."""
    config = {
        name: entry if not isinstance(entry, str) else st.column_config.Column(entry) for name, entry in columns.items()
    }
    height: Literal["content"] | int = "content" if HEAD + row_height * len(frame) <= tallest else tallest
    drawn = frame if styles is None else frame.style.apply(lambda _: styles, axis=None)
    event = st.dataframe(
        drawn, hide_index=True, column_order=list(columns), column_config=config, key=key, on_select="rerun",
        selection_mode="single-cell", height=height, row_height=row_height, placeholder=MISSING,
    )  # fmt: skip
    cells = event["selection"]["cells"]
    return (int(cells[0][0]), str(cells[0][1])) if cells else None
