"""The cases of a suite that are evaluated where only so many may be: by an earlier run's answers, or at random."""

import numpy as np
import pyarrow as pa

from metrics.core.errors import InputError, InputProblem
from metrics.core.sampling_design import group_equal_inputs
from metrics.core.suite import Suite
from metrics.engine.evaluation import Evaluation
from metrics.engine.evaluation_fields import Door, option_name
from metrics.store import Workspace
from metrics.store.run_spec import BudgetFacts


def cases_within_budget(evaluation: Evaluation, suite: Suite, door: Door) -> tuple[Suite, BudgetFacts | None]:
    """Return the suite of `budget_cases` cases and how they were chosen; all cases and None where there is no budget.

    By the latest finished run of the same suite with a fit (see `informative_cases`), of its metrics the first of a
    chosen evaluator that says right or wrong. Else at random by the seed; a suite with groups gives whole ones, as many
    as have `budget_cases` cases on average. Raises InputError for a budget below 1.
    """
    most = evaluation.budget_cases
    if most is not None and most < 1:
        raise InputError([InputProblem(option_name("budget_cases", door), str(most), "a number of cases, at least 1")])
    if most is None or most >= len(suite):
        return suite, None
    chosen = _informative(evaluation, suite, most)
    if chosen is not None:
        return chosen
    ids = _random_cases(evaluation, suite, most)
    return suite.restricted(ids), BudgetFacts(cases=len(suite), fingerprint=suite.fingerprint)


def _informative(evaluation: Evaluation, suite: Suite, most: int) -> tuple[Suite, BudgetFacts] | None:
    from metrics.analysis import has_items, informative_cases, leaderboard, runs_of_suite

    wanted = set(evaluation.evaluators or ())
    for run in reversed(runs_of_suite(Workspace(evaluation.workspace), suite.fingerprint)):
        columns = [
            column
            for column in leaderboard(run).columns
            if column.primary and has_items(column) and (not wanted or column.evaluator in wanted)
        ]
        for column in sorted(columns, key=lambda column: not column.binary):
            ids = informative_cases(run, column.evaluator, column.metric, most)
            if ids is not None and len(ids) == most:
                facts = BudgetFacts(
                    cases=len(suite),
                    fingerprint=suite.fingerprint,
                    run=run.id,
                    evaluator=column.evaluator,
                    metric=column.metric,
                )
                return suite.restricted(pa.array(ids, pa.string())), facts
    return None


def _random_cases(evaluation: Evaluation, suite: Suite, most: int) -> pa.Array:
    cases = suite.cases
    if evaluation.duplicates == "group" and cases["group"].null_count == len(cases):
        cases = group_equal_inputs(suite).cases
    names = [
        ("case", case) if group is None else ("group", group)
        for case, group in zip(cases["case_id"].to_pylist(), cases["group"].to_pylist(), strict=True)
    ]
    units = list(dict.fromkeys(names))
    count = max(1, round(most * len(units) / len(names)))
    drawn = np.random.default_rng(evaluation.seed).permutation(len(units))[:count]
    kept = {units[place] for place in drawn.tolist()}
    return cases["case_id"].combine_chunks().filter(pa.array([name in kept for name in names]))
