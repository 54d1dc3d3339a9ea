"""What case_table.js draws: a row for each case, a column for each model, each cell a link to the case."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from metrics.presentation import format
from metrics.presentation.viewers.case_rows import short_text, value_look

if TYPE_CHECKING:
    from metrics.analysis import CaseTable, Column, Leaderboard

MAX_ANSWERED = 6  # models whose answers fit beside each other

Address = Callable[[str, str | None], str]  # of a case and a model


def case_cells(
    table: CaseTable, column: Column, models: Sequence[str], board: Leaderboard, address: Address
) -> dict[str, Any]:
    """Return what the browser draws of a page of cases × models."""
    return {
        "metric": column.title,
        "models": [_head(model, board, column) for model in models],
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


def _head(model: str, board: Leaderboard, column: Column) -> dict[str, str]:
    cell = board.cells.get((model, column.key))
    value = "" if cell is None or cell.value is None else f"{format.number(cell.value)} {column.unit}".strip()
    return {"name": model, "value": value}


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
