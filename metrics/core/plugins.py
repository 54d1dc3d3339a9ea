"""Evaluators from outside: a module's, a file's, a notebook's, and how another process gets the same one.

A reference is `module:object` or `path/to/file.py:object`. A Recipe loads the evaluator again elsewhere: by importing
its module, by running its file, or, where it was defined in a script or a notebook, from its pickled code. Loading
executes code, so nothing here does it on reading a run: only a command, a call or a start by its owner does.
"""

import hashlib
import importlib
import importlib.util
import inspect
import pickle
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from importlib.machinery import SourceFileLoader
from importlib.metadata import EntryPoint, PackageNotFoundError, packages_distributions, version
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from metrics.core.errors import InputError, InputProblem, describe_failure
from metrics.core.evaluator import Evaluator
from metrics.core.files import bytes_of

GROUP = "assay.evaluators"  # of entry points; the name of each is its evaluator's id
PLUGIN_FORMS = "MODULE:OBJECT or FILE.py:OBJECT, an evaluator made by @evaluator"
FILES = "assay_plugin_"  # the names of modules that are files start with this


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a process gets an evaluator: the attribute `object` of a `module` or of a `file`, or pickled `code`.

    `path` is the entry of sys.path under which imports are found; `python` the version that can read the code.
    """

    object: str
    module: str = ""
    file: str = ""
    code: str = ""
    path: str = ""
    python: str = ""

    @property
    def reference(self) -> str:
        """The reference in words; of a file only its name, as runs are passed on and folders are private."""
        return f"{Path(self.file).name if self.file else self.module}:{self.object}"


@dataclass(frozen=True, slots=True)
class Plugin:
    """An evaluator from outside, with what identifies it: its package, if it has one, and the sha256 of its source."""

    evaluator: Evaluator
    recipe: Recipe
    source: str
    package: str = ""
    package_version: str = ""

    @property
    def facts(self) -> dict[str, str]:
        """What a run's specification says about where the evaluator comes from."""
        own = {"package": self.package, "package_version": self.package_version, "source": self.source}
        return {"reference": self.recipe.reference, **own}


def plugin_of(entry: Evaluator) -> Plugin:
    """Return the plugin of an evaluator that this process has defined or imported. InputError where it cannot travel.

    It is imported by name where its module can be; what a script, a notebook or a function defines travels as code.
    """
    module = sys.modules.get(entry.function.__module__)
    name = next((name for name, value in vars(module).items() if value is entry), None) if module else None
    file = getattr(module, "__file__", None)
    if module is None or name is None or file is None or module.__name__ == "__main__":
        return _pickled(entry, module)
    if module.__name__.startswith(FILES):
        return _identified(entry, Recipe(name, file=file, path=str(Path(file).parent)))
    parts = module.__name__.split(".")
    place = Path(file).resolve().with_suffix("")
    place = place.parent if place.name == "__init__" else place
    if list(place.parts[-len(parts) :]) != parts:
        return _pickled(entry, module)
    return _identified(entry, Recipe(name, module=module.__name__, path=str(place.parents[len(parts) - 1])))


def load_reference(reference: str, folder: Path, said: str = "--plugin") -> Plugin:
    """Return the evaluator that a reference names, of a file in `folder` or a module found from there.

    Raises InputError (of the option or file `said`) on another form, a module or file that cannot be loaded, and
    where the object is no evaluator.
    """
    name, colon, attribute = reference.rpartition(":")
    if not colon or not name or not attribute:
        raise InputError([InputProblem(said, repr(reference), PLUGIN_FORMS)])
    path = str(folder.resolve())
    if name.endswith(".py"):
        file = (folder / name).resolve()
        recipe = Recipe(attribute, file=str(file), path=str(file.parent))
    else:
        recipe = Recipe(attribute, module=name, path=path)
    entry = _loaded(recipe, said)
    module = sys.modules.get(name)
    if module is not None and recipe.module and not _within(module, path):
        return _identified(entry, replace(recipe, path=""))  # installed, not the folder's
    return _identified(entry, recipe)


def load_entry_point(point: EntryPoint) -> Plugin:
    """Return the evaluator of an entry point, whose name is its id. InputError as of `load_reference`."""
    said = f"entry point {point.name} of {point.dist.name if point.dist else 'a package'}"
    plugin = load_reference(point.value, Path(), said)
    if plugin.evaluator.id != point.name:
        raise InputError([InputProblem(said, f"an evaluator with the id {plugin.evaluator.id!r}", "the entry's name")])
    path = str(point.dist.locate_file("")) if point.dist else ""
    own = (point.dist.name, point.dist.version) if point.dist else (plugin.package, plugin.package_version)
    return replace(plugin, recipe=replace(plugin.recipe, path=path), package=own[0], package_version=own[1])


