"""Who is signed in and what they may do: every read and every change of a workspace passes here.

Without [auth] and [team] in Streamlit's secrets (`studio --team FILE`) nobody signs in, everybody whom the gate lets in
may everything, and the studio answers on this machine alone.
"""

import inspect
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import reduce, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import streamlit as st

from components.data.storage import stop_at_storage_error
from components.server.access import Access
from metrics.core.errors import InputError
from metrics.core.processes import is_loopback
from metrics.store import Workspace
from metrics.store.team import AuditLog, NotAllowed, Outcome, Visitor, folder_of, visitor_of
from metrics.store.team_file import Role, Team, team_in
from metrics.store.threshold_profiles import ThresholdProfiles

P = ParamSpec("P")
T = TypeVar("T")

GROUP = "group"  # in the address, and of the session
OPEN = "ASSAY_WITHOUT_SIGN_IN"  # set by `studio --without-sign-in`
LONGEST = 200  # characters of what an action was about
SHOWN = 200  # lines of the audit log
SHOWN_GROUP = 80  # characters of a group that an address names
MINUTE = 60.0  # seconds in which the same refusal of an address is noted once
_place: ContextVar[Path] = ContextVar("place")


class SignIn(NotAllowed):
    """The visitor has to sign in first, or again; the text says why."""


def visitor() -> Visitor | None:
    """Return who is signed in; None where nobody has to. Raises NotAllowed where nothing may be shown."""
    team = _team()
    if team is None:
        _refuse_open_address()
        return None
    if not st.user.is_logged_in:
        raise SignIn("The runs of this studio are for its team. Sign in to see them.")
    claims = st.user.to_dict()
    try:
        found = visitor_of(claims, team, time.time())
    except NotAllowed as refusal:
        _note_once(claims.get("iat"), _name_in(claims), "", "", "sign in", str(refusal)[:LONGEST], "refused")
        raise SignIn(str(refusal)) from None
    _note_once(claims["iat"], found.name, found.role, "", "sign in")
    return found


def own_name() -> str:
    """Return the rater that the visitor is; "" where nobody signs in and people say who they are."""
    who = visitor()
    return "" if who is None else who.name


def group() -> str:
    """Return the visitor's group whose workspace is open; "" where all share one. Raises NotAllowed.

    It is the one of the address, else the last one opened, else the visitor's first.
    """
    who = visitor()
    if who is None or not who.groups:
        return ""
    asked = st.query_params.get(GROUP) or st.session_state.get(GROUP)
    if asked is not None and asked not in who.groups:
        note_refusal(who, "open a group", str(asked)[:SHOWN_GROUP])
        raise NotAllowed(f"{who.name} is not in the group {asked!r:.{SHOWN_GROUP}}, whose runs this address shows.")
    st.session_state[GROUP] = asked or who.groups[0]
    return str(st.session_state[GROUP])


def place() -> Path:
    """Return the folder of the workspace that the visitor works in. Raises NotAllowed."""
    if (given := _place.get(None)) is not None:
        return given
    opened = group()
    folder = Path(Workspace().path)
    return folder_of(folder, opened) if opened else folder


@contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """Work in a workspace whose visitor has been checked before, in a thread that no page runs in."""
    token = _place.set(folder)
    try:
        yield
    finally:
        _place.reset(token)


def kept_here(
    function: Callable[P, T], spinner: str | bool = False, version: Callable[P, object] | None = None
) -> Callable[P, T]:
    """Return the function with its answers kept by its arguments, however they are passed.

    They are of the workspace that the visitor works in, and none is given in another. An answer is computed again when
    thresholds are set there, and one that rests on more than its arguments when the `version` of that changes.
    """
    signature = inspect.signature(function)

    def within(key: object, /, *args: Any, **kwargs: Any) -> T:  # noqa: ARG001 - Streamlit's key is made of it
        return function(*args, **kwargs)

    # what Streamlit tells caches by
    within.__module__, within.__qualname__ = function.__module__, function.__qualname__
    kept = st.cache_resource(max_entries=64, show_spinner=spinner)(within)

    @wraps(function)
    def asked(*args: P.args, **kwargs: P.kwargs) -> T:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        own = version(*args, **kwargs) if version else None
        here = place()
        return kept((own, str(here), ThresholdProfiles(here).version), *bound.args, **bound.kwargs)

    return asked


