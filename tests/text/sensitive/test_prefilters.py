"""Signs: they are part of whatever their searches find, and make no difference to what is found."""

import re
from unittest import mock

import phonenumbers
import pytest
from hypothesis import given, strategies as st

from metrics.text.patterns import Sign
from metrics.text.sensitive import contacts, network, payments, personal_data as personal
from metrics.text.sensitive.national_id_rules import RULES
from metrics.text.sensitive.personal_data import PERSONAL_KINDS, personal_data
from metrics.text.sensitive.plain_form import PlainForm

SEARCHES: dict[str, tuple[Sign, list[re.Pattern[str]]]] = {
    "crypto addresses": (network.ANY_CRYPTO_ADDRESS, [network.BASE58_RUN, network.BECH32, network.ETHEREUM]),
    "ip addresses": (network.ANY_IP, [network.IPV4, network.IPV6]),
    "mac addresses": (network.ANY_MAC, [network.MAC, network.CISCO_MAC]),
    "cards": (payments.TWELVE_DIGITS, [payments.SPACED_DIGITS, payments.POINTED_DIGITS]),
    "ibans": (payments.ANY_IBAN, [payments.IBAN_START]),
    "passports": (personal.ANY_MACHINE_READABLE, [personal.MACHINE_READABLE]),
    "social security numbers": (personal.NINE_DIGITS, [personal.SSN, personal.NAMED_SSN]),
    "national ids": (personal.ANY_ALONE, [form for _, form in personal.ALONE]),
    "bracketed at": (contacts.ANY_BRACKETED_AT, [contacts.BRACKETED_AT]),
    "phones after words": (contacts.ANY_LOCAL_PHONE, [contacts.LABELLED_NUMBER]),
}
WORDS = ["call ", "my mail is ", "passport no. ", "SSN: ", "bsn ", "swift ", " at ", "@", " dot ", ".", " ", "-", "4"]
PIECES = st.sampled_from(WORDS) | st.text("0123456789 -./:()@aZ", max_size=20) | st.text(max_size=3)
for _sign, _patterns in SEARCHES.values():
    PIECES |= st.sampled_from(_patterns).flatmap(lambda pattern: st.from_regex(pattern, fullmatch=True))
PIECES |= st.sampled_from([rule.form for rule in RULES]).flatmap(lambda form: st.from_regex(form, fullmatch=True))


def plain(text: str) -> str:
    """Return a text as searches see it, without halves of surrogate pairs, which no stored text has."""
    return PlainForm(text.encode(errors="ignore").decode()).text


@pytest.mark.parametrize(("sign", "patterns"), SEARCHES.values(), ids=SEARCHES)
@given(data=st.data())
def test_what_is_found_has_the_sign(sign: Sign, patterns: list[re.Pattern[str]], data: st.DataObject) -> None:
    pattern = data.draw(st.sampled_from(patterns))
    text = plain(data.draw(st.from_regex(pattern)))
    assert sign.occurs_in(text) or not pattern.search(text)


@given(mailbox=st.from_regex("[a-z0-9._]{1,9}", fullmatch=True), at=st.from_regex(contacts.SPOKEN_AT, fullmatch=True),
       domain=st.from_regex(contacts.SPOKEN_DOMAIN, fullmatch=True))  # fmt: skip
def test_spoken_addresses_have_the_sign(mailbox: str, at: str, domain: str) -> None:
    assert contacts.ANY_SPOKEN_AT.occurs_in(plain(mailbox + at + domain))


def test_every_kind_of_phone_number_has_the_sign() -> None:
    kinds = [number for name, number in vars(phonenumbers.PhoneNumberType).items() if name.isupper()]
    styles = [number for name, number in vars(phonenumbers.PhoneNumberFormat).items() if name.isupper()]
    tried = 0
    for region in phonenumbers.SUPPORTED_REGIONS:
        for kind in kinds:
            number = phonenumbers.example_number_for_type(region, kind)
            for style in styles if number else ():
                tried += 1
                assert contacts.ANY_PHONE.occurs_in(phonenumbers.format_number(number, style))
    assert tried > 5_000
    shortest = (phonenumbers.PhoneMetadata.metadata_for_region(region) for region in phonenumbers.SUPPORTED_REGIONS)
    lengths = [length for about in shortest for length in about.general_desc.possible_length if length > 0]
    assert min(lengths) == 4, "the digits that the sign asks for"


@given(text=st.lists(PIECES, max_size=8).map("".join), region=st.sampled_from(["any", "US", "AT", "ZZ"]))
def test_what_is_found_is_the_same_without_signs(text: str, region: str) -> None:
    text = plain(text)
    found = personal_data(text, PERSONAL_KINDS, (region,))
    with mock.patch.object(Sign, "occurs_in", return_value=True):
        assert personal_data(text, PERSONAL_KINDS, (region,)) == found
