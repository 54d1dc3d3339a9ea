"""Which numbers of a claim a text does not state, however the two write them."""

import math
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from metrics.core.unicode_forms import normalized
from metrics.text import dates
from metrics.text.dates import CLOCK, MONTHS, exactly
from metrics.text.measures import BARE, SHARE, Reading, Unit, currencies_before, units_after
from metrics.text.number_words import (
    GROUPS,
    HAN,
    ORDINALS,
    SCALES,
    chinese,
    decade,
    in_words,
    number_of_word,
    part,
    roman,
    scale_after,
)

# digits with separators of thousands or decimals between them: 1,200 · 1.200,5 · 3.20 · 1 200
NUMBER = r"\d+(?:[.,\u00a0\u202f]\d+|['’]\d{3}(?!\d))*"
GROUPED = re.compile(r"\d{1,3}(?:([.,\u00a0\u202f'’])\d{3})(?:\1\d{3})*")
SPACED = re.compile(r"(?<![\d.,+)] )(?<![\d.,+])\d{1,3}(?: \d{3}){1,4}(?![.,]?\d| \d)")  # 1 200 000
TOKEN = re.compile(
    r"(?P<date>(?<![\d.])\d{1,4}([./-])\d{1,2}\2(?:\d{4}|\d{1,2})(?![\d.]*\d)|\d{4}[年년]\s?\d{1,2}[月월]\s?\d{1,2}[日일])"
    r"|(?P<clock>(?<![\d:])\d{1,2}[:h]\d{2}(?![\d:]))"
    r"|(?P<decade>['’‘]?\d{1,3}0['’]?s\b)"
    r"|(?P<ratio>(?<![\d/])\d{1,2}[/⁄]\d{1,2}(?![\d/]))"
    rf"|(?P<number>{NUMBER})|(?P<vulgar>[¼½¾⅐-⅞])|(?P<han>{HAN.pattern})|(?P<word>(?:(?!{HAN.pattern})[^\W\d_])+)"
)
AND_PART = re.compile(r"[\s-]+and[\s-]+(?P<count>an?|one|three)[\s-]+(?P<part>half|quarters?)(?!\w)", re.IGNORECASE)
OF_PART = re.compile(r"[\s-]+(?:of[\s-]+)?(?:an?[\s-]+)?", re.IGNORECASE)
OF_WHOLE = re.compile(r"\s+(?:of|the|an?|all|its|their|his|her|our)\b", re.IGNORECASE)
OF_MONTH = re.compile(r"\.?[\s-]+(?:of\s+)?(?P<name>[^\W\d_]+)")
DAY = re.compile(r"\.?\s(?:the\s)?(?P<day>\d{1,2})(?:st|nd|rd|th)?(?![\d.:]|,\d)")
YEAR = re.compile(r"[\s,]+(?:of\s)?\d{4}")
TOLD = re.compile(r"\s(?:minutes\s)?(?P<way>past|after|to|before|till)\s", re.IGNORECASE)
OUT_OF = re.compile(r"\s(?:out\s)?(?:in|of)\s(?:every\s)?", re.IGNORECASE)
BETWEEN = re.compile(r"[\s,]*(?:and\s)?")
PHONE = re.compile(r"(?<![\w.,-])\+?\(?\d[\d ()./-]{5,24}\d(?![.,]?\d|-)")
BOUND = re.compile(
    r"(?i)\b(?:(?P<beyond>(?<!no )(?<!not )(?:more|greater|longer|older|higher|larger|heavier|further) than"
    r"|no (?:fewer|less) than|over|above|at least|exceed\w*|upwards? of|beyond|minimum of)"
    r"|(?P<within>(?<!no )(?:fewer|less|lower|shorter|younger|smaller|lighter) than|(?:no|not) more than|under|below"
    r"|at most|up to|maximum of|within)"
    r"|(?P<about>about|around|approximately|roughly|some|circa|ca\.?|almost|nearly|close to))\s+\W{0,2}\Z"
    r"|(?P<sign>~)\s?\Z"
)
MINUS = re.compile(r"(?:\b(?:minus|negative)\s|(?<!\d\s)(?<![\w)])[-−–])\Z", re.IGNORECASE)
FOOT = Fraction(381, 1250)  # metres
FEET = ("'", "’", "′")
ROUGHLY = Fraction(1, 20)  # of "about 50"
LOOK_BACK, LONGEST = 24, 12  # characters before a number; words of one
MOST_DIGITS, PHONE_DIGITS = 40, 7
NUMBERED = frozenset("type chapter part phase stage grade class level volume act section war".split())
IN_TIME = frozenset("a per one split each every any".split())  # before "second": a moment


