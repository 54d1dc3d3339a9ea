"""Whom the studio's server answers: the names it is called by, and the token of its visitors."""

import hmac
import secrets
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import urlsplit

from metrics.core.exact_names import MAKE_SECRET, weakness_of

TOKEN = "ASSAY_TOKEN"  # noqa: S105 - the variable's name; without it, each start makes a token of its own
NO_TOKEN = "ASSAY_NO_TOKEN"  # noqa: S105 - set to 1 by `studio --no-token`
ALLOWED = "ASSAY_ALLOW_HOST"  # further names of the studio, separated by commas
SHORTEST = 16  # characters of a token that somebody has chosen
OWN_NAMES = ("localhost", "127.0.0.1", "::1")
EVERYWHERE = ("", "0.0.0.0", "::")  # noqa: S104 - addresses to listen on that are no names


@dataclass(frozen=True, slots=True)
class Access:
    """Whom a server answers.

    own: its names on this machine, which it shares with all that listens here; named: the names that it alone goes by;
    token: what a visitor has to show, "" where none is needed; made: whether this start has made the token.
    """

    own: frozenset[str]
    named: frozenset[str]
    token: str = ""
    made: bool = False
    in_force: ClassVar[bool] = False  # set by the gate

    def knows(self, host: str, local: str) -> bool:
        """Return whether a request's Host header names this server; `local` is the address that it came in on.

        That is as good as a name: a page of another site has a name, which it can point here, and no such address.
        """
        return (name := name_of(host)) in self.own | self.named or (bool(name) and name == local)

    def trusts(self, origin: str, host: str) -> bool:
        """Return whether a page of this origin may change something here: it is of this server, whatever its port."""
        return (place := urlsplit(origin).netloc) == host or name_of(place) in self.named

    def admits(self, cookies: Mapping[str, str], host: str) -> bool:
        """Return whether the visitor needs no token, or has shown it before."""
        return not self.token or hmac.compare_digest(cookies.get(cookie_of(host), "").encode(), self.pass_.encode())

    def is_token(self, given: str) -> bool:
        """Return whether a visitor gave the token, or the whole address that ends in it."""
        return hmac.compare_digest(given.strip().rpartition("token=")[2].encode(), self.token.encode())

    @property
    def pass_(self) -> str:
        """The value of the cookie. It is made of the token and does not tell it: other ports of a host see cookies."""
        return hmac.digest(self.token.encode(), b"cookie", "sha256").hex()


def access_of(environment: MutableMapping[str, str], address: str, signs_in: Mapping[str, Any]) -> Access:
    """Return whom a server that listens on `address` answers; `signs_in` is [auth] of a team, empty without.

    The token is taken out of the environment, so that no process that the studio starts gets it. Raises SystemExit for
    a token that could be guessed.
    """
    given = environment.pop(TOKEN, "")
    own = {*OWN_NAMES, *({address.lower()} - {*EVERYWHERE})}
    named = {name_of(name) for name in environment.get(ALLOWED, "").split(",")}
    if signs_in:
        named.add(urlsplit(str(signs_in.get("redirect_uri"))).hostname or "")
    names = frozenset(own), frozenset(named - own - {""})
    if signs_in or environment.get(NO_TOKEN) == "1":
        return Access(*names)
    if given and (weakness := weakness_of(given, SHORTEST)):
        raise SystemExit(f"${TOKEN} could be guessed ({weakness}). Make one with `{MAKE_SECRET}`")
    return Access(*names, given or secrets.token_urlsafe(32), not given)


def address_of(access: Access, listens_on: str, port: int) -> str:
    """Return the address to open in a browser of this machine, with a token that this start has made."""
    host = "127.0.0.1" if listens_on in EVERYWHERE else f"[{listens_on}]" if ":" in listens_on else listens_on
    return f"http://{host}:{port}" + (f"/?token={access.token}" if access.made else "")


def name_of(host: str) -> str:
    """Return the name in a Host header, in lower case and without port and brackets; "" where it is none."""
    try:
        parts = urlsplit(f"//{host.strip()}")
        _ = parts.port  # raises where it is no number
    except ValueError:
        return ""
    if parts.netloc != host.strip() or "@" in host:
        return ""
    return (parts.hostname or "").rstrip(".")


def cookie_of(host: str) -> str:
    """Return the name of a studio's cookie, with its port: a browser gives a host's cookies to all its ports."""
    return f"assay-{urlsplit(f'//{host}').port or 'default'}"
