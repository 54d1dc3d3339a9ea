"""The fingerprint of an evaluator's source: what tells whether two numbers were computed by the same code."""

import hashlib
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any

from metrics.core.evaluator import Evaluator

PLAIN = (str, bytes, int, float, bool, tuple, frozenset, type(None))  # values that are part of the source


def source_sha256(entry: Evaluator) -> str:
    """Return the sha256 (hex) of an evaluator's source.

    Of a module or a file it is that of the whole file in which the function is defined. Of a script or a notebook it
    is that of the function, its parameters, and the functions, classes and plain values there that they refer to:
    other cells, and lines below, change nothing.
    """
    module = sys.modules.get(entry.function.__module__)
    file = getattr(module, "__file__", None)
    digest = hashlib.sha256()
    if file is not None and module is not None and module.__name__ != "__main__":
        digest.update(Path(file).read_bytes())
        return digest.hexdigest()
    seen: dict[int, Any] = {}
    for text in [*_texts(entry.function, seen), *_texts(entry.parameters, seen)]:
        digest.update(f"{len(text)} {text}\n".encode())
    return digest.hexdigest()


def _texts(value: Any, seen: dict[int, Any]) -> Iterator[str]:
    """Yield the source of a function or class, then of what it refers to in its own module, each once."""
    if id(value) in seen:
        return
    seen[id(value)] = value
    try:
        yield inspect.getsource(value)
    except (OSError, TypeError):  # typed at a prompt, or made by exec
        yield from map(_compiled, _codes(value))
    names = {name for code in _codes(value) for name in code.co_names}
    module = sys.modules.get(value.__module__)
    there = getattr(value, "__globals__", None) or (vars(module) if module else {})
    for name in sorted(names & there.keys()):
        used = there[name]
        if (inspect.isfunction(used) or inspect.isclass(used)) and used.__module__ == value.__module__:
            yield from _texts(used, seen)
        elif isinstance(used, PLAIN):
            yield f"{name} = {used!r}"


def _codes(value: Any) -> Iterator[CodeType]:
    """Yield the code of a function, or of a class's functions, with the functions inside."""
    functions = vars(value).values() if inspect.isclass(value) else [value]
    waiting = [function.__code__ for function in functions if inspect.isfunction(function)]
    while waiting:
        code = waiting.pop(0)
        yield code
        waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _compiled(code: CodeType) -> str:
    constants = [constant for constant in code.co_consts if not isinstance(constant, CodeType)]
    return f"{code.co_code.hex()} {code.co_names} {constants!r}"
