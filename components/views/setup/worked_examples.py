"""The worked examples of an evaluator: what is given, what the judge replies, and the numbers that come out."""

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from components.widgets.tables import header, numeric
from metrics.core.evaluator import Example
from metrics.presentation.format import STATUSES, number, title

TABLES = ("cases", "annotations", "outputs", "predictions")  # of a data set
NO_VALUE = "no value"


def heading(example: Example) -> str:
    """Return the name of an example as a sentence, with its result where that is one number."""
    name = example.name[:1].upper() + example.name[1:]
    if not example.expected and example.status != "ok":
        return f"{name} → {STATUSES[example.status]}"
    if len(example.expected) != 1 or example.rows:
        return name
    (metric, value), *_ = example.expect.items()
    return f"{name} → {metric} {NO_VALUE if value is None else number(value)}"


def given_fields(example: Example) -> pd.DataFrame:
    """Return the fields of the given case, and parameters that are not the defaults: field, value."""
    given = {title(name): value for name, value in example.given.items() if name not in TABLES}
    given |= {f"Parameter {name}": value for name, value in example.parameters.items()}
    return pd.DataFrame([{"field": name, "value": _text(value)} for name, value in given.items()])


def given_tables(example: Example) -> dict[str, pd.DataFrame]:
    """Return the given tables of a data set by name; those that only name cases or models are left out."""
    tables = {name: pd.DataFrame(list(example.given.get(name) or ())) for name in TABLES}
    return {title(name): own.map(_cell) for name, own in tables.items() if set(own.columns) - {"case_id", "model"}}


def expected(example: Example) -> pd.DataFrame:
    """Return the numbers that must come out: metric (of a data set with its own columns) and value."""
    rows = [dict(row) for row in example.expected]
    missing = NO_VALUE if example.status == "ok" else STATUSES.get(example.status, example.status)
    for row in rows:
        if "value" in row:
            row["value"] = missing if row["value"] is None else number(row["value"])
    return pd.DataFrame(rows or [{"value": missing}]).dropna(axis="columns", how="all").map(_cell)


def replies(example: Example) -> pd.DataFrame:
    """Return what the judge replies in the example: prompt, reply."""
    return pd.DataFrame([{"prompt": said.prompt, "reply": _text(said.reply)} for said in example.judge])


def draw_examples(examples: tuple[Example, ...]) -> None:
    """Draw an expander per example."""
    for place, example in enumerate(examples):
        with st.expander(heading(example), key=f"example-{place}"):
            left, right = st.columns([3, 2], gap="medium")
            with left:
                st.caption("Given")
                if len(fields := given_fields(example)):
                    _draw_records(fields, {"field": 150, "value": None})
                for name, table in given_tables(example).items():
                    st.text(name)
                    st.dataframe(table, hide_index=True, height="content")
                if example.judge:
                    st.caption("The judge replies")
                    _draw_records(replies(example), {"prompt": 150, "reply": None})
            with right:
                st.caption("Expected")
                st.dataframe(
                    expected(example), hide_index=True, height="content", column_config={"value": numeric("value")}
                )


def _draw_records(table: pd.DataFrame, widths: Mapping[str, int | None]) -> None:
    columns = {name: header(name.capitalize(), width) for name, width in widths.items()}
    st.dataframe(table, hide_index=True, height="content", column_config=columns)


def _text(value: Any) -> str:
    """Return a given value as text: a list of texts one below the other, anything nested as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return "\n".join(f"{place}. {item}" for place, item in enumerate(value, 1)) or "none"
    return json.dumps(value, ensure_ascii=False, default=str)


def _cell(value: Any) -> Any:
    """Return a value as a table can show it: nested ones as JSON."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | tuple | dict) else value