@dataclass(frozen=True, slots=True)
class Mention:
    """A number at `start` to `end` of a text, and what it may mean; not `certain`: it may count nothing."""

    start: int
    end: int
    readings: tuple[Reading, ...]
    certain: bool = True

    def also(self, readings: tuple[Reading, ...]) -> "Mention":
        """Return the mention with further readings."""
        return replace(self, readings=(*self.readings, *readings)) if readings else self

    def states(self, wanted: "Mention") -> bool:
        """Return whether a reading states one of what is wanted; where units of one family are given, only by them."""
        pairs = [(own, other) for own in self.readings for other in wanted.readings]
        if all(own.unit.kind and other.unit.kind for own, other in pairs):
            pairs = [(own, other) for own, other in pairs if own.unit.family == other.unit.family] or pairs
        return any(own.states(other) for own, other in pairs)


def unstated(claim: str, text: str) -> list[str]:
    """Return the numbers of a claim, as it writes them, that a text does not state.

    Equal are "4 million" and "4,000,000", "1st" and "first", "12" and "a dozen", "II" and "2", "50 %" and "half",
    "1/2/2003" and "1 February 2003", "3 pm" and "15:00", "10 miles" and "16 km", "90 minutes" and "an hour and a half".
    What the claim says less exactly is stated too: "the 1980s" by "1984", "more than 50" by "53". Where a number may
    mean several things, one of them is enough; words that may count nothing ("first", "a couple", "hundreds") demand
    nothing: a number wrongly called missing is worse than one that is overlooked. Number words are English; in the text
    those of eight further languages up to twelve and Chinese numerals are understood as well.
    """
    claim = _joined_groups(claim)
    offered = _offered(text)
    certain = (own for own in _mentions(claim) if own.certain)
    unsaid = (own for own in certain if not any(there.states(own) for there in offered))
    missing = (claim[own.start : own.end].strip() for own in unsaid)
    return list(dict.fromkeys(missing))


def _joined_groups(text: str) -> str:
    """Return the text in composed characters (NFC), with 1 200 000 in one piece."""
    return SPACED.sub(lambda found: found[0].replace(" ", ""), normalized("NFC", text))


@lru_cache(maxsize=64)
def _offered(text: str) -> tuple[Mention, ...]:
    """Return the numbers of a text, each once; 100 200 may be one number or two."""
    forms = dict.fromkeys((_joined_groups(text), normalized("NFC", text)))
    return tuple({mention.readings: mention for form in forms for mention in _mentions(form)}.values())


def _mentions(text: str) -> list[Mention]:
    """Return the numbers of a text in order, with what they mean alone and together with their neighbours."""
    tokens = list(TOKEN.finditer(text))
    found: list[Mention] = []
    place = 0
    while place < len(tokens):
        own = [_bounded(text, mention) for mention in _read(text, tokens, place)]
        found += own
        end = max((mention.end for mention in own), default=tokens[place].end())
        while place < len(tokens) and tokens[place].start() < end:
            place += 1
    for place in range(1, len(found)):
        together = _together(text, found[place - 1], found[place])
        found[place - 1], found[place] = found[place - 1].also(together), found[place].also(together)
    return _in_one_number(text, found)


def _read(text: str, tokens: list[re.Match[str]], place: int) -> Iterator[Mention]:
    token = tokens[place]
    start, end = token.span()
    match token.lastgroup:
        case "date":
            for readings, certain in dates.in_digits(token[0]):
                yield Mention(start, end, readings, certain)
        case "clock":
            hour, minute = (int(number) for number in re.split(r"\D", token[0]))
            own = dates.time_of_day(hour + Fraction(minute, 60), text[end : end + LOOK_BACK])
            yield Mention(start, end, (*own, *dates.span(token[0])))
            yield from (Mention(start, end, exactly(number), certain=False) for number in (hour, minute))
        case "decade":
            yield Mention(start, end, dates.years(int(re.sub(r"\D", "", token[0]))))
        case "ratio":
            one, other = (int(number) for number in re.split(r"\D", token[0]))
            days = (*dates.day_of_month(one, other), *dates.day_of_month(other, one))
            both = (*_share(one, other), *(day._replace(bare=dates.NO_NUMBER) for day in days))
            yield from (Mention(start, end, (*exactly(number), *both)) for number in (one, other))
            yield from (Mention(start, end, dates.month_of_year(number), certain=False) for number in (one, other))
        case "han":
            yield Mention(start, end, exactly(chinese(token[0])), certain=False)
        case "vulgar":
            yield _measured(text, start, end, _fraction(token[0]), SHARE)
        case "number":
            yield from _counted(text, tokens, place, _value(token[0]), 1)
        case _:
            yield from _worded(text, tokens, place)


