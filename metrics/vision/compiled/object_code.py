"""Object code of a loop: built by numba once, kept on disk, linked by llvmlite in every process after that.

A fresh process pays .05 s of processor time for linking; importing numba and reading its own cache took .4 s.

Of numba this file takes for granted, and tests would notice a change: a function returns 0 unless an exception
was raised, its first argument is where the result goes, its second where an exception does; an array is the words
memory, parent, items, item size, data, shape …, strides …; memory is counted by its first word and holds the address of
its data in the fourth.
"""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from tempfile import gettempdir
from types import FunctionType
from typing import Any
from uuid import uuid4

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from metrics.core.errors import StorageError
from metrics.core.files import make_file, make_folder
from metrics.core.install_paths import cache_folder
from metrics.core.regular_files import open_regular

Kinds = tuple[tuple[str, int], ...]  # data type and dimensions of each argument
HERE = Path(__file__).parent
DIGEST = 32  # bytes
ROOT = 0  # the user
FOREIGN = ("NRT_", "numba", "Py", "_Py")  # functions outside of the code that are not the C library's
# what numba's runtime offers its functions: memory of an array, and its release
RUNTIME = """
declare ptr @malloc(i64)
declare void @free(ptr)
define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {
  %wide = zext i32 %align to i64
  %room = add i64 %size, %wide
  %whole = add i64 %room, 48
  %memory = call ptr @malloc(i64 %whole)
  %none = icmp eq ptr %memory, null
  br i1 %none, label %end, label %fill
fill:
  %address = ptrtoint ptr %memory to i64
  %begin = add i64 %address, 48
  %last = sub i64 %wide, 1
  %sum = add i64 %begin, %last
  %mask = sub i64 0, %wide
  %data = and i64 %sum, %mask
  store i64 1, ptr %memory
  %place = getelementptr i64, ptr %memory, i64 3
  store i64 %data, ptr %place
  br label %end
end:
  ret ptr %memory
}
define void @NRT_MemInfo_call_dtor(ptr %memory) {
  call void @free(ptr %memory)
  ret void
}
"""


@dataclass(frozen=True, slots=True)
class ObjectCode:
    """A function's name in its object code, the code, and its results: ["i8"] a number, ["<i4", 1] an array …"""

    symbol: str
    returns: list[tuple[str, int]]
    code: bytes


def object_code(function: FunctionType, kinds: Kinds) -> ObjectCode:
    """Return the code of `function` for arguments of these kinds (data type, dimensions), built where none is kept."""
    sources = _sources(function.__code__.co_filename)
    name = sha256(repr((kinds, _numba(), llvmlite.__version__, _host())).encode() + sources).hexdigest()[:16]
    file = f"{function.__module__.rpartition('.')[2]}.{function.__name__}.{name}.o"
    for folder in _folders():
        found = _read(folder / file, sources)
        if found:
            return found
    made = _build(function, kinds)
    for folder in _folders():
        if _write(folder / file, sources, made):
            break
    return made


def _folders() -> Iterator[Path]:
    """Yield where code is kept: $NUMBA_CACHE_DIR alone, else in the user's cache, or with temporary files.

    Never beside the source, which may be read-only or shared. Versions do not meet in a folder: the names of files
    differ by source, numba and processor.
    """
    if given := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(given)
        return
    with suppress(RuntimeError):  # a user without a home
        yield cache_folder() / "compiled"
    with suppress(FileNotFoundError):  # no place for temporary files
        yield Path(gettempdir()) / f"assay-{os.getuid()}"


def _read(file: Path, sources: bytes) -> ObjectCode | None:
    """Return the code in a file; None where there is none of the present sources, it is damaged, or another user's."""
    try:
        with open_regular(file) as stream:
            foreign = os.fstat(stream.fileno()).st_uid not in (ROOT, os.getuid())
            if foreign and not os.environ.get("NUMBA_CACHE_DIR"):  # others can write where temporary files are
                return None
            content = stream.read()
    except OSError:
        return None
    head, _, code = content[DIGEST:].partition(b"\n")
    if content[:DIGEST] != sha256(sources + content[DIGEST:]).digest():
        return None
    symbol, returns = json.loads(head)
    return ObjectCode(symbol, [(data_type, dimensions) for data_type, dimensions in returns], code)


