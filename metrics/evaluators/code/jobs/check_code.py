"""The process of the tests: it runs them on stand-ins for what the code defines, and alone has the verdict's pipe."""

import ast
import asyncio
import builtins
import collections
import inspect
import os
import sys
import types
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any

from metrics.evaluators.code.jobs.failures import CALL, MAX_MESSAGE, TESTS, failure_facts
from metrics.evaluators.code.jobs.stand_ins import MODULE, NOTHING, Code, stand_in
from metrics.evaluators.code.jobs.values import decode

ENDED = 75  # the exit code where the code's process has ended before the tests


class Untested(BaseException):
    """The tests hold some that only pytest can run."""


def main(given: Mapping[str, Any], report: Callable[..., None], pipes: Sequence[int]) -> None:
    """Run the tests: top level, functions `test_…`, unittest's cases, a last call; report `passed`, or what failed."""
    module = types.ModuleType(MODULE)
    space = module.__dict__

    def end(why: str) -> None:
        if why:
            report(error="ValueError", message=why[:MAX_MESSAGE], place="", line=None)
        sys.stdout.flush()
        os._exit(0 if why else ENDED)

    code = Code(os.fdopen(pipes[0], "rb"), os.fdopen(pipes[1], "wb"), space, end)
    first = code.receive()
    if "failed" in first:
        told = first["failed"]
        report(
            error=str(told["error"])[:MAX_MESSAGE], message=str(told["message"])[:MAX_MESSAGE],
            place=str(told["place"]), line=told["line"] if type(told["line"]) is int else None,
        )  # fmt: skip
        return
    code.known[0] = vars(sys)["modules"][MODULE] = stand_in(code, 0, NOTHING, "module")
    report(loaded=True)
    try:
        space |= _named(code, first["names"], given["tests"] + "\n" + given["call"], given["entry_point"])
        code.shared = [name for name in given["shared"] if name not in {name for name, _ in first["names"]}]
        before = dict(space)
        exec(compile(given["tests"], TESTS, "exec"), space)  # noqa: S102 - what the sandbox is for
        _run_defined({name: value for name, value in space.items() if before.get(name, space) is not value})
        exec(compile(given["call"], CALL, "exec"), space)  # noqa: S102
    except Untested:
        report(untested=True)
    except BaseException as failure:
        facts = failure_facts(failure)
        if failure is code.failed[0] and type(code.failed[1]) is int:
            facts |= {"place": "answer.py", "line": code.failed[1]}
        report(**facts)
    else:
        used = _names_in(given["tests"])
        reads_data = any(name in used and not _is_reference(told) for name, told in first["names"])
        report(**({"passed": True} if code.is_asked or reads_data else {"untested": True}))
    sys.stdout.flush()


def _named(code: Code, names: Sequence[Any], tests: str, entry_point: str) -> dict[str, Any]:
    """Return the names that the code has defined, as the tests have them.

    What the tests take for Python's own, as in `abs(area(1) - 3.14) < 0.1`, stays that: a name of a builtin or a module
    of the library is the code's only where the tests use nothing else of it, or it is the entry point.
    """
    used = _names_in(tests)
    reserved = used & {*dir(builtins), *sys.stdlib_module_names} - {entry_point}
    taken = {name for name, _ in names}
    withheld: Collection[str] = reserved if (used & taken) - reserved or len(reserved & taken) > 1 else ()
    found = {}
    for name, told in names:
        is_module = isinstance(told, list) and told[0] == "module"
        if name in withheld and not (is_module and told[1] == name) and told != ["class", name]:
            continue
        if is_module and name not in used:  # its import may take long
            continue
        found[str(name)] = decode(told, code.resolve)
    return found


def _is_reference(told: Any) -> bool:
    return isinstance(told, list) and told[0] in ("ref", "module", "class")


def _names_in(tests: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(tests)) if isinstance(node, ast.Name)}


def _run_defined(defined: Mapping[str, Any]) -> None:
    """Run the functions `test_…` without arguments, and the methods of classes `Test…` and of unittest's cases, that
    the tests have defined.
    """
    unittest = sys.modules.get("unittest")
    for name, value in defined.items():
        if isinstance(value, types.FunctionType) and name.startswith("test_"):
            _run_test(value)
        elif isinstance(value, type) and unittest and issubclass(value, unittest.TestCase):
            result = unittest.TestResult()
            unittest.defaultTestLoader.loadTestsFromTestCase(value).run(result)
            for test, text in (*result.failures, *result.errors):
                raise AssertionError(f"{test}: {text.strip().splitlines()[-1]}")
        elif isinstance(value, type) and name.startswith("Test"):
            for method in [one for one in dir(value) if one.startswith("test_")]:
                _run_test(getattr(value(), method))


def _run_test(test: Callable[[], Any]) -> None:
    """Run a test to its end, also one that is a coroutine or a generator; not one that takes arguments.

    Raises Untested for one whose arguments pytest would give.
    """
    if any(one.default is one.empty for one in inspect.signature(test).parameters.values()):
        if hasattr(test, "pytestmark"):
            raise Untested
        return
    made = test()
    if inspect.isawaitable(made):
        asyncio.run(_finish(made))
    elif inspect.isgenerator(made):
        collections.deque(made, 0)


async def _finish(made: Awaitable[Any]) -> None:
    await made