def _worded(text: str, tokens: list[re.Match[str]], place: int) -> Iterator[Mention]:
    token = tokens[place]
    start, end = token.span()
    words = [one[0].casefold() for one in tokens[place : place + LONGEST]]
    before = tokens[place - 1][0] if place else ""
    value, used = in_words(words)
    word, singular = words[0], words[0].removesuffix("s")
    if word == "second" and before.casefold() in IN_TIME:
        yield Mention(start, end, exactly(2), certain=False)
    elif used:
        yield from _counted(text, tokens, place, Fraction(value), used)
    elif word in ("a", "an") and len(words) > 1 and (share := part(words[1])):
        yield _named_part(text, start, tokens[place + 1].end(), share, before)
    elif word in ("a", "an") and words[1:2] and words[1] not in ORDINALS:
        value, used = in_words(words[1:])  # a hundred and one
        if used > 1 or words[1] == "dozen" or scale_after(text, end)[0] > 1 or units_after(text, end)[0]:
            yield from _counted(text, tokens, place, Fraction(value if used > 1 else 1), 1 + used * (used > 1))
    elif word in ("half", "quarter") and (share := part(word)):
        found = _named_part(text, start, end, share, before)
        yield replace(found, certain=found.certain and word == "half")
    elif tens := decade(word):
        yield Mention(start, end, dates.years(tens))
    elif month := MONTHS.get(word):
        yield from _month(text, tokens, place, month)
    elif value := roman(token[0]):
        placed = (before[:1].isupper() and before.casefold() != "size") or before.casefold() in NUMBERED
        yield from _placed(text, start, end, value, value > 1 and (placed or token[0].startswith("WW")))
    elif singular in GROUPS:
        yield Mention(start, end, exactly(GROUPS[singular]), certain=False)
    elif word in ("noon", "midday", "midnight"):
        hours = (12,) if word != "midnight" else (0, 24)
        yield Mention(start, end, tuple(reading for hour in hours for reading in exactly(hour, CLOCK)))
    elif (passing := number_of_word(word)) is not None:
        yield Mention(start, end, exactly(passing), certain=False)


def _counted(text: str, tokens: list[re.Match[str]], place: int, value: Fraction, used: int) -> Iterator[Mention]:
    """Yield a number of `used` tokens with what follows it: an ordinal's end, a month, a part, a decade, a unit."""
    start, end = tokens[place].start(), tokens[place + used - 1].end()
    word = tokens[place + used - 1][0].casefold()
    later = tokens[place + used] if place + used < len(tokens) else None
    if later and later.start() == end and later[0] in ("st", "nd", "rd", "th"):
        word, end = "th", later.end()
        later = tokens[place + used + 1] if place + used + 1 < len(tokens) else None
    after = later[0].casefold() if later and not text[end : later.start()].strip("- ") else ""
    whole = int(value)
    month = OF_MONTH.match(text, end)
    if month and (number := MONTHS.get(month["name"].casefold())) and dates.day_of_month(whole, number):
        yield Mention(start, month.end(), dates.day_of_month(whole, number))
        yield Mention(start, month.end(), dates.month_of_year(number), certain=False)
    elif word == "th" or word in ORDINALS:
        named_so = text[end : end + 1] == "-" and text[end + 1 : end + 2].isalpha()  # second-hand
        yield from _placed(text, start, end, whole, word == "th" or (whole > 1 and not named_so))
    elif later and (share := part(after)) and not text[end : later.start()].isalpha():
        yield _measured(text, start, later.end(), value * share, SHARE)
    elif later and (tens := decade(after)):
        yield Mention(start, later.end(), dates.years(100 * whole + tens))
    elif later and after == "hundreds":
        yield Mention(start, later.end(), dates.years(100 * whole))
    elif later and after.removesuffix("s") in GROUPS:
        yield _measured(text, start, later.end(), value * GROUPS[after.removesuffix("s")])
    elif later and after and later.lastgroup in ("vulgar", "ratio") and (extra := _fraction(after)) < 1 <= value:
        yield _measured(text, start, later.end(), value + extra)
    else:
        vague = value == 1 and tokens[place].lastgroup == "word"
        yield _measured(text, start, end, value, vague=vague)


