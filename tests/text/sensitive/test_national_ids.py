"""National ids: every rule beside python-stdnum on numbers drawn at random, and the words and forms that are needed."""

import importlib
import random
import re
import re._parser as parser
import string

import pytest
from hypothesis import settings

from metrics.text.sensitive.national_id_rules import RULES, SEPARATORS, NationalId
from metrics.text.sensitive.personal_data import personal_data

ORACLES = {
    "US ITIN": "us.itin", "US EIN": "us.ein", "GB NHS number": "gb.nhs", "DE Steuer-ID": "de.idnr", "FR NIR": "fr.nir",
    "ES DNI or NIE": "es.nif", "IT codice fiscale": "it.codicefiscale", "NL BSN": "nl.bsn", "PL PESEL": "pl.pesel",
    "BE national number": "be.nn", "PT NIF": "pt.nif", "SE personnummer": "se.personnummer",
    "NO fødselsnummer": "no.fodselsnummer", "DK CPR": "dk.cpr", "FI HETU": "fi.hetu", "CZ rodné číslo": "cz.rc",
    "RO CNP": "ro.cnp", "BG EGN": "bg.egn", "IE PPS": "ie.pps", "BR CPF": "br.cpf", "BR CNPJ": "br.cnpj",
    "MX CURP": "mx.curp", "AR CUIT": "ar.cuit", "CL RUT": "cl.rut", "IN Aadhaar": "in_.aadhaar",
    "CN resident identity number": "iso7064.mod_11_2", "KR RRN": "kr.rrn", "JP My Number": "jp.in_", "AU TFN": "au.tfn",
    "CA SIN": "ca.sin", "ZA ID number": "za.idnr", "TR T.C. Kimlik": "tr.tckimlik", "IL Teudat Zehut": "il.idnr",
    "GR AMKA": "gr.amka", "HR OIB": "hr.oib", "EE isikukood": "ee.ik", "LT asmens kodas": "lt.asmens",
    "LV personas kods": "lv.pvn", "AT SVNR": "at.vnr", "MY MyKad": "my.nric", "ID NIK": "id.nik", "PK CNIC": "pk.cnic",
    "NZ IRD": "nz.ird", "EC cédula": "ec.ci", "DO cédula": "do.cedula", "CH AHV": "ch.ssn", "TH national ID": "th.pin",
    "RU INN": "ru.inn", "UA RNOKPP": "ua.rntrc",
}  # fmt: skip
BY_NAME = {f"{rule.country} {rule.name}": rule for rule in RULES}
DRAWS = 30 * settings().max_examples
# Where the oracle refuses more than check digits: provinces, districts, dates to come, ranges not yet issued.
STRICTER = {
    "SE personnummer", "NO fødselsnummer", "FI HETU", "RO CNP", "BG EGN", "MX CURP", "AR CUIT", "IN Aadhaar",
    "CN resident identity number", "KR RRN", "AU TFN", "CA SIN", "DK CPR", "BE national number", "ES DNI or NIE",
    "US ITIN", "IE PPS", "CH AHV", "UA RNOKPP", "TH national ID", "MY MyKad", "ID NIK", "PK CNIC",
}  # fmt: skip
# Where ours refuses numbers of companies, of the 19th century, or without a date.
NARROWER = {
    "FR NIR", "BE national number", "PT NIF", "NO fødselsnummer", "CZ rodné číslo", "AR CUIT", "LT asmens kodas",
    "LV personas kods", "AT SVNR", "CN resident identity number",
}  # fmt: skip


def drawn(pattern: str, rng: random.Random) -> str:
    """A text that the expression matches."""

    def one(operation: object, argument: object) -> str:
        match str(operation), argument:
            case "LITERAL", int(code):
                return chr(code)
            case "IN", choices:
                every = ""
                for kind, value in choices:  # type: ignore[attr-defined]
                    if str(kind) == "LITERAL":
                        every += chr(value)
                    elif str(kind) == "RANGE":
                        every += "".join(map(chr, range(value[0], value[1] + 1)))
                    else:
                        every += string.digits
                return rng.choice(every)
            case "MAX_REPEAT", (least, most, inner):
                return "".join(several(inner) for _ in range(rng.randint(least, most)))
            case "SUBPATTERN", (_, _, _, inner):
                return several(inner)
            case "BRANCH", (_, choices):
                return several(rng.choice(choices))
        raise ValueError(operation)

    def several(parsed: object) -> str:
        return "".join(one(operation, argument) for operation, argument in parsed)  # type: ignore[attr-defined]

    return several(parser.parse(pattern))


