"""Insights about the data that numbers rest on: cases that ask the same, and cases without a score."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from metrics.analysis.cases.case_items import full_score_estimates
from metrics.analysis.findings.model_insights import Insight, insight_row
from metrics.analysis.leaderboard.leaderboard import Cell, Column, Leaderboard
from metrics.core.metric_names import full_name
from metrics.core.number_text import interval, number
from metrics.store import Run


def chosen_data(run: Run) -> Iterator[Insight]:
    """Yield which cases were chosen of a larger suite and classes merged, and each model's estimated score of all."""
    budget, kept = run.spec.suite.budget, run.spec.suite.cases
    for question, message in run.spec.suite.in_words(kept).items():
        if question != "budget_cases":
            evidence = f"every number is of {'these cases' if question == 'where' else 'these classes'}"
            yield insight_row(question, message, evidence=evidence, affected=kept)
    if budget is None:
        return
    said: dict[str, Any] = {"value": kept / budget.cases, "affected": kept}
    message = budget.in_words(kept)
    if budget.run is None:
        evidence = "means and intervals are those of cases like these, so of the whole suite too"
        yield insight_row("budget_cases", message, evidence=evidence, **said)
        return
    estimates = full_score_estimates(run)
    message += ": they rank models, their means are not those of the suite"
    evidence = "" if estimates else "nothing estimates the scores of the whole suite; see analysis.full_score_estimates"
    yield insight_row("budget_cases", message, severity="low", evidence=evidence, **said)
    for found in estimates:
        ends = interval(found.low, found.high)
        better = found.rmse < found.random_rmse
        yield insight_row(
            "full_score",
            f"{found.model}: estimated full score {number(found.value)} ({ends}) of {found.cases:,} cases in "
            f"{found.evaluator}.{found.metric}",
            metric=found.metric,
            model=found.model,
            value=found.value,
            affected=found.answered,
            of=[found.evaluator],
            evidence=f"error (RMSE) {number(found.rmse)} for earlier models held out, {number(found.random_rmse)} with "
            f"as many random cases{'' if better else ', which do as well'}; interval for a model like the earlier ones",
        )


def equal_inputs(run: Run) -> Iterator[Insight]:
    """Yield how many cases ask the same as another, and what intervals and tests make of them."""
    found = run.spec.suite.equal_inputs
    if found is None:
        return
    cases, alike = run.spec.suite.cases, f"{found.alike:,} of {run.spec.suite.cases:,} cases ask the same as another"
    values: dict[str, Any] = {"value": found.units / cases, "affected": found.alike}
    if found.grouped:
        message = f"{alike}: intervals and tests take the {found.units:,} different inputs as units"
        yield insight_row("equal_inputs", message, evidence="duplicates = keep takes every case as a unit", **values)
    elif run.sampling_design().clusters is None:
        message = f"{alike}: intervals and tests take all {cases:,} as independent, so they may be too narrow"
        evidence = f"duplicates = group takes the {found.units:,} different inputs as units"
        yield insight_row("equal_inputs", message, severity="low", evidence=evidence, **values)
    elif found.across:
        message = f"{found.across:,} of {cases:,} cases ask the same as one of another group"
        evidence = "put them into one group, else intervals may be too narrow"
        yield insight_row("equal_inputs", message, severity="low", evidence=evidence, **values)


def silent_images(run: Run) -> Iterator[Insight]:
    """Yield the detectors without predictions on some images: they found nothing there, or their file lacks them."""
    predictions, cases = run.outputs.predictions if run.spec.suite.task == "detection" else None, run.spec.suite.cases
    if predictions is None:
        return
    pairs = predictions.select(["model", "case_id"]).group_by(["model", "case_id"]).aggregate([])
    predicted = Counter(pairs["model"].to_pylist())
    for model in run.models:
        if missing := cases - predicted[model]:
            message = f"{model} has no predictions on {missing:,} of {cases:,} images"
            evidence = "objects in them count as missed; check that the file is complete"
            values: dict[str, Any] = {"value": missing / cases, "affected": missing}
            yield insight_row("silent_images", message, model=model, severity="low", evidence=evidence, **values)


def unscored_cases(board: Leaderboard, columns: Sequence[Column]) -> Iterator[Insight]:
    """Yield the models that lack a score of more than MAX_MISSING of their cases, and what their value may be."""
    for column in columns:
        for model in board.models:
            cell = board.cells.get((model, column.key))
            if cell is None or not cell.is_partial:
                continue
            message = f"{model} has no score of {in_share(cell)} of its cases in {full_name(column)}"
            message += f": {interval(*cell.bounds)} with them" if cell.bounds else ": nothing bounds its value"
            passing = board.overtaking.get((model, column.key), ())
            message += f"; its lead over {', '.join(passing)} may not hold" if passing else ""
            by_status = ", ".join(f"{name.replace('_', ' ')} {n:,}" for name, n in cell.counts.items())
            yield insight_row(
                "unscored",
                message,
                column=column,
                model=model,
                value=cell.missing_share,
                severity="high" if passing else "low",
                affected=cell.missing,
                evidence=f"{number(cell.value)} over {cell.n:,} scored cases; {by_status or 'unscored'}; bounds: all "
                "that lack a score at an end of the metric's range",
            )


def in_share(cell: Cell) -> str:
    """Return the share of a model's cases that lack a score: `38 %`."""
    return f"{100 * cell.missing_share:.0f} %"
