"""The decorator that compiles a loop."""

import ctypes
import threading
import weakref
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar, cast

import numpy as np

from metrics.vision.compiled.object_code import Kinds, ObjectCode, link, object_code

int64 = cast(Callable[[Any], int], np.int64)  # around constants: a loop is compiled again for each one it is given
Function = TypeVar("Function", bound=Callable[..., Any])
WORDS = 5  # of an array, before its shape and strides
_ONE_AT_A_TIME = threading.Lock()  # is compiled and linked
PASSED = {"<i8": ctypes.c_int64, "<f8": ctypes.c_double}


class Loop:
    """A function as machine code, made at the first call on this machine. Calls release the interpreter lock.

    Arguments are arrays in one run of memory, whole numbers and floats; results arrays and whole numbers. There is code
    for each combination of their types. A loop that a loop calls is part of its code.
    """

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        self.codes: dict[Kinds, _Linked] = {}

    def __call__(self, *given: Any) -> Any:
        """Return what the function returns for these arguments; MemoryError where its arrays find no room."""
        kinds = tuple(map(_kind, given))
        linked = self.codes.get(kinds)
        if linked is None:
            with _ONE_AT_A_TIME:
                linked = self.codes.get(kinds) or _Linked(object_code(self.function, kinds), kinds)
                self.codes[kinds] = linked
        return linked(given)


def compiled(function: Function) -> Function:
    """Return `function` as a Loop."""
    return cast(Function, Loop(cast(FunctionType, function)))


class _Linked:
    """Object code in the memory of this process."""

    def __init__(self, made: ObjectCode, kinds: Kinds) -> None:
        address, free = link(made)
        words: list[Any] = [ctypes.c_void_p, ctypes.c_void_p]
        for data_type, dimensions in kinds:
            words += [ctypes.c_int64] * (WORDS + 2 * dimensions) if dimensions else [PASSED[data_type]]
        self._call = ctypes.CFUNCTYPE(ctypes.c_int32, *words)(address)
        self._free = ctypes.CFUNCTYPE(None, ctypes.c_int64)(free)
        self._returns = made.returns
        self._size = sum(WORDS + 2 * dimensions if dimensions else 1 for _, dimensions in made.returns)

    def __call__(self, given: tuple[Any, ...]) -> Any:
        result, raised = (ctypes.c_int64 * (self._size + 1))(), ctypes.c_int64()
        words: list[Any] = [ctypes.addressof(result), ctypes.addressof(raised)]
        for one in given:
            if isinstance(one, np.ndarray):
                words += (0, 0, one.size, one.itemsize, one.ctypes.data, *one.shape, *one.strides)
            else:
                words.append(one)
        if self._call(*words):
            raise MemoryError("a compiled loop found no memory for its arrays")
        values, place = [], 0
        for data_type, dimensions in self._returns:
            values.append(self._array(result[place:], data_type, dimensions) if dimensions else result[place])
            place += WORDS + 2 * dimensions if dimensions else 1
        return tuple(values) if len(values) > 1 else values[0] if values else None

    def _array(self, words: list[int], data_type: str, dimensions: int) -> np.ndarray[Any, Any]:
        """Return the array that these words describe; its memory is given back when nothing refers to it."""
        memory, _, _, size, data, *rest = words
        shape, strides = rest[:dimensions], rest[dimensions : 2 * dimensions]
        extent = size + sum(max(0, count - 1) * stride for count, stride in zip(shape, strides, strict=True))
        held: Any = (ctypes.c_char * extent).from_address(data)
        weakref.finalize(held, self._free, memory).atexit = False
        return np.ndarray(shape, data_type, held, strides=strides)


def _kind(value: Any) -> tuple[str, int]:
    """Return the data type and dimensions of an argument."""
    if isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            raise TypeError(f"an array with strides {value.strides}; expected one in one run of memory")
        return value.dtype.str, value.ndim
    return ("<f8" if isinstance(value, float) else "<i8"), 0
