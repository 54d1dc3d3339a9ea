"""Stand-ins, in the tests' process, for the objects of the code: what is done to them is done in the code's process.

What decides a test is decided here: a stand-in equals, and is ordered with, data only by the value that it has as an
instance of a plain class; the code is never shown what its result is compared with.
"""

import copy
import importlib
import io
import math
import operator
import pickle
import sys
import threading
import types
from codecs import getincrementaldecoder
from collections.abc import Callable, Mapping, Sequence
from json import loads
from typing import IO, Any

import cloudpickle

from metrics.evaluators.code.jobs.values import decode

MODULE = "answer"  # the name of the tests' module, as of the code's
NOTHING = object()
MAX_LINE = 64 << 20  # bytes of a message
UNARY: Mapping[str, Callable[..., Any]] = {
    "__len__": len, "__iter__": iter, "__next__": next, "__reversed__": reversed, "__bool__": bool, "__str__": str,
    "__repr__": repr, "__int__": int, "__float__": float, "__complex__": complex, "__index__": operator.index,
    "__abs__": abs, "__neg__": operator.neg, "__pos__": operator.pos, "__invert__": operator.invert,
    "__round__": round, "__trunc__": math.trunc, "__floor__": math.floor, "__ceil__": math.ceil, "__format__": format,
    "__bytes__": bytes, "__dir__": dir, "__getitem__": operator.getitem, "__setitem__": operator.setitem,
    "__delitem__": operator.delitem, "__setattr__": setattr, "__delattr__": delattr,
    "__copy__": copy.copy, "__enter__": lambda manager: type(manager).__enter__(manager),
    "__instancecheck__": lambda kind, one: isinstance(one, kind),
    "__subclasscheck__": lambda kind, one: issubclass(one, kind),
}  # fmt: skip
COMPARISONS = ("lt", "le", "gt", "ge")
# with data these never show the code what its result is compared with, as f(x) - 3.14 would
BUILDING = ("add", "mul", "matmul", "pow", "lshift", "rshift")
BINARY = (*BUILDING, "sub", "truediv", "floordiv", "mod", "and", "or", "xor")


class CodeEnded(BaseException):
    """The process of the code has ended, or does not keep to the protocol: there is no verdict."""


