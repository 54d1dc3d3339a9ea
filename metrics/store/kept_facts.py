"""What is computed of a sealed run once and kept beside it, so that the first visit of a page computes nothing again.

A kept file carries a signature of this user (see store.origin) over its result and all that this follows from: the
seal, function and arguments, the metrics with the thresholds in force, the source of Assay. No archive and no other
writer of the workspace can make one. What does not fit is computed again, and written where the workspace can be.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, get_type_hints

from pydantic import TypeAdapter, ValidationError

from metrics.core.errors import AssayError
from metrics.core.files import is_half_made, list_paths, write_text
from metrics.core.source_version import source_version
from metrics.store.manifest import content_digest
from metrics.store.origin import sign, signed_text
from metrics.store.run import Run, cache_by_run

P = ParamSpec("P")
T = TypeVar("T")
MIN_ROWS = 100_000  # of a run's tables, from which on it takes longer to compute than to read what is kept
MAX_FILES = 2_000  # of a run: enough for every pair of 60 models
PAIRS = ""  # the key that marks a mapping whose keys are no texts, as a list of pairs


def keep_by_run(maxsize: int, reads: Sequence[str] = ("scores",)) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Keep the results of a function of sealed runs beside the run, and the `maxsize` latest ones in this process.

    Its arguments are runs and plain values, its result is of the type that it declares: of dataclasses, mappings,
    tuples, numbers, texts. `reads`: the tables and inputs that it reads; a damaged one is told although nothing of it
    is read again. What it rests on beside the run must be among its arguments.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @cache  # on first use: what it declares may not be defined yet
        def result_type() -> TypeAdapter[T]:
            return TypeAdapter(get_type_hints(function)["return"])

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            asked = [*args, *kwargs.values()]
            runs = [one for one in asked if isinstance(one, Run)]
            name = f"{function.__module__}.{function.__qualname__}"
            place = content_digest([name, *(one.id if isinstance(one, Run) else one for one in asked)])[:16]
            path = runs[0].kept_path(f"{function.__name__}-{place}.json") if all(map(is_kept, runs)) else None
            if path is None:
                return function(*args, **kwargs)
            for run in dict.fromkeys(runs):
                for table in reads:
                    run.stored(table)
            of = content_digest([name, *(_basis(one) if isinstance(one, Run) else one for one in asked)])
            with suppress(OSError, ValueError, ValidationError):
                first, _, text = signed_text(path).partition("\n")
                if first == of:
                    return _read(result_type(), text)
            text = _written(result_type(), function(*args, **kwargs))
            with suppress(AssayError, OSError):  # a disk that is full, or may only be read
                if path.exists() or len(list_paths(path.parent, "*.json")) < MAX_FILES:
                    write_text(path, sign(f"{of}\n{text}"))
            return _read(result_type(), text)  # so that it is the same whether it was kept or not

        return cache_by_run(maxsize)(call)

    return decorate


def damaged_facts(run: Run) -> Iterator[Path]:
    """Yield the kept files of a run that nobody here wrote so: they are not believed, and computed again."""
    every = run.kept_path("*.json")
    for path in list_paths(every.parent, every.name) if every else ():
        try:
            signed_text(path)
        except (OSError, ValueError):
            if not is_half_made(path.name):
                yield path


def is_kept(run: Run) -> bool:
    """Return whether a run is so large that what is computed of it is kept."""
    tables = (run.manifest or {"tables": {}})["tables"].values()
    return sum(table.get("rows") or 0 for table in tables) >= MIN_ROWS  # seals of earlier versions may not say


def _basis(run: Run) -> list[Any]:
    """Return what tells whether something kept of a run still holds."""
    metrics = {id: repr(entry.metrics) for id in run.evaluators if (entry := run.evaluator(id)) is not None}
    return [run.seal_digest, run.given_thresholds, metrics, source_version()]


def _written(of: TypeAdapter[T], value: T) -> str:
    return json.dumps(_plain(of.dump_python(value, warnings="error")), separators=(",", ":"))


def _read(of: TypeAdapter[T], text: str) -> T:
    return of.validate_python(json.loads(text, object_hook=_mapping))


def _plain(value: Any) -> Any:
    """Return plain data with every mapping whose keys are no texts as one of PAIRS."""
    if isinstance(value, Mapping):
        pairs = [(key, _plain(own)) for key, own in value.items()]
        has_texts = all(isinstance(key, str) and key != PAIRS for key, _ in pairs)
        return dict(pairs) if has_texts else {PAIRS: [(_plain(key), own) for key, own in pairs]}
    if isinstance(value, set | frozenset):
        return sorted(map(_plain, value), key=repr)
    return list(map(_plain, value)) if isinstance(value, list | tuple) else value


def _mapping(read: dict[str, Any]) -> dict[Any, Any]:
    """Return a mapping as `_plain` had it before."""
    return {_key(key): own for key, own in read[PAIRS]} if [*read] == [PAIRS] else read


def _key(read: Any) -> Any:
    return tuple(map(_key, read)) if isinstance(read, list) else read
