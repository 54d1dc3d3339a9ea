"""From claims to a name, a role and groups; and to a refusal where one of them is missing."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from metrics.store.team import NotAllowed, folder_of, visitor_of
from metrics.store.team_file import Team

NOW = 1_800_000_000.0
TEAM = Team(roles={"readers": "viewer", "makers": "editor", "owners": "admin"}, group_claim="teams", groups=("a", "b"))
ADA: dict[str, Any] = {
    "sub": "17", "email": "ada@x.example", "email_verified": True, "name": "Ada", "iat": NOW - 60, "groups": ["makers"],
    "teams": "a",
}  # fmt: skip


def test_it_takes_what_the_claims_say():
    assert visitor_of(ADA, TEAM, NOW) == ("ada@x.example", "Ada", "editor", ("a",))


@pytest.mark.parametrize(("claims", "expected"), [
    pytest.param({"email": None}, ("17", "Ada", "editor", ("a",)), id="without e-mail"),
    pytest.param({"email_verified": False}, ("17", "Ada", "editor", ("a",)), id="e-mail not verified"),
    pytest.param({"name": None}, ("ada@x.example", "ada@x.example", "editor", ("a",)), id="without a name"),
    pytest.param({"name": " Ada\n\x1b[2J L. "}, ("ada@x.example", "ada@x.example", "editor", ("a",)), id="controls"),
    pytest.param({"groups": ["readers", "owners", "?"]}, ("ada@x.example", "Ada", "admin", ("a",)), id="the highest"),
    pytest.param({"groups": "readers"}, ("ada@x.example", "Ada", "viewer", ("a",)), id="a text"),
    pytest.param({"teams": ["b", "z", "a", "b", 7]}, ("ada@x.example", "Ada", "editor", ("b", "a")), id="groups"),
    pytest.param({"iat": NOW + 200}, ("ada@x.example", "Ada", "editor", ("a",)), id="a clock ahead"),
])  # fmt: skip
def test_claims(claims, expected):
    assert visitor_of(ADA | claims, TEAM, NOW) == expected


@pytest.mark.parametrize(("claims", "why"), [
    pytest.param({"groups": []}, "has no role here", id="no role"),
    pytest.param({"groups": {"makers": True}}, "has no role here", id="roles of another form"),
    pytest.param({"groups": None}, "has no role here", id="no claim"),
    pytest.param({"teams": ["z"]}, "in no group", id="a group that does not count"),
    pytest.param({"teams": ""}, "in no group", id="no group"),
    pytest.param({"sub": "", "email": "\n"}, "neither an e-mail address nor a subject", id="nobody"),
    pytest.param({"iat": NOW - 12 * 3600 - 1}, "Sign in again", id="too long ago"),
    pytest.param({"iat": NOW + 3600}, "Sign in again", id="in the future"),
    pytest.param({"iat": None}, "Sign in again", id="at no time"),
    pytest.param({"iat": "1800000000"}, "Sign in again", id="at a text"),
])  # fmt: skip
@pytest.mark.attack("browser", "claims that are expired or of somebody else", "they give no role")
def test_refusals(claims, why):
    with pytest.raises(NotAllowed, match=why):
        visitor_of(ADA | claims, TEAM, NOW)


BY_ADDRESS = Team(role_claim="email", roles={"ada@x.example": "admin"})
NOT_SAID = {name: claim for name, claim in ADA.items() if name != "email_verified"}


@pytest.mark.attack(
    "browser", "somebody signs in with an address that is not verified", "only verified addresses have a role"
)
@pytest.mark.parametrize("said", [False, "false", "False", 0, "0", 1, "1", None, "", "no", [], [True], {}], ids=ascii)
def test_an_address_that_is_not_verified_gives_no_role(said):
    assert visitor_of(ADA | {"email_verified": said}, TEAM, NOW).name == "17"
    with pytest.raises(NotAllowed):
        visitor_of(ADA | {"email_verified": said}, BY_ADDRESS, NOW)


@pytest.mark.parametrize("said", [True, "true", "True"], ids=ascii)
def test_an_address_that_is_verified_gives_one(said):
    assert visitor_of(ADA | {"email_verified": said}, BY_ADDRESS, NOW).role == "admin"


def test_what_the_provider_does_not_say_counts_where_the_team_trusts_it():
    with pytest.raises(NotAllowed):
        visitor_of(NOT_SAID, BY_ADDRESS, NOW)
    trusting = BY_ADDRESS.model_copy(update={"trust_email": True})
    assert visitor_of(NOT_SAID, trusting, NOW).role == "admin"
    with pytest.raises(NotAllowed):
        visitor_of(ADA | {"email_verified": False}, trusting, NOW)


DISGUISES = (
    "owners\u200b", "\ufeffowners", "own\u00aders", "owners ", " owners", "owners\u3164", "owners\ufe0f",
    "owners\u202e", "\uff4fwners", "\u043ewners", "own\u0335ers", "owners\n", "owners\u00a0", "\u24deowners",
)  # fmt: skip


@pytest.mark.attack(
    "browser",
    "a group or an address that looks like another's, by invisible or foreign letters",
    "it counts for nothing",
)
@pytest.mark.parametrize("disguise", DISGUISES, ids=ascii)
def test_a_disguised_value_counts_for_nothing(disguise):
    with pytest.raises(NotAllowed):
        visitor_of(ADA | {"groups": [disguise]}, TEAM, NOW)
    address = disguise.replace("owners", "ada@x.example").replace("wners", "wners@x.example")
    assert visitor_of(ADA | {"email": address}, TEAM, NOW).name == "17"
    with pytest.raises(NotAllowed):
        visitor_of(ADA | {"teams": disguise.replace("owners", "a")}, TEAM, NOW)


@pytest.mark.parametrize("value", ["OWNERS", "Owners"])
def test_case_makes_no_other_value(value):
    assert visitor_of(ADA | {"groups": value, "teams": "A"}, TEAM, NOW)[2:] == ("admin", ("a",))


def test_a_letter_with_its_mark_beside_it_is_the_letter():
    team = Team(roles={"\u00e9quipe": "editor"})
    assert visitor_of(ADA | {"groups": "e\u0301quipe"}, team, NOW).role == "editor"


def test_everyone_raises_nobody_below_the_own_role():
    team = Team(roles={"makers": "editor"}, everyone="viewer")
    assert visitor_of(ADA, team, NOW)[2:] == ("editor", ())
    assert visitor_of(ADA | {"groups": "none"}, team, NOW).role == "viewer"


@pytest.mark.parametrize("role", ["viewer", "editor", "admin"])
def test_a_role_may_what_those_below_it_may(role):
    visitor = visitor_of(ADA, Team(everyone=role), NOW)
    assert [visitor.may(needed) for needed in ("viewer", "editor", "admin")] == [
        True, role != "viewer", role == "admin",
    ]  # fmt: skip


@given(st.text(min_size=1), st.text(min_size=1))
def test_a_group_has_a_folder_of_its_own(one, other):
    folder = folder_of(Path("/w"), one)
    assert folder.parent == Path("/w/groups")
    assert (folder == folder_of(Path("/w"), other)) == (one == other)
    assert folder.name[0].isalnum()
    assert folder.name.isascii()
