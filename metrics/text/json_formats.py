"""The formats of JSON Schema that are checked: each a function that says whether a string has it."""

import ipaddress
import re
from collections.abc import Callable, Mapping
from datetime import date
from urllib.parse import urlsplit
from uuid import UUID

MAX_CHECKED = 10_000  # characters of a string that is checked; a longer one has none of these formats
TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)", re.ASCII | re.I)
DURATION = re.compile(r"P(?!\Z)(\d+W|(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+S)?)?)", re.ASCII)
LABEL = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)")
ADDRESS = re.compile(r"[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*|\"[^\"\r\n]+\"")
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
URI_SIGNS = re.compile(r"([A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*")
IRI_SIGNS = re.compile(r"([^\s\x00-\x20\"<>\\^`{|}%]|%[0-9A-Fa-f]{2})*")
POINTER = re.compile(r"(/([^~/]|~[01])*)*")
RELATIVE_POINTER = re.compile(r"(0|[1-9][0-9]*)(#|(/([^~/]|~[01])*)*)")
IGNORING_CASE = re.compile(r"\(\?[A-Za-z]*i")
SET_STEPS = 1_200  # that Python takes to compile a set of a regular expression that ignores case
SORTING = 5_000  # squared characters of an international name that are put in order in a step
TEMPLATE = re.compile(r"([^{}\s]|\{[^{}\s]+\})*")


def _date(text: str) -> bool:
    date.fromisoformat(text)  # ValueError for others
    return re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII) is not None


def _date_time(text: str) -> bool:
    return _date(text[:10]) and text[10:11] in ("T", "t", " ") and TIME.fullmatch(text[11:]) is not None


def _hostname(text: str) -> bool:
    return len(text) <= 253 and all(LABEL.fullmatch(label) for label in text.removesuffix(".").split("."))


def _idn_hostname(text: str) -> bool:
    return _hostname(text.encode("idna").decode())


def _email(text: str) -> bool:
    local, at, domain = text.rpartition("@")
    literal = domain.startswith("[") and domain.endswith("]")
    return bool(at) and ADDRESS.fullmatch(local) is not None and (literal or _idn_hostname(domain))


def _uri(text: str) -> bool:
    urlsplit(text)  # ValueError for brackets that hold no address
    return SCHEME.match(text) is not None and URI_SIGNS.fullmatch(text) is not None


def _iri(text: str) -> bool:
    urlsplit(text)
    return SCHEME.match(text) is not None and IRI_SIGNS.fullmatch(text) is not None


def _ipv4(text: str) -> bool:
    return str(ipaddress.IPv4Address(text)) == text


def _ipv6(text: str) -> bool:
    return ipaddress.IPv6Address(text).scope_id is None


def _uuid(text: str) -> bool:
    return UUID(text).int >= 0 and [len(part) for part in text.split("-")] == [8, 4, 4, 4, 12]


def _regex(text: str) -> bool:
    re.compile(text)
    return True


def _full(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: pattern.fullmatch(text) is not None


FORMATS: Mapping[str, Callable[[str], bool]] = {
    "date": _date,
    "date-time": _date_time,
    "time": _full(TIME),
    "duration": _full(DURATION),
    "email": _email,
    "idn-email": _email,
    "hostname": _hostname,
    "idn-hostname": _idn_hostname,
    "ipv4": _ipv4,
    "ipv6": _ipv6,
    "uri": _uri,
    "uri-reference": _full(URI_SIGNS),
    "iri": _iri,
    "iri-reference": _full(IRI_SIGNS),
    "uri-template": _full(TEMPLATE),
    "uuid": _uuid,
    "json-pointer": _full(POINTER),
    "relative-json-pointer": _full(RELATIVE_POINTER),
    "regex": _regex,
}


def steps_of(text: str, name: str) -> int:
    """Return what it takes to tell whether `text` has the format of that name, in steps of a few microseconds."""
    if len(text) > MAX_CHECKED:
        return 1
    if name == "regex" and IGNORING_CASE.search(text):
        return 1 + SET_STEPS * text.count("[")
    return 1 + (len(text) ** 2 // SORTING if name in ("idn-hostname", "email", "idn-email") else 0)


def has_format(text: str, name: str) -> bool:
    """Return whether `text` has the format of that name; every text has one that is unknown here.

    RFC 3339 dates and times (offset required, leap seconds allowed), durations; RFC 5321 addresses and RFC 1123 host
    names, also international; IP addresses; RFC 3986 and 3987 URIs; UUIDs; JSON pointers; regular expressions as Python
    reads them. Strings of more than 10,000 characters have none.
    """
    if name not in FORMATS:
        return True
    try:
        return len(text) <= MAX_CHECKED and FORMATS[name](text)
    except (ValueError, re.error, OverflowError, RecursionError):  # UnicodeError is a ValueError
        return False
