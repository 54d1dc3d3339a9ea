"""The environment variables that hold a judge's key, where each may go, and keeping keys out of all that is stored or
shown: logs, the cache, runs, error messages.
"""

import html
import json
import os
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from urllib.parse import quote, quote_plus, unquote, urlsplit

from metrics.core.unicode_forms import without_halves
from metrics.judge.settings import JudgeSettings
from metrics.text.sensitive.hidden_values import hidden_places
from metrics.text.sensitive.secrets import SECRET_KINDS, secrets

KEY = "OPENAI_API_KEY"  # of servers at a base_url
ALLOWED = "ASSAY_TARGET_KEYS"  # which key may go where: NAME@host, separated by commas
NEEDED = {  # by litellm's name of the provider: the variables that it requires
    **{
        provider: (f"{provider.upper()}_API_KEY",)
        for provider in "ai21 anthropic cerebras cohere deepinfra deepseek fireworks_ai groq huggingface mistral "
        "nvidia_nim openai openrouter replicate xai".split()
    },
    "azure": ("AZURE_API_KEY", "AZURE_API_BASE", "AZURE_API_VERSION"),
    "perplexity": ("PERPLEXITYAI_API_KEY",),
    "together_ai": ("TOGETHERAI_API_KEY",),
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


HEAD = 12  # characters of a key's beginning by which it is known when its rest is cut off or on the next line
SHORTEST = 8  # characters of a key; servers without keys are given "x" or "none"
# Words in the names of variables that hold keys; a name is split at _ and -.
NAMES = re.compile(
    r"(?:^|[_-])(?:API|APP)?(?:KEY|SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|PASS|CREDENTIAL|CRED|AUTH|DSN|PAT|SAS|"
    r"COOKIE|WEBHOOK)S?(?:$|[_-])|CONNECTION_STRING|(?<=.)[_-]PWD$"
)
URL_PASSWORD = re.compile(r"://[^\s:/@]*:([^\s/]+)@")
REDACTED_KINDS = tuple(kind for kind in SECRET_KINDS if kind not in ("certificate", "product_key"))
BEGINS = r"(?:(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f]{2})|(?<=\\[nrt]))"
MIXED = r"(?=[\w-]{0,40}?(?=[A-Za-z]{0,9}\d)[A-Za-z0-9]{10})"  # letters and digits, not the words of a name
# Keys of unknown lengths, cut off or masked ones, and what is sent as authorization.
LOOKS = re.compile(
    rf"{BEGINS}(?:sk|pk|rk|gsk|xai|hf|nvapi|pplx|github_pat|glpat|xox[a-z]|xapp)[-_]{MIXED}[\w-]{{8,}}+"
    rf"|{BEGINS}sk-(?:ant|or|proj|svcacct|admin)-[\w-]{{8,}}+"
    rf"|{BEGINS}A[KS]IA(?!\w{{0,12}}EXAMPLE)[A-Z0-9]{{16}}(?![A-Za-z0-9])"
    rf"|{BEGINS}gh[opsur]_(?=[A-Za-z]{{0,30}}\d)[A-Za-z0-9]{{10,}}+"
    rf"|{BEGINS}AIza{MIXED}[\w-]{{10,}}+"
    rf"|{BEGINS}(?:co|fw|r8)_(?=[A-Za-z]*\d)(?=[a-z0-9]*[A-Z])[A-Za-z0-9]{{16,}}"
    rf"|{BEGINS}(?:sk|pk|rk|gsk|xai|hf|pplx|AIza)[-_]?[\w-]{{0,24}}(?:\*{{3,}}|…|\.{{3}})[\w-]{{1,8}}"
    r"|(?<=Bearer )(?=[A-Za-z+/_.-]{0,40}\d)[\w.~+/-]{8,}=*"
    r"|(?<=://)(?=[A-Za-z_-]{0,20}\d)[\w-]{16,}(?:(?=@)|(?=:@))",
    re.ASCII,
)
# What stands after a name: parameters of a URL, also within JSON or HTML; signatures; cookies.
NAMED = re.compile(
    r"((?:[?&;]|\\u0026|%26)(?:key|code|sig|signature|x-(?:amz|goog)-(?:signature|credential|security-token))=)"
    r"(?=[A-Za-z+/_.%-]{0,40}\d)[\w.~+/%-]{16,}=*"
    r"|(,\s?Signature=)[0-9a-f]{64}"
    r"|(\bcookie['\"]?\s?[:,]\s?b?['\"]?)(?=[^\n'\"]{0,200}=[^\n'\";]{12})[^\n'\"]{1,8000}",
    re.ASCII | re.IGNORECASE,
)
REDACTED = "[key]"
MAX_READ = 1 << 14  # characters of a message that are looked through where its beginning is shown


def redact(text: str) -> str:
    """Return `text` without the values of key-like environment variables and anything that looks like a key.

    A value is known in its encodings, reversed, in another case, broken by line ends or other signs, and by any long
    piece: see `hidden_places`. What looks like a key is what sensitive_data_leakage finds, but for certificates,
    product keys and published samples. Halves of surrogate pairs become U+FFFD. Time is linear in the text.
    """
    text = without_halves(text)
    values = sorted({value for value in _keys() if len(value) >= SHORTEST}, key=lambda value: (-len(value), value))
    for value in values:
        for form in _written_forms(value):
            text = text.replace(form, REDACTED)
        for form in _written_forms(value):
            text = _without(text, _from_beginning(text, form))
    text = _without(text, hidden_places(text, values))
    found = (secret for secret in secrets(text, REDACTED_KINDS) if not secret.dummy)
    text = _without(text, [(one.start, one.end) for one in found if REDACTED not in text[one.start : one.end]])
    text = LOOKS.sub(REDACTED, text)
    return NAMED.sub(lambda found: "".join(filter(None, found.groups())) + REDACTED, text)


def redact_start(text: str, most: int) -> str:
    """Return the first `most` characters of a message in one line, without keys: a key across the end is gone, too."""
    return redact(" ".join(text.split())[:MAX_READ])[:most]


def _from_beginning(text: str, value: str) -> list[tuple[int, int]]:
    """Return where `text` holds a value from its beginning on, over line ends and the spaces beside them."""
    head, places = value[:HEAD], list[tuple[int, int]]()
    while (start := text.find(head, places[-1][1] if places else 0)) >= 0:
        end, known = start + len(head), len(head)
        while known < len(value) and end < len(text):
            after = end
            if text[after] in "\r\n":
                while after < len(text) and text[after].isspace():
                    after += 1
            if after == len(text) or text[after] != value[known]:
                break
            end, known = after + 1, known + 1
        places.append((start, end))
    return places


def _without(text: str, places: Sequence[tuple[int, int]]) -> str:
    """Return `text` with REDACTED at these places, which are in order."""
    starts, ends = [0, *(end for _, end in places)], [*(start for start, _ in places), len(text)]
    return REDACTED.join(text[start:end] for start, end in zip(starts, ends, strict=True))


def _keys() -> Iterator[str]:
    """Yield the values of key-like variables, those within JSON, and the passwords in URLs of any variable."""
    for name, value in os.environ.items():
        for password in URL_PASSWORD.findall(value) if "://" in value else ():
            yield from {password, unquote(password)}
        is_place = value.isdigit() or (os.path.isabs(value) and os.path.exists(value))  # a file, a socket, a number
        if name != ALLOWED and NAMES.search(name.upper()) and not is_place:
            yield value
            if value.startswith("{"):
                yield from _members(value)


def _members(text: str) -> Iterator[str]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return
    for name, value in found.items():
        if isinstance(value, str) and NAMES.search(name.upper()):
            yield value


@lru_cache(maxsize=64)
def _written_forms(value: str) -> list[str]:
    """Return a value as texts write it, also a short one or one of plain words; the longest first, so that none is left
    in part.
    """
    plain = json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], repr(value)[1:-1]
    forms = {value, *plain, quote(value, safe=""), quote_plus(value), html.escape(value)}
    return sorted(forms, key=lambda form: (-len(form), form))
