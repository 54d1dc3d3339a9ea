"""Which cases the pages Cases and Case show, and in which order: all of it stands in the address."""

from collections.abc import Container, Sequence
from typing import Any

from components.data import run_reads, workspace_runs
from components.views.results import mark_controls
from components.widgets import filters, url
from metrics.analysis import Leaderboard
from metrics.presentation import format, run_names
from metrics.presentation.format import metric_name

OF_LIST = ("model", "order", "failing", "value_min", "value_max", "better")
OF_TABLE = ("narrow", "sort", "baseline", "compare")
CHOICE = ("form", "tag", "status", "search", "slice", "mark", *OF_LIST, *OF_TABLE)
RUN, MODEL = "run:", "model:"  # before what a table is compared with
SORTS = {
    "worst": "Worst first", "best": "Best first", "apart": "Models furthest apart first",
    "change": "Largest loss first", "suite": "Order of the suite",
}  # fmt: skip
FIRST_OF = {"best": "best", "disputed": "most disputed", "varied": "most varied"}  # of a list by order; else the worst


def form() -> str:
    """Return "list" for the cases of one number, "table" for cases × models.

    An address that says neither is of a list where it names what only a list has, such as a model.
    """
    asked = url.param("form")
    return asked if asked in ("list", "table") else "list" if any(map(url.param, OF_LIST)) else "table"


def case_address(run: str, evaluator: str, metric: str) -> dict[str, url.Value]:
    """Return where a row leads, but for its `case` and `model`: among those that the address chooses, beside the model
    that does better.
    """
    about: dict[str, url.Value] = {
        name: url.params(name) if name == "compare" else url.param(name) for name in (*CHOICE, "group")
    }
    if (better := url.param("better")) and not about["baseline"]:
        about["baseline"] = MODEL + better
    return about | {"run": run, "evaluator": evaluator, "metric": metric, "form": form()}


def list_arguments(run: str, board: Leaderboard) -> dict[str, Any]:
    """Return the arguments of run_reads.cases and case_ids that say which cases, and in what order."""
    order = url.param("order")
    return {
        **_of_both(run, board),
        "model": _read_option("model", board.models),
        "failing": url.flag("failing"),
        "worst_first": order != "best",
        "disputed": order == "disputed",
        "varied": order == "varied",
        "better_in": _read_option("better", board.models),
        **filters.value_bounds(),
    }


def table_arguments(run: str, board: Leaderboard) -> dict[str, Any]:
    """Return the arguments of run_reads.case_table and table_case_ids that say which cases, and in what order."""
    asked, against = url.params("compare"), url.param("baseline", "")
    kind, _, name = against.partition(":") if against and against in baselines(run, board.models) else ("", "", "")
    models = run_reads.headline(run).models
    return {
        **_of_both(run, board),
        "models": tuple(model for model in models if model in asked) or models,
        "order": url.param("sort", "worst"),
        "narrow": url.param("narrow"),
        "base_model": name if f"{kind}:" == MODEL else None,
        "base_run": name if f"{kind}:" == RUN else None,
    }


def baselines(run: str, models: Sequence[str]) -> dict[str, str]:
    """Return what a table can be compared with: another model of the run, or another run of a suite of that name."""
    suite = workspace_runs.run_facts(run).suite
    runs = {
        one.id: one
        for one in workspace_runs.runs()
        if one.state == "finished" and one.suite["name"] == suite["name"] and one.id != run
    }
    found = {MODEL + model: model for model in models} if len(models) > 1 else {}
    return found | {RUN + run_id: f"Run {label}" for run_id, label in run_names.labels(runs, 40).items()}


def listed_ids(run: str, board: Leaderboard, evaluator: str, metric: str) -> tuple[str, ...]:
    """Return the ids of the cases that the address chooses, in its order."""
    if form() == "table":
        return run_reads.table_case_ids(run, evaluator, metric, **table_arguments(run, board))
    return run_reads.case_ids(run, evaluator, metric, **list_arguments(run, board))


def order_words(run: str, evaluator: str, metric: str) -> str:
    """Return how the cases are ordered by a metric: by its values, else by errors, with what counts as one."""
    name = run_reads.error_words(run, evaluator, metric) or metric_name(metric, evaluator)
    if form() == "list":
        of = f" of {format.shorten(model, 24)}" if (model := url.param("model")) else ""
        return f"{FIRST_OF.get(url.param('order', ''), 'worst')} first by {name}{of}"
    return f"{SORTS.get(url.param('sort', 'worst'), SORTS['worst']).lower()} by {name}"


def _read_option(name: str, options: Container[str]) -> str | None:
    value = url.param(name)
    return value if value is not None and value in options else None


def _of_both(run: str, board: Leaderboard) -> dict[str, Any]:
    return {
        "tag": _read_option("tag", board.tags),
        "status": _read_option("status", format.STATUSES),
        "search": url.param("search"),
        "within": url.param("slice"),
        "only": mark_controls.tagged_cases(run, url.param("mark")),
    }
