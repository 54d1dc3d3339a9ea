"""Values in units of measure and currencies as texts write them, and whether one states another in a different unit."""

import math
import re
from fractions import Fraction
from functools import cache
from typing import NamedTuple

CONVERTED = Fraction(1, 40)  # a value in another unit may be rounded by this share of it
DEGREE = Fraction(3, 5)  # and a temperature by so many degrees Celsius


class Unit(NamedTuple):
    """A unit: `value · factor + offset` in the base unit of its kind; kinds of one family are never equal.

    The family is the first word of the kind: "money dollar" and "money euro" cannot be converted into each other.
    """

    kind: str
    factor: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)

    @property
    def family(self) -> str:
        """The first word of the kind."""
        return self.kind.partition(" ")[0]


BARE = Unit("")
SHARE = Unit("share")  # of a whole, 0 … 1
SECONDS = Unit("duration")


class Reading(NamedTuple):
    """A value from `low` to `high` in a unit; `bare`: the number as written, where that is another (3 of 3 pm)."""

    low: Fraction | float
    high: Fraction | float
    unit: Unit = BARE
    bare: Fraction | float | None = None

    def states(self, wanted: "Reading") -> bool:
        """Return whether this states what is wanted: it lies within it, in any unit of the kind or without a unit."""
        if self.unit.family != wanted.unit.family:
            if self.bare is None and wanted.bare is None:
                return wanted.low <= self.low and self.high <= wanted.high
            return (self.low if self.bare is None else self.bare) == (
                wanted.low if wanted.bare is None else wanted.bare
            )
        if self.unit == wanted.unit:
            return wanted.low <= self.low and self.high <= wanted.high
        if self.unit.kind != wanted.unit.kind:
            return False
        low, high = self._in_base()
        least, most = wanted._in_base()
        rounded = CONVERTED * abs(float(high)) if math.isfinite(high) else 0
        slack = max(rounded, DEGREE) if self.unit.kind == "temperature" else rounded
        return least - slack <= low and high <= most + slack

    def _in_base(self) -> tuple[Fraction | float, Fraction | float]:
        factor, offset = self.unit.factor, self.unit.offset
        return self.low * factor + offset, self.high * factor + offset


# kind: factor names, …
TABLE = """
    share: 1/100 % percent per\\scent pct prozent; 1/1000 ‰; 1/10000 basis\\spoints? bps?
    length: 1/1000 mm millimet(?:er|re)s?; 1/100 cm centimet(?:er|re)s?; 1 m met(?:er|re)s?; 1000 km kilomet(?:er|re)s?
        kms; 127/5000 inch(?:es)? ″; 381/1250 ft foot feet ′; 1143/1250 yds? yards?; 201168/125 miles? mi
    area: 1 m² m2 sqm sq\\.?\\sm square\\smet(?:er|re)s?; 1000000 km² km2 sq\\.?\\skm square\\skilomet(?:er|re)s?
        ; 10000 ha hectares?; 40468564/10000 acres?; 2589988 square\\smiles? sq\\.?\\smi
        ; 929/10000 sq\\.?\\sft square\\sf(?:oo|ee)t ft²
    volume: 1/1000 ml millilit(?:er|re)s?; 1/100 cl; 1 l lit(?:er|re)s?; 3785/1000 gallons? gal; 473/1000 pints?
    mass: 1/1000000 mg milligrams?; 1/1000 g grams? grammes?; 1 kg kilos? kilograms?; 1000 t tonnes? tons?
        ; 45359/100000 lbs? pounds?; 2835/100000 oz ounces?; 635/100 stones?
    speed: 1 km/h kmh kph kilomet(?:er|re)s\\s(?:per|an)\\shour; 1609/1000 mph miles\\s(?:per|an)\\shour; 18/5 m/s
    data: 1/1000 kb kilobytes?; 1 mb megabytes?; 1000 gb gigabytes?; 1000000 tb terabytes?
    power: 1/1000 kw kilowatts?; 1 mw megawatts?; 1000 gw gigawatts?
    duration: 1/1000 ms milliseconds?; 1 s secs? seconds?; 60 min mins minutes?; 3600 h hrs? hours?; 86400 days?
        ; 604800 weeks?; 1209600 fortnights?; 2629746 months?; 31556952 years? yrs?; 315569520 decades?
        ; 3155695200 century centuries
    money dollar: 1 \\$ US\\$ USD dollars? bucks?; 1/100 cents? ¢
    money euro: 1 € EUR euros?; 1/100 cents?
    money pound: 1 £ GBP pounds? quid; 1/100 pence p penny
    money yen: 1 ¥ JPY yen
    money rupee: 1 ₹ INR Rs\\.? rupees?
    money yuan: 1 ¥ CNY RMB yuan
    money franc: 1 CHF francs?
"""
DEGREES = {
    "celsius": Unit("temperature"),
    "fahrenheit": Unit("temperature", Fraction(5, 9), Fraction(-160, 9)),
}
DEGREE_NAME = re.compile(
    r"[\s-]?(?:(?:°\s?|degrees?\s|º)(?P<name>c|f|celsius|fahrenheit)\b|(?P<sign>[℃℉]))", re.IGNORECASE
)
SINGLE = re.compile(r"[\s-]?(?P<letter>[CF])\b")  # 20C


def _read_table() -> list[tuple[str, Unit]]:
    """Return the patterns of names with their units, as the table lists them."""
    found = []
    for line in re.sub(r"\n\s*;", ";", TABLE.strip()).replace("\n        ", " ").splitlines():
        kind, _, groups = line.strip().partition(": ")
        for group in groups.split(";"):
            factor, *names = group.split()
            found += [(name, Unit(kind, Fraction(factor))) for name in names]
    return found


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], list[tuple[re.Pattern[str], Unit]]]:
    """Return what finds a unit after a number and a currency before one, and the pattern of each unit."""
    units = _read_table()
    names = "|".join(sorted((name for name, _ in units), key=len, reverse=True))
    coins = "|".join(sorted((name for name, unit in units if unit.family == "money"), key=len, reverse=True))
    after = re.compile(rf"[\s\u00a0-]?(?P<unit>{names})(?!\w)", re.IGNORECASE)
    before = re.compile(rf"(?<!\w)(?P<unit>{coins})\s?\Z", re.IGNORECASE)
    return after, before, [(re.compile(name, re.IGNORECASE), unit) for name, unit in units]


@cache
def _units_named(name: str) -> tuple[Unit, ...]:
    return tuple(unit for pattern, unit in _patterns()[2] if pattern.fullmatch(name))


def units_after(text: str, place: int) -> tuple[tuple[Unit, ...], int]:
    """Return the units that the words at `place` may mean, and where they end; none: () and `place`."""
    if found := DEGREE_NAME.match(text, place):
        name = (found["name"] or found["sign"]).casefold()
        return (DEGREES["celsius" if name[0] in "c℃" else "fahrenheit"],), found.end()
    if found := SINGLE.match(text, place):
        return (DEGREES["celsius" if found["letter"] == "C" else "fahrenheit"],), found.end()
    found = _patterns()[0].match(text, place)
    return (_units_named(found["unit"]), found.end()) if found else ((), place)


def currencies_before(text: str, place: int) -> tuple[Unit, ...]:
    """Return the currencies whose sign or code ends at `place`."""
    found = _patterns()[1].search(text, max(0, place - 5), place)
    return tuple(unit for unit in _units_named(found["unit"]) if unit.factor == 1) if found else ()
