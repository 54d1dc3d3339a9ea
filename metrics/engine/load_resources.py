"""What an evaluator needs before it can score: the inputs of a case, local models, a judge. One mechanism for all."""

import asyncio
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from metrics import models
from metrics.core.cases import Cases
from metrics.core.errors import MissingResource
from metrics.core.evaluator import JUDGE, CaseScore, Evaluator, Parameters, Status, not_applicable
from metrics.core.suite import Case
from metrics.judge.budget import Spend
from metrics.judge.client import Client
from metrics.judge.open_judges import missing_judge, open_judges
from metrics.judge.settings import settings_of

CASES_PER_CALL = 4  # cases in progress for each request in flight: some wait for one another's shared steps


def missing_inputs(entry: Evaluator, cases: Cases) -> dict[int, CaseScore]:
    """Return the scores of those cases that cannot be scored, by their place, in order.

    `error` where the model failed instead of answering, `not_applicable` where an input of the evaluator is missing.
    """
    suspect = ~cases.lacks("error")
    for name in entry.inputs:
        suspect |= cases.lacks(name)
    places = np.flatnonzero(suspect)
    if not len(places):
        return {}
    own = [_missing_inputs(entry, case) for case in cases.take(pa.array(places))]
    return {place: score for place, score in zip(places.tolist(), own, strict=True) if score is not None}


def _missing_inputs(entry: Evaluator, case: Case) -> CaseScore | None:
    if case.error is not None:
        return CaseScore({}, Status.ERROR, f"the model gave no answer: {case.error}")
    missing = entry.missing_inputs(case)
    if not missing:
        return None
    return not_applicable(f"the case has no {' and no '.join(map(entry.in_words, missing))}")


def missing_resources(entry: Evaluator, parameters: Parameters, settings: Mapping[str, Any]) -> str | None:
    """Return which models or judge of the evaluator are not available and how to get them; None where all are.

    `settings` chooses the models (see metrics.models.provide) and, under "judge", the judge. Nothing is loaded.
    """
    own = entry.settings(parameters, settings)
    messages = []
    for name in parameters.used(entry.resources):
        reason = missing_judge(own.get(JUDGE)) if name == JUDGE else models.missing_model(name, own)
        if reason is None:
            continue
        field = type(parameters).model_fields.get(name)
        example = f", such as {field.examples[0]}" if field is not None and field.examples else ""
        messages.append(f"{reason}{example}" if reason == models.not_chosen(name) else reason)
    return "; ".join(messages) or None


def saved_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the choices as a specification stores them. Raises InputError for invalid settings of the judge."""
    judge = settings.get(JUDGE)
    if not judge:
        return dict(settings)
    stored = settings_of(judge).with_weights().model_dump(mode="json", exclude_defaults=True)
    return {**settings, JUDGE: stored}


class Resources:
    """The models and judges that the evaluators of a run, a monitor or a trial share, each opened on first use.

    `settings`: see `missing_resources`. `cache_folder` keeps what models and judges have answered; `spend` is what the
    judges have cost so far, and is added to. `asked_by` is the id of the run, `case_timeout` the seconds that a case of
    it may take. The judges belong to one event loop.
    """

    def __init__(
        self,
        settings: Mapping[str, Any],
        cache_folder: Path,
        spend: Spend | None = None,
        asked_by: str = "",
        case_timeout: float = 0.0,
    ):
        self.spend = spend or Spend()
        self.slots = asyncio.Semaphore()  # bounds the cases in progress
        self._settings = settings
        self._cache_folder = cache_folder
        self._options: dict[str, Any] = {"asked_by": asked_by, "case_timeout": case_timeout}
        self._judges: tuple[Client, ...] = ()
        self._opening = asyncio.Lock()

    def models(self, entry: Evaluator, parameters: Parameters) -> dict[str, Any]:
        """Return the models that the evaluator takes with these parameters, by name, each loaded once a process.

        Raises MissingResource with the text of `missing_resources`.
        """
        if reason := missing_resources(entry, parameters, self._settings):
            raise MissingResource(reason)
        names = [name for name in parameters.used(entry.resources) if name != JUDGE]
        return models.provide(names, entry.settings(parameters, self._settings), self._cache_folder)

    async def judges(self, entry: Evaluator, parameters: Parameters) -> tuple[Client, ...]:
        """Return the judge and the rest of its panel; none where the evaluator asks no judge with these parameters."""
        if JUDGE not in parameters.used(entry.resources):
            return ()
        async with self._opening:
            if not self._judges:
                setting = self._settings.get(JUDGE)
                self._judges = await asyncio.to_thread(
                    partial(open_judges, setting, self._cache_folder, self.spend, **self._options)
                )
                widest = max(judge.settings.concurrency for judge in self._judges)
                self.slots = asyncio.Semaphore(CASES_PER_CALL * widest)
        return self._judges

    async def close(self) -> None:
        """Close the judges' connections and cache."""
        for judge in self._judges:
            await judge.close()
