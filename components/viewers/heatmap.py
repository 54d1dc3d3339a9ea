"""The leaderboard's heatmap: models × metrics, coloured by goodness, every number with its interval and n.

An HTML table, not `st.dataframe`: that is a canvas without hover texts per cell or a reading order, and takes seconds
to style. All text goes through `textContent` (see heatmap.js).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from components.viewers.browser_component import browser_component
from components.widgets import url
from metrics.presentation import calibration_words, format, palette

if TYPE_CHECKING:
    from components.data import Cell, Column, Leaderboard

BEST, PROBLEM = 1, 2  # the bits of a cell's marks
NAME = "model"  # the sort that goes by the models' names


def select_columns(columns: Sequence[Column], evaluators: Sequence[str], minor: bool) -> list[Column]:
    """Return the columns of the chosen evaluators, all of them where none is chosen; minor metrics only on demand."""
    chosen = [column for column in columns if not evaluators or column.evaluator in evaluators]
    return [column for column in chosen if minor or not column.minor]


def order_models(board: Leaderboard, models: Sequence[str], sort: str | None, down: bool) -> list[str]:
    """Return `models` by a column's key, best first if `down`, those without a value last; by NAME; else as given."""
    column = next((column for column in board.columns if column.key == sort), None)
    if sort == NAME:
        return sorted(models, key=str.casefold, reverse=not down)
    if column is None:
        return list(models)
    sign = -1 if column.direction == "lower" else 1
    values = {model: value for model in models if (value := _value(board, model, column.key)) is not None}
    return [
        *sorted(values, key=lambda model: sign * values[model], reverse=down),
        *(model for model in models if model not in values),
    ]


def cells(board: Leaderboard, columns: Sequence[Column]) -> dict[str, list[list[Any]]]:
    """Return the cells of each model, in the order of the columns: [text, colour step, interval, size, marks, note,
    rank].
    """
    texts = {
        column.key: format.aligned([_value(board, model, column.key) for model in board.models]) for column in columns
    }
    return {
        model: [_cell(board.cells.get((model, column.key)), texts[column.key][row]) for column in columns]
        for row, model in enumerate(board.models)
    }


def payload(
    columns: Sequence[Column],
    rows: Mapping[str, list[list[Any]]],
    models: Sequence[str],
    answer: str,
    sort: str | None,
    down: bool,
    objects: Mapping[str, Mapping[str, url.Value]] | None = None,
    judges: Mapping[str, str] | None = None,
    **view: url.Value,
) -> dict[str, Any]:
    """Return what heatmap.js draws: the answer, the headers, and the `cells` of these models in this order.

    `view` (run, tag) goes into the addresses that the cells lead to: their cases, or the gallery with the filters that
    `objects` has for the column's key. `judges` names the judges of each judged evaluator.
    """
    groups: list[list[Any]] = []
    for column in columns:
        if groups and groups[-1][0] == column.evaluator_title:
            groups[-1][1] += 1
        else:
            groups.append([column.evaluator_title, 1])
    return {
        "headline": answer,
        "models": list(models),
        "groups": groups,
        "columns": [
            _head(column, view, (objects or {}).get(column.key), (judges or {}).get(column.evaluator))
            for column in columns
        ],
        "cells": [rows[model] for model in models],
        "sort": {"key": sort, "down": down},
        "missing": format.MISSING,
    }


def heatmap(data: dict[str, Any], key: str = "heatmap") -> str | None:
    """Draw the payload; the sort just asked for (a column's key or NAME), if any. A cell is a link to its cases."""
    packed = json.dumps(data, separators=(",", ":")).encode()  # as bytes: Streamlit looks into dicts for data frames
    asked: str | None = browser_component("heatmap", colour_css())(key=key, data=packed, on_sort_change=_nothing).get(
        "sort"
    )
    return asked


def colour_css() -> str:
    """Return a class per step of the goodness scale, with its ink, for both themes; and the legend's scale."""
    ramps = list(zip(palette.ramp(False), palette.ramp(True), strict=True))
    lines = [
        f".s{step} {{ background: light-dark({light}, {dark});"
        f" color: light-dark({palette.text_colour(light)}, {palette.text_colour(dark)}); }}"
        for step, (light, dark) in enumerate(ramps)
    ]
    stops = ", ".join(f"light-dark({light}, {dark})" for light, dark in ramps)
    return "\n".join([*lines, f".scale {{ background: linear-gradient(90deg, {stops}); }}"])


def _value(board: Leaderboard, model: str, key: str) -> float | None:
    cell = board.cells.get((model, key))
    return None if cell is None else cell.value


def _head(
    column: Column, view: Mapping[str, url.Value], objects: Mapping[str, url.Value] | None, judges: str | None
) -> dict[str, Any]:
    threshold = column.threshold
    facts = [
        column.description,
        f"{column.evaluator}.{column.metric}",
        f"Range {format.range_text(column.low, column.high)}, {format.DIRECTIONS[column.direction]}",
    ]
    facts += calibration_words.threshold_lines(column)
    if judges:
        facts.append(f"Judged by {judges}")
    if column.wording:
        facts.append(f"Wording of your own (sha256): {column.wording}")
    return {
        "key": column.key,
        "title": column.title + (" ⚠" if calibration_words.warning(column) else ""),
        "arrow": format.ARROWS[column.direction],
        "unit": column.unit,
        "threshold": "" if threshold is None else f"{threshold:g}",
        "about": "\n".join(facts),
        "behind": (
            url.href("cases", **view, evaluator=column.evaluator, metric=column.metric)
            if objects is None
            else url.href("gallery", **view, **objects)
        ).lstrip("/"),
    }


def _cell(cell: Cell | None, text: str) -> list[Any]:
    if cell is None:
        return [format.MISSING, None, "", "", 0, "Not computed for this model.", ""]
    goodness = cell.goodness
    step = None if cell.value is None else palette.goodness_step(goodness)
    size = f"n {format.count(cell.n)}" if cell.n else ""
    if cell.unscored:
        size = f"{size} · ∅ {format.count(cell.unscored)}" if size else f"∅ {format.count(cell.unscored)}"
    notes = [note for note in (cell.reason, cell.untested) if note]
    notes += [
        f"{format.STATUSES.get(name, name)}: {format.count(n)}" for name, n in cell.counts.items() if n and name != "ok"
    ]
    if cell.if_worst is not None or cell.if_best is not None:
        worst, best = format.number(cell.if_worst), format.number(cell.if_best)
        notes.append(f"If every unscored case were the worst: {worst}; the best: {best}")
    return [
        text if cell.value is not None else format.MISSING,
        step,
        format.interval(cell.low, cell.high),
        size,
        BEST * bool(cell.best) | PROBLEM * bool(cell.problem),
        "\n".join(notes),
        _rank(cell) if cell.ranked > 1 else "",
    ]


def _rank(cell: Cell) -> str:
    """`2–4 of 7`, `1 of 7`: the ranks that the model may truly have; empty where it has none."""
    if cell.rank is None:
        return ""
    last = "" if cell.last_rank == cell.rank else f"–{cell.last_rank}"
    return f"{cell.rank}{last} of {cell.ranked}"


def _nothing() -> None:
    """A component's trigger exists only where a callback is given; the value is read from its result."""
