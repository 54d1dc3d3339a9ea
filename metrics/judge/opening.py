"""From settings to judges that can be asked, or the reason why there is none."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from metrics.core.errors import InputError, MissingResource
from metrics.judge.budget import Ledger, Spend, check_priced
from metrics.judge.cache import Cache, Replay, Replies
from metrics.judge.client import Client
from metrics.judge.completion import Completer
from metrics.judge.keys import missing_keys
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
    reasons = (_missing_one(judge) for judge in settings.judges)
    return next((reason for reason in reasons if reason is not None), None)


def _missing_one(settings: JudgeSettings) -> str | None:
    if settings.is_local:
        return missing_local_model(settings.model)
    if settings.base_url is not None:
        return None
    missing = missing_keys(settings)
    if missing:
        return f"the judge {settings.model} needs {' and '.join(missing)} in the environment"
    return None


def price(settings: JudgeSettings, prompt_tokens: int, completion_tokens: int) -> float | None:
    """Return the dollars for that many tokens of a judge; None where unknown, as for a server at a base_url."""
    if settings.is_local:
        return 0.0
    if settings.base_url is not None:
        return None
    from metrics.judge.provider import listed_price

    return listed_price(settings.model, prompt_tokens, completion_tokens)


def open_completer(settings: JudgeSettings) -> Completer:
    """Return the model behind a judge."""
    if settings.is_local:
        from metrics.judge.local.completer import LocalCompleter

        return LocalCompleter(settings)
    if settings.base_url is not None:
        from metrics.judge.server import Server

        return Server(settings)
    from metrics.judge.provider import Provider

    return Provider(settings)


def open_judges(
    setting: Any, cache_folder: Path, spend: Spend | None = None, opener: Open = open_completer
) -> tuple[Client, ...]:
    """Return the judge and the rest of its panel, which share one budget. Raises MissingResource without one."""
    reason = missing_judge(setting)
    if reason is not None:
        raise MissingResource(reason)
    settings = settings_of(setting)
    kept = open_replies(settings, cache_folder)
    ledger = Ledger(settings.budget, spend)
    clients = []
    for own in settings.judges:
        if settings.replay is not None:
            clients.append(Client(own, kept, None, ledger))
            continue
        completer = opener(own)
        check_priced(settings.budget, own.name, completer.price)
        clients.append(Client(own, kept, completer, ledger))
    return tuple(clients)


def open_replies(settings: JudgeSettings, cache_folder: Path) -> Replies:
    """Return the recording to replay, or the workspace's cache."""
    return Cache(cache_folder / FOLDER) if settings.replay is None else Replay(Path(settings.replay))
