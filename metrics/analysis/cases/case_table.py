"""The cases of a run × its models by one metric: paged by SQL, against another model or an earlier run."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from metrics.analysis.cases import case_pages
from metrics.analysis.stored_outputs import has_repeats
from metrics.core.array_types import Ints
from metrics.store import Run, cache_by_run
from metrics.store.run_tables import listed, mean_sql

MOST_ERRORS = "mean ASC NULLS LAST, failures DESC"  # of metrics whose cases have errors, no value
ORDERS = {
    "worst": "failures DESC, mean ASC NULLS LAST",
    "best": "failures ASC, mean DESC NULLS LAST",
    "apart": "spread DESC NULLS LAST, failures DESC",
    "suite": "position",
    "change": "change ASC NULLS LAST",
}
SHOWN = {  # what a table may be narrowed to: conditions on a case's row
    "any": "failures > 0",
    "all": "failures = models",
    "apart": "CASE WHEN failures > 0 THEN failures < models ELSE spread > 0 END",
    "worse": "change < 0",
}
CHOSEN_BY = ("tag", "search", "within", "only")  # what chooses the cases of a table, whatever their values
ALONE = "alone:"  # before a model: the cases in which it is worse than all others


@dataclass(frozen=True, slots=True)
class CaseTable:
    """Some rows of a table cases × models, and the total number of cases.

    cases: a record per row: case_id, position, preview, tags. cells by (position, model): value, status, failing,
    answer, and `base`, the value compared with; repeats averaged. are_errors: the values are numbers of errors.
    """

    cases: Sequence[Mapping[Hashable, Any]]
    cells: Mapping[tuple[int, str], Mapping[Hashable, Any]]
    total: int
    are_errors: bool


class TableChoice(case_pages.CaseChoice, total=False):
    """Which cases a table holds, its models, and the order; the models and orders of `cases` do not count.

    order: a key of ORDERS; narrow: a key of SHOWN, or ALONE and a model; status: of at least one model. Compared with
    `base_model` of this run, or in `base_run` with the model of the same name, or its only one, on the cases of the
    same id.
    """

    models: Sequence[str]
    order: str
    narrow: str | None
    base_model: str | None
    base_run: Run | None


def case_table(
    run: Run, evaluator: str, metric: str, limit: int = 100, offset: int = 0, **choice: Unpack[TableChoice]
) -> CaseTable:
    """Return a page of the cases × models by a metric."""
    tables, arguments, order = _tables(run, evaluator, metric, choice)
    found = _places(run, tables, tuple(arguments), order)
    shown = found[offset : offset + limit].tolist()
    texts = run.query(
        f"SELECT case_id, position, left({case_pages.TEXT}, {case_pages.MAX_TURN_READ}) AS preview, "
        f"coalesce(tags, []) AS tags FROM suite_cases WHERE position IN ({listed(shown)})"
    ).set_index("position", drop=False)
    texts = texts.assign(preview=texts["preview"].map(case_pages.preview_of))
    every: Any = {**choice, **dict.fromkeys(CHOSEN_BY)}  # nothing else is averaged again, and nothing searched
    tables, arguments, _ = _tables(run, evaluator, metric, every)
    cells = run.query(
        f"{tables} SELECT position, model, run, value, status, failing, base, good FROM cells "
        f"WHERE position IN ({listed(shown)}) ORDER BY position, model",
        arguments,
    )
    cells = cells.assign(case_id=texts["case_id"].loc[cells["position"]].to_numpy())  # reading it again takes longer
    places = zip(cells["position"], cells["model"], strict=True)
    rows = case_pages.add_answers(run, cells).to_dict("records")
    are_errors = case_pages.scored_metric(run, evaluator, metric) is None
    return CaseTable(texts.loc[shown].to_dict("records"), dict(zip(places, rows, strict=True)), len(found), are_errors)


def table_case_ids(run: Run, evaluator: str, metric: str, **choice: Unpack[TableChoice]) -> tuple[str, ...]:
    """Return the ids of all the cases that `case_table` would page through, in their order."""
    tables, arguments, order = _tables(run, evaluator, metric, choice)
    ids = run.case_columns(["case_id"])["case_id"]
    return tuple(ids.take(_places(run, tables, tuple(arguments), order)).to_pylist())


@cache_by_run(maxsize=4)  # of 8 bytes a case
def _places(run: Run, tables: str, arguments: tuple[Any, ...], order: str) -> Ints:
    """Return the positions of all the cases of a table in its order."""
    return run.query(f"{tables} SELECT position FROM listed ORDER BY {order}", list(arguments))["position"].to_numpy()


def _tables(run: Run, evaluator: str, metric: str, choice: TableChoice) -> tuple[str, list[Any], str]:
    """Return the SQL of the tables `cells`, a row for each case and model, and `listed`, one for each case.

    And their arguments, and the order of `listed`.
    """
    kept: Any = {name: choice.get(name) for name in CHOSEN_BY}
    source, arguments, _ = case_pages.list_source(run, evaluator, metric, **kept)
    scored = case_pages.scored_metric(run, evaluator, metric)
    sign = "-" if scored is None or case_pages.is_lower_better(run, evaluator, scored) else ""
    join, base_run, base_model = "", choice.get("base_run"), choice.get("base_model")
    more: list[Any] = []
    if base_run is not None and scored is not None:
        same = "b.model = c.model" if len(base_run.models) > 1 else "TRUE"
        join = f"""LEFT JOIN (SELECT case_id, model, avg(value) AS value FROM {base_run.needed("scores").sql}
                              WHERE evaluator = ? AND metric = ? GROUP BY case_id, model) b
                   ON b.case_id = c.case_id AND {same}"""
        more = [evaluator, scored]
    elif base_model is not None:
        join = "LEFT JOIN averaged b ON b.position = c.position AND b.model = ? AND c.model <> b.model"
        more = [base_model]
    narrow = choice.get("narrow") or ""
    alone = narrow.removeprefix(ALONE) if narrow.startswith(ALONE) else None
    condition = "alone < 0" if alone is not None else SHOWN.get(narrow, "TRUE")
    status = choice.get("status")
    value = "errors" if scored is None else "value"
    averaged = f"SELECT position, model, case_id, run, {value}::DOUBLE AS value, status, failing {source}"
    if has_repeats(run):
        averaged = f"""
            SELECT position, model, any_value(case_id) AS case_id, min(run) AS run, avg({value}) AS value,
                   coalesce(min(status) FILTER (status <> 'ok'), 'ok') AS status, bool_or(failing) AS failing
            {source} GROUP BY position, model"""
    tables = f"""
        WITH averaged AS ({averaged}), cells AS (
            SELECT c.*, {"b.value" if join else "NULL::DOUBLE"} AS base, {sign}c.value AS good
            FROM averaged c {join} WHERE c.model IN (SELECT unnest(?))
        ), listed AS (
            SELECT * FROM (
                SELECT position, count(*) AS models, count(*) FILTER (failing) AS failures,
                       {mean_sql("good")} AS mean, max(good) - min(good) AS spread, min(good - ({sign}base)) AS change,
                       min(good) FILTER (model = ?) - min(good) FILTER (model <> ?) AS alone,
                       bool_or(status = ?) AS has_status
                FROM cells GROUP BY position
            ) WHERE {condition}{" AND has_status" * (status is not None)}
        )"""
    arguments += [*more, tuple(choice.get("models") or run.models), alone, alone, status]
    orders = ORDERS if scored is not None else ORDERS | {"worst": MOST_ERRORS}
    return tables, arguments, f"{orders.get(choice.get('order', 'worst'), orders['worst'])}, position"
