"""A person who has signed in: the claims of the ID token turned into a name, a role and groups."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, get_args

from metrics.core.errors import AssayError
from metrics.store.team.team_file import Role, Team

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
