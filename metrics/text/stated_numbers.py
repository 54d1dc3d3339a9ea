"""The numbers that a text states, in digits or words, normalised so that equal numbers are equal."""

import re
import unicodedata
from fractions import Fraction

# digits with separators of thousands or decimals between them: 1,200 · 1.200,5 · 3.20 · 1 200
NUMBER = re.compile(r"\d+(?:[.,\u00a0\u202f'’]\d+)*")
GROUPED = re.compile(r"\d{1,3}(?:([.,\u00a0\u202f'’])\d{3})(?:\1\d{3})*")
TOKEN = re.compile(rf"{NUMBER.pattern}|[^\W\d_]+")
UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
).split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
SMALL = {word: value for value, word in enumerate(UNITS)} | {word: 10 * n for n, word in enumerate(TENS, 2)}
ORDINALS = (
    {f"{word}th": value for word, value in SMALL.items()}
    | {f"{word[:-1]}ieth": SMALL[word] for word in TENS}
    | {"first": 1, "second": 2, "third": 3, "fifth": 5, "eighth": 8, "ninth": 9, "twelfth": 12}
)
SCALES = {"hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
ABBREVIATED = SCALES | {"k": 1_000, "m": 10**6, "mn": 10**6, "mio": 10**6, "bn": 10**9, "tn": 10**12}
GROUPS = {"dozen": 12, "score": 20, "couple": 2, "pair": 2, "half": 50, "quarter": 25}  # the last two in percent
COUNTED = (12, 20)  # the groups that a number multiplies: two dozen
MONTH_NAMES = (
    "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sep sept|october oct|"
    "november nov|december dec"
)
MONTHS = {name: number for number, names in enumerate(MONTH_NAMES.split("|"), 1) for name in names.split()}
ROMAN = re.compile(r"(?:XL|X{0,3})(?:IX|IV|V?I{0,3})")  # to 49; with further letters they are words: MIX, CD
ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50}
WORLD_WAR = re.compile(r"WW(I{1,3})")
LONGEST = 12  # words of a number
VAGUE = frozenset({"1"})  # "one" and "first" often count nothing


def numbers(text: str) -> set[str]:
    """Return the numbers written in digits, without thousands separators and trailing zeros, with a decimal point.

    "1,200" and "1200" are one number, and so are "3.20", "3,2" and "3.2". "1,200" is 1200, never 1.2. Any script's
    digits count.
    """
    return {_plain(found[0]) for found in NUMBER.finditer(text)}


def unstated(claim: str, text: str) -> set[str]:
    """Return the numbers of a claim that a text does not state, in digits or in English words.

    Equal are "4 million" and "4,000,000", "1st" and "first", "12" and "a dozen", "II" and "2", "50 %" and "half",
    "1/2/2003" and "1 February 2003", "1980s" and "nineteen eighties". A one in words demands nothing.
    """
    written = numbers(claim)
    return {number for number in quantities(claim) - quantities(text) if number in written or number not in VAGUE}


def quantities(text: str) -> set[str]:
    """Return the numbers that a text states in digits, words, Roman numerals and names of months.

    Number words are English: "twenty-one", "three hundred and five", "1.5 billion", "nineteen eighty-four", "a dozen".
    Months count by their number beside a day or a year. Half and quarter are 50 and 25, as in percent.
    """
    tokens = TOKEN.findall(unicodedata.normalize("NFC", text).replace("½", " half"))
    found: set[str] = set()
    place = 0
    while place < len(tokens):
        value, used = _spelled([token.casefold() for token in tokens[place : place + LONGEST]])
        if used == 0:
            value, used = Fraction(_named(tokens, place)), 1
        if value or tokens[place].casefold() in ("0", "zero"):
            found.add(_decimal(value))
        place += used
    return found


def _spelled(words: list[str]) -> tuple[Fraction, int]:
    """Return the number that words begin with, in digits or letters, and how many of them it takes; 0: none."""
    if words[0][0].isdigit():
        scale = ABBREVIATED.get(words[1], 0) if len(words) > 1 else 0
        return Fraction(_plain(words[0])) * (scale or 1), 2 if scale else 1
    value, used = _in_words(words)
    after = words[used] if 0 < used < len(words) else ""
    if value in (18, 19, 20) and (decade := _decade(after)):
        return Fraction(value * 100 + decade), used + 1  # nineteen eighties
    if _group(after) in COUNTED:
        return Fraction(value * _group(after)), used + 1  # two dozen
    if used == 0 and (alone := _decade(words[0]) or _group(words[0])):
        return Fraction(alone), 1
    return Fraction(value), used


def _in_words(words: list[str]) -> tuple[int, int]:
    total = part = used = 0
    for place, word in enumerate(words):
        value = SMALL.get(word, ORDINALS.get(word))
        if value is not None and (not used or _joins(part, value) or (part == 0 and total)):
            part += value
        elif value is not None and 10 <= part <= 20 and value >= 10 and not total:  # nineteen eighty-four
            part = part * 100 + value
        elif word in SCALES:
            part = (part or 1) * SCALES[word]
            if SCALES[word] > 100:
                total, part = total + part, 0
        elif word == "and" and used and words[place - 1] in SCALES and words[place + 1 : place + 2] in _LAST:
            continue
        else:
            break
        used = place + 1
    return total + part, used


_LAST = [[word] for word in SMALL]  # what may follow "hundred and"


def _joins(before: int, value: int) -> bool:
    """Return whether a small number continues the one before it, as five does twenty or three hundred."""
    return (before % 100 >= 20 and before % 10 == 0 and value < 10) or (before >= 100 and before % 100 == 0)


def _group(word: str) -> int:
    return GROUPS.get(word.removesuffix("s"), 0)


def _decade(word: str) -> int:
    return SMALL.get(word[:-3] + "y", 0) if word.endswith("ies") else 0


def _named(tokens: list[str], place: int) -> int:
    """Return the number of a month beside a day or a year, or of a Roman numeral; 0 for any other word."""
    word = tokens[place]
    if month := MONTHS.get(word.casefold()):
        beside = tokens[max(0, place - 3) : place] + tokens[place + 1 : place + 2]
        dated = any(near[0].isdigit() or near.casefold() in SMALL | ORDINALS for near in beside)
        return month if dated else 0
    if war := WORLD_WAR.fullmatch(word):
        return len(war[1])
    if ROMAN.fullmatch(word) and (len(word) > 1 or (place and tokens[place - 1][0].isupper())):
        values = [ROMAN_VALUES[letter] for letter in word]
        return sum(-own if own < after else own for own, after in zip(values, [*values[1:], 0], strict=True))
    return 0


def _decimal(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else f"{float(value):f}".rstrip("0")


def _plain(written: str) -> str:
    written = "".join(str(int(sign)) if sign.isdigit() else sign for sign in written)
    if GROUPED.fullmatch(written):
        return re.sub(r"\D", "", written).lstrip("0") or "0"
    whole, mark, decimals = written, "", ""
    if last := re.search(r"\D(?=\d+$)", written):
        whole, mark, decimals = written[: last.start()], ".", written[last.end() :].rstrip("0")
    whole = re.sub(r"\D", "", whole).lstrip("0") or "0"
    return whole + mark + decimals if decimals else whole
