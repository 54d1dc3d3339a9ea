"""Insights that need no second model: metrics against their thresholds, hard cases, weak tags, time and cost."""

from collections.abc import Iterable, Iterator, Sequence
from math import isfinite
from typing import Any

import pyarrow.compute as pc

from metrics.analysis.leaderboard.leaderboard import Column, Leaderboard
from metrics.analysis.leaderboard.resources import measured_outputs
from metrics.analysis.slices.find_slices import weakest_tag
from metrics.analysis.slices.slice_outcomes import measures
from metrics.analysis.slices.slice_values import SliceValue
from metrics.core.metric_names import full_name
from metrics.core.number_text import amount, interval, number, p_words
from metrics.core.registry import standards_of
from metrics.core.rounding import at_least, at_least_sql, exact_sum
from metrics.stats.corrections import is_significant
from metrics.store import Run

Insight = dict[str, Any]


def insight_row(
    kind: str,
    message: str,
    *,
    column: Column | None = None,
    metric: str | None = None,
    severity: str = "info",
    evidence: str = "",
    of: Iterable[str] = (),
    **values: Any,
) -> Insight:
    """Return one insight; `of` are the evaluators it rests on if they are not its column's."""
    bases = [name for name in of if name] or ([column.evaluator] if column is not None else [])
    standards = dict.fromkeys(standard for name in bases for standard in standards_of(name))
    return {
        "kind": kind, "evaluator": column and column.evaluator, "metric": column.metric if column else metric,
        "model": None, "case_id": None, "value": None, "message": message, "severity": severity, "evidence": evidence,
        "affected": None, "case_ids": [], "standards": list(standards), **values,
    }  # fmt: skip


def in_numbers(what: str, value: float | None, low: float | None, high: float | None, n: int) -> str:
    """Return `what` with its value, 95 % interval and n."""
    bounds = interval(low, high)
    return f"{what} {number(value)}{f' ({bounds})' if bounds else ''}, n = {n:,}"


QUANTITIES = {  # column of the outputs: kind and adjective of its dearest case, kind and verb of its total, unit
    "duration_s": ("slowest_case", "slowest", "total_time", "takes", "s"),
    "cost_usd": ("dearest_case", "most expensive", "total_cost", "costs", "USD"),
}


def metric_margins(board: Leaderboard, columns: Sequence[Column]) -> Iterator[Insight]:
    """Yield, for a single model, the metric that misses its threshold the most and the one that exceeds it the most.

    A margin is the distance to the threshold as a share of the metric's range; metrics with an open range have none.
    """
    if len(board.models) != 1:
        return
    (model,) = board.models
    margins: dict[str, float] = {}
    for column in columns:
        cell = board.cells.get((model, column.key))
        width = column.high - column.low
        if cell is None or cell.value is None or column.threshold is None or not isfinite(width):
            continue
        sign = -1 if column.direction == "lower" else 1
        margins[column.key] = sign * (cell.value - column.threshold) / width
    if len(margins) < 2:
        return
    by_key = {column.key: column for column in columns}
    for kind, key in (("worst_metric", min(margins, key=margins.__getitem__)),
                      ("best_metric", max(margins, key=margins.__getitem__))):  # fmt: skip
        column, cell = by_key[key], board.cells[model, key]
        misses = margins[key] < 0
        most = {True: "misses its threshold", False: "meets its threshold"}[misses]
        word = (
            ("the most" if misses else "the least") if kind == "worst_metric" else ("the least" if misses else "best")
        )
        yield insight_row(
            kind,
            f"{model}: {full_name(column)} {most} {word}: {number(cell.value)}, "
            f"the threshold is {column.mark}",
            column=column, model=model, value=cell.value, severity="high" if cell.problem else "info",
            evidence=in_numbers(model, cell.value, cell.low, cell.high, cell.n)
            + f"; of {len(margins)} metrics with a threshold, by the share of their range",
        )  # fmt: skip


