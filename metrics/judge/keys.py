"""The environment variables that hold a judge's key, and where each may go; asking litellm would take seconds."""

import os
from urllib.parse import urlsplit

from metrics.judge.settings import JudgeSettings

KEY = "OPENAI_API_KEY"  # of servers at a base_url
ALLOWED = "ASSAY_TARGET_KEYS"  # which key may go where: NAME@host, separated by commas
NEEDED = {  # by litellm's name of the provider: the variables that it requires
    "ai21": ("AI21_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "azure": ("AZURE_API_KEY", "AZURE_API_BASE", "AZURE_API_VERSION"),
    "cerebras": ("CEREBRAS_API_KEY",),
    "cohere": ("COHERE_API_KEY",),
    "deepinfra": ("DEEPINFRA_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "fireworks_ai": ("FIREWORKS_AI_API_KEY",),
    "groq": ("GROQ_API_KEY",),
    "huggingface": ("HUGGINGFACE_API_KEY",),
    "mistral": ("MISTRAL_API_KEY",),
    "nvidia_nim": ("NVIDIA_NIM_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY",),
    "perplexity": ("PERPLEXITYAI_API_KEY",),
    "replicate": ("REPLICATE_API_KEY",),
    "together_ai": ("TOGETHERAI_API_KEY",),
    "xai": ("XAI_API_KEY",),
}
BEGINNINGS = {  # of model names without a provider
    "gpt-": "openai", "chatgpt": "openai", "o1": "openai", "o3": "openai", "o4": "openai", "claude": "anthropic",
}  # fmt: skip


def key_variables(settings: JudgeSettings) -> tuple[str, ...]:
    """Return the variables that hold the judge's key; none where it needs none, or for an unknown provider.

    A server at a base_url is sent OPENAI_API_KEY, if that is set and its host is allowed.
    """
    if settings.is_local:
        return ()
    if settings.base_url is not None:
        return (KEY,)
    provider, slash, _ = settings.model.partition("/")
    if not slash:
        provider = next((name for start, name in BEGINNINGS.items() if settings.model.startswith(start)), "")
    return NEEDED.get(provider, ())


def missing_keys(settings: JudgeSettings) -> tuple[str, ...]:
    """Return those of key_variables that are not set; none for a server at a base_url, which may need no key."""
    if settings.base_url is not None:
        return ()
    return tuple(name for name in key_variables(settings) if not os.environ.get(name))


def unusable_keys(settings: JudgeSettings) -> tuple[str, ...]:
    """Return those of key_variables that hold what no HTTP header can: line breaks or characters outside ASCII."""
    values = {name: os.environ.get(name, "") for name in key_variables(settings)}
    return tuple(name for name, value in values.items() if not (value.isascii() and value.isprintable()))


def may_go(name: str, address: str) -> bool:
    """Return whether the key in a variable may be sent to a server that somebody gave the address of.

    A provider's own key goes to the provider's own address without asking.
    """
    return f"{name}@{urlsplit(address).hostname}" in _allowed()


def let_go(name: str, address: str) -> None:
    """Allow the key in a variable for the host of an address, in this process and in those that it starts.

    It takes a person who wants this: one who typed the address on a command line, or pressed a button beside it. It is
    written nowhere, so that nobody who can write to a workspace can allow it.
    """
    os.environ[ALLOWED] = ",".join(sorted(_allowed() | {f"{name}@{urlsplit(address).hostname}"}))


def kept_back(settings: JudgeSettings) -> tuple[str, ...]:
    """Return those of key_variables that are set, and not sent, as the host of the base_url is not allowed for them."""
    address = settings.base_url
    if address is None:
        return ()
    return tuple(name for name in key_variables(settings) if os.environ.get(name) and not may_go(name, address))


def how_to_allow(name: str, address: str) -> str:
    """Return how to allow the key in a variable for an address, in words."""
    host = urlsplit(address).hostname
    return f"{name} is not sent to {host}: {ALLOWED}={name}@{host} allows it"


def _allowed() -> set[str]:
    return {entry.strip() for entry in os.environ.get(ALLOWED, "").split(",")} - {""}
