"""How numbers are written for people, in every room: three significant digits at most, a true minus, no exponent."""

from collections.abc import Callable
from math import floor, log10

MISSING = "–"
MINUS = "\u2212"
SCALES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1, ""))
MIN_SHOWN = 0.0005  # what is closer to 0 would round to it


def number(value: float | None) -> str:
    """Return at most three significant digits: 0.842, 1.00, 12.3, 123, 4.57k, −0.500; MISSING for None and NaN.

    A number that is not 0 but rounds to it is <0.001 or >−0.001.
    """
    if value is None or value != value:
        return MISSING
    sign, size = MINUS if value < 0 else "", abs(value)
    if size == float("inf"):
        return f"{sign}∞"
    if 0 < size < MIN_SHOWN:
        return f"{'>' if sign else '<'}{sign}0.001"
    scale, suffix = next((scale, suffix) for scale, suffix in SCALES if size >= 0.9995 * scale or scale == 1)
    size /= scale
    decimals = 2 if size == 0 else 3 if size < 0.9995 else 2 if size < 9.995 else 1 if size < 99.95 else 0
    return f"{sign}{size:.{decimals}f}{suffix}"


def interval(low: float | None, high: float | None, written: Callable[[float], str] = number) -> str:
    """Return a 95 % interval as `0.810–0.870`, its ends as `written` writes them; empty where there is none.

    Where both ends only have a bound, it is written once: `<0.001`. One that has no upper end is `≥ 0.810`, one without
    a lower end `≤ 0.870`.
    """
    low, high = (None if end != end else end for end in (low, high))
    if low is None or high is None:
        return f"≥ {written(low)}" if low is not None else f"≤ {written(high)}" if high is not None else ""
    if written(low) == written(high) and written(low)[0] in "<>":
        return written(low)
    dash = " – " if low < 0 or high < 0 else "–"
    return f"{written(low)}{dash}{written(high)}"


def amount(value: float) -> str:
    """Return an amount of dollars or seconds as `number` does; of a tiny one two digits that count: 0.000073."""
    size = abs(value)
    return number(value) if not size or size >= MIN_SHOWN else f"{value:.{1 - floor(log10(size))}f}".replace("-", MINUS)


def exact(value: float | None) -> str:
    """Return a number that a person chose, such as a threshold, as it was chosen: 0.5, −2; MISSING for None."""
    return MISSING if value is None else f"{value:g}".replace("-", MINUS)


def p_value(p: float | None) -> str:
    """Return a p value with three decimals: `0.012`, `<0.001`; MISSING for None and NaN."""
    if p is None or p != p:
        return MISSING
    return "<0.001" if p < MIN_SHOWN else f"{p:.3f}"


def p_words(p: float) -> str:
    """Return a p value as part of a sentence: `p = 0.012`, `p < 0.001`."""
    text = p_value(p)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"