def load_recipe(recipe: Recipe, facts: dict[str, str]) -> Plugin:
    """Return the plugin that another process has described; `facts` are those of its Plugin.facts. Raises InputError.

    Its source is that of the loaded module or file now, which may differ from that of the facts.
    """
    entry = _loaded(recipe, f"evaluator plugin {recipe.reference}")
    if recipe.code:
        return Plugin(entry, recipe, facts["source"])
    found = _identified(entry, recipe)
    return replace(found, package=facts["package"], package_version=found.package_version or facts["package_version"])


def _loaded(recipe: Recipe, said: str) -> Evaluator:
    if recipe.path and recipe.path not in sys.path:
        sys.path.append(recipe.path)  # last: a plugin's folder must not hide what is installed
    try:
        if recipe.code:
            if recipe.python != _python():
                expected = f"Python {recipe.python}, in which the script or notebook ran; or evaluate again"
                raise InputError([InputProblem(said, f"Python {_python()}", expected)])
            found = pickle.loads(bytes.fromhex(recipe.code))  # noqa: S301 - of the owner; see engine.run_plugins
        else:
            module = file_module(Path(recipe.file)) if recipe.file else importlib.import_module(recipe.module)
            found = reduce(getattr, recipe.object.split("."), module)
    except InputError:
        raise
    except Exception as failure:
        told = f"{recipe.reference} cannot be loaded: {describe_failure(failure)}"
        raise InputError([InputProblem(said, told, PLUGIN_FORMS)]) from failure
    if not isinstance(found, Evaluator):
        raise InputError([InputProblem(said, f"{recipe.reference}, {type(found).__name__}", PLUGIN_FORMS)])
    return found


class _CurrentSource(SourceFileLoader):
    """Loads a file as it is now; bytecode of an earlier version of the same second and size is not taken for it."""

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002 - the base's
        return self.source_to_code(self.get_data(self.path), self.path)


def file_module(file: Path) -> ModuleType:
    """Return the module of a file, executed once as long as the file does not change."""
    content = bytes_of(file)
    name = f"{FILES}{file.stem}_{hashlib.sha256(bytes(file) + content).hexdigest()[:12]}"
    if name not in sys.modules:
        loader = _CurrentSource(name, str(file))
        spec = importlib.util.spec_from_file_location(name, file, loader=loader)
        assert spec is not None  # it has a loader
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]


def _identified(entry: Evaluator, recipe: Recipe) -> Plugin:
    package, number = _distribution(recipe.module.partition(".")[0]) if recipe.module else ("", "")
    return Plugin(entry, recipe, source_sha256(entry), package, number)


def _distribution(top: str) -> tuple[str, str]:
    """Return name and version of the installed package that has a top-level module; empty without one."""
    for name in packages_distributions().get(top, ()):
        try:
            return name, version(name)
        except PackageNotFoundError:
            continue
    return "", ""


def _pickled(entry: Evaluator, module: ModuleType | None) -> Plugin:
    import cloudpickle

    by_value = module is not None and module.__name__ != "__main__"
    if by_value:
        cloudpickle.register_pickle_by_value(module)
    try:
        code: bytes = cloudpickle.dumps(entry)
    except Exception as failure:
        told = f"{entry.id}, which cannot be passed on: {describe_failure(failure)}"
        expected = "a function that uses only what can be pickled; or put it in a file and name it FILE.py:OBJECT"
        raise InputError([InputProblem("evaluators", told, expected)]) from failure
    finally:
        if by_value:
            cloudpickle.unregister_pickle_by_value(module)
    file = getattr(module, "__file__", None)
    path = str(Path(file).resolve().parent if file else Path.cwd())
    name = f"{entry.function.__module__}:{entry.function.__qualname__}"
    recipe = Recipe(name.partition(":")[2], name.partition(":")[0], code=code.hex(), path=path, python=_python())
    return Plugin(entry, recipe, source_sha256(entry))


def _within(module: ModuleType, folder: str) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and Path(file).resolve().is_relative_to(folder)


def _python() -> str:
    return ".".join(platform.python_version_tuple()[:2])


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
