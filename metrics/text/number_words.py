"""Numbers in words, by the token: English words in full, small numbers of other languages, Roman and Chinese ones."""

import re
import unicodedata
from collections.abc import Sequence
from fractions import Fraction

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
SCALES = {
    "hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9, "trillion": 10**12, "lakh": 10**5,
    "crore": 10**7,
}  # fmt: skip
GROUPS = {"dozen": 12, "score": 20}  # which a number multiplies: two dozen
PARTS = {"half": 2, "quarter": 4} | {word: value for word, value in ORDINALS.items() if 3 <= value <= 20}
# words that state a number but demand none: in a claim they may mean something else
NAMED = {
    word: value
    for value, words in {
        0: "no none nil nobody nothing without never",
        1: "once single",
        2: "both couple pair twice double doubled doubles duo duet twin twins",
        3: "thrice triple tripled triples trio triplets treble",
        4: "quadruple quadrupled quartet quadruplets",
        5: "quintuple quintet",
        12: "noon midday",
    }.items()
    for word in words.split()
}
OTHER_LANGUAGES = """
    zwei drei vier fünf sechs sieben acht neun zehn elf zwölf
    deux trois quatre cinq six sept huit neuf dix onze douze
    dos tres cuatro cinco seis siete ocho nueve diez once doce
    due tre quattro cinque sei sette otto nove dieci undici dodici
    dois três quatro cinco seis sete oito nove dez onze doze
    twee drie vier vijf zes zeven acht negen tien elf twaalf
    два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать
    dwa trzy cztery pięć sześć siedem osiem dziewięć dziesięć jedenaście dwanaście
"""  # 2 … 12 in German, French, Spanish, Italian, Portuguese, Dutch, Russian, Polish
NAMED |= {
    word: value
    for line in OTHER_LANGUAGES.strip().splitlines()
    for value, word in enumerate(line.split(), 2)
    if word not in SMALL and word not in NAMED
} | {
    "duas": 2,
    "две": 2,
    "dwie": 2,
    "zwanzig": 20,
    "dreißig": 30,
    "fünfzig": 50,
    "hundert": 100,
    "tausend": 1_000,
    "vingt": 20,
    "trente": 30,
    "cent": 100,
    "mille": 1_000,
    "veinte": 20,
    "treinta": 30,
    "cien": 100,
    "mil": 1_000,
    "venti": 20,
    "cento": 100,
    "vinte": 20,
    "twintig": 20,
    "honderd": 100,
}
ROMAN = re.compile(r"(?:XL|X{0,3})(?:IX|IV|V?I{0,3})")  # to 49; with further letters they are words: MIX, CD
ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50}
WORLD_WAR = re.compile(r"WW(I{1,3})")
SCALED = re.compile(
    r"(?i)(?:[\s\u00a0-]?(?P<long>hundred|thousand|million|billion|trillion|lakh|crore)s?(?!\w)"
    r"|\s?(?P<short>k|mn|mio|mrd|bn|tn|m|b|millionen|milliarden?|milliards?|millones|milioni|milhões)(?!\w)"
    r"|(?P<han>[百千万萬亿億]))"
)
SHORT = (
    {"k": 10**3, "tn": 10**12}
    | dict.fromkeys("m mn mio millionen millones milioni milhões".split(), 10**6)
    | dict.fromkeys("b bn mrd milliarde milliarden milliard milliards".split(), 10**9)
)
HAN_SCALES = {"十": 10, "百": 100, "千": 1_000, "万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
HAN = re.compile(r"[〇零一二两兩三四五六七八九十百千万萬亿億]{1,12}")


def in_words(words: Sequence[str]) -> tuple[int, int]:
    """Return the number that case-folded words begin with in English, and how many of them it takes; (0, 0): none.

    >>> in_words("three hundred and five men".split())
    (305, 4)
    """
    total = part = used = 0
    for place, word in enumerate(words):
        value = SMALL.get(word, ORDINALS.get(word))
        if value is not None and (not used or _joins(part, value) or (part == 0 and total)):
            part += value
        elif value is not None and 10 <= part <= 20 and value >= 10 and not total:  # nineteen eighty-four
            part = part * 100 + value
        elif word == "oh" and 10 <= part <= 20 and SMALL.get("".join(words[place + 1 : place + 2]), 10) < 10:
            part *= 100  # nineteen oh five
        elif word in SCALES and (word != "hundred" or part < 100):
            part = (part or 1) * SCALES[word]
            if SCALES[word] > 100:
                total, part = total + part, 0
        elif word == "and" and used and words[place - 1] in SCALES and words[place + 1 : place + 2] in _LAST:
            continue
        else:
            break
        used = place + 1
        if word in ORDINALS:
            break
    return total + part, used


_LAST = [[word] for word in SMALL | ORDINALS]  # what may follow "hundred and"


def _joins(before: int, value: int) -> bool:
    """Return whether a small number continues the one before it, as five does twenty or three hundred."""
    return (before % 100 >= 20 and before % 10 == 0 and value < 10) or (before >= 100 and before % 100 == 0)


def decade(word: str) -> int:
    """Return the tens of a decade in words: 80 of "eighties"; 0 for any other word."""
    return SMALL.get(word[:-3] + "y", 0) if word.endswith("ies") else 0


def number_of_word(word: str) -> int | None:
    """Return the number that a case-folded word says in passing: 2 of "both", 4 of "fourfold", 3 of "drei"."""
    return NAMED.get(word, SMALL.get(word.removesuffix("fold")) if word.endswith("fold") else None)


def roman(word: str) -> int:
    """Return the value of a Roman numeral up to 49, also that in WWII; 0 for any other word."""
    if war := WORLD_WAR.fullmatch(word):
        return len(war[1])
    if not word or not ROMAN.fullmatch(word):
        return 0
    values = [ROMAN_VALUES[letter] for letter in word]
    return sum(-own if own < after else own for own, after in zip(values, [*values[1:], 0], strict=True))


def chinese(written: str) -> int:
    """Return the value of Chinese numerals: 25 of "二十五"."""
    total = section = digit = 0
    for sign in written:
        scale = HAN_SCALES.get(sign)
        if scale is None:
            digit = digit * 10 + int(unicodedata.numeric(sign, 2))  # 两 has no value of its own
        elif scale < 10**4:
            section, digit = section + (digit or 1) * scale, 0
        else:
            total, section, digit = total + (section + digit or 1) * scale, 0, 0
    return total + section + digit


def part(word: str) -> Fraction | None:
    """Return the share that a case-folded word names: 1/2 of "half", 1/3 of "third" and "thirds"; else None."""
    whole = PARTS.get("half" if word == "halves" else word.removesuffix("s"))
    return Fraction(1, whole) if whole else None


def scale_after(text: str, place: int) -> tuple[int, int]:
    """Return the scale at a place of a text, as 10**6 for " million" and "m", and where it ends; (1, place): none."""
    found = SCALED.match(text, place)
    if not found:
        return 1, place
    word = (found["long"] or found["short"] or found["han"]).casefold()
    return SCALES.get(word) or SHORT.get(word) or chinese(word), found.end()
