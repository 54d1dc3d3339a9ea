"""The file that makes a studio one for several people: [auth], how they sign in, and [team], what they may then do."""

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from metrics.core.errors import InputError, InputProblem
from metrics.core.project_file import read_toml

Role = Literal["viewer", "editor", "admin"]
SIGN_IN = {  # what [auth] needs, as Streamlit's st.login does: key → what it is
    "redirect_uri": "the studio's address with the path /oauth2callback",
    "cookie_secret": "a random text of 32 characters or more",
    "client_id": "the id that the identity provider gave the studio",
    "client_secret": "the secret that the identity provider gave the studio",
    "server_metadata_url": "the provider's address of /.well-known/openid-configuration",
}
SHORTEST_SECRET = 32  # characters, so that nobody guesses what signs the cookies
CALLBACK = "/oauth2callback"


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


def read_team(file: Path) -> Team:
    """Return the team of a file. Raises InputError with everything that is wrong with it."""
    found = read_toml(file, "a file with [auth] and [team]")
    problems = [*_readable(file), *_sign_in(found.get("auth"), str(file))]
    try:
        team = team_of(found, str(file))
    except InputError as failure:
        raise InputError([*problems, *failure.problems]) from None
    if problems:
        raise InputError(problems)
    return team


def team_of(found: Mapping[str, Any], name: str) -> Team:
    """Return the [team] of what a file `name` says. Raises InputError with everything that is wrong with it."""
    values = found.get("team", {})
    try:
        team = Team.model_validate(values)
    except ValidationError as failure:
        raise InputError(
            InputProblem(name, repr(error["input"]), error["msg"], column=".".join(("team", *map(str, error["loc"]))))
            for error in failure.errors(include_url=False)
        ) from None
    if not team.roles and team.everyone is None:
        wanted = 'roles = { "value of the claim" = "editor" }, or everyone = "viewer"'
        raise InputError([InputProblem(name, "no role for anybody", wanted, column="team")])
    return team


def _readable(file: Path) -> Iterator[InputProblem]:
    """Yield a problem where others can read the file, which holds secrets."""
    if os.name == "posix" and (mode := stat.S_IMODE(file.stat().st_mode)) & 0o077:
        yield InputProblem(str(file), f"mode {mode:04o}", f"0600, as it holds secrets: chmod 600 {file}")


def _sign_in(auth: Any, name: str) -> Iterator[InputProblem]:
    """Yield what is wrong with [auth]."""
    if not isinstance(auth, Mapping):
        yield InputProblem(name, "no [auth]", f"[auth] with {', '.join(SIGN_IN)}", column="auth")
        return
    for key, what in SIGN_IN.items():
        value = auth.get(key)
        if not isinstance(value, str) or not value:
            yield InputProblem(name, "nothing" if value is None else repr(value), what, column=f"auth.{key}")
        elif key == "cookie_secret" and len(value) < SHORTEST_SECRET:
            yield InputProblem(name, f"{len(value)} characters", what, column=f"auth.{key}")
        elif key == "redirect_uri" and urlsplit(value).path.removesuffix(CALLBACK) == urlsplit(value).path:
            yield InputProblem(name, repr(value), what, column=f"auth.{key}")
