"""Finding the function that a user names: `module:function` or `file.py:function`."""

import importlib.util
import inspect
import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from metrics.core.errors import InputError, InputProblem, describe_failure


def imported(name: str) -> Callable[..., Any]:
    """Return the function `module:function` or `file.py:function`. Raises InputError where there is none."""
    place, _, path = name.rpartition(":")
    try:
        if place.endswith(".py"):
            found: Any = _module_of(Path(place))
        else:
            if os.getcwd() not in sys.path:
                sys.path.insert(0, os.getcwd())
            found = import_module(place)
        for part in path.split("."):
            found = getattr(found, part)
    except Exception as failure:  # whatever its import raises
        reason = describe_failure(failure)
        raise InputError([InputProblem("target", f"{name} ({reason})", "a function that can be imported")]) from failure
    if not callable(found):
        raise InputError([InputProblem("target", f"{name}, a {type(found).__name__}", "a function")])
    function: Callable[..., Any] = found
    return function


def _module_of(file: Path) -> Any:
    if not file.is_file():
        raise FileNotFoundError(f"no file {file}")
    known = f"assay_target_{file.stem}"
    spec = importlib.util.spec_from_file_location(known, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[known] = module
    folder = str(file.parent.absolute())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec.loader.exec_module(module)
    return module


def takes_text(function: Callable[..., Any]) -> bool:
    """Return whether the first argument of a function is annotated as a text."""
    try:
        first = next(iter(inspect.signature(function).parameters.values()), None)
    except (TypeError, ValueError):
        return False
    return first is not None and first.annotation in (str, "str")
