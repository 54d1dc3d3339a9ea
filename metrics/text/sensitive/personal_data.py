"""Personal data in text: what identifies, reaches or locates a person, or pays in their name."""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, get_args

from metrics.text.sensitive.contacts import WORLD, emails, phones
from metrics.text.sensitive.national_ids import national_ids, us_social_security
from metrics.text.sensitive.network import crypto_addresses, ip_addresses, mac_addresses
from metrics.text.sensitive.payments import bank_accounts, cards, ibans
from metrics.text.sensitive.personal_details import birth_dates, coordinates, driving_licences, passports
from metrics.text.sensitive.plain_form import PlainForm
from metrics.text.sensitive.spans import Finding, by_precedence

Kind = Literal[
    "iban", "crypto_address", "email", "card", "ssn", "national_id", "passport", "driving_licence", "bank_account",
    "birth_date", "ip_address", "mac_address", "phone", "coordinates",
]  # fmt: skip
PERSONAL_KINDS: tuple[Kind, ...] = get_args(Kind)
DEFAULT_KINDS: tuple[Kind, ...] = PERSONAL_KINDS[:-1]  # a place is more often a sight than somebody's home


def personal_data(text: str, kinds: Sequence[Kind] = DEFAULT_KINDS, regions: Sequence[str] = (WORLD,)) -> list[Finding]:
    """Return the personal data in `text`, by position, without overlaps; the first kind in PERSONAL_KINDS has
    precedence.

    The text is read in its plain form, so full-width digits and invisible characters hide nothing; places are those in
    `text`. `regions` (two letters, ISO 3166) are the countries of phone numbers without a country code and of national
    ids; "any" is every country, "ZZ" none: only phone numbers with a country code, and no national ids. Time is linear
    in the text; the search for phone numbers ends after 2,000 valid or 20,000 invalid ones.
    """
    form = PlainForm(text)
    found = by_precedence(_findings(form.text, kind, regions) for kind in PERSONAL_KINDS if kind in kinds)
    return form.in_original(found)


def _findings(text: str, kind: Kind, regions: Sequence[str]) -> Iterator[Finding]:
    if kind == "phone":
        return phones(text, regions)
    if kind == "national_id":
        return national_ids(text, None if WORLD in regions else regions)
    return FINDERS[kind](text)


FINDERS: dict[Kind, Callable[[str], Iterator[Finding]]] = {
    "iban": ibans, "crypto_address": crypto_addresses, "email": emails, "card": cards, "ssn": us_social_security,
    "passport": passports, "driving_licence": driving_licences, "bank_account": bank_accounts,
    "birth_date": birth_dates, "ip_address": ip_addresses, "mac_address": mac_addresses, "coordinates": coordinates,
}  # fmt: skip