class Code:
    """The code's process, as the tests' process asks it; `space` holds the names of the tests."""

    def __init__(self, reading: IO[bytes], writing: IO[bytes], space: dict[str, Any], ended: Callable[[str], None]):
        self.answers, self.requests, self.space, self.ended = reading, writing, space, ended
        self.turn = threading.RLock()
        self.decoder = getincrementaldecoder("utf-8")("replace")
        self.known: dict[int, Any] = {}  # stand-ins and classes of exceptions, by the number of their object
        self.numbers: dict[type, int] = {}
        self.is_asked = False  # whether the tests have asked anything of the code
        self.shared: Sequence[str] = ()  # names that the tests set up for the code
        self.given: dict[str, Any] = {}
        self.failed: tuple[BaseException | None, Any] = (None, None)  # the last error of the code, and its line

    def receive(self) -> Any:
        """Return the next message that is not about something printed; the process ends where there is none."""
        try:
            while (line := self.answers.readline(MAX_LINE)).endswith(b"\n"):
                message = loads(line)
                if "printed" not in message:
                    return message
                sys.stdout.write(self.decoder.decode(message["printed"].encode("latin-1")))
            if len(line) == MAX_LINE:
                raise ValueError("more than 64 MiB at once")
        except (ValueError, TypeError, AttributeError, RecursionError) as failure:
            self.ended(f"the code's process does not answer as it should: {failure}")
        self.ended("")
        raise CodeEnded

    def ask(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        """Return what a function of a library, or a stand-in, gives in the code's process; raises what it raises."""
        self.is_asked = True
        for name in self.shared:
            value = self.space.get(name, NOTHING)
            if value is not NOTHING and value is not self.given.get(name):
                self.given[name] = value
                self.ask(setattr, self.known[0], name, value)
        brought: list[Any] = []
        request = io.BytesIO()
        _Requests(request, self, brought).dump((function, args, kwargs, brought))
        with self.turn:
            try:
                pickle.dump(request.getvalue(), self.requests)
                self.requests.flush()
            except BrokenPipeError:
                self.ended("")
            message = self.receive()

        def resolve(tag: str, *facts: Any) -> Any:
            return brought[facts[0]] if tag == "argument" else self.resolve(tag, *facts)

        for place, contents in message["changed"]:
            _restore(brought[place], [decode(one, resolve) for one in contents])
        if "error" in message:
            raise self.exception(message["error"], resolve, raised_by_next=function is next)
        return decode(message["value"], resolve)

    def resolve(self, tag: str, *facts: Any) -> Any:
        """Return what a reference is here: a module of the same name, a class of exceptions, else a stand-in."""
        if tag == "module":
            return importlib.import_module(str(facts[0]))
        if tag != "ref":
            raise ValueError(f"unknown tag {tag!r}")
        number, told = facts
        if number not in self.known:
            if "error" in told:
                self.known[number] = self.exception_class(*told["error"])
                self.numbers[self.known[number]] = number
            else:
                plain = decode(told["plain"], self.resolve) if "plain" in told else NOTHING
                self.known[number] = stand_in(self, number, plain, str(told["class"]))
        found = self.known[number]
        return _awaited(self, found) if told.get("coroutine") else found

    def exception_class(self, name: str, bases: Sequence[Any]) -> type[BaseException]:
        """Return a class that stands for one of the code's own, below the same builtin one."""
        own = tuple(base for one in bases if isinstance(base := decode(one, self.resolve), type))
        own = tuple(base for base in own if issubclass(base, BaseException)) or (Exception,)
        return type(str(name), own, {"__module__": MODULE, "__str__": lambda self: vars(self).get("_text_", "")})

    def exception(self, facts: Mapping[str, Any], resolve: Callable[..., Any], raised_by_next: bool) -> BaseException:
        """Return the exception of the code as one here, to be raised."""
        made: Any = decode(facts["class"], resolve)
        if not (isinstance(made, type) and issubclass(made, BaseException)):
            made = RuntimeError
        if (
            issubclass(made, StopIteration | StopAsyncIteration) and not raised_by_next
        ):  # it would end a loop of the tests
            made = RuntimeError
        args = [decode(one, resolve) for one in facts["args"]]
        failure: BaseException
        try:
            failure = made(*args)
        except Exception:
            failure = made.__new__(made, *args)
        if made in self.numbers:
            for name, value in facts["state"]:
                vars(failure)[name] = decode(value, resolve)
            vars(failure)["_text_"] = str(facts["text"])
        self.failed = failure, facts["line"]
        return failure


class StandIn:
    """Stands for an object of the code."""

    __slots__ = ("_assay",)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it in the code's process."""
        return _facts(self)[0].ask(self, *args, **kwargs)

    def __getattribute__(self, name: str) -> Any:
        code, _, plain = _facts(self)
        if name == "__class__":  # a named tuple is a tuple
            return type(self) if plain is NOTHING else type(plain)
        if name == "__deepcopy__":
            return object.__getattribute__(self, name)
        if name in NOWHERE:
            raise AttributeError(name)
        return code.ask(getattr, self, name)

    def __eq__(self, other: object) -> bool:
        code, _, plain = _facts(self)
        if not _stands_in(other):
            return NotImplemented if plain is NOTHING else plain == other
        theirs = _facts(other)[2]
        if plain is not NOTHING or theirs is not NOTHING:
            return bool(plain == theirs)
        return bool(code.ask(operator.eq, self, other))

    def __hash__(self) -> int:
        code, _, plain = _facts(self)
        return int(code.ask(hash, self)) if plain is NOTHING else hash(plain)

    def __contains__(self, item: Any) -> bool:
        try:
            items = _facts(self)[0].ask(iter, self)
        except TypeError:
            return bool(_facts(self)[0].ask(operator.contains, self, item))
        if _stands_in(item):
            return bool(_facts(self)[0].ask(operator.contains, self, item))
        return any(one is item or one == item for one in items)

    def __deepcopy__(self, memo: Any) -> Any:
        return _facts(self)[0].ask(copy.deepcopy, self)

    def __exit__(self, kind: Any, failure: Any, trace: Any) -> Any:
        return _facts(self)[0].ask(lambda one, *why: type(one).__exit__(one, *why, None), self, kind, failure)


NOWHERE = ("__array_interface__", "__array_struct__")  # addresses in memory, which numpy would believe
_get_facts = vars(StandIn)["_assay"].__get__
_set_facts = vars(StandIn)["_assay"].__set__


def _facts(stand_in: Any) -> tuple[Code, int, Any]:
    """Return the code's process, the number of the object there, and its plain value."""
    return _get_facts(stand_in)  # type: ignore[no-any-return]


def _stands_in(value: object) -> bool:
    return issubclass(type(value), StandIn)


def stand_in(code: Code, number: int, plain: Any, class_name: str) -> StandIn:
    """Return a new stand-in, of a class of that name."""
    made: StandIn = object.__new__(type(class_name, (StandIn,), {"__slots__": (), "__module__": MODULE}))
    _set_facts(made, (code, number, plain))
    return made


def _forward(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *args: _facts(self)[0].ask(function, self, *args)


def _forward_pair(function: Callable[..., Any], with_data: bool, turned: bool = False) -> Callable[..., Any]:
    """Return a method of two operands; with data it is computed here, by the plain value, if the code may not see."""

    def forwarded(self: Any, other: Any, *more: Any) -> Any:
        code, _, plain = _facts(self)
        if _stands_in(other) or with_data:
            return code.ask(function, other, self) if turned else code.ask(function, self, other, *more)
        if plain is NOTHING:
            return NotImplemented
        return function(other, plain) if turned else function(plain, other)

    return forwarded


for _name, _function in UNARY.items():
    setattr(StandIn, _name, _forward(_function))
for _name in COMPARISONS:
    setattr(StandIn, f"__{_name}__", _forward_pair(getattr(operator, _name), with_data=False))
for _name in BINARY:
    _operator, _shown = getattr(operator, f"__{_name}__"), _name in BUILDING
    setattr(StandIn, f"__{_name}__", _forward_pair(_operator, _shown))
    setattr(StandIn, f"__r{_name}__", _forward_pair(_operator, _shown, turned=True))
    if hasattr(operator, f"__i{_name}__"):
        setattr(StandIn, f"__i{_name}__", _forward_pair(getattr(operator, f"__i{_name}__"), _shown))


async def _awaited(code: Code, coroutine: StandIn) -> Any:
    import asyncio

    return code.ask(asyncio.run, coroutine)


cloudpickle.register_pickle_by_value(sys.modules[__name__])  # the code's process lacks this module


class _Requests(cloudpickle.Pickler):  # type: ignore[misc] # without types
    """Writes what is asked: objects of the code as numbers; what the code may change is kept in `brought`."""

    def __init__(self, file: io.BytesIO, code: Code, brought: list[Any]) -> None:
        super().__init__(file)
        self.code, self.brought, self.seen = code, brought, set[int]()

    def reducer_override(self, value: Any) -> Any:
        """Return how a value is made again: a generator from its items."""
        return (iter, (list(value),)) if type(value) is types.GeneratorType else super().reducer_override(value)

    def persistent_id(self, value: Any) -> Any:
        """Return the number of an object of the code; None for any other."""
        kind = type(value)
        if issubclass(kind, StandIn):
            return _facts(value)[1]
        if kind is type and value in self.code.numbers:
            return self.code.numbers[value]
        own = kind in (list, dict, set, bytearray) or kind.__module__ == MODULE
        own = own or (kind in (type, types.FunctionType) and value.__module__ == MODULE)
        if own and value is not self.brought and id(value) not in self.seen:
            self.seen.add(id(value))
            self.brought.append(value)
        return None


def _restore(value: Any, contents: Sequence[Any]) -> None:
    """Change a list, dict, set or object of the tests as the code has changed its copy."""
    if isinstance(value, list | bytearray):
        value[:] = contents
        return
    pairs = dict(zip(contents[::2], contents[1::2], strict=True)) if not isinstance(value, set) else {}
    if isinstance(value, dict | set):
        value.clear()
        value.update(pairs if isinstance(value, dict) else contents)
    elif not isinstance(value, type | types.FunctionType):
        own = vars(value)  # no method of the tests is hidden
        kept = {name: one for name, one in pairs.items() if name in own or not hasattr(type(value), name)}
        own.clear()
        own.update(kept)
