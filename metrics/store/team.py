"""Several people on one studio: who has signed in, with which role and groups, and the log of what they did."""

import fcntl
import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import orjson

from metrics.core.errors import AssayError
from metrics.core.exact_names import disguise_in, fold_name
from metrics.core.files import append_whole, make_folder
from metrics.store.team_file import Role, Team

ROLES: tuple[Role, ...] = get_args(Role)  # the later one may all that the earlier one may
FOLDER = "groups"  # of the workspace
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
    verified = claims.get("email_verified", team.trust_email)  # a truth value, or what some providers say as a text
    if not (verified is True or (isinstance(verified, str) and verified.strip().lower() == "true")):
        claims = {**claims, "email": None}  # anybody's
    began = claims.get("iat")
    if not isinstance(began, int | float) or not -EARLY <= now - began <= team.hours * HOUR:
        raise NotAllowed(f"A sign-in counts for {team.hours:g} hours. Sign in again.")
    name = next((text for key in ("email", "sub") for text in _values(claims.get(key)).values()), "")
    if not name:
        raise NotAllowed("The identity provider gives neither an e-mail address nor a subject. Ask who runs it.")
    values = _values(claims.get(team.role_claim))
    held = [role for value, role in team.roles.items() if fold_name(value) in values]
    held += [] if team.everyone is None else [team.everyone]
    if not held:
        raise NotAllowed(f"{name} has no role here: no value of {team.role_claim} gives one. Ask who runs this studio.")
    groups: tuple[str, ...] = ()
    if team.group_claim:
        listed = {fold_name(group): group for group in team.groups}
        own = _values(claims.get(team.group_claim))
        groups = tuple(listed.get(folded, group) for folded, group in own.items() if folded in listed or not listed)
        if not groups:
            raise NotAllowed(f"{name} is in no group that has a workspace here. Ask who runs this studio.")
    return Visitor(name, next(iter(_values(claims.get("name")).values()), name), max(held, key=ROLES.index), groups)


def folder_of(workspace: Path, group: str) -> Path:
    """Return the folder of a group's workspace in the studio's: readable, and never that of another group."""
    words = re.sub(r"[^a-z0-9]+", "-", group.lower()).strip("-")[:40]
    return workspace / FOLDER / f"{words}-{hashlib.sha256(group.encode()).hexdigest()[:12]}".lstrip("-")


def _values(claim: Any) -> dict[str, str]:
    """Return the values of a claim by their folded form: a text is one, a list several.

    One that could be taken for another, such as by an invisible character, counts for nothing.
    """
    texts = [text for text in (claim if isinstance(claim, list) else [claim]) if isinstance(text, str)]
    return {fold_name(text): text for text in texts if not disguise_in(text)}


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
