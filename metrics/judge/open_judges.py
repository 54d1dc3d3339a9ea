"""From settings to judges that can be asked, or the reason why there is none; and the workspace's judge."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from metrics.core.errors import AssayError, InputError, InputProblem, JudgeError, MissingResource, refuse
from metrics.core.files import read_json, write_json
from metrics.core.installation import missing_extra
from metrics.core.prompt import Prompt
from metrics.judge.asking import Reply, schema_of
from metrics.judge.budget import Ledger, Spend, check_priced
from metrics.judge.cache import Cache, Replay
from metrics.judge.client import Client
from metrics.judge.completion import CallFailed, Completer
from metrics.judge.keys import missing_keys, redact, unusable_keys
from metrics.judge.limits import LONGEST_PAUSE
from metrics.judge.local.install import missing_local_model
from metrics.judge.replies import read
from metrics.judge.settings import JudgeSettings, settings_of

FOLDER = "judge"  # of the replies, in the workspace's cache folder
CHOOSE = (
    "no judge is chosen: name a model that litellm knows and put its key into the environment (OPENAI_API_KEY=… and "
    "gpt-4o-mini, ANTHROPIC_API_KEY=… and anthropic/…), or point at an OpenAI-compatible server of your own by its "
    "address (vLLM, Ollama, llama.cpp), or install the local judge (python -m metrics judge install)"
)
Open = Callable[[JudgeSettings], Completer]


def missing_judge(setting: Any) -> str | None:
    """Return why no judge is available with this setting, and what to do; None where one is. Nothing is sent."""
    if not setting:
        return CHOOSE
    try:
        settings = settings_of(setting)
    except InputError as failure:
        return str(failure)
    if settings.replay is not None:
        return None if Path(settings.replay).is_file() else f"the recording {settings.replay} is not there"
    return next((reason for judge in settings.judges if (reason := _missing_one(judge))), None)


def _missing_one(settings: JudgeSettings, who: str = "judge") -> str | None:
    if settings.is_local:
        return missing_local_model(settings.model) or _other_weights(settings)
    if settings.base_url is None and "://" in settings.model:  # which litellm would send the provider's key to
        return f"the {who} {settings.model} is named by an address: give the name, and the address as base_url"
    library = "litellm" if settings.base_url is None else "aiohttp"
    if reason := missing_extra(f"the {who} {settings.model}", "judge", library):
        return reason
    if missing := missing_keys(settings):
        return f"the {who} {settings.model} needs {' and '.join(missing)} in the environment"
    if unusable := unusable_keys(settings):
        named = " and ".join(unusable)
        why = "it holds a line break or a character outside ASCII; copy it again"
        return f"{named} in the environment is no key: {why}"
    return None


def _other_weights(settings: JudgeSettings) -> str | None:
    """Return that the file of a local judge has other weights than those that its settings were stored with."""
    now = settings.with_weights().weights
    if settings.weights in (None, now):
        return None
    _, _, file = settings.model.partition(":")
    return (
        f"{file} has other weights now (sha256 {str(now)[:12]}…) than those that judged before "
        f"({str(settings.weights)[:12]}…): put the file back, or start another run"
    )


def open_completer(settings: JudgeSettings, who: str = "judge") -> Completer:
    """Return the model behind a judge, or whoever asks. Raises MissingResource where it is not available."""
    if reason := _missing_one(settings, who):
        raise MissingResource(reason)
    if settings.is_local:
        from metrics.judge.local.completer import LocalCompleter

        return LocalCompleter(settings)
    if settings.base_url is not None:
        from metrics.judge.server import Server

        return Server(settings)
    from metrics.judge.provider import Provider

    return Provider(settings)


def open_judges(
    setting: Any,
    cache_folder: Path,
    spend: Spend | None = None,
    opener: Open = open_completer,
    asked_by: str = "",
    case_timeout: float = 0.0,
) -> tuple[Client, ...]:
    """Return the judge and the rest of its panel, which share one budget. Raises MissingResource without one.

    `asked_by`: the id of the run that asks. `case_timeout`: the seconds that a case may take, 0 for no limit; no judge
    may make a question wait for longer.
    """
    if reason := missing_judge(setting):
        raise MissingResource(reason)
    settings = settings_of(setting)
    ledger = Ledger(settings.budget, spend)
    if settings.replay is not None:
        recording = Replay(Path(settings.replay))
        return tuple(Client(judge, recording, (), ledger) for judge in settings.judges)
    settings = settings.with_weights()
    cache = Cache(cache_folder / FOLDER)
    for judge in settings.judges:
        check_priced(settings.budget, judge)
    patience = min(case_timeout or LONGEST_PAUSE, LONGEST_PAUSE)
    return tuple(Client(one, cache, _completers(one, opener), ledger, asked_by, patience) for one in settings.judges)


def _completers(judge: JudgeSettings, opener: Open) -> tuple[Completer, ...]:
    """Return one completer for all draws of a judge, or one for each where each has a seed of its own."""
    seeds = judge.repeats if judge.seed is not None else 1
    return tuple(opener(judge.of_draw(draw)) for draw in range(seeds))


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
    refuse(
        InputProblem("judge", "what looks like a key", "no key: put it into the environment", column=column)
        for judge in settings.judges
        for column, text in (("model", judge.model), ("base_url", judge.base_url or ""))
        if redact(text) != text
    )


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