def may(needed: Role) -> bool:
    """Return whether the visitor may do what needs that role. Raises NotAllowed where nothing may be shown."""
    who = visitor()
    return who is None or who.may(needed)


def action(needed: Role, what: str, *about: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator: the function asks for the role, and is noted in the audit log, before it does anything.

    what: the action in the log, such as "delete a run"; about: the function's arguments that say of what, also a field
    of one (`inputs.models`). The function raises NotAllowed where the visitor's role is not enough.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        signature = inspect.signature(function)

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> T:
            if (who := visitor()) is not None:
                given = signature.bind(*args, **kwargs).arguments
                texts = " · ".join(filter(None, (_words_of(given, path) for path in about)))
                outcome: Outcome = "allowed" if who.may(needed) else "refused"
                _log().write(who.name, who.role, group(), what, texts[:LONGEST], outcome)
                if outcome == "refused":
                    raise NotAllowed(
                        f"To {what} takes the role {needed}; yours is {who.role}. Ask who runs this studio."
                    )
            with stop_at_storage_error():
                return function(*args, **kwargs)

        ACTIONS[function.__name__] = needed
        return checked

    return decorate


def _words_of(given: Mapping[str, Any], path: str) -> str:
    name, *parts = path.split(".")
    value = reduce(lambda value, part: getattr(value, part, None), parts, given.get(name))
    return ", ".join(filter(None, map(str, value))) if isinstance(value, list | tuple) else str(value or "")


ACTIONS: dict[str, Role] = {}  # what takes a role, by the function's name


@action("admin", "read the audit log")
def audit_log() -> list[dict[str, str]]:
    """Return the last lines of the audit log, the newest first."""
    return [entry._asdict() for entry in _log().last(SHOWN)]


def sign_in() -> None:
    """Send the visitor to the identity provider."""
    st.login()


def sign_out() -> None:
    """Forget the visitor here and, where it can be done, at the identity provider."""
    _log().write(_name_in(st.user.to_dict()), "", "", "sign out")
    st.logout()


def signed_in() -> bool:
    """Return whether the identity provider has told who the visitor is, whatever that person may do here."""
    try:
        return _team() is not None and bool(st.user.is_logged_in)
    except NotAllowed:
        return False


def _team() -> Team | None:
    """Return the team of Streamlit's secrets; None without. Raises NotAllowed where it cannot be understood."""
    if not st.secrets.load_if_toml_exists():
        return None
    try:
        return team_in(st.secrets.to_dict())
    except InputError as failure:
        raise NotAllowed(f"The settings of the team cannot be used. {failure}") from None


def _refuse_open_address() -> None:
    """Refuse to answer without the gate, and other machines where nobody signs in and nobody wanted it so."""
    if st.context.headers and not Access.in_force:
        raise NotAllowed("This server would let anyone in. Start the studio instead: streamlit run app.py")
    address = st.get_option("server.address")
    if os.environ.get(OPEN) == "1" or (address and is_loopback(address)):
        return
    raise NotAllowed(
        f"This studio listens on {address or 'every address'} and nobody signs in. Start it on 127.0.0.1, or with "
        "--team FILE; see docs/team.md."
    )


def _name_in(claims: Mapping[str, Any]) -> str:
    """Return what claims call a person for the log; visitor_of says who it is."""
    return str(claims.get("email") or claims.get("sub") or "")[:LONGEST]


def note_refusal(who: Visitor, what: str, about: str) -> None:
    """Note what an address asked for and somebody who is signed in may not have; the same once a minute."""
    _note_once(time.time() // MINUTE, who.name, who.role, "", what, about, "refused")


@st.cache_resource(max_entries=1024, show_spinner=False)
def _note_once(once: object, *entry: Any) -> bool:  # noqa: ARG001 - part of the key
    """Write a line, once for each `once`: a sign-in opens several sessions."""
    _log().write(*entry)
    return True


def _log() -> AuditLog:
    return AuditLog(Path(Workspace().path))
