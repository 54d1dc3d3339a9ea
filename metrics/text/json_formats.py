"""The formats of JSON Schema that are checked: each a function that says whether a string has it."""

import ipaddress
import re
import unicodedata
import warnings
from collections.abc import Callable, Mapping
from datetime import date
from urllib.parse import urlsplit

MAX_CHECKED = 10_000  # characters of a string that is checked; a longer one has none of these formats
TIME = re.compile(
    r"(?ai)([01]\d|2[0-3]):[0-5]\d:(?P<second>[0-5]\d|60)(\.\d+)?"
    r"(?P<zone>Z|(?P<sign>[+-])(?P<hours>[01]\d|2[0-3]):(?P<minutes>[0-5]\d))"
)
UUID_FORM = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE | re.ASCII)
DOTS = re.compile("[.\u3002\uff0e\uff61]")  # between the labels of an international name
DISALLOWED = frozenset("\u0640\u07fa\u302e\u302f\u3031\u3032\u3033\u3034\u3035\u303b")  # RFC 5892, 2.6
VIRAMA = 9  # a combining class
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


def _time(text: str) -> bool:
    found = TIME.fullmatch(text)
    if found is None or found["second"] != "60":
        return found is not None
    # a leap second is the last of a day in UTC
    offset = (
        0 if found["zone"] in "Zz" else int(found["sign"] + "1") * (int(found["hours"]) * 60 + int(found["minutes"]))
    )
    return (int(text[:2]) * 60 + int(text[3:5]) - offset) % 1440 == 1439


def _hostname(text: str) -> bool:
    labels = text.removesuffix(".").split(".")
    return len(text) <= 253 and all(LABEL.fullmatch(label) and _punycode(label) for label in labels)


def _punycode(label: str) -> bool:
    """Return whether a label of ASCII is no international one, or decodes to one."""
    if label[:4].lower() != "xn--":
        return True
    meant = label[4:].encode().decode("punycode")
    return bool(meant) and not meant.isascii() and _international(meant)


def _idn_hostname(text: str) -> bool:
    labels = DOTS.split(text)
    return all(map(_international, labels if labels[-1] else labels[:-1])) and _hostname(text.encode("idna").decode())


def _international(label: str) -> bool:
    """Return whether a label keeps to what IDNA 2008 says of single characters (RFC 5892, appendix A)."""
    if not label or (label[2:4] == "--" and label[:4].lower() != "xn--") or unicodedata.category(label[0])[0] == "M":
        return False
    for place, sign in enumerate(label):
        before, after = label[place - 1] if place else "", label[place + 1 : place + 2]
        allowed = {
            "\u00b7": before == after == "l",
            "\u0375": _is_of("GREEK", after),
            "\u05f3": _is_of("HEBREW", before),
            "\u05f4": _is_of("HEBREW", before),
            "\u30fb": any(
                _is_of(name, one) for one in label for name in ("HIRAGANA", "KATAKANA LETTER", "CJK UNIFIED")
            ),
            "\u200c": _is_of("ARABIC", before) or (bool(before) and unicodedata.combining(before) == VIRAMA),
            "\u200d": bool(before) and unicodedata.combining(before) == VIRAMA,
        }.get(sign, sign not in DISALLOWED)
        if not allowed:
            return False
    return True


def _is_of(script: str, sign: str) -> bool:
    return bool(sign) and unicodedata.name(sign, "").startswith(script)


def _email(text: str) -> bool:
    local, at, domain = text.rpartition("@")
    literal = domain.startswith("[") and domain.endswith("]")
    if not at or ADDRESS.fullmatch(local) is None:
        return False
    if literal:
        version, colon, address = domain[1:-1].rpartition("IPv6:")
        return not version and (_ipv6(address) if colon else _ipv4(address))
    return _idn_hostname(domain)


def _authority(text: str) -> bool:
    """Return whether a host with colons stands in brackets; ValueError for brackets that hold no address."""
    host = urlsplit(text).netloc.rpartition("@")[2]
    return "[" in host or host.count(":") < 2


def _ipv4(text: str) -> bool:
    return str(ipaddress.IPv4Address(text)) == text


def _ipv6(text: str) -> bool:
    return ipaddress.IPv6Address(text).scope_id is None


def _regex(text: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of sets that [[ may begin one day
        re.compile(text)
    return True


def _full(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: pattern.fullmatch(text) is not None


FORMATS: Mapping[str, Callable[[str], bool]] = {
    "date": _date,
    "date-time": lambda text: _date(text[:10]) and text[10:11] in ("T", "t", " ") and _time(text[11:]),
    "time": _time,
    "duration": _full(DURATION),
    "email": _email,
    "idn-email": _email,
    "hostname": _hostname,
    "host-name": _hostname,  # draft 3
    "idn-hostname": _idn_hostname,
    "ipv4": _ipv4,
    "ip-address": _ipv4,  # draft 3
    "ipv6": _ipv6,
    "uri": lambda text: _authority(text) and SCHEME.match(text) is not None and URI_SIGNS.fullmatch(text) is not None,
    "uri-reference": _full(URI_SIGNS),
    "iri": lambda text: _authority(text) and SCHEME.match(text) is not None and IRI_SIGNS.fullmatch(text) is not None,
    "iri-reference": _full(IRI_SIGNS),
    "uri-template": _full(TEMPLATE),
    "uuid": lambda text: UUID_FORM.fullmatch(text) is not None,
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

    RFC 3339 dates and times (offset required, a leap second at the end of a day in UTC), durations; RFC 5321 addresses
    and RFC 1123 host names, also international; IP addresses; RFC 3986 and 3987 URIs; UUIDs; JSON pointers; regular
    expressions as Python reads them. Strings of more than 10,000 characters have none.
    """
    if name not in FORMATS:
        return True
    try:
        return len(text) <= MAX_CHECKED and FORMATS[name](text)
    except (ValueError, re.error, OverflowError, RecursionError):  # UnicodeError is a ValueError
        return False
