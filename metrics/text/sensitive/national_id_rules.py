"""Numbers that states give to persons: their forms, their check digits and their names, country by country.

The check digits are written after the authorities' own descriptions; the tests hold them against python-stdnum.
"""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from metrics.text.sensitive.check_digits import ean, luhn, mod_11_2, mod_11_10, verhoeff, weighted

Check = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class NationalId:
    """One kind of number: `form` as written with its separators, `valid` for its letters and digits alone.

    `words` are what stands beside it, in small letters. `alone` is a form so particular that it needs no such word.
    """

    country: str
    name: str
    form: str
    valid: Check
    words: tuple[str, ...]
    alone: str | None = None


def real_date(year: int, month: int, day: int) -> bool:
    """Return whether there is such a day."""
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def _born(yymmdd: str, century: int | None = None) -> bool:
    """Return whether six digits are a day of the century, or of either the 20th or the 21st."""
    year, month, day = int(yymmdd[:2]), int(yymmdd[2:4]), int(yymmdd[4:6])
    return any(real_date(begin + year, month, day) for begin in ([century] if century else [1900, 2000]))


def _day_first(ddmmyy: str) -> bool:
    return _born(ddmmyy[4:6] + ddmmyy[2:4] + ddmmyy[:2])


def _steuer_id(n: str) -> bool:
    """Of the first ten digits one occurs two or three times, the others once."""
    repeated = [times for times in Counter(n[:10]).values() if times > 1]
    return n[0] != "0" and len(repeated) == 1 and repeated[0] < 4 and mod_11_10(n)


def _nir(n: str) -> bool:
    number = n[:13].replace("2A", "19", 1).replace("2B", "18", 1) if n[5:7] in ("2A", "2B") else n[:13]
    return n[0] in "12" and number.isdigit() and 97 - int(number) % 97 == int(n[13:])


def _dni(n: str) -> bool:
    number = str("XYZ".find(n[0])) + n[1:] if n[0] in "XYZ" else n
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(number[:-1]) % 23] == n[-1]


_ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
_OMOCODIA = str.maketrans("LMNPQRSTUV", "0123456789")


def _codice_fiscale(n: str) -> bool:
    """Letters may stand for digits where two persons would have the same code."""
    total = 0
    for place, character in enumerate(n[:15]):
        value = int(character) if character.isdigit() else ord(character) - ord("A")
        total += value if place % 2 else _ODD[value]
    year, day = n[6:8].translate(_OMOCODIA), n[9:11].translate(_OMOCODIA)
    month = f"{'ABCDEHLMPRST'.index(n[8]) + 1:02}"
    born = (year + day).isdigit() and _born(f"{year}{month}{int(day) % 40:02}")
    return born and chr(ord("A") + total % 26) == n[15]


def _belgian(n: str) -> bool:
    """In numbers that register a stay the months are 20 or 40 more; the day may be unknown."""
    month, day = int(n[2:4]), int(n[4:6])
    fits = month % 20 <= 12 and month < 60 and day <= 31
    return fits and int(n[9:]) in (97 - int(n[:9]) % 97, 97 - int("2" + n[:9]) % 97)


def _pesel(n: str) -> bool:
    """The month is 20, 40, 60 or 80 more in 2000, 2100, 2200 and 1800."""
    month = int(n[2:4])
    century = (1900, 2000, 2100, 2200, 1800)[month // 20]
    check = -weighted(n, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)) % 10
    return _born(f"{n[:2]}{month % 20:02}{n[4:6]}", century) and check == int(n[10])


def _eleven(n: str, weights: tuple[int, ...] | range) -> bool:
    """11 less the sum modulo 11, where 10 and 11 count as 0."""
    return (11 - weighted(n, weights) % 11) % 11 % 10 == int(n[len(weights)])


def _norwegian(n: str) -> bool:
    """Days are 40 more for temporary numbers; neither check digit may be 10."""
    born = _day_first(f"{int(n[:2]) % 40:02}{n[2:6]}")
    first = weighted(n, (3, 7, 6, 1, 8, 9, 4, 5, 2, 1)) % 11 == 0
    return born and first and weighted(n, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1)) % 11 == 0


def _czech(n: str) -> bool:
    """Months are 50 more for women, and 20 more where numbers ran out; up to 1985 a remainder of 10 counted as 0."""
    month = int(n[2:4]) % 50
    known = _born(f"{n[:2]}{month - 20 * (month > 20):02}{n[4:6]}")
    return known and (int(n) % 11 == 0 or (int(n[:9]) % 11 == 10 and n[9] == "0"))