def hardest_of_one(run: Run, column: Column) -> Iterator[Insight]:
    """Yield, for a single model, the case whose value is the farthest on the wrong side of the threshold."""
    if column.threshold is None or len(run.models) != 1:
        return
    sign, order = ("-", "DESC") if column.direction == "lower" else ("", "ASC")
    good = at_least_sql(f"{sign}avg(value)", f"{sign}(?::DOUBLE)")
    found = run.query(
        f"""SELECT case_id, avg(value) AS mean, min(position) AS position, count(*) OVER () AS failing FROM scores
            WHERE evaluator = ? AND metric = ? AND value IS NOT NULL
            GROUP BY case_id HAVING NOT {good} ORDER BY mean {order}, position LIMIT 1""",
        [column.evaluator, column.metric, column.threshold, column.threshold],
    )
    for row in found.to_dict("records"):
        failing = int(row["failing"])
        yield insight_row(
            "hardest_case", f"Case {row['case_id']} is the hardest at {full_name(column)}: {number(row['mean'])}",
            column=column, model=run.models[0], case_id=str(row["case_id"]), value=float(row["mean"]), severity="low",
            affected=1, case_ids=[str(row["case_id"])],
            evidence=f"the threshold is {column.mark}; cases that miss it: {failing:,}",
        )  # fmt: skip


def weakest_tags(run: Run, columns: Sequence[Column]) -> Iterator[Insight]:
    """Yield, for each metric with a value per case, the model and tag that are the most clearly below the rest.

    Where no tag is significantly worse, only for a single model, and saying so. See
    metrics.analysis.slices.find_slices; p is corrected for the models too.
    """
    if not run.case_tags:
        return
    by_case = {(one.evaluator, one.metric) for one in measures(run) if one.of == "cases"}
    tested = {column.key: column for column in columns if (column.evaluator, column.metric) in by_case}
    weakest: dict[str, dict[str, tuple[SliceValue, float]]] = {key: {} for key in tested}
    for model in run.models:  # one after the other: what is known of a model's cases is computed once
        for key, column in tested.items():
            if (own := weakest_tag(run, model, column.evaluator, column.metric)) is not None:
                weakest[key][model] = own
    for key, column in tested.items():
        if not (found := weakest[key]):
            continue
        model = min(found, key=lambda name: found[name][1])
        row, p = found[model][0], min(1.0, found[model][1] * len(found))
        significant = is_significant(p) and row.value is not None
        if row.value is None or row.rest is None or not (significant or len(run.models) == 1):
            continue
        sign = -1 if column.direction == "lower" else 1
        wrong = column.threshold is not None and not at_least(sign * row.value, sign * column.threshold)
        message = f"{model} is weakest at {full_name(column)} on cases tagged ‘{row.label}’: {number(row.value)}"
        yield insight_row(
            "weakest_tag", message + ("" if significant else ", not significantly"), column=column, model=model,
            value=row.value, severity=("high" if wrong else "low") if significant else "info",
            evidence=in_numbers(f"‘{row.label}’", row.value, row.low, row.high, row.n)
            + f"; the rest {number(row.rest)}; {p_words(p)} by shuffling, corrected for all tags",
        )  # fmt: skip


def dear_cases(run: Run) -> Iterator[Insight]:
    """Yield the slowest and the most expensive answer; for a single model also what all its answers took."""
    table = measured_outputs(run)
    for quantity, (kind, word, total_kind, takes, unit) in QUANTITIES.items():
        known = table.filter(pc.is_valid(table[quantity]))
        if len(known) < 2:
            continue
        values = known[quantity]
        total, [median] = exact_sum(values.to_pylist()), pc.quantile(values, 0.5).to_pylist()
        place = pc.index(values, most := pc.max(values)).as_py()
        model, case_id = known["model"][place].as_py(), known["case_id"][place].as_py()
        if most.as_py() > median:
            yield insight_row(
                kind, f"{model} is {word} on case {case_id}: {amount(most.as_py())} {unit}", metric=quantity,
                model=model, case_id=case_id, value=most.as_py(), affected=1, case_ids=[case_id],
                evidence=f"the median of {len(known):,} answers is {amount(median)} {unit}",
            )  # fmt: skip
        if len(run.models) == 1:
            yield insight_row(
                total_kind,
                f"{model} {takes} {amount(total)} {unit} in total, {amount(total / len(known))} {unit} an answer",
                metric=quantity, model=model, value=total, evidence=f"{len(known):,} answers that say it",
            )  # fmt: skip
