"""The team file: how people sign in at the identity provider, and which claim gives which role and group."""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from metrics.core.errors import InputError, InputProblem, refuse
from metrics.core.exact_names import MAKE_SECRET, disguise_in, fold_name, weakness_of
from metrics.core.processes import is_loopback
from metrics.core.project_file import read_toml

Role = Literal["viewer", "editor", "admin"]
SIGN_IN = {  # what [auth] needs, as Streamlit's st.login does: key → what it is
    "redirect_uri": "the studio's address with the path /oauth2callback",
    "cookie_secret": f"32 random characters or more, such as those of `{MAKE_SECRET}`",
    "client_id": "the id that the identity provider gave the studio",
    "client_secret": "the secret that the identity provider gave the studio",
    "server_metadata_url": "the provider's address of /.well-known/openid-configuration",
}
SHORTEST_SECRET = 32  # characters, so that nobody guesses what signs the cookies
CALLBACK = "/oauth2callback"
ADDRESSES = ("_uri", "_url", "_endpoint")  # ends of the keys that hold an address
SAFE_ADDRESS = "an address with https, or with http on this machine, and without a password"
IN_FULL = "a value in full and in visible letters of one script; no other row may be the same whatever the case"


class Team(BaseModel):
    """Who of those that sign in may do what.

    A claim is a field of the ID token; one that is a list counts with each of its values.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    role_claim: str = Field("groups", min_length=1, description="Claim that gives the role.")
    roles: dict[str, Role] = Field(
        default_factory=dict, description="Value of the claim → viewer, editor or admin; of several the highest counts."
    )
    everyone: Role | None = Field(None, description="Role of those whose claim gives none; without it they stay out.")
    group_claim: str = Field("", description="Claim that gives the groups, each with a workspace of its own; else one.")
    groups: tuple[str, ...] = Field((), description="Values of the group claim that count; none: all.")
    hours: float = Field(12, gt=0, le=720, description="Hours after which one has to sign in again.")
    trust_email: bool = Field(
        False, description="Whether an e-mail address counts of which the provider does not say that it is verified."
    )


def read_team(file: Path) -> Team:
    """Return the team of a file. Raises InputError with everything that is wrong with it."""
    found = read_toml(file, "a file with [auth] and [team]")
    return team_of(found, str(file), _readable(file))


def team_in(secrets: Mapping[str, Any]) -> Team | None:
    """Return the team of Streamlit's secrets, None where nobody signs in. Raises InputError as `team_of`."""
    return team_of(secrets, "the studio's secrets") if {"auth", "team"} & secrets.keys() else None


def team_of(found: Mapping[str, Any], name: str, further: Iterable[InputProblem] = ()) -> Team:
    """Return the team of what a file `name` says. Raises InputError with everything that is wrong, `further` first."""
    problems = [*further, *_sign_in(found.get("auth"), name)]
    try:
        team = Team.model_validate(found.get("team", {}))
    except ValidationError as failure:
        wrong = failure.errors(include_url=False)
        columns = (".".join(("team", *map(str, error["loc"]))) for error in wrong)
        problems += [
            InputProblem(name, ascii(error["input"]), error["msg"], column=column)
            for error, column in zip(wrong, columns, strict=True)
        ]
        raise InputError(problems) from None
    problems += _names(team, name)
    if not team.roles and team.everyone is None:
        wanted = 'roles = { "value of the claim" = "editor" }, or everyone = "viewer"'
        problems.append(InputProblem(name, "no role for anybody", wanted, column="team"))
    refuse(problems)
    return team


def _readable(file: Path) -> Iterator[InputProblem]:
    """Yield a problem where others can read the file, which holds secrets."""
    if os.name == "posix" and (mode := stat.S_IMODE(file.stat().st_mode)) & 0o077:
        yield InputProblem(str(file), f"mode {mode:04o}", f"0600, as it holds secrets: chmod 600 {file}")


def _names(team: Team, name: str) -> Iterator[InputProblem]:
    """Yield the claims, roles and groups that could be taken for another, or for none."""
    claims = [("role_claim", team.role_claim), *([("group_claim", team.group_claim)] if team.group_claim else [])]
    for key, names in (*((key, [text]) for key, text in claims), ("roles", [*team.roles]), ("groups", team.groups)):
        first: dict[str, str] = {}
        for text in names:
            wrong = "a wildcard" if {"*", "?"} & {*text} else disguise_in(text)
            if not wrong and first.setdefault(fold_name(text), text) is not text:
                wrong = f"the same as {first[fold_name(text)]!r}"
            if wrong:
                yield InputProblem(name, f"{text!a}: {wrong}", IN_FULL, column=f"team.{key}")


def _sign_in(auth: Any, name: str) -> Iterator[InputProblem]:
    """Yield what is wrong with [auth]."""
    if not isinstance(auth, Mapping):
        yield InputProblem(name, "no [auth]", f"[auth] with {', '.join(SIGN_IN)}", column="auth")
        return
    for key, what in SIGN_IN.items():
        value = auth.get(key)
        if not isinstance(value, str) or not value:
            yield InputProblem(name, "nothing" if value is None else repr(value), what, column=f"auth.{key}")
        elif key == "cookie_secret":
            if weakness := weakness_of(value, SHORTEST_SECRET):  # the value itself is never said
                yield InputProblem(name, weakness, what, column=f"auth.{key}")
        elif disguise := disguise_in(value):
            yield InputProblem(name, disguise, f"{what}, in visible letters", column=f"auth.{key}")
        elif key == "redirect_uri" and not value.endswith(CALLBACK):
            yield InputProblem(name, repr(value), what, column=f"auth.{key}")
    yield from _connections(auth, name, "auth")


def _connections(settings: Mapping[str, Any], name: str, column: str) -> Iterator[InputProblem]:
    """Yield the addresses that anybody on the way could answer for, and the switch that would let them."""
    for key, value in settings.items():
        place = f"{column}.{key}"
        if isinstance(value, Mapping):
            yield from _connections(value, name, place)
        elif key == "verify" and value is not True:
            yield InputProblem(name, repr(value), "true: the provider's certificate is checked", column=place)
        elif key.endswith(ADDRESSES) and value and not (isinstance(value, str) and is_safe_address(value)):
            yield InputProblem(name, ascii(value), SAFE_ADDRESS, column=place)


def is_safe_address(address: str) -> bool:
    """Return whether nobody between here and there can read or answer what is sent to an address."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        return False
    plain = address.isascii() and address.isprintable() and not {*" \\<>\"'`"} & {*address}
    safe = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))
    return plain and safe and bool(host) and "@" not in parts.netloc
