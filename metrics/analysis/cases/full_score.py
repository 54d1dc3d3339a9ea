"""What models would score over a whole suite, of which they answered the cases that an earlier run chose."""

from dataclasses import dataclass

import numpy as np

from metrics.analysis.cases.case_items import MODELS, ItemAnswers, read_answers
from metrics.stats.short_suite import full_scores
from metrics.store import Run, Workspace, cache_by_run
from metrics.store.run_spec import BudgetFacts


@dataclass(frozen=True, slots=True)
class FullScoreEstimate:
    """A model's estimated mean of a metric over all `cases` of a suite, 0 … 1, with its 95 % interval low … high.

    answered: the cases that the model has values of; run: the earlier run that says how hard the cases are. rmse: the
    error of such estimates of earlier models held out; random_rmse: that of the mean of as many random cases.
    """

    model: str
    evaluator: str
    metric: str
    value: float
    low: float
    high: float
    answered: int
    cases: int
    run: str
    rmse: float
    random_rmse: float


@cache_by_run(maxsize=16)
def full_score_estimates(run: Run) -> tuple[FullScoreEstimate, ...]:
    """Return the estimated full score of each model of a run whose cases an earlier run chose (`budget_cases`).

    Of the metric by which they were chosen, where it says right or wrong. Empty where the cases were drawn at random
    (their mean is the estimate) or have weights, and where the earlier run is gone, has another version, parameters or
    judge, or fewer than eight models beside those of this run.
    """
    budget = run.spec.suite.budget
    if budget is None or budget.run is None or budget.evaluator is None or budget.metric is None:
        return ()
    earlier = next((one for one in Workspace(run.workspace.path).runs() if one.id == budget.run), None)
    if earlier is None or _read_settings(earlier, budget.evaluator) != _read_settings(run, budget.evaluator):
        return ()
    known = read_answers(earlier, budget.evaluator, budget.metric)
    new = read_answers(run, budget.evaluator, budget.metric, None, 1)
    if known is None or new is None or known.threshold is not None or known.weights is not None:
        return ()
    others = [place for place, model in enumerate(known.models) if model not in new.models]
    if len(others) < MODELS:
        return ()
    return _estimates(budget, known, others, new)


def _estimates(
    budget: BudgetFacts, known: ItemAnswers, others: list[int], new: ItemAnswers
) -> tuple[FullScoreEstimate, ...]:
    right = known.right[:, others]
    kept = ~np.isnan(right).all(axis=1)
    places = {case_id: place for place, case_id in enumerate(np.array(known.case_ids)[kept].tolist())}
    rows = [row for row, case_id in enumerate(new.case_ids) if case_id in places]
    chosen = np.array([places[new.case_ids[row]] for row in rows])
    answers = new.right[rows]
    found = []
    for model, score, column in zip(new.models, full_scores(right[kept], chosen, answers), answers.T, strict=True):
        value, low, high = score[:3]
        if known.is_lower:  # 0 where the model is right
            value, low, high = 1 - value, 1 - high, 1 - low
        found.append(
            FullScoreEstimate(
                model,
                str(budget.evaluator),
                str(budget.metric),
                value,
                low,
                high,
                int((~np.isnan(column)).sum()),
                int(kept.sum()),
                str(budget.run),
                score.rmse,
                score.random_rmse,
            )
        )
    return tuple(found)


def _read_settings(run: Run, evaluator: str) -> tuple[object, ...]:
    """Return what a metric depends on beside the answers: version and parameters of its evaluator, and the judge."""
    own = next((entry for entry in run.spec.evaluators if entry.id == evaluator), None)
    return (None,) if own is None else (own.version, own.parameters, run.spec.judge)
