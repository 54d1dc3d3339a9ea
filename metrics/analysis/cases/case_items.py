"""Which cases tell the models of a run apart, which labels are suspect, and how few cases keep the ranking;
and what models would score over a whole suite, of which they answered the cases so chosen.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from metrics.analysis.comparison.case_values import values_by_model
from metrics.analysis.leaderboard.leaderboard import Column, leaderboard
from metrics.core.array_types import Floats, Ints
from metrics.core.rounding import at_least
from metrics.stats.corrections import benjamini_hochberg, is_significant
from metrics.stats.float_tolerance import falling_order, ratio
from metrics.stats.item_response import ItemResponse, item_rest
from metrics.stats.model_families import FEWEST, CheckedLabels, check_labels
from metrics.stats.short_suite import Size, by_information, cross_fitted, full_scores, smallest
from metrics.store import Run, Workspace, cache_by_run
from metrics.store.run_spec import BudgetFacts

MODELS, CASES = FEWEST, 20  # that a fit takes
REST = 4  # models from which on a correlation with the other cases is shown
ANSWERED = 0.5  # of the cases, by each model that counts
UNUSUAL = 0.01  # p at or below which a case is worth a look
MAX_ANSWERS = 100_000  # answers: their fit takes some seconds, the short suite ten times that
VERDICTS = ("suspect", "unusual", "all wrong", "")


@dataclass(frozen=True, slots=True)
class CaseItem:
    """One case: the share `right` of the `models` that answered it, and what that says of the case.

    correlation: with the models' shares on the other cases; difficulty: the ability with an even chance, 0 that of the
    average model, in standard deviations of the models; discrimination: how steeply the chance rises there; each with
    its 95 % interval. p: the probability of a pattern as reversed; see metrics.stats.item_response. verdict: suspect
    (p adjusted over the cases at most LEVEL), unusual (p at most UNUSUAL), all wrong (no model is right), or "". None
    where there are too few models, and p where they answer too much alike.
    """

    case_id: str
    right: float
    models: int
    correlation: float | None
    difficulty: float | None = None
    difficulty_low: float | None = None
    difficulty_high: float | None = None
    discrimination: float | None = None
    discrimination_low: float | None = None
    discrimination_high: float | None = None
    p: float | None = None
    verdict: str = ""


@dataclass(frozen=True, slots=True)
class CaseItems:
    """The cases of a run by one metric: suspects first, then by discrimination; of too few models by correlation.

    models: those that count, the ablest first; needs_models, needs_cases: how many more a fit takes, 0 where it is
    made; threshold: from which value on an answer counts as right, None where the metric itself says right or wrong.
    families: of a fit, the models in families that share mistakes, the largest first: each counts as one model.
    are_labels_checked: whether there are p and verdicts of labels; not where there are too few families.
    """

    rows: tuple[CaseItem, ...]
    models: tuple[str, ...]
    needs_models: int
    needs_cases: int
    threshold: float | None
    families: tuple[tuple[str, ...], ...] = ()
    are_labels_checked: bool = False

    @property
    def fitted(self) -> bool:
        """Whether there are difficulties and discriminations."""
        return not (self.needs_models or self.needs_cases)

    def of(self, verdict: str) -> list[CaseItem]:
        """Return the cases with a verdict."""
        return [row for row in self.rows if row.verdict == verdict]

    @property
    def by_chance(self) -> float:
        """How many of the cases are expected to be unusual although nothing is wrong with any."""
        return UNUSUAL * len(self.rows)


@dataclass(frozen=True, slots=True)
class ShortSuites:
    """Suites of fewer cases: how well each size keeps the ranking, and the cases in the order in which to take them.

    smallest: the first size from which on Kendall's τ is at least 0.9; None where no size reaches it.
    """

    sizes: tuple[Size, ...]
    smallest: Size | None
    case_ids: tuple[str, ...]


@dataclass(frozen=True, eq=False, slots=True)
class ItemAnswers:
    """Which of the models are right on which cases: right [n, m] 0 … 1 and values [n, m], higher is better, NaN: none.

    weights: [n] of the cases, None where all weigh the same; threshold: as of CaseItems; is_lower: the metric is better
    when lower, so `values` have the opposite sign.
    """

    case_ids: tuple[str, ...]
    models: tuple[str, ...]
    right: Floats
    values: Floats
    weights: Floats | None
    threshold: float | None
    is_lower: bool

    @property
    def needs(self) -> tuple[int, int]:
        """How many more models and cases a fit takes."""
        return max(0, MODELS - len(self.models)), max(0, CASES - len(self.case_ids))


def has_items(column: Column) -> bool:
    """Return whether a metric says which answers are right: by itself, or by its threshold."""
    return column.direction != "none" and column.label_key is None and (column.binary or column.threshold is not None)


@cache_by_run(maxsize=16)
def case_items(run: Run, evaluator: str, metric: str, tag: str | None = None) -> CaseItems | None:
    """Return what the models' answers say of each case, or of those with a tag.

    An answer is right where the metric is 1, or on the good side of its threshold; the repeats of a case are averaged,
    and count as one answer. Models with values on fewer than half of the cases are left out. None where the metric does
    not say what is right, has values of fewer than two models, or of more than MAX_ANSWERS answers.
    """
    answers = read_answers(run, evaluator, metric, tag)
    if answers is None:
        return None
    there = ~np.isnan(answers.right)
    count = there.sum(axis=1)
    share = ratio(np.nansum(answers.right, axis=1), count)
    alike = item_rest(answers.right) if len(answers.models) >= REST else np.full(len(share), np.nan)
    plain = [
        CaseItem(case_id, one, n, None if np.isnan(r) else r, verdict="" if one else "all wrong")
        for case_id, one, n, r in zip(answers.case_ids, share.tolist(), count.tolist(), alike.tolist(), strict=True)
    ]
    if max(answers.needs):
        rows = sorted(plain, key=lambda row: (1 if row.correlation is None else row.correlation, row.right))
        best = falling_order(ratio(np.nansum(answers.right, axis=0), there.sum(axis=0)))
        models = tuple(answers.models[place] for place in best.tolist())
        return CaseItems(tuple(rows), models, *answers.needs, answers.threshold)
    found = _checked(answers)
    p: list[float | None] = [None] * len(plain) if found.p is None else found.p.tolist()
    adjusted = np.ones(len(plain)) if found.p is None else benjamini_hochberg(found.p)
    rows = [_item(row, found.cases, place, p[place], float(adjusted[place])) for place, row in enumerate(plain)]
    rows.sort(
        key=lambda row: (
            VERDICTS.index(row.verdict),
            1 if row.p is None or not row.verdict else row.p,
            -(row.discrimination or 0.0),
        )
    )
    models = tuple(answers.models[place] for place in falling_order(found.fitted.ability).tolist())
    return CaseItems(tuple(rows), models, 0, 0, answers.threshold, _families(answers, found.codes), found.p is not None)


@cache_by_run(maxsize=16)
def short_suites(run: Run, evaluator: str, metric: str, tag: str | None = None) -> ShortSuites | None:
    """Return how few cases keep the ranking of the models by the metric's mean; None where case_items has no fit.

    The cases are those of most information about the abilities of all models; how well so many keep the ranking is
    measured on pairs of models that did not choose them, see metrics.stats.short_suite.
    """
    answers = read_answers(run, evaluator, metric, tag)
    if answers is None or max(answers.needs):
        return None
    fitted = _checked(answers).fitted
    sizes = cross_fitted(answers.right, answers.values, answers.weights, fitted)
    order = by_information(fitted, max((size.cases for size in sizes), default=0))
    return ShortSuites(sizes, smallest(sizes), tuple(answers.case_ids[place] for place in order.tolist()))


def informative_cases(run: Run, evaluator: str, metric: str, most: int) -> tuple[str, ...] | None:
    """Return the ids of the `most` cases that best tell the abilities of a run's models; None without a fit."""
    answers = read_answers(run, evaluator, metric)
    if answers is None or max(answers.needs):
        return None
    return tuple(answers.case_ids[place] for place in by_information(_checked(answers).fitted, most).tolist())


