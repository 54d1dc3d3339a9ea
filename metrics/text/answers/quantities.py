"""A text that is one quantity, a number with or without a unit, and whether two are the same amount."""

import re
import unicodedata
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from metrics.text.answers.forms import without_ends
from metrics.text.measures import currencies_before, registry, units_after
from metrics.text.number_words import ORDINALS, SCALES, in_words

Units = Literal["convert", "written", "ignore"]
DecimalMark = Literal[".", ","]
MAX_QUANTITY, MAX_UNIT = 80, 40  # characters of a quantity, and of its unit
SPACES = "  \u2009\u202f'’"
PLAIN = r"\d{1,3}(?:(?P<group>[SEP])\d{3})(?:(?P=group)\d{3})*(?:MARK\d+)?|\d+(?:MARK\d+)?|MARK\d+"
SIGN = r"(?P<sign>[-+−–]?)\s?"
POWER = r"(?:[eE](?P<power>[-+−]?\d{1,2})|\s?[×x*·]\s?10(?:\^|\*\*)?(?P<ten>[-+−]?\d{1,2}|[⁻⁺]?[⁰¹²³⁴-⁹]{1,2}))?"
RATIO = re.compile(r"(?P<sign>[-+−–]?)(?:(?P<whole>\d{1,9})[ -])?(?P<one>\d{1,9})[/⁄](?P<other>\d{1,9})(?!\d)")
VULGAR = re.compile(r"(?P<sign>[-+−–]?)(?P<whole>\d{0,9})\s?(?P<part>[¼½¾⅐-⅞])")
WORD = re.compile(r"[^\W\d_]+")
HEAD = re.compile(r"(?:approximately|about|around|approx\.?|roughly|circa|ca\.?|≈|~|=)\s*", re.IGNORECASE)
NAMES = re.compile(r"(?!(?:st|nd|rd|th)\b)[^\W\d_]|[%‰°$€£¥₹]")  # how a unit begins; "5th" is no amount
COIN = re.compile(r"(?P<sign>[-−–]?)(?P<coin>[^\d\s.,+−–-]{1,3})\s?(?=[.,]?\d)")
# a unit as pint reads it, of at most nine parts with one digit of power: no text makes it compute huge numbers
UNIT_PART = r"(?:[^\W\d_]{1,20}|%|‰|°\s?[CFK])(?:(?:\^|\*\*)?-?[1-9](?!\d)|[²³])?"
UNIT = re.compile(rf"{UNIT_PART}(?:\s?[ /*·⋅]\s?{UNIT_PART}){{0,8}}")
NOT_OF_PINT = {  # how people write what pint calls by another name
    r"(?i:(?:degrees? )?celsius)|°\s?C": "degC", r"(?i:(?:degrees? )?fahrenheit)|°\s?F": "degF",
    r"per cent\b": "percent", r"\bsq\b": "square", r"\bK(?=B\b|g\b|m\b)": "k",
}  # fmt: skip
DIGIT_OF = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−", "0123456789-+-")


class Quantity(NamedTuple):
    """A number, exactly as written, and its unit: the words after it, or a currency; "" for none."""

    value: Fraction
    unit: str = ""

    @property
    def shown(self) -> str:
        """The quantity for people: the value to twelve digits, and the unit."""
        value = str(self.value) if self.value.denominator == 1 else f"{float(self.value):.12g}"
        return f"{value} {self.unit}".strip()


@lru_cache(maxsize=1 << 14)
def quantity(text: str, mark: DecimalMark = ".") -> Quantity | None:
    """Return the quantity that a whole text is; None where it is anything else.

    Numbers: 1,200.5, 1 200,5 (with `mark` ","), 1.2e3, 1.2×10³, ½, 1 1/2, forty-two, 3 million. The other one of point
    and comma, a space and an apostrophe separate thousands, and only thousands. A number with leading zeros is a code,
    and none; so are ordinals. What follows the number is its unit, whatever it says.

    >>> quantity("$1.5 million")
    Quantity(value=Fraction(1500000, 1), unit='dollar')
    """
    bare = without_ends(unicodedata.normalize("NFC", text[: MAX_QUANTITY + 1]))
    if not bare or len(bare) > MAX_QUANTITY:
        return None
    if about := HEAD.match(bare):
        bare = bare[about.end() :]
    before = ""
    if (coin := COIN.match(bare)) and (coins := currencies_before(coin["coin"], len(coin["coin"]))):
        before, bare = coins[0].kind.split()[-1], coin["sign"] + bare[coin.end() :]
    found = _digits(bare, mark) or _words(bare)
    if found is None:
        return None
    value, rest = found
    first = WORD.match(rest.strip())
    if first and (scale := SCALES.get(first[0].casefold().removesuffix("s"))):
        value, rest = value * scale, rest.strip()[first.end() :]
    unit = " ".join(rest.split())
    if unit and not NAMES.match(unit):
        return None
    if before:
        return None if unit else Quantity(value, before)
    return Quantity(value, _currency(unit) or unit)


