"""The workspace's judge, which its runs use unless they name another. It never contains a key."""

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from metrics.core.errors import AssayError, InputError, InputProblem, JudgeError
from metrics.core.files import read_json, write_json
from metrics.core.prompt import Prompt
from metrics.judge.asking import Reply, schema_of
from metrics.judge.completion import CallFailed
from metrics.judge.open_judges import Open, open_completer
from metrics.judge.redact import redact
from metrics.judge.replies import read
from metrics.judge.settings import JudgeSettings, settings_of

FILE = "judge.json"
TRIAL = Prompt(
    "trial", "Does TEXT say that the bridge is open? Give the reason in one short sentence, then the verdict."
)
TEXT = {"TEXT": "The bridge was closed on Monday and has been open to traffic again since Thursday."}


class _TrialReply(Reply):
    reason: str
    verdict: Literal["yes", "no"]


@dataclass(frozen=True, slots=True)
class Trial:
    """A judge's reply to one small question: the raw text, or why there is none; its cost.

    `left_out` names the sampling parameters that the judge does not take. `understood`: whether the reply could be
    read; `right`: whether it was the correct one.
    """

    reply: str
    seconds: float
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    understood: bool = False
    right: bool = False
    failure: str | None = None
    left_out: tuple[str, ...] = ()


def chosen_judge(workspace: Path) -> JudgeSettings | None:
    """Return the workspace's judge; None where none is chosen. Raises InputError for a file with other content."""
    try:
        found = read_json(workspace / FILE)
    except ValueError:
        raise InputError([InputProblem(FILE, "something else than JSON", "the settings of a judge")]) from None
    return None if found is None else settings_of(found)


def choose_judge(workspace: Path, settings: JudgeSettings | None) -> None:
    """Save the workspace's judge; None removes it. Raises InputError where a value looks like a key."""
    if settings is None:
        (workspace / FILE).unlink(missing_ok=True)
        return
    refuse_keys(settings)
    write_json(workspace / FILE, settings.model_dump(mode="json", exclude_defaults=True))


def refuse_keys(settings: JudgeSettings) -> None:
    """Raise InputError where a name or an address seems to contain a key; the message does not repeat it."""
    problems = [
        InputProblem("judge", "what looks like a key", "no key: put it into the environment", column=column)
        for judge in settings.judges
        for column, text in (("model", judge.model), ("base_url", judge.base_url or ""))
        if redact(text) != text
    ]
    if problems:
        raise InputError(problems)


def try_judge(settings: JudgeSettings, opener: Open = open_completer) -> Trial:
    """Ask the judge one small question, without the cache; a failure is part of the trial."""
    refuse_keys(settings)
    try:
        return asyncio.run(_trial(settings, opener))
    except AssayError as failure:
        return Trial("", 0.0, failure=redact(str(failure)))


async def _trial(settings: JudgeSettings, opener: Open) -> Trial:
    completer = opener(settings)
    begun = time.perf_counter()
    try:
        made = await completer.complete(TRIAL.messages(TEXT), schema_of(_TrialReply), TRIAL.id)
    except CallFailed as failure:
        return Trial("", time.perf_counter() - begun, failure=redact(str(failure)))
    finally:
        await completer.close()
    seconds = time.perf_counter() - begun
    facts = made.prompt_tokens, made.completion_tokens, made.cost_usd
    try:
        reply = read(made.text, _TrialReply, cut=made.cut, limit=settings.max_tokens)
    except JudgeError as failure:
        return Trial(redact(made.text), seconds, *facts, failure=redact(str(failure)), left_out=made.left_out)
    return Trial(redact(made.text), seconds, *facts, True, reply.verdict == "yes", left_out=made.left_out)
