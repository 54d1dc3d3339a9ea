r"""Whether two answers are the same mathematics: numbers, expressions, sets, tuples, intervals, matrices in LaTeX.

Both are read once for each of SAMPLES assignments of numbers to their letters; they are the same where all their values
are. Rational values are exact (fractions), others are compared to 12 digits.
"""

import cmath
import logging
import math
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import NamedTuple

MAX_LENGTH = 400  # characters of an answer that is read
MAX_DEPTH, MAX_BITS, MAX_ITEMS = 40, 4_000, 60
SAMPLES = (3, 7, 11)
Number = Fraction | complex

CHARACTERS = str.maketrans({
    "−": "-", "–": "-", "×": "*", "·": "*", "⋅": "*", "÷": "/", "π": r"\pi ", "∞": r"\infty ", "√": r"\sqrt ",
    "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne ", "∪": r"\cup ", "∩": r"\cap ", "∈": r"\in ", "±": r"\pm ",
    "°": r"\degree ", "∅": r"\emptyset ", "²": "^2", "³": "^3", "$": "", "\u00a0": " ",
})  # fmt: skip
IGNORED = re.compile(
    r"\\(?:left|right|displaystyle|limits|quad|qquad|[bB]igg?[lr]?)(?![A-Za-z])|\\[!,;:> ]|\\[()\[\]]|~"
)
UNIT = re.compile(
    r"(?:\\(?:text|mathrm|textrm|mbox|operatorname)\s*\{(?P<text>[^{}]*)\}(?:\s*\^\s*\{?[23]\}?)?"
    r"|\^\s*\{?\s*\\circ\s*\}?|\\(?:degree|circ)|(?P<percent>\\?%)"
    r"|(?<=[\d} ])(?P<word>(?:cm|mm|km|m|kg|mg|g|s|ms|min|h|hours?|minutes?|seconds?|days?|years?|degrees?|meters?"
    r"|metres?|units?|inches|feet|miles?|dollars?|cents?|percent|mph|km/h)(?:\s*\^\s*\{?[23]\}?)?))\s*$"
)
ROW = "¦"  # for two backslashes, which end a row of a matrix
THOUSANDS_MARK = re.compile(r"\{,\}|(?<=,)\\!|\\(?=\$)")
THOUSANDS = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
TOKEN = re.compile(r"\d+\.?\d*|\.\d+|\\[A-Za-z]+|\\[{}|%]|[^\s]")
BRACKETED = re.compile(
    r"(?:\\left\s*)?\\?(?P<opening>[(\[{])(?:\\[A-Za-z]+|(?<![A-Za-z])[A-Za-z](?![A-Za-z])|[^A-Za-z()\[\]])*"
    r",(?:\\[A-Za-z]+|(?<![A-Za-z])[A-Za-z](?![A-Za-z])|[^A-Za-z()\[\]])*?(?:\\right\s*)?\\?(?P<closing>[)\]}])"
)
SIDE = re.compile(r"\s*(?:[A-Za-z]|\\[a-z]+|[a-z]\([a-z]\))\s*=(?!=)(?P<value>[^=]+)")  # x = …
RELATIONS = {
    "=": "=", "<": "<", ">": ">", r"\le": "≤", r"\leq": "≤", r"\ge": "≥", r"\geq": "≥", r"\ne": "≠", r"\neq": "≠",
    r"\in": "∈", r"\cup": "∪", r"\cap": "∩", r"\setminus": "∖", r"\to": "→", r"\approx": "≈",
}  # fmt: skip
FUNCTIONS: Mapping[str, Callable[[complex], complex]] = {
    "sin": cmath.sin, "cos": cmath.cos, "tan": cmath.tan, "cot": lambda x: 1 / cmath.tan(x),
    "sec": lambda x: 1 / cmath.cos(x), "csc": lambda x: 1 / cmath.sin(x), "arcsin": cmath.asin, "arccos": cmath.acos,
    "arctan": cmath.atan, "ln": cmath.log, "log": cmath.log10,
    "exp": cmath.exp, "sinh": cmath.sinh, "cosh": cmath.cosh, "tanh": cmath.tanh,
}  # fmt: skip
TIMES, OVER = ("*", r"\cdot", r"\times"), ("/", r"\div")
UNORDERED = ("{}", "∪", "∩", "=", "≠")


