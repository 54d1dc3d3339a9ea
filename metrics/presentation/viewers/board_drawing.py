"""What heatmap.js draws: models × metrics, coloured by goodness, every number with its interval and n."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from metrics.presentation import format, guarantee_words, palette
from metrics.presentation.addresses import Address, Value, below_root
from metrics.presentation.format import column_name, common_prefix, short_names
from metrics.presentation.phrases import metric_title, unscored_words
from metrics.presentation.viewers.case_rows import case_rows

if TYPE_CHECKING:
    import pandas as pd

    from metrics.analysis import Cell, Column, Leaderboard

BEST, PROBLEM, APART = 1, 2, 4  # the bits of a cell's marks
LOPSIDED = 1.5  # times as long as its other arm is the arm of an interval that is explained
NEAR_END = 2.0  # widths of an interval to the end of the range, within which that end makes it lopsided
NAME = "model"  # the sort that goes by the models' names
CELLS = {  # how much of each number a cell shows: title, meaning
    "full": ("Intervals", "Each number with its interval and n"),
    "compact": ("Compact", "Numbers only; interval and n on hover"),
    "fit": ("Fit", "All columns in the width of the page"),
}
ROOMY = (8, 15)  # models and columns up to which the cells are full unless asked otherwise


def select_columns(
    columns: Sequence[Column], evaluators: Sequence[str], minor: bool, keys: Collection[str] = ()
) -> list[Column]:
    """Return the columns with these keys, else those of the chosen evaluators, by default of all.

    Minor metrics are shown on demand, and the main ones among them where there are no others.
    """
    if named := [column for column in columns if column.key in keys]:
        return named
    chosen = [column for column in columns if not evaluators or column.evaluator in evaluators]
    shown = [column for column in chosen if minor or not column.minor]
    return shown or [column for column in chosen if column.primary]


def cells_shown(asked: str | None, models: int, columns: int) -> str:
    """Return how much each cell shows: as asked for, else as the size of the board allows."""
    if asked in CELLS:
        return asked
    return "full" if models <= ROOMY[0] and columns <= ROOMY[1] else "compact"


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


def cells(
    board: Leaderboard, columns: Sequence[Column], sources: Mapping[tuple[str, str], str] | None = None,
    apart: Collection[tuple[str, str]] = (),
) -> dict[str, list[list[Any]]]:  # fmt: skip
    """Return each model's cells in the order of the columns: [text, colour step, interval, size, marks, note, rank].

    sources: where numbers come from, in words; apart: those that are not ranked; both by model and evaluator.
    """
    texts = {one.key: format.aligned([_value(board, model, one.key) for model in board.models]) for one in columns}
    return {
        model: [
            _cell(
                column, board.cells.get((model, column.key)), texts[column.key][row],
                (sources or {}).get((model, column.evaluator), ""), (model, column.evaluator) in apart,
            )
            for column in columns
        ]
        for row, model in enumerate(board.models)
    }  # fmt: skip


def payload(
    columns: Sequence[Column],
    rows: Mapping[str, list[list[Any]]],
    models: Sequence[str],
    answer: str,
    sort: str | None,
    down: bool,
    objects: Mapping[str, Mapping[str, Value]] | None = None,
    judges: Mapping[str, str] | None = None,
    every: Sequence[Column] = (),
    shown: str = "full",
    drawer: Mapping[str, Any] | None = None,
    address: Address = below_root,
    **view: Value,
) -> dict[str, Any]:
    """Return what heatmap.js draws: the answer, the headers, and the `cells` of these models in this order.

    `view` (run, tag) goes into the addresses that the cells lead to: their cases, or the gallery with the filters that
    `objects` has for the column's key. `judges` names the judges of each judged evaluator. `every` are the columns to
    choose from; `shown` is one of CELLS; `drawer` is what `drawer` returned for the open cell;
    `address` makes the addresses.
    """
    prefix = common_prefix(models)
    names = short_names(models, prefix=prefix)
    groups: list[list[Any]] = []
    for column in columns:
        if groups and groups[-1][0] == column.evaluator_title:
            groups[-1][1] += 1
        else:
            groups.append([column.evaluator_title, 1])
    return {
        "headline": answer,
        "models": list(models),
        "names": [names[model] for model in models],
        "prefix": prefix,
        "every": [[column.key, column.evaluator_title, column_name(column), _code(column)] for column in every],
        "densities": [[name, *words] for name, words in CELLS.items()],
        "cells_as": shown,
        "open": drawer,
        "groups": groups,
        "columns": [
            _head(column, view, (objects or {}).get(column.key), (judges or {}).get(column.evaluator), address)
            for column in columns
        ],
        "cells": [rows[model] for model in models],
        "sort": {"key": sort, "down": down},
        "missing": format.MISSING,
    }


def drawer(
    column: Column, model: str, cell: Cell | None, cases: pd.DataFrame, total: int, view: Mapping[str, Value],
    objects: Mapping[str, Value] | None = None, classes: Mapping[str, int] | None = None, address: Address = below_root,
    source: str = "", of_cases: Column | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Return the drawer of a cell: its number, its worst `cases` of `total`, links to all of them and to its objects.

    `view` is that of the list of cases: run, tag, evaluator, metric and model; `objects` that of the gallery, and
    `classes` how many objects are there of each class that gets a link of its own. source: where the number comes from;
    of_cases: whose values the cases show, see analysis.column_of_cases.
    """
    bounds = format.interval(cell.low, cell.high) if cell else ""
    value = f"{format.number(cell.value if cell else None)} {column.unit}".strip()
    facts = value + (f" (95 % {bounds})" if bounds else "")
    if cell and cell.n:
        facts += f" · n {format.count(cell.n)}"
    if cell and cell.unscored:
        facts += f" · {unscored_words(cell)}"
    said = [cell.untested if cell else None, source] if source else []
    facts = "\n".join([facts, *(text for text in said if text)])
    unit = "image" if objects is not None else "case"
    links = [[f"All {format.plural(total, unit)}", address("cases", **view)]]
    if objects is not None:
        texts = {label: f"{format.shorten(label, 24)} ({format.count(n)})" for label, n in (classes or {}).items()}
        links[:0] = [
            [text, address("gallery", **{**objects, **({"label": label} if label else {})})]
            for label, text in {"": "Failing objects", **texts}.items()
        ]
    several, shown = cases["run"].nunique() > 1, of_cases or column
    by = "" if shown.metric == column.metric else f" by {metric_title(shown)}"
    addresses = [address("case", **view, case=case) for case in cases["case_id"]]
    return {
        "key": column.key, "model": model, "title": f"{model} · {metric_title(column)}",
        "facts": f"{facts}\nWorst {format.plural(len(cases), unit)} of {format.count(total)}{by}",
        "links": links, "cases": case_rows(cases, shown, addresses, repeats=several),
    }  # fmt: skip


