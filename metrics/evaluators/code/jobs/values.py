"""Values on their way from the code to its tests: JSON of tagged lists, which holds nothing but data.

What the code's process sends is read as data alone: numbers, texts, containers, and values of the exact classes that
are listed here. Everything else is a reference, which the tests' process makes a stand-in of.
"""

import builtins
import collections
import datetime
import decimal
import fractions
import json
import re
import sys
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Know = Callable[[Any], list[Any] | None]
SCALARS = frozenset((str, float, bool, type(None)))
LONG_INTEGER = 10_000  # bits of one that goes as hexadecimal digits, of which Python limits no number
CONTAINERS: Mapping[str, type] = {one.__name__: one for one in (list, tuple, set, frozenset)}
VALUES: Mapping[type, Callable[[Any], tuple[Any, ...]]] = {  # the arguments that make an equal value
    complex: lambda value: (value.real, value.imag),
    range: lambda value: (value.start, value.stop, value.step),
    slice: lambda value: (value.start, value.stop, value.step),
    fractions.Fraction: lambda value: (value.numerator, value.denominator),
    decimal.Decimal: lambda value: (str(value),),
    datetime.date: lambda value: (value.year, value.month, value.day),
    datetime.time: lambda value: (value.hour, value.minute, value.second, value.microsecond, value.tzinfo),
    datetime.datetime: lambda value: (
        *value.timetuple()[:6], value.microsecond, value.tzinfo),
    datetime.timedelta: lambda value: (value.days, value.seconds, value.microseconds),
    datetime.timezone: lambda value: (value.utcoffset(None),),
    uuid.UUID: lambda value: (str(value),),
    collections.deque: lambda value: (list(value), value.maxlen),
    collections.Counter: lambda value: (dict(value),),
    collections.OrderedDict: lambda value: (list(value.items()),),
    collections.defaultdict: lambda value: (value.default_factory, dict(value)),
}  # fmt: skip
# the value of an instance of a subclass, by the methods of the class below
PLAIN: Mapping[type, Callable[[Any], Any]] = {
    str: str.__str__, int: int.__int__, float: float.__float__, bytes: lambda value: b"".join([value]),
    tuple: lambda value: tuple(tuple.__iter__(value)), list: lambda value: list(list.__iter__(value)),
    dict: lambda value: dict(dict.items(value)), set: lambda value: set(set.__iter__(value)),
    frozenset: lambda value: frozenset(frozenset.__iter__(value)),
}  # fmt: skip
ERRORS = {
    name: one for name, one in vars(builtins).items() if isinstance(one, type) and issubclass(one, BaseException)
} | {
    f"{one.__module__}.{one.__qualname__}": one
    for one in (json.JSONDecodeError, re.error, decimal.InvalidOperation, decimal.DivisionByZero)
}  # fmt: skip
CLASSES: Mapping[str, type] = {
    one.__qualname__: one for one in (
        *PLAIN, *VALUES, bool, bytearray, object, type(None))
} | ERRORS  # fmt: skip
NAMES = {one: name for name, one in CLASSES.items()}
NUMERIC = re.compile(r"[<>|=]?[biufcSUmM?]\d*(\[\w+\])?")  # dtypes of arrays that hold data alone


def encode(value: Any, know: Know, refer: Callable[[Any], Any]) -> Any:
    """Return a value as what JSON can hold: `know` of what both sides have, else data, else what `refer` makes of it.

    The exact class decides, so that an instance of a subclass is a reference.
    """
    kind = type(value)
    if kind in SCALARS or (kind is int and value.bit_length() < LONG_INTEGER):
        return value
    if kind is int:
        return ["int", hex(value)]
    if kind is bytes or kind is bytearray:
        return [kind.__name__, value.decode("latin-1")]
    if (known := know(value)) is not None:
        return known
    if kind is list and all(type(one) in SCALARS or (type(one) is int and one.bit_length() < 64) for one in value):
        return ["scalars", value]

    def encode_all(items: Iterable[Any]) -> list[Any]:
        return [encode(item, know, refer) for item in items]

    if kind in CONTAINERS.values():
        return [kind.__name__, encode_all(value)]
    if kind is dict:
        return ["dict", [encode_all(pair) for pair in value.items()]]
    if kind in VALUES:
        return ["value", kind.__qualname__, encode_all(VALUES[kind](value))]
    if kind is type and value in NAMES:
        return ["class", NAMES[value]]
    numpy = sys.modules.get("numpy")
    is_array = numpy and kind is numpy.ndarray
    if numpy and (is_array or isinstance(value, numpy.generic)) and NUMERIC.fullmatch(value.dtype.str):
        return ["array" if is_array else "number", value.dtype.str, value.shape, value.tobytes().decode("latin-1")]
    return refer(value)


def decode(data: Any, resolve: Callable[..., Any]) -> Any:
    """Return the value of what JSON held; `resolve` makes an object of a reference.

    Raises ValueError, TypeError, KeyError and the like for what `encode` does not write.
    """
    if not isinstance(data, list):
        return data
    tag, *rest = data
    if tag in CONTAINERS:
        return CONTAINERS[tag](decode(one, resolve) for one in rest[0])
    if tag == "scalars":
        return rest[0]
    if tag == "dict":
        return {decode(key, resolve): decode(one, resolve) for key, one in rest[0]}
    if tag == "value":
        made = CLASSES[rest[0]]
        if made not in VALUES:
            raise ValueError(f"no class of values: {rest[0]}")
        return made(*(decode(one, resolve) for one in rest[1]))
    if tag in ("array", "number") and NUMERIC.fullmatch(rest[0]):
        import numpy

        array = numpy.frombuffer(rest[2].encode("latin-1"), rest[0]).reshape(rest[1]).copy()
        return array if tag == "array" else array[()]
    simple: Mapping[str, Callable[[Any], Any]] = {
        "int": lambda text: int(text, 16),
        "bytes": lambda text: text.encode("latin-1"),
        "bytearray": lambda text: bytearray(text.encode("latin-1")),
        "class": CLASSES.__getitem__,
    }
    return simple[tag](*rest) if tag in simple else resolve(tag, *rest)


def plain_of(value: Any) -> Any:
    """Return an instance of a subclass of a plain class as that class's own value; None where it is none."""
    base = next((one for one in type(value).__mro__ if one in PLAIN), None)
    return PLAIN[base](value) if base else None