class _Group(NamedTuple):
    """Several values: a set {}, an interval or tuple by its brackets, a list ",", a relation, a matrix."""

    kind: str
    items: tuple["_Value", ...]


_Value = Number | str | _Group


def same_mathematics(made: str, wanted: str) -> bool:
    r"""Return whether two texts are the same mathematics; False where one of them cannot be read.

    Blanks, \left, \dfrac, $ and thousands separators do not count. Sets are equal in any order, (1,2) is no set and
    [0,1) not [0,1]. A unit, a degree sign and "x =" count only where both have them.

    >>> same_mathematics(r"\frac{\sqrt{3}}{3}", r"1/\sqrt 3"), same_mathematics(r"\{1,2\}", "(1,2)")
    (True, False)
    """
    own, other = _plain(made), _plain(wanted)
    if own is None or other is None or (own[1] and other[1] and own[1] != other[1]):
        return False
    texts = [own[0], other[0]]
    sides = [SIDE.fullmatch(text) for text in texts]
    texts = [
        side["value"] if side and not all(sides) and "=" not in texts[1 - place] else text
        for place, (side, text) in enumerate(zip(sides, texts, strict=True))
    ]
    try:
        return all(_same(*(_Reader(text, sample).read() for text in texts)) for sample in SAMPLES)
    except (ValueError, ArithmeticError, RecursionError, KeyError):
        return False


def brackets_of(text: str) -> str:
    """Return the brackets around a list of numbers and letters, as "[)" around [0, 1); "" around anything else."""
    found = BRACKETED.fullmatch(text.strip(" .$\n\t")[:MAX_LENGTH])
    return found["opening"] + found["closing"] if found else ""


def same_for_math_verify(made: str, wanted: str) -> bool:
    """Return whether math-verify, of assay[math], finds two texts equal; False where it cannot read one."""
    from math_verify import parse, verify

    logging.getLogger("math_verify").setLevel(logging.ERROR)  # it warns of what the next line says
    # its own deadlines are signals, which only a main thread can have; short texts bound the work
    if max(len(made), len(wanted)) > MAX_LENGTH:
        return False
    read = [parse(f"\\boxed{{{text}}}", parsing_timeout=None) for text in (wanted, made)]
    return all(read) and bool(verify(*read, timeout_seconds=None))


def _plain(text: str) -> tuple[str, str] | None:
    """Return a text without what does not count, and its unit ("" for none)."""
    if len(text) > MAX_LENGTH or not text.strip():
        return None
    plain = THOUSANDS_MARK.sub("", text).replace("\\\\", ROW).translate(CHARACTERS)
    bare = IGNORED.sub(" ", plain).strip().rstrip(".,").strip()
    bare = re.sub(r"\\[dtc]frac", r"\\frac", bare)
    unit = ""
    if (found := UNIT.search(bare)) and found.start():
        unit = re.sub(r"[\s{}]|\\[a-z]+", "", found["text"] or found["word"] or found["percent"] or "°").rstrip("s")
        bare = bare[: found.start()].strip()
    if THOUSANDS.fullmatch(bare):
        bare = bare.replace(",", "")
    return (bare, unit) if bare else None


def _same(made: _Value, wanted: _Value) -> bool:
    if isinstance(made, _Group) and isinstance(wanted, _Group):
        if made.kind != wanted.kind or len(made.items) != len(wanted.items):
            return False
        if made.kind not in UNORDERED:
            return all(map(_same, made.items, wanted.items))
        left = list(wanted.items)
        for item in made.items:
            place = next((place for place, one in enumerate(left) if _same(item, one)), None)
            if place is None:
                return False
            left.pop(place)
        return True
    if isinstance(made, Fraction) and isinstance(wanted, Fraction):
        return made == wanted
    if isinstance(made, Fraction | complex) and isinstance(wanted, Fraction | complex):
        return cmath.isclose(complex(made), complex(wanted), rel_tol=1e-12, abs_tol=1e-14)
    return type(made) is type(wanted) and made == wanted


