"""What case_rows.js draws of the cases of a list: id, answer, score bar and reason."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from metrics.presentation import format, palette

if TYPE_CHECKING:
    import pandas as pd

    from metrics.analysis import Column


def case_rows(
    frame: pd.DataFrame, column: Column, addresses: Sequence[str], *, models: bool = False, repeats: bool = False
) -> list[dict[str, Any]]:
    """Return what the browser draws of each row of a page of cases with answers; `addresses` are where they lead.

    The bar is the value's place in the metric's range, its colour the goodness; there is none where the range is open.
    `models` and `repeats`: whether a row names its model and its repeat.
    """
    import pandas as pd

    texts = format.aligned([None if pd.isna(value) else float(value) for value in frame["value"]])
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

    value = None if pd.isna(row["value"]) else float(row["value"])
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
