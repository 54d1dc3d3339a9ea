"""One law of the whole room: of degenerate inputs no function makes a NaN, a warning or an error that it does not speak
of. A new function fails until it has inputs in degenerate_inputs.py.
"""

import doctest
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest

from metrics import stats
from metrics.core import rounding
from tests.stats.degenerate_inputs import TABLE

MODULES = [importlib.import_module(each.name) for each in pkgutil.walk_packages(stats.__path__, "metrics.stats.")]


def functions() -> dict[str, Callable[..., Any]]:
    """Return the public functions of the room by module and name."""
    return {
        f"{module.__name__.removeprefix('metrics.stats.')}.{name}": value
        for module in MODULES
        for name, value in vars(module).items()
        if not name.startswith("_") and callable(value) and not inspect.isclass(value)
        and getattr(value, "__module__", None) == module.__name__
    }  # fmt: skip


FUNCTIONS = functions()


def numbers_in(value: Any) -> Iterator[float]:
    """Yield every number in a result: of its fields, items and arrays, and of what it computes on demand."""
    if isinstance(value, np.ndarray | float | int):
        yield from np.ravel(np.asarray(value, np.float64)).tolist()
    elif is_dataclass(value):
        yield from numbers_in([getattr(value, field.name) for field in fields(value)])
    elif isinstance(value, dict):
        yield from numbers_in([*value.values()])
    elif isinstance(value, list | tuple):
        for each in value:
            yield from numbers_in(each)
    elif callable(value):
        yield from numbers_in(value())
    else:
        assert value is None or isinstance(value, str)


def spoken_of(function: Callable[..., Any]) -> str:
    """Return what the function, its module and the classes of what it returns say."""
    module = inspect.getmodule(function)
    classes = [each for each in vars(module).values() if inspect.isclass(each) and each.__module__ == module.__name__]
    return " ".join(filter(None, map(inspect.getdoc, (module, function, *classes))))


@pytest.mark.parametrize("module", [*MODULES, rounding], ids=lambda module: module.__name__)
def test_the_examples_of_every_module_work(module: Any) -> None:
    assert doctest.testmod(module).failed == 0


def test_every_function_of_the_room_is_entered() -> None:
    assert set(TABLE) == set(FUNCTIONS)


@pytest.mark.parametrize("name", TABLE)
def test_degenerate_inputs_give_what_the_function_speaks_of(name: str) -> None:
    function, words, wrong = FUNCTIONS[name], spoken_of(FUNCTIONS[name]), []
    for place, inputs in enumerate(TABLE[name]):
        try:
            found = [*numbers_in(function(*inputs))]
        except Exception as error:  # warnings are errors here
            if type(error).__name__ not in words:
                wrong.append(f"{place}: {error!r}")
            continue
        if np.isnan(found).any() and "NaN" not in words:
            wrong.append(f"{place}: NaN")
        if np.isinf(found).any() and not re.search(r"\binf(inite)?\b", words, re.IGNORECASE):
            wrong.append(f"{place}: infinite")
    assert not wrong
