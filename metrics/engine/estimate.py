"""The estimated cost of a run's judge before it is asked: calls, tokens, dollars, and replies in the cache."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.evaluator import Evaluator, Parameters
from metrics.core.registry import choose
from metrics.core.suite import Outputs, Suite, join_cases
from metrics.engine.load_resources import JUDGE, Resources
from metrics.engine.plan import judged
from metrics.engine.score_cases import judge_cases
from metrics.judge.budget import Ledger, Spend, price
from metrics.judge.cache import Cache, Stored
from metrics.judge.client import Client
from metrics.judge.completion import Completion, Messages
from metrics.judge.opening import FOLDER
from metrics.judge.rubrics import with_rubric
from metrics.judge.settings import Budget, JudgeSettings, settings_of
from metrics.judge.typical import typical

CHARACTERS_PER_TOKEN = 4  # of English prose, about
SAMPLE = 100  # cases that are simulated; the rest are assumed to be like them


@dataclass(frozen=True, slots=True)
class Estimate:
    """The approximate cost of a run: requests to send, replies in the cache, tokens, dollars (None: unknown).

    `walked` of the suite's `cases` were simulated, with typical replies where the cache has none.
    """

    judges: tuple[str, ...]
    cases: int
    walked: int
    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    usd: float | None

    def __str__(self) -> str:
        price = "price unknown" if self.usd is None else f"about ${self.usd:.2f}" if self.usd else "no price"
        return (
            f"about {self.calls:,} calls to {', '.join(self.judges)}, {self.prompt_tokens:,} prompt tokens and "
            f"{self.completion_tokens:,} reply tokens, {price}; {self.cached:,} more are answered by the cache"
        )


def estimate(
    suite: Suite,
    outputs: Outputs,
    evaluators: Sequence[str],
    parameters: Mapping[str, Mapping[str, Any]] | None,
    resources: Mapping[str, Any],
    workspace: Path,
) -> Estimate | None:
    """Return the estimate for a run of these evaluators; None where none of them asks a judge, or no judge is chosen.

    The evaluators are simulated over up to SAMPLE evenly spaced cases, with all their outputs. A question gets the
    cached reply, or else a typical one: as many claims as the text has sentences, each verdict the first of its labels.
    Repairs and repeated questions are not foreseen.
    """
    chosen = [pair for pair in choose(evaluators, with_rubric(parameters, workspace)).values() if judged(*pair)]
    if not chosen or not resources.get(JUDGE):
        return None
    settings = settings_of(resources[JUDGE])
    ids = suite.cases["case_id"]
    places = np.unique(np.linspace(0, len(suite) - 1, min(SAMPLE, len(suite))).astype(int))
    sample = ids.take(pa.array(places))
    rows = outputs.outputs.filter(pc.is_in(outputs.outputs["case_id"], sample.combine_chunks()))
    spend = asyncio.run(_walk(chosen, suite, Outputs(rows), settings, workspace / "cache" / FOLDER))
    scale = len(suite) / max(1, len(places))
    return Estimate(
        tuple(judge.name for judge in settings.judges),
        len(suite),
        len(places),
        round(spend.calls * scale),
        round(spend.cached * scale),
        round(spend.prompt_tokens * scale),
        round(spend.completion_tokens * scale),
        None if spend.unpriced else spend.usd * scale,
    )


async def _walk(
    chosen: Sequence[tuple[Evaluator, Parameters]],
    suite: Suite,
    outputs: Outputs,
    settings: JudgeSettings,
    folder: Path,
) -> Spend:
    ledger = Ledger(Budget())
    known = _Known(folder)
    resources = _Supposed(tuple(Client(own, known, _TypicalReplies(own), ledger) for own in settings.judges), folder)
    for case in join_cases(suite, outputs):
        for entry, parameters in chosen:
            await judge_cases(entry, parameters, [case], resources)
    known.close()
    ledger.spend.cached = len(known.found)
    return ledger.spend


class _Supposed(Resources):
    """Judges that give typical replies, and no models: an evaluator's walk ends where it needs one."""

    def __init__(self, judges: tuple[Client, ...], cache_folder: Path):
        super().__init__({}, cache_folder)
        self._judges = judges

    def models(self, entry: Evaluator, parameters: Parameters) -> dict[str, Any]:
        return dict.fromkeys(name for name in parameters.used(entry.resources) if name != JUDGE)


class _Known:
    """The workspace's cache, and the typical replies so far, which are never stored."""

    def __init__(self, folder: Path):
        self._cache = Cache(folder, counting=False) if folder.exists() else None
        self._supposed: dict[str, Stored] = {}
        self.found: set[str] = set()  # keys of the questions that the cache answered

    def get(self, key: str) -> Stored | None:
        stored = self._cache.get(key) if self._cache is not None else None
        if stored is not None:
            self.found.add(key)
        return stored or self._supposed.get(key)

    def put(self, key: str, stored: Stored) -> None:
        self._supposed[key] = stored

    def close(self) -> None:
        if self._cache is not None:
            self._cache.close()


class _TypicalReplies:
    """A completer that sends nothing: it returns a typical reply and counts tokens approximately."""

    def __init__(self, settings: JudgeSettings):
        self._settings = settings

    async def complete(self, messages: Messages, schema: Mapping[str, Any], name: str) -> Completion:  # noqa: ARG002
        """Return a typical reply."""
        text = json.dumps(typical(schema, messages))
        prompt = sum(len(message["content"]) for message in messages) + len(json.dumps(schema))
        used = prompt // CHARACTERS_PER_TOKEN, len(text) // CHARACTERS_PER_TOKEN
        return Completion(text, *used, price(self._settings, *used))

    async def close(self) -> None:
        """Do nothing: there is no connection."""
