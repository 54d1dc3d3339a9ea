"""Scoring cases as they come, a few at a time and without a run: what a monitor does with what it has sampled."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from metrics.core.errors import CacheRefused, JudgeDown
from metrics.core.evaluator import CaseScore, Evaluator, Parameters, Status
from metrics.core.suite import Case, Suite
from metrics.engine.judging import judge_case
from metrics.engine.plan import judged
from metrics.engine.unit_work import answered, failed_score, lacking_inputs, scores_table
from metrics.judge.budget import Spend
from metrics.judge.client import Client
from metrics.judge.opening import open_judges
from metrics.models import JUDGE, equip

Chosen = Mapping[str, tuple[Evaluator, Parameters]]


class Scorer:
    """Scores cases by the chosen evaluators of cases and of batches; a context manager.

    `settings` chooses the models and the judge (see metrics.models.provide), whose replies are kept in `cache_folder`;
    `spend` is what the judge has cost so far, and is added to. A judge that is down costs its cases their score, not
    the caller its work: they are `skipped`, and it is asked again the next time. CacheRefused passes.
    """

    def __init__(self, chosen: Chosen, settings: Mapping[str, Any], cache_folder: Path, spend: Spend | None = None):
        self.spend = spend or Spend()
        self._chosen = chosen
        self._settings = settings
        self._cache_folder = cache_folder
        self._loop = asyncio.Runner()
        self._judges: tuple[Client, ...] = ()

    def __enter__(self) -> "Scorer":
        self._loop.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        for judge in self._judges:
            self._loop.run(judge.close())
        self._loop.close()

    def scores(self, suite: Suite, cases: Sequence[Case]) -> pa.Table:
        """One row per evaluator, case and metric, in that order (schema SCORES); `cases` are of `suite`."""
        return pa.concat_tables(
            self._by(entry, parameters, suite, cases) for entry, parameters in self._chosen.values()
        )

    def _by(self, entry: Evaluator, parameters: Parameters, suite: Suite, cases: Sequence[Case]) -> pa.Table:
        scores = [lacking_inputs(entry, case) for case in cases]
        places = [place for place, score in enumerate(scores) if score is None]
        able = [cases[place] for place in places]
        if judged(entry, parameters):
            found = self._asked(entry, parameters, able)
        else:
            found = answered(entry, parameters, able, self._settings, self._cache_folder)
        made = dict(zip(places, found, strict=True))
        return scores_table(entry, suite, cases, [score or made[place] for place, score in enumerate(scores)])

    def _asked(self, entry: Evaluator, parameters: Parameters, cases: Sequence[Case]) -> list[CaseScore]:
        try:
            resources = equip(entry, parameters, self._settings, self._cache_folder)
            asks = JUDGE in parameters.used(entry.resources)
            if asks and not self._judges:
                self._judges = open_judges(self._settings.get(JUDGE), self._cache_folder, self.spend)
        except CacheRefused:
            raise
        except Exception as failure:
            return [failed_score(failure)] * len(cases)
        judges = self._judges if asks else ()

        async def one(case: Case) -> CaseScore:
            try:
                return (await judge_case(entry, parameters, case, judges, resources)).score
            except JudgeDown as failure:
                return CaseScore({}, Status.SKIPPED, str(failure))

        async def every() -> list[CaseScore]:
            return list(await asyncio.gather(*(one(case) for case in cases)))

        return self._loop.run(every())
