"""Values in units of measure and currencies as texts write them, and whether one states another in a different unit.

How large a unit is, pint says.
"""

import math
import re
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

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


# kind (base unit): a unit as pint reads it, its names in texts; …   money: kind: value, names; …
TABLE = """
    share (1): percent % percent per\\scent pct prozent; permille ‰; percent/100 basis\\spoints? bps?
    length (m): mm mm millimet(?:er|re)s?; cm cm centimet(?:er|re)s?; m m met(?:er|re)s?; km km kilomet(?:er|re)s? kms
        ; inch inch(?:es)? ″; foot ft foot feet ′; yard yds? yards?; mile miles? mi
    area (m²): m² m² m2 sqm sq\\.?\\sm square\\smet(?:er|re)s?; km² km² km2 sq\\.?\\skm square\\skilomet(?:er|re)s?
        ; hectare ha hectares?; acre acres?; mile² square\\smiles? sq\\.?\\smi
        ; foot² sq\\.?\\sft square\\sf(?:oo|ee)t ft²
    volume (l): ml ml millilit(?:er|re)s?; cl cl; l l lit(?:er|re)s?; gallon gallons? gal; pint pints?
    mass (kg): mg mg milligrams?; g g grams? grammes?; kg kg kilos? kilograms?; tonne t tonnes? tons?
        ; pound lbs? pounds?; ounce oz ounces?; stone stones?
    speed (km/h): km/h km/h kmh kph kilomet(?:er|re)s\\s(?:per|an)\\shour; mile/h mph miles\\s(?:per|an)\\shour; m/s m/s
    data (MB): kB kb kilobytes?; MB mb megabytes?; GB gb gigabytes?; TB tb terabytes?
    power (MW): kW kw kilowatts?; MW mw megawatts?; GW gw gigawatts?
    duration (s): ms ms milliseconds?; s s secs? seconds?; min min mins minutes?; h h hrs? hours?; day days?
        ; week weeks?; fortnight fortnights?; month months?; year years? yrs?; 10*year decades?
        ; 100*year century centuries
    money dollar: 1 \\$ US\\$ USD dollars? bucks?; 1/100 cents? ¢
    money euro: 1 € EUR euros?; 1/100 cents?
    money pound: 1 £ GBP pounds? quid; 1/100 pence p penny
    money yen: 1 ¥ JPY yen
    money rupee: 1 ₹ INR Rs\\.? rupees?
    money yuan: 1 ¥ CNY RMB yuan
    money franc: 1 CHF francs?
"""
DEGREES = {"celsius": Unit("temperature"), "fahrenheit": Unit("temperature", Fraction(5, 9), Fraction(-160, 9))}
DEGREE_NAME = re.compile(r"[\s-]?(?:(?:°\s?|degrees?\s|º)(?P<name>c|f|celsius|fahrenheit)\b|(?P<sign>[℃℉]))", re.I)
SINGLE = re.compile(r"[\s-]?(?P<letter>[CF])\b")  # 20C


def _read_table() -> list[tuple[str, Unit]]:
    """Return the patterns of names with their units, as the table lists them."""
    found = []
    for line in re.sub(r"\n\s*;", ";", TABLE.strip()).replace("\n        ", " ").splitlines():
        head, _, groups = line.strip().partition(": ")
        kind, _, base = head.rstrip(")").partition(" (")
        for group in groups.split(";"):
            one, *names = group.split()
            factor = Fraction(registry().Quantity(one).to(base).magnitude) if base else Fraction(one)
            found += [(name, Unit(kind, factor)) for name in names]
    return found


@cache
def registry() -> Any:
    """Return pint's units, in exact fractions."""
    import pint  # on use: a third of a second

    return pint.UnitRegistry(non_int_type=Fraction)


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
