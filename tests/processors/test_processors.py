"""Verdicts, ranks, orders and numbers do not depend on the processor: the same data by several kernels of OpenBLAS, by
numpy and numba with and without wide instructions, with one and two threads.
"""

import json
import math
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).parents[2]
FORMULAS = ("formulas", "matches", "loops")
SCENES = (*FORMULAS, "texts", "others")
NARROW = {"NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F AVX512CD AVX512_SKX", "NUMBA_ENABLE_AVX": "0"}
# kernel, threads, other variables, scenes; OpenBLAS takes the nearest kernel that the processor has
SETTINGS: dict[str, tuple[str, int, dict[str, str], tuple[str, ...]]] = {
    "SkylakeX": ("SkylakeX", 2, {}, SCENES),
    "Nehalem": ("Nehalem", 1, {"NPY_DISABLE_CPU_FEATURES": NARROW["NPY_DISABLE_CPU_FEATURES"]}, SCENES),
    "Haswell": ("Haswell", 1, {}, FORMULAS),
    "Zen": ("Zen", 2, {}, FORMULAS),
    "numba without AVX": ("Nehalem", 1, NARROW, ("loops",)),
}
TOLERANCE = 1e-9  # relative

Found = dict[str, Any]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Found]:
    """What each setting gives, two processes at a time."""
    waiting, running, found = list(SETTINGS), [], {}
    while waiting or running:
        if waiting and len(running) < 2:
            name = waiting.pop(0)
            running.append((name, started(name, tmp_path_factory.mktemp("processors"))))
            continue
        name, process = running.pop(0)
        text, _ = process.communicate()
        assert process.returncode == 0, f"{name} ended with {process.returncode}"
        found[name] = json.loads(text)
    return found


def started(name: str, folder: Path) -> "subprocess.Popen[bytes]":
    kernel, threads, more, scenes = SETTINGS[name]
    count = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"), str(threads))
    given = os.environ | count | more | {"OPENBLAS_CORETYPE": kernel, "ASSAY_WORKSPACE": str(folder / "workspace")}
    if "NUMBA_ENABLE_AVX" in more:  # code that was compiled otherwise is not shared
        given["NUMBA_CACHE_DIR"] = str(folder)
    command = [sys.executable, "-W", "error::RuntimeWarning", "-m", "tests.processors.scene", *scenes]
    return subprocess.Popen(command, cwd=PROJECT, env=given, stdout=subprocess.PIPE)


@pytest.mark.parametrize("name", [*SETTINGS][1:])
def test_another_processor_says_the_same(results: dict[str, Found], name: str) -> None:
    scenes = SETTINGS[name][3]
    first, other = (
        {path: value for path, value in found["said"].items() if path.startswith(scenes)}
        for found in (results["SkylakeX"], results[name])
    )
    assert len(first) > 100
    assert [*first] == [*other]
    apart = [f"{path}: {value!r}, {other[path]!r}" for path, value in first.items() if not same(value, other[path])]
    assert apart == []


def same(one: Any, other: Any) -> bool:
    """Return whether two results are equal, or numbers that differ by no more than TOLERANCE."""
    if isinstance(one, float) and isinstance(other, float):
        both_none = math.isnan(one) and math.isnan(other)
        return both_none or math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE * 1e-3)
    return type(one) is type(other) and one == other


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the kernels are those of x86 processors")
def test_the_kernels_are_different_ones(results: dict[str, Found]) -> None:
    assert len({found["kernel"] for found in results.values()}) >= 2
