"""Putting a mutant into a running process, in place: everything that holds its functions then has the mutant."""

import ast
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from metrics.vision.compiled import jit
from metrics.vision.compiled import object_code as codes
from tests.mutation.operators import Mutant

CONSTANTS = (bool, int, float, str, tuple, frozenset)
PROJECT = Path(__file__).parents[2]
ENGINES: list[Any] = []
AROUND = ("__wrapped__", "__func__", "fget", "func", "function")  # where caches, properties … keep their function


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
    mutated = {loop.function for loop in loops}
    kept = jit.object_code
    jit.object_code = lambda function, kinds: (
        codes._build(function, kinds) if function in mutated else kept(function, kinds)
    )
    for loop in loops:
        loop.codes.clear()
    ENGINES.append(codes._engine())  # it keeps the code of the others, and has these loops' names
    codes._engine.cache_clear()


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


def loops_of(mutant: Mutant) -> list[jit.Loop]:
    """Return the compiled loops that hold the mutant: the mutated one and those that call it, or all for a constant."""
    if mutant.file.parent.name != "compiled":
        return []
    modules = [module for name, module in sys.modules.items() if name.startswith("metrics.vision")]
    held = [value for module in modules for value in vars(module).values()]
    loops = list({id(value): value for value in held if isinstance(value, jit.Loop)}.values())
    if not mutant.function:
        return loops
    found = [
        loop
        for loop in loops
        if loop.function.__code__.co_filename == str(mutant.file) and loop.function.__name__ == mutant.function
    ]
    for loop in found:  # which grows
        found += [one for one in loops if one not in found and _uses(one.function, loop)]
    return found


def _uses(function: FunctionType, loop: jit.Loop) -> bool:
    return any(function.__globals__.get(name) is loop for name in function.__code__.co_names)