def _cnp(n: str) -> bool:
    rest = weighted(n, (2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9)) % 11
    return n[0] != "0" and _born(n[1:7]) and int(n[12]) == (1 if rest == 10 else rest)


def _egn(n: str) -> bool:
    """The month is 20 more in the 19th and 40 more in the 21st century."""
    month = int(n[2:4])
    century = 1900 if month < 20 else 1800 if month < 40 else 2000
    born = _born(f"{n[:2]}{month % 20:02}{n[4:6]}", century)
    return born and weighted(n, (2, 4, 8, 5, 10, 9, 7, 3, 6)) % 11 % 10 == int(n[9])


def _pps(n: str) -> bool:
    second = "WABCDEFGHIJKLMNOPQRSTUV".find(n[8]) if len(n) > 8 else 0
    return "WABCDEFGHIJKLMNOPQRSTUV"[(weighted(n, range(8, 1, -1)) + 9 * second) % 23] == n[7]


def _curp(n: str) -> bool:
    values = ["0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ".index(character) for character in n[:17]]
    check = -sum(value * (18 - place) for place, value in enumerate(values)) % 10
    return _born(n[4:10]) and check == int(n[17])


def _nric(n: str) -> bool:
    total = weighted(n[1:8], (2, 7, 6, 5, 4, 3, 2)) + {"T": 4, "G": 4, "M": 3}.get(n[0], 0)
    letters = {"S": "JZIHGFEDCBA", "T": "JZIHGFEDCBA", "M": "XWUTRQPNJLK"}.get(n[0], "XWUTRQPNMLK")
    return (letters[10 - total % 11] if n[0] == "M" else letters[total % 11]) == n[8]


def _turkish(n: str) -> bool:
    figures = [int(digit) for digit in n]
    tenth = (7 * sum(figures[0:9:2]) - sum(figures[1:8:2])) % 10
    return n[0] != "0" and figures[9] == tenth and figures[10] == sum(figures[:10]) % 10


def _baltic(n: str) -> bool:
    check = weighted(n, (1, 2, 3, 4, 5, 6, 7, 8, 9, 1)) % 11
    if check == 10:
        check = weighted(n, (3, 4, 5, 6, 7, 8, 9, 1, 2, 3)) % 11 % 10
    return n[0] in "12345678" and _born(n[1:7]) and check == int(n[10])