def _value(board: Leaderboard, model: str, key: str) -> float | None:
    cell = board.cells.get((model, key))
    return None if cell is None else cell.value


def _head(
    column: Column, view: Mapping[str, Value], objects: Mapping[str, Value] | None, judges: str | None, address: Address
) -> dict[str, Any]:
    threshold = column.threshold
    facts = [
        column.description,
        _code(column),
        f"Range {format.range_text(column.low, column.high)}, {format.DIRECTIONS[column.direction]}",
    ]
    if column.partly:
        facts.append(f"Not finished: {format.count(column.partly[0])} of {format.count(column.partly[1])} rows scored")
    facts += guarantee_words.threshold_lines(column)
    if objects is not None:
        facts.append("n: objects, not images")
    if judges:
        facts.append(f"Judged by {judges}")
    if column.wording:
        facts.append(f"Wording of your own (sha256): {column.wording}")
    return {
        "key": column.key,
        "title": column_name(column)
        + (" ⚠" if guarantee_words.warning(column) else "")
        + (f" … {format.share(*column.partly)}" if column.partly else ""),
        "full": metric_title(column, arrow=False),
        "arrow": format.ARROWS[column.direction],
        "unit": column.unit,
        "threshold": "" if threshold is None else f"{threshold:g}",
        "about": "\n".join(facts),
        "behind": (
            address("cases", **view, evaluator=column.evaluator, metric=column.metric)
            if objects is None
            else address("gallery", **view, **objects)
        ),
    }


def _code(column: Column) -> str:
    """Return what the command, the exports and the docs call a metric."""
    return f"{column.evaluator}.{column.metric}"


def _cell(column: Column, cell: Cell | None, text: str, source: str, apart: bool) -> list[Any]:
    if cell is None:
        return [format.MISSING, None, "", "", 0, "Not computed for this model.", ""]
    step = None if cell.value is None else palette.goodness_step(cell.goodness)
    size = f"n {format.count(cell.n)}" if cell.n else ""
    if cell.unscored:
        size = f"{size} · ∅ {format.count(cell.unscored)}" if size else f"∅ {format.count(cell.unscored)}"
    if cell.is_partial and cell.bounds:
        size += f" · {format.interval(*cell.bounds)}"
    notes = [note for note in (cell.reason, _why_lopsided(column, cell), cell.untested, cell.caution) if note]
    notes += [
        f"{format.STATUSES.get(name, name)}: {format.count(n)}" for name, n in cell.counts.items() if n and name != "ok"
    ]
    if cell.if_worst is not None or cell.if_best is not None:
        worst, best = format.number(cell.if_worst), format.number(cell.if_best)
        notes.append(f"If every case that should have a score and has none were the worst: {worst}; the best: {best}")
    elif cell.is_partial:
        notes.append(
            f"{format.share(cell.missing, cell.n + cell.missing)} of the cases lack a score; nothing bounds them"
        )
    return [
        text if cell.value is not None else format.MISSING,
        step,
        format.interval(cell.low, cell.high),
        size,
        BEST * bool(cell.best) | PROBLEM * bool(cell.problem) | APART * apart,
        "\n".join([*notes, *([source] if source else [])]),
        _rank(cell) if cell.ranked > 1 else "",
    ]


def _why_lopsided(column: Column, cell: Cell) -> str:
    """Return why one arm of a bootstrap interval is LOPSIDED times as long as the other, "" for other intervals."""
    if cell.interval != "bootstrap" or cell.value is None or cell.low is None or cell.high is None:
        return ""
    down, up = cell.value - cell.low, cell.high - cell.value
    if max(down, up) < LOPSIDED * min(down, up) or down == up:
        return ""
    longer, end = ("up", column.low) if up > down else ("down", column.high)
    if abs(cell.value - end) <= NEAR_END * (down + up):
        why = f"towards {format.exact(end)} the range leaves less room"
    else:
        why = f"resamples of the cases move the value farther {longer}, as a few extreme cases do"
    return f"The interval reaches farther {longer}: {why}"


def _rank(cell: Cell) -> str:
    """`2–4 of 7`, `1 of 7`: the ranks that the model may truly have; empty where it has none."""
    if cell.rank is None:
        return ""
    last = "" if cell.last_rank == cell.rank else f"–{cell.last_rank}"
    return f"{cell.rank}{last} of {cell.ranked}"