@lru_cache(maxsize=16)
def _checked(answers: ItemAnswers) -> CheckedLabels:
    return check_labels(answers.right)


def _families(answers: ItemAnswers, codes: Ints) -> tuple[tuple[str, ...], ...]:
    """Return the models by family, the largest family first."""
    found: dict[int, tuple[str, ...]] = {}
    for model, code in zip(answers.models, codes.tolist(), strict=True):
        found[code] = (*found.get(code, ()), model)
    return tuple(sorted(found.values(), key=len, reverse=True))


def _item(row: CaseItem, fitted: ItemResponse, place: int, p: float | None, adjusted: float) -> CaseItem:
    unusual = p is not None and p <= UNUSUAL
    verdict = "suspect" if is_significant(adjusted) else "unusual" if unusual else row.verdict
    (low, high), (flat, steep) = fitted.difficulty_ends[place].tolist(), fitted.discrimination_ends[place].tolist()
    difficulty, discrimination = float(fitted.difficulty[place]), float(fitted.discrimination[place])
    return replace(
        row, difficulty=difficulty, difficulty_low=low, difficulty_high=high, discrimination=discrimination,
        discrimination_low=flat, discrimination_high=steep, p=p, verdict=verdict,
    )  # fmt: skip


@cache_by_run(maxsize=16)
def read_answers(
    run: Run, evaluator: str, metric: str, tag: str | None = None, min_models: int = 2
) -> ItemAnswers | None:
    """Return who is right on which case: models with values on half of the cases, cases that any of them answered.

    None where the metric does not say what is right, with fewer than `min_models` models, or of too many answers.
    """
    columns = (one for one in leaderboard(run).columns if (one.evaluator, one.metric) == (evaluator, metric))
    column = next((one for one in columns if has_items(one)), None)
    design = run.sampling_design(tag)
    if column is None or len(design) * len(run.models) > MAX_ANSWERS:
        return None
    read = values_by_model(run, run.models, design, [(evaluator, metric)])
    known = {model: found[evaluator, metric].values for model, found in read if (evaluator, metric) in found}
    kept = {model: values for model, values in known.items() if (~np.isnan(values)).mean() >= ANSWERED}
    if len(kept) < min_models:
        return None
    values = np.column_stack(list(kept.values()))
    answered = ~np.isnan(values).all(axis=1)
    sign = -1.0 if column.direction == "lower" else 1.0
    values, threshold = sign * values[answered], None if column.binary else column.threshold
    passed = values + (sign < 0) if threshold is None else at_least(values, sign * threshold).astype(np.float64)
    right = np.where(np.isnan(values), np.nan, passed)
    ids = run.case_columns(["case_id"])["case_id"].take(design.inside[answered]).to_pylist()
    weights = None if design.weights is None else design.weights[answered]
    return ItemAnswers(tuple(ids), tuple(kept), right, values, weights, threshold, sign < 0)


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
    named = str(budget.evaluator), str(budget.metric)
    found = []
    for model, score, column in zip(new.models, full_scores(right[kept], chosen, answers), answers.T, strict=True):
        value, low, high = score[:3]
        if known.is_lower:  # 0 where the model is right
            value, low, high = 1 - value, 1 - high, 1 - low
        counts = int((~np.isnan(column)).sum()), int(kept.sum())
        errors = score.rmse, score.random_rmse
        found.append(FullScoreEstimate(model, *named, value, low, high, *counts, str(budget.run), *errors))
    return tuple(found)


def _read_settings(run: Run, evaluator: str) -> tuple[object, ...]:
    """Return what a metric depends on beside the answers: version and parameters of its evaluator, and the judge."""
    own = next((entry for entry in run.spec.evaluators if entry.id == evaluator), None)
    return (None,) if own is None else (own.version, own.parameters, run.spec.judge)
