"""Every number that is kept of a run is the one that is computed: before, after a loss, after a flipped bit."""

import importlib
import json
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any, get_type_hints

import numpy as np
import pytest
from pydantic import TypeAdapter

import metrics.analysis
import metrics.reports
from metrics.reports.keep import keep_facts
from metrics.store import Run, Workspace, kept_facts
from tests.analysis.scored import scored_run

ARGUMENTS: dict[str, tuple[Any, ...]] = {  # of every function that is kept, after the run
    "ranks": (), "no_means": (), "resources": (), "resource_ranks": (), "metrics_by_case": (), "blank_answers": (),
    "distributions": ("rouge", "rougeL", ("a", "b", "c")), "head_to_head": ("rouge", "rougeL"),
    "_compared": ("a", Run, "b", None), "scored_metric": ("rouge", "rougeL"), "_failing_from": ("rouge", "rougeL", ()),
    "_worst_rows": ((("rouge", "rougeL"),), ("a", "b"), ((),)),
    "_hardest_case": ("rouge", "rougeL", 0.5, False), "_checks_passed": (), "_empty_answers": (),
    "find_slices": ("a", "rouge", "rougeL"), "slice_values": ("a", "rouge", "rougeL"),
}  # fmt: skip


def kept_functions() -> Iterator[Callable[..., Any]]:
    """Yield every function of the findings and reports that is kept."""
    for package in (metrics.analysis, metrics.reports):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            module = importlib.import_module(found.name)
            for one in vars(module).values():
                inner = getattr(one, "__wrapped__", None)
                if getattr(one, "__module__", "") == module.__name__ and getattr(inner, "__wrapped__", None):
                    yield one


FUNCTIONS = {one.__name__: one for one in kept_functions()}


def random_run(seed: int, cases: int, places: tuple[int, ...]) -> Run:
    """A run of three models with random values, some of them missing, and what their answers took."""
    rng = np.random.default_rng(seed)

    def values() -> list[float | None]:
        drawn = rng.choice([0.0, 0.1, 0.1 + 0.2, 0.5, 1.0, np.nan], size=cases, p=[0.1, 0.2, 0.2, 0.2, 0.2, 0.1])
        return [None if np.isnan(one) else float(one) for one in drawn]

    given = {f"{name}": {model: values() for model in "abc"} for name in ("rouge.rougeL", "bleu.bleu4")}
    took = {model: {"duration_s": [None if one is None else 1 + one for one in values()]} for model in "abc"}
    design = {"weight": [1.0 + (place % 2) for place in range(cases)]} if 0 in places else None
    return scored_run(given, resources=took, design=design)


def test_every_kept_function_is_held_to_the_law() -> None:
    assert FUNCTIONS.keys() == ARGUMENTS.keys()


@pytest.mark.parametrize(("seed", "cases", "places"), [(0, 3, ()), (1, 41, ()), (2, 41, (0,))])
def test_what_is_kept_is_what_is_computed(
    monkeypatch: pytest.MonkeyPatch, seed: int, cases: int, places: tuple[int, ...]
) -> None:
    monkeypatch.setattr(kept_facts, "MIN_ROWS", 10**9)
    run = random_run(seed, cases, places)
    for name, function in FUNCTIONS.items():
        arguments = [run if one is Run else one for one in ARGUMENTS[name]]
        kept, computed = function.__wrapped__, function.__wrapped__.__wrapped__
        monkeypatch.setattr(kept_facts, "MIN_ROWS", 0)
        before = {*(run.folder / "kept").glob("*")}
        expected = computed(run, *arguments)
        looks = [kept(run, *arguments), kept(run, *arguments)]
        for path in {*(run.folder / "kept").glob("*")} - before:
            content = bytearray(path.read_bytes())
            content[(seed * 7919) % len(content)] ^= 1 << seed % 8
            path.write_bytes(content)
            looks.append(kept(run, *arguments))
            path.unlink()
            looks.append(kept(run, *arguments))
        assert len(looks) > 2, name
        of: TypeAdapter[Any] = TypeAdapter(get_type_hints(computed)["return"])
        assert {_normal(of, look) for look in looks} == {_normal(of, expected)}, name


def _normal(of: TypeAdapter[Any], value: Any) -> str:
    """Return a result as text, 2 and 2.0 alike, sets in order."""
    return repr(json.loads(kept_facts._written(of, value), parse_int=float))


def test_a_finished_run_has_what_its_report_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    run = random_run(1, 12, ())
    keep_facts(run)
    assert not (run.folder / "kept").exists()  # it is small
    monkeypatch.setattr(kept_facts, "MIN_ROWS", 0)
    other = random_run(2, 12, ())
    keep_facts(other)
    names = {path.name.rpartition("-")[0] for path in (other.folder / "kept").iterdir()}
    assert {"ranks", "_compared", "find_slices", "slice_values"} <= names


def test_nothing_fails_where_it_cannot_be_computed(monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    monkeypatch.setattr(kept_facts, "MIN_ROWS", 0)
    run = random_run(3, 12, ())
    for path in (run.folder / "tables").iterdir():
        path.write_bytes(b"")
    keep_facts(run)
    assert "not computed beforehand" in caplog.text
    assert Workspace().run(run.id).state == "finished"
