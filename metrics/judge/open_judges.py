"""From settings to judges that can be asked, or the reason why there is none."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from metrics.core.errors import InputError, MissingResource
from metrics.core.installation import missing_extra
from metrics.judge.budget import Ledger, Spend, check_priced
from metrics.judge.cache import Cache, Replay
from metrics.judge.client import Client
from metrics.judge.completion import Completer
from metrics.judge.keys import missing_keys, unusable_keys
from metrics.judge.local.install import missing_local_model
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
        return (
            f"{named} in the environment is no key: it holds a line break or a character outside ASCII; copy it again"
        )
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
    setting: Any, cache_folder: Path, spend: Spend | None = None, opener: Open = open_completer, asked_by: str = ""
) -> tuple[Client, ...]:
    """Return the judge and the rest of its panel, which share one budget. Raises MissingResource without one.

    `asked_by`: the id of the run that asks.
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
    return tuple(Client(judge, cache, _completers(judge, opener), ledger, asked_by) for judge in settings.judges)


def _completers(judge: JudgeSettings, opener: Open) -> tuple[Completer, ...]:
    """Return one completer for all draws of a judge, or one for each where each has a seed of its own."""
    seeds = judge.repeats if judge.seed is not None else 1
    return tuple(opener(judge.of_draw(draw)) for draw in range(seeds))