class _Reader:
    """Reads one text, with numbers in place of its letters."""

    def __init__(self, text: str, sample: int):
        self._tokens, self._place, self._depth, self._sample = TOKEN.findall(text), 0, 0, sample

    def read(self) -> _Value:
        """Return the value of the whole text. Raises ValueError where it is no mathematics that is read here."""
        items = self._items()
        if self._place < len(self._tokens):
            raise ValueError(self._tokens[self._place])
        return items[0] if len(items) == 1 else _Group(",", tuple(items))

    def _next(self, *wanted: str) -> str:
        """Return the next symbol and go on, where it is one of the `wanted` (any, if none are named); else ""."""
        symbol = self._tokens[self._place] if self._place < len(self._tokens) else ""
        if not symbol or (wanted and symbol not in wanted):
            return ""
        self._place += 1
        return symbol

    def _need(self, *wanted: str) -> str:
        if not (symbol := self._next(*wanted)):
            raise ValueError(wanted)
        return symbol

    def _items(self) -> list[_Value]:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ValueError("too deep")
        items = [self._relation()]
        while self._next(",", ";"):
            items.append(self._relation())
            if len(items) > MAX_ITEMS:
                raise ValueError("too many")
        self._depth -= 1
        return items

    def _relation(self) -> _Value:
        values, signs = [self._sum()], list[str]()
        while sign := self._next(*RELATIONS):
            signs.append(RELATIONS[sign])
            values.append(self._sum())
        if signs and set(signs) <= {">", "≥"}:  # as its mirror image
            values, signs = values[::-1], ["<" if sign == ">" else "≤" for sign in signs[::-1]]
        return _Group(signs[0] if len(set(signs)) == 1 else "".join(signs), tuple(values)) if signs else values[0]

    def _sum(self) -> _Value:
        value: _Value = self._product()
        while sign := self._next("+", "-", r"\pm"):
            first, other = _number(value), _number(self._product())
            if sign == r"\pm":
                return _Group("{}", (first + other, first - other))
            value = first + other if sign == "+" else first - other
        return value

    def _product(self) -> _Value:
        if sign := self._next("-", "+", r"\pm"):
            value = self._product()
            if sign == r"\pm":
                return _Group("{}", (_number(value), -_number(value)))
            return -_number(value) if sign == "-" else value
        value = self._power()
        while True:
            if self._next(*TIMES):
                value = _check(_number(value) * _number(self._power()))
            elif self._next(*OVER):
                value = _check(_number(value) / _number(self._power()))
            elif isinstance(value, Fraction | complex) and self._begins_a_factor():
                value = _check(value * _number(self._power()))
            else:
                return value

    def _begins_a_factor(self) -> bool:
        symbol = self._tokens[self._place] if self._place < len(self._tokens) else ""
        ends = symbol in (*RELATIONS, r"\}", r"\pm", r"\end", r"\|", "&")
        return bool(symbol) and (symbol[0].isalnum() or symbol in ("(", "{") or (symbol[0] == "\\" and not ends))

    def _power(self) -> _Value:
        value = self._base()
        if self._next("^"):
            value = _power(_number(value), _number(self._argument()))
        if self._next("!"):
            number = _number(value)
            if not isinstance(number, Fraction) or number.denominator != 1 or not 0 <= number <= 200:
                raise ValueError("factorial")
            value = Fraction(math.factorial(int(number)))
        return value

    def _argument(self) -> _Value:
        r"""Return what a command or ^ takes: {…}, a sign with its number, a digit, a letter."""
        if self._next("-"):
            return -_number(self._argument())
        symbol = self._tokens[self._place] if self._place < len(self._tokens) else ""
        if len(symbol) > 1 and symbol.isdecimal():  # \frac12
            self._tokens[self._place : self._place + 1] = list(symbol)
        return self._base()

    def _base(self) -> _Value:
        symbol = self._need()
        if symbol[0].isdecimal() or (symbol[0] == "." and len(symbol) > 1):
            number = _check(Fraction(symbol.rstrip(".")))
            following = self._tokens[self._place : self._place + 3]
            if (
                isinstance(number, Fraction)
                and number.denominator == 1
                and following[:1] == [r"\frac"]
                and following[-1].isdecimal()
            ):  # 1\frac{1}{2}
                return number + _number(self._base())
            return number
        if symbol in ("(", "[", "{", r"\{", "|"):
            return self._bracket(symbol)
        name = symbol.removeprefix("\\")
        if symbol == r"\frac":
            over = _number(self._argument())
            return _check(over / _number(self._argument()))
        if symbol == r"\sqrt":
            degree = self._root_degree()
            return _power(_number(self._argument()), 1 / degree)
        if name in FUNCTIONS and symbol[0] == "\\":
            base = _number(self._argument()) if name == "log" and self._next("_") else Fraction(10)
            power = _number(self._argument()) if self._next("^") else Fraction(1)
            value = FUNCTIONS[name](complex(_number(self._power())))
            return _power(value / cmath.log10(complex(base)), power)
        if symbol in (r"\begin", r"\text", r"\mathrm", r"\mathbf", r"\mathbb", r"\textbf"):
            return self._matrix() if symbol == r"\begin" else self._words()
        if symbol in (r"\infty", r"\emptyset", r"\varnothing"):
            return {r"\infty": "∞"}.get(symbol, "∅")
        constants: Mapping[str, Number] = {r"\pi": complex(math.pi), "e": complex(math.e), "i": 1j}
        if symbol in constants:
            return constants[symbol]
        if symbol.isalpha() or (symbol[0] == "\\" and name.isalpha()):
            if self._next("_"):
                name += f"_{self._argument()}"
            return Fraction(
                sum(ord(sign) * 31**place for place, sign in enumerate(name)) % 9973 + self._sample, self._sample * 13
            )
        raise ValueError(symbol)

    def _bracket(self, opening: str) -> _Value:
        if opening == r"\{" and self._next(r"\}"):
            return "∅"
        items = self._items()
        closing = self._need(*{"(": (")", "]"), "[": (")", "]"), "{": ("}",), r"\{": (r"\}",), "|": ("|",)}[opening])
        if opening == "|":
            return complex(abs(complex(_number(items[0])))) if not isinstance(items[0], Fraction) else abs(items[0])
        if opening == r"\{":
            return _Group("{}", tuple(items))
        if len(items) == 1 and (opening, closing) in (("(", ")"), ("{", "}")):
            return items[0]
        return _Group("," if opening == "{" else opening + closing, tuple(items))

    def _root_degree(self) -> Number:
        if not self._next("["):
            return Fraction(2)
        degree = _number(self._relation())
        self._need("]")
        return degree

    def _words(self) -> str:
        words = []
        self._need("{")
        while (symbol := self._need()) != "}":
            words.append(symbol.casefold())
        return "".join(words)

    def _matrix(self) -> _Group:
        name, rows, row = self._words(), list[_Value](), list[_Value]()
        if "matrix" not in name:
            raise ValueError(name)
        while True:
            row.append(self._relation())
            if self._next("&"):
                continue
            rows.append(_Group("row", tuple(row)))
            row = []
            if not self._next(ROW):
                break
            if self._tokens[self._place : self._place + 1] == [r"\end"]:
                break
        self._need(r"\end")
        self._words()
        return _Group(name, tuple(rows))


def _number(value: _Value) -> Number:
    if isinstance(value, Fraction | complex):
        return value
    if isinstance(value, str) and value == "∞":
        return complex(math.inf)
    raise ValueError(value)


def _check(value: Number) -> Number:
    if isinstance(value, Fraction) and max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        raise ValueError("too large")
    return value


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(base, Fraction) and isinstance(exponent, Fraction):
        if exponent.denominator == 1:
            bits = max(base.numerator.bit_length(), base.denominator.bit_length())
            if abs(exponent) * bits > MAX_BITS:
                raise ValueError("too large")
            return _check(Fraction(base ** int(exponent)))
        root = Fraction(round(complex(base).real ** float(exponent))) if base > 0 and float(base) < 1e12 else None
        if (
            root is not None
            and exponent.numerator == 1
            and root**exponent.denominator == base
            and exponent.denominator < 9
        ):
            return root  # √9 is 3
    return complex(base) ** complex(exponent)