def number(rule: NationalId, rng: random.Random) -> str:
    """A number of the rule's form, often with a date where there may be one, else hardly any would be right."""
    characters = SEPARATORS.sub("", drawn(rule.form, rng))
    if re.match(r"\d{6}", characters) and rng.random() < 0.8:
        year, month, day = f"{rng.randrange(100):02}", f"{rng.randrange(1, 13):02}", f"{rng.randrange(1, 29):02}"
        head = rng.choice([year + month + day, day + month + year, characters[0] + year + month + day])
        characters = head + characters[len(head) :]
    return characters


@pytest.mark.parametrize("name", ORACLES)
def test_check_digits_equal_those_of_another_implementation(name: str) -> None:
    oracle = importlib.import_module(f"stdnum.{ORACLES[name]}")
    rule, rng = BY_NAME[name], random.Random(name)
    both = 0
    for _ in range(DRAWS):
        drawn_number = number(rule, rng)
        if name == "FI HETU" and len(drawn_number) == 10:  # the sign of the century is a separator
            drawn_number = drawn_number[:6] + "-" + drawn_number[6:]
        ours, theirs = rule.valid(SEPARATORS.sub("", drawn_number)), oracle.is_valid(drawn_number)
        both += ours and theirs
        assert ours <= theirs or name in STRICTER, drawn_number
        assert theirs <= ours or name in NARROWER, drawn_number
    right = [sample for sample in (SAMPLES.get(name),) if sample]
    assert both or right, "no number that both hold to be right"


SAMPLES = {
    "FR NIR": "295109912611193", "DE Steuer-ID": "36574261809", "MX CURP": "BOXW310820HNERXN09",
    "CN resident identity number": "11010519491231002X", "SG NRIC": "S1234567D", "HK HKID": "A1234563",
    "TW national ID": "A123456789", "RU SNILS": "11223344595", "RS JMBG": "0101006500006", "AU Medicare": "2123456701",
    "GB NINO": "AB123456C", "IN PAN": "ABCPE1234F", "GR AMKA": "01013099997", "IT codice fiscale": "RSSMRA85T10A562S",
}  # fmt: skip


@pytest.mark.parametrize("name", SAMPLES)
def test_published_samples_are_right_and_with_another_end_wrong(name: str) -> None:
    rule, sample = BY_NAME[name], SAMPLES[name]
    assert rule.valid(sample)
    if name not in ("GB NINO", "IN PAN", "AU Medicare"):  # without a check digit at the end
        others = string.ascii_uppercase if sample[-1] in string.ascii_uppercase and sample[-1] != "X" else string.digits
        changed = sample[:-1] + others[(others.find(sample[-1]) + 1) % len(others)]
        assert not rule.valid(changed)


def test_there_are_rules_of_many_countries() -> None:
    assert len({rule.country for rule in RULES}) >= 40
    assert len(BY_NAME) == len(RULES)


@pytest.mark.parametrize(("text", "regions", "expected"), [
    ("my BSN is 111222333", ("any",), [("national_id", "NL BSN")]),
    ("order 111222333", ("any",), []), ("my BSN is 111222334", ("any",), []),
    ("943 476 5870 (NHS number)", ("any",), [("national_id", "GB NHS number")]),
    ("12345678Z", ("any",), [("national_id", "ES DNI or NIE")]),
    ("12345678Z", ("DE", "ES"), [("national_id", "ES DNI or NIE")]),
    ("12345678Z", ("DE",), []), ("12345678Z", ("ZZ",), []),
    ("身份证11010519491231002Xです", ("any",), [("national_id", "CN resident identity number")]),
    ("PESEL 44051401359 and 44051401358", ("any",), [("national_id", "PL PESEL")]),
])  # fmt: skip
def test_words_forms_and_countries(text: str, regions: tuple[str, ...], expected: list[tuple[str, str]]) -> None:
    found = personal_data(text, ["national_id"], regions)
    assert [(finding.kind, finding.issuer) for finding in found] == expected
