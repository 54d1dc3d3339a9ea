"""The estimated cost of a run's judge before it is asked: calls, tokens, dollars, and replies in the cache."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.evaluator import JUDGE, Evaluator, Parameters
from metrics.core.registry import choose
from metrics.core.suite import Outputs, Suite, join_cases
from metrics.engine.load_resources import Resources
from metrics.engine.local_speed import LocalTime, local_time
from metrics.engine.plan import judged
from metrics.engine.score_cases import judge_cases
from metrics.judge.client import Client
from metrics.judge.opening import FOLDER
from metrics.judge.rehearsal import Rehearsal
from metrics.judge.rubrics import with_rubric
from metrics.judge.settings import JudgeSettings, settings_of

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
    local: LocalTime | None = None  # of local judges that have something to do

    @classmethod
    def of(cls, settings: JudgeSettings, rehearsal: Rehearsal, workspace: Path, cases: int, walked: int) -> "Estimate":
        """Return the estimate for `cases`, of which `walked` were simulated by `rehearsal`."""
        scale, spend = cases / max(1, walked), rehearsal.spend
        tokens = round(spend.prompt_tokens * scale), round(spend.completion_tokens * scale)
        usd = None if spend.unpriced else spend.usd * scale
        names = tuple(judge.name for judge in settings.judges)
        asked = {key: number * scale for key, number in rehearsal.local_calls.items()}
        local = local_time(workspace, asked) if asked else None
        return cls(names, cases, walked, round(spend.calls * scale), round(spend.cached * scale), *tokens, usd, local)

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
    cache_folder = workspace / "cache"
    rehearsal = Rehearsal(settings, cache_folder)
    asyncio.run(_walk(chosen, suite, Outputs(rows), rehearsal, cache_folder / FOLDER))
    return Estimate.of(settings, rehearsal, workspace, len(suite), len(places))


async def _walk(
    chosen: Sequence[tuple[Evaluator, Parameters]], suite: Suite, outputs: Outputs, rehearsal: Rehearsal, folder: Path
) -> None:
    resources = _Supposed(rehearsal.judges, folder)
    for case in join_cases(suite, outputs):
        for entry, parameters in chosen:
            await judge_cases(entry, parameters, [case], resources)
    rehearsal.close()


class _Supposed(Resources):
    """Judges that give typical replies, and no models: an evaluator's walk ends where it needs one."""

    def __init__(self, judges: tuple[Client, ...], cache_folder: Path):
        super().__init__({}, cache_folder)
        self._judges = judges

    def models(self, entry: Evaluator, parameters: Parameters) -> dict[str, Any]:
        return dict.fromkeys(name for name in parameters.used(entry.resources) if name != JUDGE)