def _currency(unit: str) -> str:
    """Return the currency that a unit is the main coin of, "" for another unit."""
    coins, end = units_after(unit, 0) if unit else ((), 0)
    names = [coin.kind.split()[-1] for coin in coins if coin.family == "money" and coin.factor == 1]
    masses = any(coin.family != "money" for coin in coins)  # pounds
    return names[0] if names and end == len(unit) and not masses else ""


def _digits(text: str, mark: DecimalMark) -> tuple[Fraction, str] | None:
    if found := VULGAR.match(text):
        part = Fraction(unicodedata.numeric(found["part"])).limit_denominator(10)
        return _signed(found["sign"], int(found["whole"] or 0) + part), text[found.end() :]
    if (found := RATIO.match(text)) and int(found["other"]):
        size = int(found["whole"] or 0) + Fraction(int(found["one"]), int(found["other"]))
        return _signed(found["sign"], size), text[found.end() :]
    found = _plain(mark).match(text)
    if not found:
        return None
    written, rest = found["number"], text[found.end() :]
    whole = re.split(re.escape(mark), written)[0]
    if (len(whole) > 1 and whole[0] == "0") or rest[:1].isdigit() or re.match(r"[.,:]\d", rest):
        return None  # a code, a version, a time
    written = written.replace(found["group"] or " ", "")
    value = Fraction(written.replace(mark, ".").translate(DIGIT_OF) if written[0] != mark else "0." + written[1:])
    power = (found["power"] or found["ten"] or "0").translate(DIGIT_OF)
    return _signed(found["sign"], value * Fraction(10) ** int(power)), rest


@lru_cache(maxsize=2)
def _plain(mark: DecimalMark) -> re.Pattern[str]:
    other = "," if mark == "." else "."
    number = PLAIN.replace("SEP", SPACES + other).replace("MARK", re.escape(mark))
    return re.compile(rf"{SIGN}(?P<number>{number}){POWER}")


def _words(text: str) -> tuple[Fraction, str] | None:
    negative = re.match(r"(?:minus|negative)\s+", text, re.IGNORECASE)
    start = negative.end() if negative else 0
    words = list(WORD.finditer(text, start))
    if not words or words[0].start() != start:
        return None
    value, used = in_words([word[0].casefold() for word in words])
    if not used or words[used - 1][0].casefold() in ORDINALS:
        return None
    joined = text[start : words[used - 1].end()]
    if re.search(r"[^\w\s-]", joined):  # one, two
        return None
    return _signed("-" if negative else "", Fraction(value)), text[words[used - 1].end() :]


def _signed(sign: str, value: Fraction) -> Fraction:
    return -value if sign and sign in "-−–" else value


def same_amount(
    made: Quantity,
    wanted: Quantity,
    absolute: Fraction = Fraction(0),
    relative: Fraction = Fraction(0),
    units: Units = "convert",
) -> bool:
    """Return whether |made − wanted| ≤ max(absolute, relative · |wanted|), in the unit of what is wanted.

    units   "convert": by pint, so that 1 km is 1000 m, 25 °C is 77 °F and 50 % is 0.5; "written": units are equal as
            words, but for case and a plural s; "ignore": numbers alone count

    Arithmetic is exact (fractions).
    """
    value = made.value
    if units != "ignore" and _singular(made.unit) != _singular(wanted.unit):
        if units == "written":
            return False
        converted = _converted(value, made.unit, wanted.unit)
        if converted is None:
            return False
        value = converted
    return abs(value - wanted.value) <= max(absolute, relative * abs(wanted.value))


def _singular(unit: str) -> str:
    """Return a unit as a word; a symbol keeps its case, as mm and Mm are two units."""
    return unit.casefold().removesuffix("s") if len(unit) > 3 else unit


def _converted(value: Fraction, unit: str, wanted: str) -> Fraction | None:
    """Return `value` of a unit in another one; None where they are not of one dimension, or unknown."""
    own, other = _pint_unit(unit), _pint_unit(wanted)
    if own is None or other is None:
        return None
    import pint

    try:
        made = registry().Quantity(value, own).to(other).magnitude
    except pint.PintError:
        return None
    return Fraction(made)


@lru_cache(maxsize=1 << 12)
def _pint_unit(unit: str) -> Any:
    for written, meant in NOT_OF_PINT.items():
        unit = re.sub(written, meant, unit)
    if unit and (len(unit) > MAX_UNIT or not UNIT.fullmatch(unit)):
        return None
    units = registry()
    try:
        return units.parse_units(unit)
    except Exception:
        return None
