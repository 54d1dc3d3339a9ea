"""A run as H2O Eval Studio's explanations: llm-eval-results, its two leaderboards, work-dir-archive; its LLM result.

The columns have H2O's names; `run` is the repeat, `from_run` of a board the run, and `evaluator` our id.
H2O makes each explanation for one evaluator: here a table has all of them, and the archive a folder for each.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from metrics import analysis
from metrics.core.conventions import BOOLEAN
from metrics.core.fields import ANSWERED
from metrics.core.files import write_bytes
from metrics.judge.keys import redact
from metrics.presentation.board_words import FROM_RUN, from_run
from metrics.presentation.safe_text import shown, shown_tree
from metrics.reports.exchange.contents import Answered, answers
from metrics.reports.renderers.export_tables import table
from metrics.reports.zip_files import pack
from metrics.store import Run
from metrics.store.run_tables import mean_sql
from metrics.store.table_files import Format, write

NAMES = {name: f"model_{name}" for name in BOOLEAN}  # of metrics of the boolean family, as H2O has them
OF = ["evaluator", "leaderboard", "model_key", "key", "input"]  # what a row of a leaderboard is about
MODELS, PROMPTS = "models", "prompts"  # the two leaderboards of an explanation
LLM_RESULT = "llm_result"  # folder beside the tables of a run
FORMATS: tuple[Format, ...] = ("json", "csv")


def eval_results(run: Run) -> pd.DataFrame:
    """Return inputs and answers with every metric as `evaluator.metric`, a row for each answer; see `_results`."""
    return _results(run, _answered(run), list(run.evaluators), several=True)


def bool_leaderboard(run: Run) -> pd.DataFrame:
    """Return how often models fail, then prompts, of the evaluators that pass or fail a case.

    Shares from 0 to 1 by H2O's names, n and the unscored cases; a prompt's are those of all models. Models that pass
    most and prompts that pass least come first.
    """
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for one in _cells(run, _evaluators(run, boolean=True)):
        key = tuple(one[name] for name in OF)
        row = rows.setdefault(key, {name: one[name] for name in (*OF, "n", "unscored", FROM_RUN) if name in one})
        row[NAMES.get(one["metric"], one["metric"])] = one["value"]
    return pd.DataFrame(list(rows.values()))


def heatmap_leaderboard(run: Run) -> pd.DataFrame:
    """Return models, then prompts, by the value of each metric of the other evaluators.

    A model's value has its 95 % interval; a prompt's is the mean over the models. The best models and the worst prompts
    come first.
    """
    columns = [*OF, "metric", "value", "low", "high", "threshold", "direction", "n", "unscored", *from_run(run, None)]
    return pd.DataFrame(list(_cells(run, _evaluators(run, boolean=False))), columns=columns)


def work_dir_archive(run: Run) -> bytes:
    """Return a zip with a folder for each evaluator: results, leaderboard and problems; log and report beside them."""
    return pack(_artifacts(run))


def save_llm_results(run: Run) -> None:
    """Write the LLM result of each evaluator to the folder LLM_RESULT of a finished run; it is no part of its seal."""
    found = _answered(run)
    for id in run.evaluators:
        write_bytes(run.home / LLM_RESULT / f"{id}.json", write(_results(run, found, [id]), "json"))


def has_boolean(run: Run) -> bool:
    """Return whether a run has an evaluator that passes or fails a case."""
    return bool(_evaluators(run, boolean=True))


def has_graded(run: Run) -> bool:
    """Return whether a run of texts has another one."""
    return run.spec.suite.task in ANSWERED and bool(_evaluators(run, boolean=False))


def _artifacts(run: Run) -> Iterator[tuple[str, bytes]]:
    from metrics.reports.renderers.markdown import markdown

    found, problems = _answered(run), table(run, "problems")
    boards = {"llm-bool-leaderboard": bool_leaderboard(run), "llm-heatmap-leaderboard": heatmap_leaderboard(run)}
    for id in run.evaluators:
        for name, frame in {"llm-eval-results": _results(run, found, [id]), **boards}.items():
            own = frame[frame["evaluator"] == id] if name in boards and len(frame) else frame
            if len(own):
                yield from ((f"{id}/{name}.{format}", write(own, format)) for format in FORMATS)
        yield f"{id}/problems_and_actions.json", write(problems[problems["evaluator"] == id], "json")
    yield "report.md", markdown(run).encode()
    if (log := run.folder / "log.txt").exists():
        yield "log.txt", redact(log.read_text(encoding="utf-8", errors="replace")).encode()


def _answered(run: Run) -> list[Answered]:
    return [one for model in run.models for one in answers(run, model)]


def _results(run: Run, found: Sequence[Answered], evaluators: Sequence[str], several: bool = False) -> pd.DataFrame:
    """Return what was asked and answered, H2O's LLM dataset, with the metrics of some evaluators as columns.

    A metric without a value is null, and result_error_message says why. Several references are a JSON list.
    """
    return pd.DataFrame([_result(one, evaluators, several) | from_run(run, one.model) for one in found])


def _result(one: Answered, evaluators: Sequence[str], several: bool) -> dict[str, Any]:
    case, output = one.case, one.output
    expected = case["expected_answers"] or [None]
    scores = [row for row in one.scores if row["evaluator"] in evaluators]
    reasons = [output.get("error"), *(row["reason"] for row in scores if row["value"] is None)]
    source = [] if case["perturbs"] is None else [{"type": "perturbation_source", "target": case["perturbs"]}]
    values = {f"{row['evaluator']}.{row['metric']}" if several else row["metric"]: row["value"] for row in scores}
    return {
        "key": case["case_id"], "input": case["question"], "corpus": case.get("metadata.corpus"),
        "context": output.get("retrieved_contexts") or [], "categories": case["tags"] or [],
        "relationships": json.dumps(source, ensure_ascii=False), "output_condition": case["conditions"],
        "expected_output": expected[0] if len(expected) == 1 else json.dumps(expected, ensure_ascii=False),
        "actual_output": output.get("answer"), "actual_duration": output.get("duration_s"),
        "cost": output.get("cost_usd"), "model_key": one.model, "run": one.repeat,
        "result_error_message": "; ".join(dict.fromkeys(filter(None, reasons))) or None,
    } | values  # fmt: skip


def _evaluators(run: Run, boolean: bool) -> list[str]:
    """Return the evaluators that pass or fail a case, or the others."""
    known = {id: entry for id in run.evaluators if (entry := run.evaluator(id)) is not None}
    return [id for id, entry in known.items() if boolean is (set(BOOLEAN) <= {metric.name for metric in entry.metrics})]


def _cells(run: Run, evaluators: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the values of models and prompts by evaluator and metric, models as the leaderboard has them."""
    board = analysis.leaderboard(run)
    asked = {row["case_id"]: row["question"] for row in run.suite.cases.select(["case_id", "question"]).to_pylist()}
    prompts = run.query(
        f"""SELECT evaluator, metric, case_id, {mean_sql("value")} AS value, count(value) AS n,
                  count(*) - count(value) AS unscored
           FROM (SELECT evaluator, metric, case_id, position, model, avg(value) AS value FROM scores GROUP BY ALL)
           GROUP BY evaluator, metric, case_id, position ORDER BY position"""
    )
    of_metric = {key: rows.to_dict("records") for key, rows in prompts.groupby(["evaluator", "metric"], sort=False)}
    for column in board.columns:
        if column.evaluator not in evaluators or " " in column.title:  # with columns of its own
            continue
        sign = -1 if column.direction == "lower" else 1
        shared = {"evaluator": column.evaluator, "metric": column.metric, "threshold": column.threshold,
                  "direction": column.direction}  # fmt: skip
        cells = {model: board.cells[model, column.key] for model in board.models if (model, column.key) in board.cells}
        for model, cell in sorted(cells.items(), key=lambda each: _rank(each[1].value, -sign)):
            own = {name: getattr(cell, name) for name in ("value", "low", "high", "n", "unscored")}
            own |= from_run(run, model, column.evaluator)
            yield shared | {"leaderboard": MODELS, "model_key": shown(model), "key": None, "input": None} | own
        rows = of_metric.get((column.evaluator, column.metric), [])
        for row in sorted(rows, key=lambda row: _rank(row["value"], sign)):
            what = shown_tree({"leaderboard": PROMPTS, "key": row["case_id"], "input": asked[row["case_id"]]})
            own = {name: row[name] for name in ("value", "n", "unscored")}
            yield shared | {"model_key": None, "low": None, "high": None} | what | own | from_run(run, None)


def _rank(value: float | None, sign: int) -> tuple[bool, float]:
    """Return the sort key of a value, those without one last."""
    return value is None or value != value, 0.0 if value is None else sign * value
