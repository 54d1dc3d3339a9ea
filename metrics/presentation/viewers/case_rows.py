"""What case_rows.js and case_table.js draw: the cases of a list with answer and score bar, or a cell for each model."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from metrics.core.rounding import none_if_nan
from metrics.presentation import format, palette

if TYPE_CHECKING:
    import pandas as pd

    from metrics.analysis import CaseTable, Column, Leaderboard


def case_rows(
    frame: pd.DataFrame, column: Column, addresses: Sequence[str], *, models: bool = False, repeats: bool = False
) -> list[dict[str, Any]]:
    """Return what the browser draws of each row of a page of cases with answers; `addresses` are where they lead.

    The bar is the value's place in the metric's range, its colour the goodness; there is none where the range is open.
    `models` and `repeats`: whether a row names its model and its repeat.
    """

    texts = format.aligned([*map(none_if_nan, frame["value"])])
    return [
        _row(row, column, text, address, models, repeats)
        for row, text, address in zip(frame.to_dict("records"), texts, addresses, strict=True)
    ]


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


def _row(row: dict[Any, Any], column: Column, text: str, address: str, models: bool, repeats: bool) -> dict[str, Any]:
    import pandas as pd

    value = none_if_nan(row["value"])
    errors = None if pd.isna(row["errors"]) else int(row["errors"])
    share, step = value_look(value, column)
    facts = [f"repeat {row['run']}"] if repeats else []
    facts += list(row["tags"])
    if "spread" in row and not pd.isna(row["spread"]):
        facts.append(f"spread {format.number(row['spread'])}")
    answer, reason = (short_text(row[name]) for name in ("answer", "reason"))
    if value is None and errors is None and row["status"] != "ok":
        text = format.STATUSES.get(row["status"], row["status"])
    return {
        "id": row["case_id"], "href": address.lstrip("/"),
        "model": row["model"] if models and isinstance(row["model"], str) else None,
        "facts": " · ".join(facts),
        "question": short_text(row["preview"]) if row["preview"] != row["case_id"] else None,
        "answer": answer, "reason": reason,
        "value": format.plural(errors, "error") if errors is not None else text,
        "share": share, "step": step,
        "failing": bool(errors) or column.verdict(value) is False,
    }  # fmt: skip


def value_look(value: float | None, column: Column) -> tuple[float | None, int | None]:
    """Return the length of a value's bar, 0 … 1, and the step of the goodness scale that colours it; None for none."""
    width = column.high - column.low
    if value is None or not math.isfinite(width):
        return None, None
    share = min(1.0, max(0.0, (value - column.low) / width))
    good = 1 - share if column.direction == "lower" else share
    return share, None if column.direction == "none" else palette.goodness_step(good)


def short_text(value: Any) -> str | None:
    """Return the beginning of a text; None for none."""
    return format.shorten(value, 200) if isinstance(value, str) and value.strip() else None


MAX_ANSWERED = 6  # models whose answers fit beside each other

Address = Callable[[str, str | None], str]  # of a case and a model


def case_cells(
    table: CaseTable, column: Column, models: Sequence[str], board: Leaderboard, address: Address, of: str = ""
) -> dict[str, Any]:
    """Return what the browser draws of a page of cases × models; `of` says which cases the models' values are of."""
    return {
        "metric": column.title,
        "models": [_head(model, board, column, of) for model in models],
        "rows": [
            {
                "id": case["case_id"],
                "href": address(case["case_id"], None).lstrip("/"),
                "question": short_text(case["preview"]) or case["case_id"],
                "tags": " · ".join(case["tags"]),
                "cells": [
                    _cell(
                        table.cells.get((case["position"], model)), table.are_errors, column,
                        address(case["case_id"], model), len(models) <= MAX_ANSWERED,
                    )
                    for model in models
                ],
            }
            for case in table.cases
        ],
    }  # fmt: skip


def _head(model: str, board: Leaderboard, column: Column, of: str) -> dict[str, str]:
    cell = board.cells.get((model, column.key))
    value = "" if cell is None or cell.value is None else f"{format.number(cell.value)} {column.unit}".strip()
    return {"name": model, "value": f"{value} {of}".strip() if value else ""}


def _cell(
    cell: Mapping[Any, Any] | None, are_errors: bool, column: Column, href: str, with_answer: bool
) -> dict[str, Any] | None:
    if cell is None:
        return None
    value = None if cell["value"] != cell["value"] or cell["value"] is None else float(cell["value"])
    failing = bool(cell["failing"])
    can_pass = are_errors or (column.threshold is not None and column.direction != "none")
    share, step = (None, None) if are_errors else value_look(value, column)
    if value is None:
        text = format.STATUSES.get(cell["status"], cell["status"]) if cell["status"] != "ok" else format.MISSING
    else:
        text = _amount(value, are_errors)
    return {
        "href": href.lstrip("/"), "value": text, "share": share, "step": step,
        "mark": "" if value is None or not can_pass else "fails" if failing else "passes",
        "change": _change(value, cell["base"], are_errors, column),
        "answer": short_text(cell["answer"]) if with_answer else None,
    }  # fmt: skip


def _amount(value: float, are_errors: bool) -> str:
    if not are_errors:
        return format.number(value)
    return format.plural(round(value), "error") if value == round(value) else f"{format.number(value)} errors"


def _change(value: float | None, base: float | None, are_errors: bool, column: Column) -> dict[str, Any] | None:
    """Return how much better or worse a value is than what it is compared with; None where it is not compared."""
    if value is None or base is None or base != base:
        return None
    apart = float(value) - float(base)
    is_lower = are_errors or column.direction == "lower"
    kind = "same" if not apart or column.direction == "none" else "better" if (apart > 0) != is_lower else "worse"
    return {"kind": kind, "amount": format.number(abs(apart)), "was": _amount(float(base), are_errors)}