def _write(file: Path, sources: bytes, made: ObjectCode) -> bool:
    """Put the code into a file, whole or not at all; return whether it is there."""
    content = json.dumps([made.symbol, made.returns]).encode() + b"\n" + made.code
    beside = file.with_name(f"{file.name}.{uuid4().hex}")
    try:
        make_folder(file.parent)
        make_file(beside).write_bytes(sha256(sources + content).digest() + content)
        beside.replace(file)
    except (OSError, StorageError):
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        return False
    return True


@cache
def _sources(file: str) -> bytes:
    """Return the digest of a loop's file and of all here: one loop may call another."""
    return sha256(b"".join(path.read_bytes() for path in [Path(file), *sorted(HERE.glob("*.py"))])).digest()


@cache
def _numba() -> bytes:
    """Return the file that tells numba's versions apart; importing it would take longer than linking."""
    spec = find_spec("numba")
    return b"" if spec is None or spec.origin is None else Path(spec.origin).with_name("_version.py").read_bytes()


@cache
def _host() -> tuple[str, str, str]:
    """Return for what processor code is made."""
    return llvm.get_default_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def _machine() -> llvm.TargetMachine:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    triple, processor, features = _host()
    return llvm.Target.from_triple(triple).create_target_machine(
        cpu=processor, features=features, opt=3, codemodel="jitdefault", jit=True
    )


def _build(function: FunctionType, kinds: Kinds) -> ObjectCode:
    """Compile by numba: seconds."""
    from numba import from_dtype, types
    from numba.np.numpy_support import as_dtype

    def kind(data_type: str, dimensions: int) -> Any:
        scalar = from_dtype(np.dtype(data_type))
        return types.Array(scalar, dimensions, "C") if dimensions else scalar

    compiled = _numba_function(function)
    compiled.compile(tuple(kind(*one) for one in kinds))
    ((signature, overload),) = compiled.overloads.items()
    module = llvm.parse_assembly(compiled.inspect_llvm(signature))
    foreign = [one.name for one in module.functions if one.is_declaration and one.name.startswith(FOREIGN)]
    if unknown := set(foreign) - {one.name for one in llvm.parse_assembly(RUNTIME).functions}:
        raise TypeError(f"{function.__name__} calls {', '.join(sorted(unknown))}, which only numba's runtime has")
    result = overload.signature.return_type
    results: Any = result if isinstance(result, types.BaseTuple) else () if result is types.none else (result,)
    returns = [
        (as_dtype(one.dtype).str, one.ndim) if isinstance(one, types.Array) else (as_dtype(one).str, 0)
        for one in results
    ]
    return ObjectCode(overload.fndesc.llvm_func_name, returns, _machine().emit_object(module))


def _numba_function(function: FunctionType) -> Any:
    """Return numba's dispatcher of a function, whose own loops are numba's too."""
    from numba import njit

    used = {name: function.__globals__[name] for name in function.__code__.co_names if name in function.__globals__}
    inner = {name: _numba_function(one.function) for name, one in used.items() if hasattr(one, "function")}
    scope = {**function.__globals__, **inner}
    copy = FunctionType(function.__code__, scope, function.__name__, function.__defaults__)
    without: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # they need numba's runtime
    return njit(nogil=True, error_model="numpy", **without)(copy)


@cache
def _engine() -> llvm.ExecutionEngine:
    """Return the process's one linker, with the runtime linked."""
    machine = _machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(RUNTIME), machine)
    engine.finalize_object()
    return engine


def link(made: ObjectCode) -> tuple[int, int]:
    """Return the addresses of the function, and of the one that frees the memory of an array it returns."""
    engine = _engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(made.code))
    engine.finalize_object()
    return int(engine.get_function_address(made.symbol)), int(engine.get_function_address("NRT_MemInfo_call_dtor"))
