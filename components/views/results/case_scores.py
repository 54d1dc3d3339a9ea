"""The scores of a case's outputs: as marks under an answer, in a table, and what those rest on that failed."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from components.viewers import text_case
from components.widgets.frame import is_dark
from components.widgets.literal import literal
from components.widgets.tables import cell_of, header, numeric
from metrics.analysis import Column
from metrics.core.registry import title_of
from metrics.presentation import palette
from metrics.presentation.format import metric_name
from metrics.presentation.marked_text import Part
from metrics.presentation.phrases import metric_title, signed
from metrics.presentation.viewers import case_texts
from metrics.presentation.viewers.case_rows import value_look

MAX_OPENED = 3  # evaluators whose evidence is open, beside that of the page's number
DIFFERENCE = "−"  # the column of the difference, which no model is called
MAX_MARKS = 8  # scores under an answer
Key = tuple[str, str]  # evaluator, metric


class Passages(NamedTuple):
    """The contexts that each output retrieved, by its column, and their ids."""

    texts: Mapping[str, Sequence[str]]
    ids: Mapping[str, Sequence[str | None]]

    def marked(self) -> dict[str, list[tuple[str, list[Part]]]]:
        """Return the contexts of two outputs by column, with titles that say which the other has not, words marked."""
        both = case_texts.context_twins(*((texts, self.ids[column]) for column, texts in self.texts.items()))
        return dict(zip(self.texts, both, strict=True))


class CaseScores(NamedTuple):
    """The scores of the outputs shown, with their `column`; the board's columns; the number that the page is about."""

    rows: pd.DataFrame
    columns: Mapping[Key, Column]
    number: Key

    def failed(self) -> "pd.Series[bool]":
        """Return which rows are on the wrong side of their threshold."""
        return pd.Series([_mark(row, self.columns) is False for row in self.rows.to_dict("records")], self.rows.index)

    def draw_marks(self, column: str) -> None:
        """Draw the scores of one output in a line: the page's number, what failed, then what else has a pass mark."""
        rows = self.rows[self.rows["column"] == column].to_dict("records")
        marked = [(row, _mark(row, self.columns)) for row in rows if row["value"] == row["value"]]
        marked = [(row, good) for row, good in marked if good is not None and self._is_main(row)]
        marked.sort(key=lambda each: ((each[0]["evaluator"], each[0]["metric"]) != self.number, each[1]))
        with st.container(horizontal=True, gap="xsmall"):
            for row, good in marked[:MAX_MARKS]:
                value = case_texts.score_text(row["value"], row["status"])
                metric = self.columns[row["evaluator"], row["metric"]]
                text = literal(f"{'✓' if good else '✗'} {metric_title(metric, arrow=False)} {value}")
                passes = f"{metric.description} Passes if {metric.limit}."
                st.badge(text, color="green" if good else "red", help=literal(passes))

    def draw_evidence(self, passages: Passages) -> None:
        """Draw what the page's number rests on, and what failed."""
        names = list(dict.fromkeys(self.rows.loc[self.failed(), "evaluator"]))
        opened = [name for name in names if name != self.number[0]][:MAX_OPENED]
        for name in (self.number[0], *opened):
            text_case.draw_evaluator_evidence(
                self.rows[self.rows["evaluator"] == name], title_of(name), passages.texts, passages.ids
            )

    def draw_table(self, passages: Passages) -> None:
        """Draw every score, what failed first; a click shows what a score rests on."""
        columns = list(passages.texts)
        first = self.rows.assign(failed=~self.failed()).groupby(["evaluator", "metric"], sort=False)["failed"].min()
        keys: list[Any] = list(first.sort_values(kind="stable").index)
        cells = {(row["evaluator"], row["metric"], row["column"]): row for row in self.rows.to_dict("records")}
        texts, styles = [], []
        for key in keys:
            own = [cells.get((*key, column)) for column in columns]
            texts.append([title_of(key[0]), metric_name(key[1], key[0]), *(self._text(row) for row in own)])
            styles.append(["", "", *(self._style(row) for row in own)])
            if len(columns) == 2:
                texts[-1].append(self._difference(key, *own))
                styles[-1].append("")
        heads = ["evaluator", "metric", *columns, *([DIFFERENCE] if len(columns) == 2 else [])]
        config = {"evaluator": header("Evaluator", 190), "metric": header("Metric", 190)}
        config |= {column: st.column_config.Column(column, alignment="right") for column in columns}
        config[DIFFERENCE] = numeric("Difference", 120, "Right − left")
        st.subheader("All scores", anchor=False, help="Click a score to see what it rests on.")
        frame, css = pd.DataFrame(texts, columns=heads), pd.DataFrame(styles, columns=heads)
        if (clicked := cell_of(frame, config, "case-scores", styles=css)) is not None:
            name = keys[clicked[0]][0]
            own = self.rows[self.rows["evaluator"] == name]
            text_case.draw_evaluator_evidence(own, title_of(name), passages.texts, passages.ids, asked=True)

    def _is_main(self, row: Mapping[Any, Any]) -> bool:
        key = row["evaluator"], row["metric"]
        return key == self.number or (self.columns[key].primary and not self.columns[key].minor)

    def _text(self, row: Mapping[Any, Any] | None) -> str:
        if row is None:
            return ""
        mark = {True: "✓ ", False: "✗ ", None: ""}[_mark(row, self.columns)]
        return mark + case_texts.score_text(row["value"], row["status"])

    def _difference(self, key: Key, first: Mapping[Any, Any] | None, second: Mapping[Any, Any] | None) -> str:
        """Return by how much the second score is higher or lower, and whether that is better; "" where one is none."""
        if first is None or second is None or pd.isna(first["value"]) or pd.isna(second["value"]):
            return ""
        apart = float(second["value"]) - float(first["value"])
        direction = self.columns[key].direction if key in self.columns else "none"
        if not apart or direction == "none":
            return signed(apart)
        return f"{signed(apart)} {'better' if (apart > 0) == (direction == 'higher') else 'worse'}"

    def _style(self, row: Mapping[Any, Any] | None) -> str:
        column = None if row is None else self.columns.get((row["evaluator"], row["metric"]))
        if row is None or column is None or row["value"] != row["value"] or row["value"] is None:
            return ""
        step = value_look(float(row["value"]), column)[1]
        if step is None:
            return ""
        colour = palette.ramp(is_dark())[step]
        return f"background-color: {colour}; color: {palette.text_colour(colour)}"


def _mark(row: Mapping[Any, Any], columns: Mapping[Key, Column]) -> bool | None:
    """Return whether a score passes; None where its metric has no threshold or it has no value."""
    column = columns.get((row["evaluator"], row["metric"]))
    return None if column is None else column.verdict(row["value"])
