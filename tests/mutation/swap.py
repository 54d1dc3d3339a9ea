"""Putting a mutant into a running process, in place: everything that holds its functions then has the mutant."""

import ast
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from numba.core.caching import NullCache
from numba.core.dispatcher import Dispatcher

from tests.mutation.operators import Mutant

CONSTANTS = (bool, int, float, str, tuple, frozenset)
PROJECT = Path(__file__).parents[2]
AROUND = ("__wrapped__", "__func__", "fget", "func", "py_func")  # where caches, properties … keep their function


def module_of(file: Path) -> ModuleType:
    """Return the module of a file; some are only imported on use."""
    found = [one for name, one in sys.modules.items() if name.startswith("metrics")]
    held = next((one for one in found if getattr(one, "__file__", None) == str(file)), None)
    return held or import_module(".".join(file.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__"))


def put(mutant: Mutant) -> None:
    """Give the module's functions the mutant's code, and its constants to all modules that imported them.

    Loops that hold the mutant are compiled again, and their code is not kept.
    """
    module = module_of(mutant.file)
    loops = loops_of(mutant)
    scope: dict[str, Any] = {"__name__": module.__name__, "__file__": str(mutant.file)}
    exec(mutant.code(), scope)
    own = {name: vars(module)[name] for name in _assigned(mutant)}
    _replace(vars(module), scope, str(mutant.file))
    for name, was in own.items():
        _set(name, was, scope[name])
    for loop in loops:
        loop._cache = NullCache()
    for loop in loops:  # those that are called come before their callers
        loop.recompile()


def _replace(old: Mapping[str, Any], new: Mapping[str, Any], file: str) -> None:
    for name, value in new.items():
        was, function = old.get(name), _function(value)
        if function:
            held = _function(was)
            if held and function.__code__.co_filename == held.__code__.co_filename == file:
                held.__code__, held.__defaults__ = function.__code__, function.__defaults__
                held.__kwdefaults__ = function.__kwdefaults__
        elif isinstance(value, type) and value.__module__ == new.get("__name__"):
            _replace(vars(was), {**vars(value), "__name__": None}, file)
        elif isinstance(value, CONSTANTS) and value != was and "__file__" in new:
            _set(name, was, value)


def _set(name: str, was: Any, value: Any) -> None:
    """Give a constant its new value in every module that holds it."""
    for other in [one for key, one in sys.modules.items() if key.startswith(("metrics", "tests"))]:
        if name in vars(other) and vars(other)[name] is was:
            setattr(other, name, value)


def _assigned(mutant: Mutant) -> list[str]:
    """Return the constants whose own statement holds the fault; they may be of any type."""
    found: list[ast.expr] = []
    for statement in ast.parse(mutant.file.read_text(encoding="utf-8")).body if not mutant.function else ():
        if statement.lineno <= mutant.line <= (statement.end_lineno or 0):
            found += statement.targets if isinstance(statement, ast.Assign) else []
            found += [statement.target] if isinstance(statement, ast.AnnAssign) else []
    return [target.id for target in found if isinstance(target, ast.Name)]


def _function(value: Any) -> FunctionType | None:
    while not isinstance(value, type):
        inner = next((getattr(value, name) for name in AROUND if hasattr(value, name)), None)
        if inner is None:
            break
        value = inner
    return value if isinstance(value, FunctionType) else None


def every_loop() -> list[Any]:
    """Return the compiled loops of the room `vision`."""
    modules = [module_of(file) for file in (PROJECT / "metrics" / "vision" / "compiled").glob("[!_]*.py")]
    held = [value for module in modules for value in vars(module).values()]
    return list({id(value): value for value in held if isinstance(value, Dispatcher)}.values())


def loops_of(mutant: Mutant) -> list[Any]:
    """Return the compiled loops that hold the mutant: the mutated one and those that call it, or all for a constant."""
    if mutant.file.parent.name != "compiled":
        return []
    loops = every_loop()
    if not mutant.function:
        return loops
    found = [
        loop
        for loop in loops
        if loop.py_func.__code__.co_filename == str(mutant.file) and loop.py_func.__name__ == mutant.function
    ]
    for loop in found:  # which grows
        found += [one for one in loops if one not in found and _uses(one.py_func, loop)]
    return found


def _uses(function: FunctionType, loop: Any) -> bool:
    return any(function.__globals__.get(name) is loop for name in function.__code__.co_names)