def _measured(text: str, start: int, end: int, value: Fraction, unit: Unit = BARE, vague: bool = False) -> Mention:
    """Return a value with what follows it: a scale, "and a half", a unit; `unit` is its own where nothing does."""
    written = text[start:end]
    gap = OF_PART.match(text, end) if unit.kind else None  # three quarters of a million
    if gap and (scale_after(text, gap.end())[0] > 1 or units_after(text, gap.end())[0]):
        unit, end = BARE, gap.end()
    extra, end = _and_part(text, end)
    extra *= SCALES.get(re.split(r"[\s-]", written.casefold())[-1], 1)  # a million and a half
    coins = currencies_before(text, start)
    scale, place = scale_after(text, end)
    values = [(value + extra) * scale]
    if scale != 1 and place - end < 3 and not coins:
        values.append(value + extra)  # 5 m, 10k: perhaps of length
    else:
        end = place
    units, after = units_after(text, end)
    end = max(after, place)
    more, end = _and_part(text, end)
    values = [one + more * scale for one in values]
    negative = -1 if MINUS.search(text, max(0, start - 10), start) else 1
    readings = []
    for one in values:
        for name in (*coins, *units):
            signed = one * (negative if name.family == "temperature" else 1)
            readings.append(Reading(signed, signed, name, one if signed != one else None))
    if not readings or len(values) > 1:
        readings += [reading for one in values for reading in exactly(one, unit)]
        readings += exactly(value, SHARE) if 0 < value < 1 else ()
    if len(written) == 2 and text[start - 1 : start] in ("'", "’", "‘"):  # '98
        readings += dates.year_of(int(value))
    if dates.MERIDIEM.match(text, end) and value <= 24:
        parted = re.fullmatch(r"(\d{1,2})\.(\d{2})", written)  # 3.30 pm
        hours = int(parted[1]) + Fraction(int(parted[2]), 60) if parted else value
        readings = list(dates.time_of_day(hours, text[end : end + LOOK_BACK]))
    elif value <= 2400 and re.fullmatch(r"\d{4}", written) and any(unit.factor == 3600 for unit in units):
        readings += dates.time_of_day(value // 100 + value % 100 / 60, "")
    return Mention(start, end, tuple(readings), certain=not vague or bool(extra or more) or scale > 1)


def _and_part(text: str, place: int) -> tuple[Fraction, int]:
    """Return the value of "and a half" at a place, and where it ends."""
    found = AND_PART.match(text, place)
    if not found:
        return Fraction(0), place
    share = Fraction(1, 2) if found["part"].casefold() == "half" else Fraction(1, 4)
    return share * (3 if found["count"].casefold() == "three" else 1), found.end()


def _named_part(text: str, start: int, end: int, share: Fraction, before: str) -> Mention:
    """Return a half, a third, a quarter: certain where it is said of what; a third may be a place in an order."""
    found = _measured(text, start, end, share, SHARE)
    if any(reading.unit != SHARE for reading in found.readings):
        return found
    ordered = before.casefold() in ORDINALS or before.casefold() in ("last", "latter", "other", "nd", "rd", "st", "th")
    place = exactly(int(1 / share)) if share < Fraction(1, 2) else ()
    return replace(found.also(place), certain=bool(OF_WHOLE.match(text, end)) and not ordered)


def _placed(text: str, start: int, end: int, value: int, certain: bool) -> Iterator[Mention]:
    """Yield a place in an order: that of a king, a chapter or a century."""
    if years := dates.CENTURY.match(text, end):
        yield Mention(start, years.end(), dates.century(value))
    else:
        yield Mention(start, end, exactly(value), certain)


def _month(text: str, tokens: list[re.Match[str]], place: int, month: int) -> Iterator[Mention]:
    """Yield a month with the day after it; alone it is certain before a year."""
    start, end = tokens[place].span()
    day = DAY.match(text, end)
    following = [one[0].casefold() for one in tokens[place + 1 : place + 4]]
    spelled, used = in_words(following) if text[end : end + 1] == " " else (0, 0)
    if day and (own := dates.day_of_month(int(day["day"]), month)):
        yield Mention(start, day.end(), own)
    elif used and (own := dates.day_of_month(spelled, month)):
        yield Mention(start, tokens[place + used].end(), own)
    yield Mention(start, end, dates.month_of_year(month), certain=bool(YEAR.match(text, end)))


def _together(text: str, one: Mention, other: Mention) -> tuple[Reading, ...]:
    """Return what two neighbouring numbers mean together: a sum of units, a time, a share, the end of a span."""
    if other.start < one.end or other.start - one.end > LOOK_BACK:
        return ()
    between = text[one.end : other.start]
    pairs = [(first, second) for first in one.readings for second in other.readings]
    if BETWEEN.fullmatch(between):  # 1 h 30 min, 5 ft 11
        return tuple(
            Reading(total, total, Unit(first.unit.kind), dates.NO_NUMBER)
            for first, second in pairs
            if first.unit.kind and first.low == first.high and not first.unit.offset
            for small in [_smaller(first.unit, second.unit)]
            if small
            for total in [first.low * first.unit.factor + second.low * small]
        )
    low = {reading.low for reading in one.readings}
    if between in FEET:
        inches = {12 * tall + rest for tall in low for rest in (reading.low for reading in other.readings)}
        return tuple(reading for length in inches for reading in exactly(length, Unit("length", FOOT / 12)))
    hours = [reading.bare or reading.low for reading in other.readings if reading.unit.kind in ("", CLOCK.kind)]
    if (way := TOLD.fullmatch(between)) and hours and 1 <= hours[0] <= 12:
        minutes = {60 * value if value < 1 else value for value in low if 0 < value < 60}
        sign = 1 if way["way"].casefold() in ("past", "after") else -1
        return tuple(dial for value in minutes for dial in dates.dial_readings(int(hours[0]), sign * Fraction(value)))
    if OUT_OF.fullmatch(between):
        return tuple(share for first, second in pairs for share in _share(first.low, second.low))
    years, ending = text[one.start : one.end], text[other.start : other.end]
    if between in ("-", "–", "—", "/") and re.fullmatch(r"\d{4}", years) and re.fullmatch(r"\d{2}", ending):
        return exactly(int(years) // 100 * 100 + int(ending))
    return ()


def _smaller(large: Unit, small: Unit) -> Fraction | None:
    """Return the factor of a unit that continues a larger one: minutes after hours, nothing or "in" after feet."""
    if small.kind == large.kind:
        return small.factor if small.factor < large.factor else None
    return FOOT / 12 if large == Unit("length", FOOT) and not small.kind else None


def _in_one_number(text: str, found: list[Mention]) -> list[Mention]:
    """Return the mentions; those within a telephone number may also be parts of it."""
    wholes: dict[int, tuple[Reading, ...]] = {}
    for phone in PHONE.finditer(text):
        groups = list(re.finditer(r"\d+", phone[0]))
        if len(groups) > 1 and sum(len(group[0]) for group in groups) >= PHONE_DIGITS:
            ends = [re.sub(r"\D", "", phone[0][group.start() :]) for group in groups[:-1]]
            whole = tuple(reading for digits in ends for reading in exactly(int(digits)))
            wholes |= {phone.start() + group.start(): whole for group in groups}
    return [mention.also(wholes.get(mention.start, ())) for mention in found]


def _bounded(text: str, mention: Mention) -> Mention:
    """Return the mention with the span that "more than", "under" or "about" before it gives."""
    found = BOUND.search(text[max(0, mention.start - LOOK_BACK) : mention.start])
    if not found and not text.startswith("+", mention.end):
        return mention
    lower: Fraction | float = Fraction(1)
    upper: Fraction | float = math.inf
    if found and found["within"]:
        lower, upper = -math.inf, Fraction(1)
    elif found and not found["beyond"]:
        lower, upper = 1 - ROUGHLY, 1 + ROUGHLY
    return mention.also(tuple(
        Reading(one.low * lower, one.high * upper, one.unit)
        for one in mention.readings
        if one.bare is None and one.low > 0
    ))  # fmt: skip


def _share(one: Fraction | float, other: Fraction | float) -> tuple[Reading, ...]:
    """Return the share that some of many are."""
    return exactly(Fraction(one) / Fraction(other), SHARE) if 0 < one < other < math.inf else ()


def _fraction(written: str) -> Fraction:
    """Return the value of ½ and of 1/2; 1 for 1/0."""
    if len(written) == 1:
        return Fraction(unicodedata.numeric(written)).limit_denominator(10)
    one, other = (int(number) for number in re.split(r"\D", written))
    return Fraction(one, other or one or 1)


def _value(written: str) -> Fraction:
    """Return the value of digits: 1,200 is 1200, and 3,20 is 3.2."""
    written = "".join(str(int(sign)) if sign.isdigit() else sign for sign in written[:MOST_DIGITS])
    if not GROUPED.fullmatch(written) and (last := re.search(r"\D(?=\d+$)", written)):
        return Fraction(re.sub(r"\D", "", written[: last.start()]) + "." + written[last.end() :])
    return Fraction(re.sub(r"\D", "", written))
