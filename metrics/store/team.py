"""Several people on one studio: who may sign in, with which role and group, and the log of what they did."""

import fcntl
import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args
from urllib.parse import urlsplit

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from metrics.core.errors import AssayError, InputError, InputProblem
from metrics.core.files import append_whole, make_folder
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


ROLES: tuple[Role, ...] = get_args(Role)  # the later one may all that the earlier one may
FOLDER = "groups"  # of the workspace
LONGEST_NAME = 200  # characters
HOUR = 3600  # seconds
EARLY = 300  # seconds that the provider's clock may be ahead of ours


class NotAllowed(AssayError):
    """The person may not do this, or may not be here; the text says why and whom to ask."""


class Visitor(NamedTuple):
    """Who is signed in, as the rater and in the audit log: by e-mail address where there is one, else by subject.

    groups: those whose workspaces the person may open; none where all share one.
    """

    name: str
    title: str
    role: Role
    groups: tuple[str, ...]

    def may(self, needed: Role) -> bool:
        """Return whether the person's role is `needed` or one that may more."""
        return ROLES.index(self.role) >= ROLES.index(needed)


def visitor_of(claims: Mapping[str, Any], team: Team, now: float) -> Visitor:
    """Return who has signed in with these claims, `now` in seconds since 1970.

    Raises NotAllowed where the sign-in is too long ago, or gives no name, no role or no group that counts.
    """
    if claims.get("email_verified") is False:
        claims = {**claims, "email": None}  # anybody's
    began = claims.get("iat")
    if not isinstance(began, int | float) or not -EARLY <= now - began <= team.hours * HOUR:
        raise NotAllowed(f"A sign-in counts for {team.hours:g} hours. Sign in again.")
    name = _text(claims.get("email")) or _text(claims.get("sub"))
    if not name:
        raise NotAllowed("The identity provider gives neither an e-mail address nor a subject. Ask who runs it.")
    values = _values(claims.get(team.role_claim))
    held = [team.roles[value] for value in values if value in team.roles]
    held += [] if team.everyone is None else [team.everyone]
    if not held:
        raise NotAllowed(f"{name} has no role here: no value of {team.role_claim} gives one. Ask who runs this studio.")
    groups: tuple[str, ...] = ()
    if team.group_claim:
        groups = tuple(value for value in _values(claims.get(team.group_claim)) if _counts(value, team))
        if not groups:
            raise NotAllowed(f"{name} is in no group that has a workspace here. Ask who runs this studio.")
    return Visitor(name, _text(claims.get("name")) or name, max(held, key=ROLES.index), groups)


def folder_of(workspace: Path, group: str) -> Path:
    """Return the folder of a group's workspace in the studio's: readable, and never that of another group."""
    words = re.sub(r"[^a-z0-9]+", "-", group.lower()).strip("-")[:40]
    return workspace / FOLDER / f"{words}-{hashlib.sha256(group.encode()).hexdigest()[:12]}".lstrip("-")


def _values(claim: Any) -> Iterable[str]:
    """Return the values of a claim, each once: a text is one, a list several."""
    return dict.fromkeys(map(_text, claim if isinstance(claim, list) else [claim]))


def _counts(group: str, team: Team) -> bool:
    return bool(group) and (not team.groups or group in team.groups)


def _text(value: Any) -> str:
    """Return a claim's text on one line; "" for anything else."""
    return " ".join("".join(filter(str.isprintable, value)).split())[:LONGEST_NAME] if isinstance(value, str) else ""


FILE = "audit.jsonl"  # of the studio's workspace, outside those of its groups
Outcome = Literal["allowed", "refused"]


class Entry(NamedTuple):
    """A line of the log: `at` in UTC, `what` was asked, of `about`. What was allowed can still have failed."""

    at: str
    who: str
    role: str
    group: str
    what: str
    about: str
    outcome: Outcome


class AuditLog:
    """The audit log of a workspace. Several processes may write to it at once."""

    def __init__(self, workspace: Path):
        self.file = workspace / FILE

    def write(self, who: str, role: str, group: str, what: str, about: str = "", outcome: Outcome = "allowed") -> None:
        """Append a line; it is on the disk when this returns."""
        entry = Entry(datetime.now(UTC).isoformat(timespec="seconds"), who, role, group, what, about, outcome)
        make_folder(self.file.parent)
        file = os.open(self.file, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)  # a line is written in one piece
            size = os.fstat(file).st_size
            torn = size and os.pread(file, 1, size - 1) != b"\n"  # by a process that was killed
            append_whole(file, b"\n" * bool(torn) + orjson.dumps(entry._asdict()) + b"\n", sync=True)
        finally:
            os.close(file)

    def last(self, most: int) -> list[Entry]:
        """Return the last lines, the newest first; a torn one, of a process that was killed, is left out."""
        if not self.file.exists():
            return []
        with self.file.open("rb") as file:
            lines = file.readlines()[-most:]
        return list(_entries(reversed(lines)))


def _entries(lines: Iterator[bytes]) -> Iterator[Entry]:
    for line in lines:
        try:
            yield Entry(**orjson.loads(line))
        except (orjson.JSONDecodeError, TypeError):
            continue
