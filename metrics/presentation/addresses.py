"""Addresses of views, relative to the root of what shows them: a page's name and its state as query parameters."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias
from urllib.parse import urlencode

Value: TypeAlias = str | int | float | bool | Sequence[str] | None
Address: TypeAlias = Callable[..., str]  # of a view: its name, and its parameters by keyword


def href(name: str, **values: Value) -> str:
    """Return the address of a view: `/cases?run=…`."""
    found = pairs(values)
    return f"/{name}?{urlencode(found)}" if found else f"/{name}"


def below_root(name: str, **values: Value) -> str:
    """Return the address of a view below the address of the page that links to it: `cases?run=…`."""
    return href(name, **values).removeprefix("/")


def pairs(values: Mapping[str, Value]) -> list[tuple[str, str]]:
    """Return the query parameters, a pair for each value of a repeatable one."""
    return [(name, text) for name, value in values.items() for text in texts(value)]


def texts(value: Value) -> list[str]:
    """Return the values of one query parameter; none for None, False, "" and []."""
    if value is None or value is False or value == "":
        return []
    if value is True:
        return ["1"]
    if isinstance(value, str | int | float):
        return [f"{value:g}" if isinstance(value, float) else str(value)]
    return [str(item) for item in value]
