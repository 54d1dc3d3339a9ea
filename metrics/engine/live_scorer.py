"""Scoring cases as they come, a few at a time and without a run: what a monitor does with what it has sampled."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from metrics.core.cases import Cases
from metrics.core.evaluator import Evaluator, Parameters
from metrics.core.suite import Case
from metrics.engine.load_resources import Resources
from metrics.engine.plan import judged
from metrics.engine.score_cases import columns_of, judge_cases, score_cases
from metrics.engine.unit_work import scores_table
from metrics.judge.budget import Spend

Chosen = Mapping[str, tuple[Evaluator, Parameters]]


class LiveScorer:
    """Scores cases by the chosen evaluators of cases and of batches; a context manager.

    `settings` chooses the models and the judge, see engine.load_resources; `spend` is what the judge has cost so far,
    and is added to. Where the judge is down its cases are `skipped`, and it is asked again the next time. Raises
    CacheRefused and InputError.
    """

    def __init__(self, chosen: Chosen, settings: Mapping[str, Any], cache_folder: Path, spend: Spend | None = None):
        self._chosen = chosen
        self._resources = Resources(settings, cache_folder, spend)
        self.spend = self._resources.spend
        self._loop = asyncio.Runner()

    def __enter__(self) -> "LiveScorer":
        self._loop.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.run(self._resources.close())
        self._loop.close()

    def scores(self, cases: Sequence[Case]) -> pa.Table:
        """Return one row per evaluator, case and metric, in that order (schema SCORES)."""
        tables, joined = [], Cases.of(cases)
        for entry, parameters in self._chosen.values():
            if judged(entry, parameters):
                made = self._loop.run(judge_cases(entry, parameters, joined, self._resources, skip_when_down=True))
                scores = columns_of(entry, joined, [one.score for one in made])
            else:
                scores = score_cases(entry, parameters, joined, self._resources)
            tables.append(scores_table(entry, joined, scores))
        return pa.concat_tables(tables)
