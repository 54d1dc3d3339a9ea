"""A cache of what is computed from sealed runs."""

from collections.abc import Callable
from functools import lru_cache, wraps
from inspect import signature
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def cache_by_run(maxsize: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Keep the `maxsize` latest results of a function of runs, which never change once they are sealed.

    Calls are equal where their arguments are, defaults included; all of them hashable, but for lists, taken as tuples.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        bind, cached = signature(function).bind, lru_cache(maxsize)(function)

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            bound = bind(*args, **kwargs)
            bound.apply_defaults()
            bound.arguments |= {
                name: tuple(value) for name, value in bound.arguments.items() if isinstance(value, list)
            }
            return cached(*bound.args, **bound.kwargs)

        return call

    return decorate
