"""A run in the words of a test runner: how many cases passed, which failed, and each dimension's average."""

from typing import Any

import pyarrow as pa

from metrics.analysis.leaderboard.leaderboard import leaderboard
from metrics.core.conventions import ASSAY, USER
from metrics.core.errors import InputError, InputProblem
from metrics.core.evaluator import Evaluator
from metrics.store import Run

PASS_MARK = 0.7  # of a metric without a threshold
RUBRIC = "rubric"  # the evaluator that is summed up unless another one is named
TEST = ("case_id", "question", "expected_answers", "tags")
LISTS = ("expected_answers", "tags")


def summarize(run: Run, evaluator: str | None = None, pass_mark: float | None = None) -> dict[str, dict[str, Any]]:
    """Return what became of each model's cases, by model.

    `evaluator`: the rubric if the run has it, else its first one with values per case. A case passes where the primary
    metric is on the good side of `pass_mark`: the threshold in force unless given, .7 if there is none (an InputError
    where it rests on a local model that none is calibrated for); a case with
    repeats counts once, with the mean of its values.

    Of each model: evaluator, metric, pass_mark, pass_mark_of (whose it is, see core.conventions); total_tests = passed
    + failed + unscored; pass_rate = passed / (passed + failed), None where none is scored; average_score;
    dimension_averages: the mean of every other metric that has one (of a rubric, its dimensions); failures: test
    (case_id, question, expected_answers, tags), output (the answer) and evaluation (overall_score, dimension_scores,
    passed, reason), the worst first. Numbers over all cases are those of the leaderboard. InputError where the run has
    no such evaluator, or it has no values per case.
    """
    entry = _choose_evaluator(run, evaluator)
    primary, names = entry.primary, _dimensions(run, entry)
    mark = pass_mark if pass_mark is not None else primary.threshold
    of = USER if pass_mark is not None else run.threshold_of(entry.id, primary) or ASSAY
    if mark is None:
        if entry.local_models(entry.parameters(**run.evaluators[entry.id])):
            expected = "pass_mark, or a threshold calibrated for the model (python -m metrics calibrate)"
            raise InputError([InputProblem(entry.id, "no threshold for its model", expected)])
        mark = PASS_MARK
    cells = leaderboard(run).cells
    return {
        model: {
            "evaluator": entry.id,
            "metric": primary.name,
            "pass_mark": mark,
            "pass_mark_of": of,
            **_counts(run, entry, model, mark, names),
            "average_score": cells[model, f"{entry.id}/{primary.name}"].value,
            "dimension_averages": {
                name: cell.value
                for name in names
                if (cell := cells.get((model, f"{entry.id}/{name}"))) is not None and cell.value is not None
            },
        }
        for model in run.models
    }


def _choose_evaluator(run: Run, evaluator: str | None) -> Evaluator:
    scored = run.query("SELECT DISTINCT evaluator, metric FROM scores")
    known = {
        name: entry
        for name in run.evaluators
        if (entry := run.evaluator(name)) is not None
        and ((scored["evaluator"] == name) & (scored["metric"] == entry.primary.name)).any()
    }
    wanted = evaluator or (RUBRIC if RUBRIC in known else next(iter(known), ""))
    if wanted not in known:
        there, what = ", ".join(known) or "none", wanted or "any evaluator"
        raise InputError(f"run {run.id} has no values per case of {what}; of these it has: {there}")
    return known[wanted]


def _dimensions(run: Run, entry: Evaluator) -> list[str]:
    """Return the dimensions of a rubric; of another evaluator every metric but the primary one."""
    given = run.evaluators[entry.id].get("dimensions")
    names = [one["name"] for one in given] if given else [one.name for one in entry.metrics if not one.primary]
    return [name for name in names if any(one.name == name for one in entry.metrics)]


def _counts(run: Run, entry: Evaluator, model: str, mark: float, names: list[str]) -> dict[str, Any]:
    rows = run.query(
        """SELECT position, metric, avg(value) AS value, any_value(reason) AS reason FROM scores
           WHERE evaluator = ? AND model = ? GROUP BY position, metric ORDER BY position""",
        [entry.id, model],
    )
    values = rows.pivot(index="position", columns="metric", values="value")
    scored = values[entry.primary.name].dropna()
    failed = scored[[not entry.primary.passes(value, mark) for value in scored]]
    worst_first = failed.sort_values(ascending=entry.primary.direction.value != "lower", kind="stable")
    reasons = rows[rows["metric"] == entry.primary.name].set_index("position")["reason"]
    failures: list[dict[str, Any]] = []
    for test, output in zip(*_texts(run, model, worst_first.index.tolist()), strict=True):
        place = worst_first.index[len(failures)]
        dimensions = values.loc[place].reindex(names).dropna()
        reason = reasons[place]
        evaluation = {
            "overall_score": float(worst_first[place]),
            "dimension_scores": {str(name): float(value) for name, value in dimensions.items()},
            "passed": False,
            "reason": reason if isinstance(reason, str) else None,
        }
        failures.append({"test": test, "output": output, "evaluation": evaluation})
    passed = len(scored) - len(failed)
    return {
        "total_tests": len(values),
        "passed": passed,
        "failed": len(failed),
        "unscored": len(values) - len(scored),
        "pass_rate": passed / len(scored) if len(scored) else None,
        "failures": failures,
    }


def _texts(run: Run, model: str, places: list[int]) -> tuple[list[dict[str, Any]], list[str | None]]:
    """Return the cases at these places of the suite, and what the model answered the first time."""
    cases = run.suite.cases.select(TEST).take(pa.array(places, pa.int64())).to_pylist()
    outputs = run.outputs.restricted(model).outputs.select(["case_id", "run", "answer"]).to_pylist()
    answers = {row["case_id"]: row["answer"] for row in sorted(outputs, key=lambda row: -row["run"])}
    cases = [{name: value or [] if name in LISTS else value for name, value in case.items()} for case in cases]
    return cases, [answers.get(case["case_id"]) for case in cases]