def _taiwanese(n: str) -> bool:
    value = 10 + "ABCDEFGHJKLMNPQRSTUVXYWZIO".index(n[0])
    return (value // 10 + 9 * (value % 10) + weighted(n[1:], range(8, 0, -1)) + int(n[9])) % 10 == 0


def _hong_kong(n: str) -> bool:
    letters = n[:-7].rjust(2)
    values = [36 if letter == " " else ord(letter) - 55 for letter in letters]
    total = 9 * values[0] + 8 * values[1] + weighted(n[-7:], range(7, 1, -1))
    return (total + (10 if n[-1] == "A" else int(n[-1]))) % 11 == 0


def _ird(n: str) -> bool:
    """Where the first weights leave 10, the second decide."""
    n = n.zfill(9)
    check = -weighted(n, (3, 2, 7, 6, 5, 4, 3, 2)) % 11
    if check == 10:
        check = -weighted(n, (7, 4, 3, 2, 5, 2, 7, 6)) % 11
    return 10_000_000 < int(n) < 150_000_000 and check == int(n[8])


NIR = r"[12] ?\d\d ?(?:0[1-9]|1[0-2]|[2-9]\d) ?(?:\d\d|2[AB]) ?\d{3} ?\d{3} ?\d\d"
DNI = r"\d{8}[- ]?[A-Z]|\d{2}\.\d{3}\.\d{3}[- ]?[A-Z]|[XYZ][- ]?\d{7}[- ]?[A-Z]"
CODICE = r"[A-Z]{6} ?[\dLMNPQRSTUV]{2}[ABCDEHLMPRST][\dLMNPQRSTUV]{2} ?[A-Z][\dLMNPQRSTUV]{3} ?[A-Z]"
CURP = r"[A-Z][AEIOUX][A-Z]{2}\d{6}[HMX][A-Z]{2}[B-DF-HJ-NP-TV-ZÑ]{3}[0-9A-Z]\d"
CHINESE = r"[1-8]\d{5}(?:19|20)\d\d(?:0[1-9]|1[0-2])[0-3]\d\d{3}[\dX]"
NINES = r"\d{3}[ -]?\d{3}[ -]?\d{3}"

RULES: tuple[NationalId, ...] = (
    NationalId("US", "ITIN", r"9\d\d[ -]?\d\d[ -]?\d{4}",
               lambda n: n[0] == "9" and int(n[3:5]) in {*range(50, 66), *range(70, 89), 90, 91, 92, *range(94, 100)},
               ("itin", "taxpayer identification"),
               r"9\d\d-\d\d-\d{4}"),
    NationalId("US", "EIN", r"\d\d-\d{7}",
               lambda n: int(n[:2]) not in {0, *range(7, 10), *range(17, 20), 28, 29, 49, 69, 70, 78, 79, 89, 96, 97},
               ("ein", "employer identification", "fein", "tax id")),
    NationalId("GB", "NHS number", r"\d{3}[ -]?\d{3}[ -]?\d{4}",
               lambda n: len(set(n)) > 1 and (11 - weighted(n, range(10, 1, -1)) % 11) % 11 == int(n[9]), ("nhs",)),
    NationalId("GB", "NINO", r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d\d ?\d\d ?\d\d ?[A-D]",
               lambda n: n[:2] not in {"BG", "GB", "KN", "NK", "NT", "TN", "ZZ"},
               ("nino", "national insurance", "ni number", "ni no"),
               r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] \d\d \d\d \d\d [A-D]"),
    NationalId("DE", "Steuer-ID", r"\d\d ?\d{3} ?\d{3} ?\d{3}", _steuer_id,
               ("steuer-id", "steuerid", "steuer-idnr", "steueridentifikationsnummer", "identifikationsnummer", "idnr",
                "steuernummer", "tax id")),
    NationalId("FR", "NIR", NIR, _nir, ("nir", "sécurité sociale", "insee", "numéro de sécu"), NIR),
    NationalId("ES", "DNI or NIE", DNI, _dni, ("dni", "nie", "nif"), DNI),
    NationalId("IT", "codice fiscale", CODICE, _codice_fiscale, ("codice fiscale", "c.f."), CODICE),
    NationalId("NL", "BSN", r"\d{4}[ .]?\d{2}[ .]?\d{3}|\d{8,9}",
               lambda n: int(n) > 0 and (weighted(n.zfill(9), range(9, 1, -1)) - int(n[-1])) % 11 == 0,
               ("bsn", "burgerservicenummer", "sofinummer", "sofi-nummer")),
    NationalId("BE", "national number", r"\d\d[. ]?\d\d[. ]?\d\d[- ]?\d{3}[. ]?\d\d", _belgian,
               ("rijksregisternummer", "numéro national", "registre national", "niss", "insz", "national number"),
               r"\d\d\.\d\d\.\d\d-\d{3}\.\d\d"),
    NationalId("PL", "PESEL", r"\d{11}", _pesel, ("pesel",)),
    NationalId("PT", "NIF", r"\d{3} ?\d{3} ?\d{3}",
               lambda n: n[0] in "1235689" and _eleven(n, range(9, 1, -1)), ("nif", "contribuinte", "número fiscal")),
    NationalId("SE", "personnummer", r"(?:19|20)?\d{6}[-+ ]?\d{4}",  # days are 60 more for those who are no residents
               lambda n: _born(f"{n[-10:-6]}{int(n[-6:-4]) % 60:02}") and luhn(n[-10:]),
               ("personnummer", "samordningsnummer", "personnr", "personal number"), r"(?:19|20)?\d{6}[-+]\d{4}"),
    NationalId("NO", "fødselsnummer", r"\d{6} ?\d{5}", _norwegian,
               ("fødselsnummer", "fødselsnr", "personnummer", "fnr", "d-nummer"), r"\d{6} \d{5}"),
    NationalId("DK", "CPR", r"\d{6}[- ]?\d{4}", _day_first, ("cpr", "cpr-nummer", "cpr-nr", "personnummer")),
    NationalId("FI", "HETU", r"\d{6}[-+A-FU-Y]\d{3}[0-9A-FHJ-NPR-Y]",
               lambda n: _day_first(n[:6]) and "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(n[:6] + n[-4:-1]) % 31] == n[-1],
               ("hetu", "henkilötunnus"),
               r"\d{6}[-+A-FU-Y]\d{3}[0-9A-FHJ-NPR-Y]"),
    NationalId("CZ", "rodné číslo", r"\d{6}/?\d{4}", _czech, ("rodné číslo", "rodné čislo", "rodného čísla", "rč"),
               r"\d{6}/\d{4}"),
    NationalId("RO", "CNP", r"\d{13}", _cnp, ("cnp", "cod numeric personal")),
    NationalId("BG", "EGN", r"\d{10}", _egn, ("егн", "egn")),
    NationalId("IE", "PPS", r"\d{7} ?[A-W][AHW]?", _pps, ("pps", "ppsn", "personal public service")),
    NationalId("BR", "CPF", r"\d{3}\.?\d{3}\.?\d{3}-?\d\d",
               lambda n: len(set(n)) > 1 and _eleven(n, range(10, 1, -1)) and _eleven(n, range(11, 1, -1)),
               ("cpf",), r"\d{3}\.\d{3}\.\d{3}-\d\d"),
    NationalId("BR", "CNPJ", r"\d\d\.?\d{3}\.?\d{3}/?\d{4}-?\d\d",
               lambda n: len(set(n)) > 1 and _eleven(n, (5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2))
               and _eleven(n, (6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2)), ("cnpj",), r"\d\d\.\d{3}\.\d{3}/\d{4}-\d\d"),
    NationalId("MX", "CURP", CURP, _curp, ("curp",), CURP),
    NationalId("AR", "CUIT", r"\d\d[- ]?\d{8}[- ]?\d", lambda n: _eleven(n, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)),
               ("cuit", "cuil"), r"(?:2[0347]|3[034])-\d{8}-\d"),
    NationalId("CL", "RUT", r"\d{1,2}\.?\d{3}\.?\d{3}-[\dK]",
               lambda n: "0K987654321"[weighted(n[-2::-1], (2, 3, 4, 5, 6, 7, 2, 3)) % 11] == n[-1],
               ("rut", "run"), r"\d{1,2}\.\d{3}\.\d{3}-[\dK]"),
    NationalId("IN", "Aadhaar", r"[2-9]\d{3}[ -]?\d{4}[ -]?\d{4}", verhoeff, ("aadhaar", "aadhar", "uidai", "आधार")),
    NationalId("IN", "PAN", r"[A-Z]{3}[ABCFGHJLPT][A-Z]\d{4}[A-Z]", lambda _: True, ("pan", "permanent account number"),
               r"[A-Z]{3}P[A-Z]\d{4}[A-Z]"),
    NationalId("CN", "resident identity number", CHINESE,
               lambda n: real_date(int(n[6:10]), int(n[10:12]), int(n[12:14])) and mod_11_2(n),
               ("身份证", "公民身份号码"), CHINESE),
    NationalId("KR", "RRN", r"\d{6}-?[1-8]\d{6}",
               lambda n: _born(n[:6])
               and (11 - weighted(n, (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)) % 11) % 10 == int(n[12]),
               ("주민등록번호", "주민번호", "rrn"), r"\d{6}-[1-8]\d{6}"),
    NationalId("JP", "My Number", r"\d{4}[ -]?\d{4}[ -]?\d{4}",
               lambda n: _eleven(n, (6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)), ("マイナンバー", "個人番号", "my number")),
    NationalId("AU", "TFN", NINES, lambda n: weighted(n, (1, 4, 3, 7, 5, 8, 6, 9, 10)) % 11 == 0,
               ("tfn", "tax file")),
    NationalId("AU", "Medicare", r"[2-6]\d{3} ?\d{5} ?\d(?:[ -/]?[1-9])?",
               lambda n: weighted(n, (1, 3, 7, 9, 1, 3, 7, 9)) % 10 == int(n[8]), ("medicare",)),
    NationalId("CA", "SIN", NINES, luhn, ("sin", "social insurance", "nas", "assurance sociale")),
    NationalId("SG", "NRIC", r"[STFGM]\d{7}[A-Z]", _nric, ("nric", "fin"), r"[STFGM]\d{7}[A-Z]"),
    NationalId("ZA", "ID number", r"\d{6} ?\d{4} ?[01]\d\d", lambda n: _born(n[:6]) and luhn(n),
               ("id number", "south african id", "identity number", "said", "rsa id")),
    NationalId("TR", "T.C. Kimlik", r"\d{11}", _turkish, ("kimlik", "tckn", "tc no", "t.c. no")),
    NationalId("IL", "Teudat Zehut", r"\d{8}-?\d", luhn, ("תעודת זהות", 'ת"ז', "ת.ז", "teudat zehut", "israeli id")),
    NationalId("GR", "AMKA", r"\d{11}", lambda n: _day_first(n) and luhn(n), ("αμκα", "amka")),
    NationalId("HR", "OIB", r"\d{11}", mod_11_10, ("oib",)),
    NationalId("EE", "isikukood", r"\d{11}", _baltic, ("isikukood",)),
    NationalId("LT", "asmens kodas", r"\d{11}", _baltic, ("asmens kodas", "asmens kodo")),
    NationalId("LV", "personas kods", r"\d{6}-?\d{5}",
               lambda n: _day_first(n[:6])
               and (1 + weighted(n, (10, 5, 8, 4, 2, 1, 6, 3, 7, 9))) % 11 % 10 == int(n[10]),
               ("personas kods", "personas koda")),
    NationalId("AT", "SVNR", r"\d{4}[ -]?\d{6}",
               lambda n: n[0] != "0" and weighted(n, (3, 7, 9, 0, 5, 8, 4, 2, 1, 6)) % 11 == int(n[3]),
               ("svnr", "sv-nummer", "sozialversicherungsnummer", "versicherungsnummer")),
    NationalId("CH", "AHV", r"756\.?\d{4}\.?\d{4}\.?\d\d", ean, ("ahv", "avs", "ahv-nummer"),
               r"756\.\d{4}\.\d{4}\.\d\d"),
    NationalId("TH", "national ID", r"\d[- ]?\d{4}[- ]?\d{5}[- ]?\d\d[- ]?\d",
               lambda n: n[0] != "0" and (11 - weighted(n, range(13, 1, -1)) % 11) % 10 == int(n[12]),
               ("เลขประจำตัวประชาชน", "บัตรประชาชน", "thai id"), r"\d-\d{4}-\d{5}-\d\d-\d"),
    NationalId("TW", "national ID", r"[A-Z][1289]\d{8}", _taiwanese, ("身分證", "身分證字號", "統一編號")),
    NationalId("HK", "HKID", r"[A-Z]{1,2}\d{6} ?\([\dA]\)", _hong_kong, ("hkid", "香港身份證"),
               r"[A-Z]{1,2}\d{6} ?\([\dA]\)"),
    NationalId("RU", "SNILS", r"\d{3}-?\d{3}-?\d{3}[- ]?\d\d",
               lambda n: weighted(n, range(9, 0, -1)) % 101 % 100 == int(n[9:]),
               ("снилс", "snils"), r"\d{3}-\d{3}-\d{3} \d\d"),
    NationalId("RU", "INN", r"\d{12}",
               lambda n: weighted(n, (7, 2, 4, 10, 3, 5, 9, 4, 6, 8)) % 11 % 10 == int(n[10])
               and weighted(n, (3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8)) % 11 % 10 == int(n[11]), ("инн", "inn")),
    NationalId("UA", "RNOKPP", r"\d{10}",
               lambda n: weighted(n, (-1, 5, 7, 9, 4, 6, 10, 5, 7)) % 11 % 10 == int(n[9]),
               ("рнокпп", "іпн", "rnokpp")),
    NationalId("HU", "TAJ", NINES,
               lambda n: weighted(n, (3, 7) * 4) % 10 == int(n[8]), ("taj szám", "taj-szám", "taj száma", "taj:")),
    NationalId("MY", "MyKad", r"\d{6}-?\d\d-?\d{4}",
               lambda n: _born(n[:6]) and int(n[6:8]) not in {0, *range(17, 21), 69, 70, 73, 80, 81, 94, 95},
               ("mykad", "nric", "no. k/p", "kad pengenalan", "ic number", "ic no")),
    NationalId("ID", "NIK", r"\d{16}",  # days are 40 more for women
               lambda n: _day_first(f"{int(n[6:8]) % 40:02}{n[8:12]}") and n[12:] != "0000",
               ("nik", "ktp", "nomor induk kependudukan")),
    NationalId("PK", "CNIC", r"[1-7]\d{4}-?\d{7}-?\d", lambda _: True, ("cnic",)),
    NationalId("NZ", "IRD", r"\d{2,3}[ -]?\d{3}[ -]?\d{3}", _ird, ("ird", "inland revenue")),
    NationalId("EC", "cédula", r"\d{9}-?\d",
               lambda n: (1 <= int(n[:2]) <= 24 or n[:2] in ("30", "50")) and n[2] < "6" and luhn(n),
               ("cédula", "cedula")),
    NationalId("DO", "cédula", r"\d{3}-?\d{7}-?\d", luhn, ("cédula", "cedula"), r"\d{3}-\d{7}-\d"),
    NationalId("RS", "JMBG", r"\d{13}", lambda n: _eleven(n, (7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)),
               ("jmbg", "јмбг", "emšo", "emso")),
)  # fmt: skip
SEPARATORS = re.compile(r"[^0-9A-ZÑ]")
