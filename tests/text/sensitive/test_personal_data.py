"""Personal data: what is found and what is not, check digits by definition, hostile text in bounded time."""

from itertools import pairwise

import phonenumbers
import pytest
from hypothesis import given, strategies as st

from metrics.text.sensitive.check_digits import luhn
from metrics.text.sensitive.payments import iban_checks
from metrics.text.sensitive.personal_data import personal_data
from metrics.text.sensitive.spans import redacted


def found(text: str, region: str = "any") -> list[tuple[str, str]]:
    return [(datum.kind, text[datum.start : datum.end]) for datum in personal_data(text, regions=(region,))]


@pytest.mark.parametrize(("text", "expected"), [
    pytest.param("Card 4539 1488 0343 6467, thanks", [("card", "4539 1488 0343 6467")], id="visa-in-groups"),
    pytest.param("4539148803436467", [("card", "4539148803436467")], id="visa"),
    pytest.param("3782-822463-10005.", [("card", "3782-822463-10005")], id="american-express"),
    pytest.param("no 1234 4539 1488 0343 6467", [("card", "4539 1488 0343 6467")], id="card-after-a-number"),
    pytest.param("4539 1488 0343 6468", [], id="luhn-fails"),
    pytest.param("9539 1488 0343 6465", [], id="no-issuer"),
    pytest.param("x4539148803436467 0.4539148803436467 45391488034364670000", [], id="part-of-something-longer"),
    pytest.param("4 5 3 9 1 4 8 8 0 3 4 3 6 4 6 8", [], id="a-row-of-numbers"),
    pytest.param("SSN 536-90-4399", [("ssn", "536-90-4399")], id="ssn"),
    pytest.param("social security number: 536904399", [("ssn", "536904399")], id="ssn-by-name"),
    pytest.param("000-12-3456 666-12-3456 912-12-3456 536-00-4399 536-90-0000", [], id="ssn-never-issued"),
    pytest.param("536-90 4399, 536904399", [], id="no-ssn"),
    pytest.param("<Jane.Roe+x@mail.acme-bank.co.uk>", [("email", "Jane.Roe+x@mail.acme-bank.co.uk")], id="email"),
    pytest.param("'müller@bücher.de'.", [("email", "müller@bücher.de")], id="email-unicode"),
    pytest.param("a@b a@.com @x.com user@localhost a@b.c1", [], id="no-email"),
    pytest.param("GB82 WEST 1234 5698 7654 32 AND", [("iban", "GB82 WEST 1234 5698 7654 32")], id="iban-in-groups"),
    pytest.param("DE89370400440532013000", [("iban", "DE89370400440532013000")], id="iban"),
    pytest.param("GB83 WEST 1234 5698 7654 32, DE893704004405320130", [], id="no-iban"),
    pytest.param("call (202) 456-1111", [("phone", "(202) 456-1111")], id="phone"),
    pytest.param("+44 20 7031 3000", [("phone", "+44 20 7031 3000")], id="phone-abroad"),
    pytest.param("call 2024561111; order 2024561111", [("phone", "2024561111")], id="bare-digits-need-a-word"),
    pytest.param("2019-01-02 10:00, 192.168.1.100, 3.14159265358, 555-0123", [], id="dates-addresses-decimals"),
    pytest.param("カードは4539148803436467です。", [("card", "4539148803436467")], id="card-without-spaces-around"),
    pytest.param("4539\u00a01488\u00a00343\u00a06467", [("card", "4539\u00a01488\u00a00343\u00a06467")],
        id="hard-spaces"),
    pytest.param("4539 1488 0343 6467 123", [("card", "4539 1488 0343 6467")], id="card-and-its-code"),
    pytest.param("6304 3234 4897 1336", [], id="no-twelve-digits-of-sixteen"),
    pytest.param("7,4539148803436467,open", [("card", "4539148803436467")], id="card-in-a-row-of-values"),
    pytest.param("4929.6008.3607.3087", [("card", "4929.6008.3607.3087")], id="card-between-points"),
    pytest.param("Mir 2200 7560 4584 2938", [("card", "2200 7560 4584 2938")], id="card-of-Mir"),
    pytest.param("2200 7560 4584 2939, 4929.6008.3607.3088", [], id="cards-with-a-wrong-digit"),
    pytest.param("gb82 west 1234 5698 7654 32", [("iban", "gb82 west 1234 5698 7654 32")], id="iban-in-small-groups"),
    pytest.param("?mail=jo%40acme.io", [("email", "jo%40acme.io")], id="email-in-a-query-encoded"),
    pytest.param("jo&#64;acme.io", [("email", "jo&#64;acme.io")], id="email-in-html"),
    pytest.param("try jo@acme dot io", [("email", "jo@acme dot io")], id="email-with-a-spoken-dot"),
    pytest.param("mail me: jo @ acme . io", [("email", "jo @ acme . io")], id="email-spaced-out"),
    pytest.param("my e-mail is jo at acme.io", [("email", "jo at acme.io")], id="email-with-a-spoken-at"),
    pytest.param("address jo_at_acme_dot_com", [("email", "jo_at_acme_dot_com")], id="email-as-a-name"),
    pytest.param("Mail is sorted at acme.io. Contact sales at acme.io; price @ store . total", [],
        id="places-no-addresses"),
    pytest.param("bar code 4011717400157", [], id="bar-code-that-checks-as-a-card"),
    pytest.param("de89370400440532013000", [("iban", "de89370400440532013000")], id="iban-in-small-letters"),
    pytest.param("NL91 ABNA 0417 1643 00を", [("iban", "NL91 ABNA 0417 1643 00")], id="iban-before-kana"),
    pytest.param("メールはjane@acme-bank.comまで", [("email", "jane@acme-bank.com")], id="email-without-spaces"),
    pytest.param("logo@2x.png X@W.transpose() @anna@social.acme.org", [], id="file-code-handle"),
    pytest.param("git@github.com:acme/shop.git postgres://app:x9@db.acme.com/s", [], id="remote-and-user-of-a-url"),
    pytest.param("https://acme.com/?to=a.b@acme.com", [("email", "a.b@acme.com")], id="email-in-a-query"),
    pytest.param(r"Write:\nanna@acme.com\n", [("email", "anna@acme.com")], id="email-after-a-written-break"),
    pytest.param("602,148 68 1932 Bernabé", [], id="columns-of-a-table"),
    pytest.param("( ISBN 0 - 312 - 28370 - 9 ) 2003", [], id="isbn-spaced-out"),
    pytest.param("[202-456-1111]", [("phone", "202-456-1111")], id="phone-in-brackets"),
    pytest.param("(202-456-1111)", [("phone", "202-456-1111")], id="phone-in-parentheses"),
    pytest.param("тел. 2024561111, hotel 2024561111", [("phone", "2024561111")], id="words-for-a-phone-whole"),
    pytest.param("415-867-5309-A, 228.218.63.20, 13.10.2021, 2024/698646", [], id="part-address-date-file"),
    pytest.param("", [], id="empty"),
])  # fmt: skip
def test_what_is_found(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(("region", "expected"), [("GB", [("phone", "020 7031 3000")]), ("ZZ", []), ("US", [])])
def test_the_region_decides_on_national_numbers(region: str, expected: list[tuple[str, str]]) -> None:
    assert found("call 020 7031 3000", region) == expected


@pytest.mark.parametrize("text", [
    "4111 1111 1111 1111", "378282246310005", "078-05-1120", "me@example.com", "me@mail.example.org", "me@server.test",
    "GB82 WEST 1234 5698 7654 32", "212-555-0123", "+44 20 7946 0123", "+44 113 496 0123", "415-555-2671",
])  # fmt: skip
def test_published_samples_are_dummies(text: str) -> None:
    assert [datum.dummy for datum in personal_data(text)] == [True]


@pytest.mark.parametrize("text", [
    "4539148803436467", "536-90-4399", "me@example-bank.com", "me@myexample.com", "202-456-1111", "202-555-1212",
])  # fmt: skip
def test_others_are_not(text: str) -> None:
    assert [datum.dummy for datum in personal_data(text)] == [False]


def test_kinds_may_be_chosen_and_never_overlap() -> None:
    text = "4539148803436467, call 202-456-1111, a@b.com"
    assert [datum.kind for datum in personal_data(text, ["email", "phone"])] == ["phone", "email"]
    spans = [(datum.start, datum.end) for datum in personal_data("tel 4539 1488 0343 6467 202-456-1111 " * 3)]
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


@given(st.integers(10**10, 10**18))
def test_one_wrong_digit_breaks_luhn(number: int) -> None:
    check = next(digit for digit in "0123456789" if luhn(f"{number}{digit}"))
    assert sum(luhn(f"{number}{digit}") for digit in "0123456789") == 1
    damaged = str(number)[:-1] + str((int(str(number)[-1]) + 1) % 10)
    assert not luhn(damaged + check)


@given(st.text("0123456789", min_size=18, max_size=18))
def test_ibans_check_by_modulo_97(account: str) -> None:
    remainder = int(account + "131400") % 97  # D = 13, E = 14
    iban = f"DE{98 - remainder:02}{account}"
    assert iban_checks(iban)
    assert not iban_checks(iban[:-1] + str((int(iban[-1]) + 1) % 10))
    assert found(iban) == [("iban", iban)]


@given(st.text("0123456789 -4@.aGB", max_size=60))
def test_findings_lie_in_the_text_and_hide_it(text: str) -> None:
    for datum in personal_data(text):
        assert 0 <= datum.start < datum.end <= len(text)
        shape = redacted(text, datum)
        assert len(shape) == datum.end - datum.start
        assert not any(character.isalnum() for character in shape[1:])


@pytest.mark.parametrize("order", [1, -1], ids=["forwards", "backwards"])
def test_a_phone_number_of_one_country_is_found_whatever_others_make_of_it(monkeypatch, order):
    """In some countries 00 or 99 begins a number abroad, and what follows is too short to be one."""
    monkeypatch.setattr(phonenumbers, "SUPPORTED_REGIONS", sorted(phonenumbers.SUPPORTED_REGIONS)[::order])
    assert found("call: AU TFN: 9928 6179-8158") == [("phone", "9928 6179-8158")]
