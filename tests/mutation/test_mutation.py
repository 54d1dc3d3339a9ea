"""The faults that are put into programs, and that they reach everything that holds the function."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.mutation.__main__ import keep, sample_of, survivors_of
from tests.mutation.operators import mutants
from tests.mutation.swap import put

CHANGES = [
    ("a < b", ["a < b → a <= b", "a < b → a >= b"]),
    ("a is None", ["a is None → a is not None"]),
    ("a + b", ["a + b → a - b"]),
    ("not a", ["not a → a"]),
    ("a and b", ["a and b → a or b"]),
    ("a * 2", ["a * 2 → a / 2", "a * 2 → a * 3", "a * 2 → a * 1"]),
    ("min(a, b)", ["min(a, b) → max(a, b)"]),
    ("np.minimum(a, b)", ["np.minimum(a, b) → np.maximum(a, b)"]),
    ("a[:b]", [":b → :b - 1"]),
    ("b if a else c", ["b if a else c → b if not a else c"]),
    ("f(True)", ["f(True) → f(False)"]),
    ("zip(a, strict=True)", []),
    ("'text'", []),
]


@pytest.mark.parametrize(("expression", "changes"), CHANGES, ids=[row[0] for row in CHANGES])
def test_the_faults_of_an_expression(expression: str, changes: list[str], tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(f'def f(a: int = 1 | 2) -> "None":\n    """1 + 1."""\n    assert a > 1\n    return {expression}\n')
    found = [mutant.change for mutant in mutants(file) if mutant.line == 4]
    assert found == [f"return {expression} → return None", *changes]


def test_a_mutant_reaches_what_holds_the_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "module.py"
    file.write_text(
        "from functools import cache\nLIMIT = 3\nNAMED = {'b': 6}\n@cache\ndef f(a, more=1):\n    return a + more\n"
        "class C:\n    @property\n    def p(self):\n        return LIMIT * 2\n"
        "    def q(self):\n        return NAMED['b']\n"
    )
    spec = importlib.util.spec_from_file_location("metrics.mutated", file)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "metrics.mutated", module)
    spec.loader.exec_module(module)
    held, one = module.f, module.C()
    by_change = {mutant.change: mutant for mutant in mutants(file)}
    assert (held(2), one.p) == (3, 6)
    held.cache_clear()
    put(by_change["1 → 2"])
    assert held(2) == 4
    put(by_change["LIMIT * 2 → LIMIT / 2"])
    assert one.p == 1.5
    put(by_change["3 → 4"])
    assert one.p == 8
    put(by_change["{'b': 6} → {'b': 7}"])
    assert one.q() == 7


def test_a_mutant_of_a_compiled_loop_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    from metrics.vision.compiled import jit, sorting

    loop = sorting.sort_by_code
    values = np.array([1, 0, 1], np.int32)
    order = np.arange(3, dtype=np.int32)
    assert loop(order, values, 2).tolist() == [1, 0, 2]
    code, kept = loop.function.__code__, jit.object_code
    fault = next(
        one for one in mutants(Path(sorting.__file__)) if one.function == "sort_by_code" and "return" in one.change
    )
    try:
        put(fault)
        assert loop(order, values, 2) is None
    finally:
        loop.function.__code__, jit.object_code = code, kept
        loop.codes.clear()


def test_survivors_are_tried_again() -> None:
    killed, *survived = sample_of("metrics/analysis/trend.py", 3, 1)
    output = "".join(f"survived {one}\n" for one in survived) + f"killed   {killed}\n"
    assert set(survivors_of("metrics/analysis/trend.py", output)) == set(survived)


def test_samples_and_figures(tmp_path: Path) -> None:
    one, again, other = (sample_of("metrics/stats", 5, seed) for seed in (1, 1, 2))
    assert one == again != other
    file = tmp_path / "figures.json"
    for package, killed in (("b", 1), ("a", 2), ("b", 3)):
        keep({"package": package, "killed": killed}, file)
    assert file.read_text() == '[\n{"package": "a", "killed": 2},\n{"package": "b", "killed": 3}\n]\n'
