"""Verdicts, ranks, orders and numbers do not depend on the processor: the same data by several kernels of OpenBLAS, by
numpy and numba with and without wide instructions, with one and two threads, by every supported Python, and by the
oldest packages that are allowed.
"""

import json
import math
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import pytest

from tests.processors.environments import NEWEST, OWN, SUPPORTED, made_environments

PROJECT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="OpenBLAS's kernels of x86")

FORMULAS = ("formulas", "matches", "loops")
SCENES = (*FORMULAS, "texts", "others")
# a kernel that the processor cannot run ends the process: OpenBLAS does what it is told
HAS = llvm.get_host_cpu_features()
WIDE, MIDDLE = (all(HAS.get(one) for one in needed) for needed in (("avx512dq", "avx512vl"), ("avx2", "fma")))
NARROW = {"NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F AVX512CD AVX512_SKX"}
# kernel, threads, other variables, scenes; all scenes by the widest kernel there is and by the narrowest
SETTINGS: dict[str, tuple[str, int, dict[str, str], tuple[str, ...]]] = {
    **({"SkylakeX": ("SkylakeX", 2, {}, SCENES)} if WIDE else {}),
    **(
        {"Haswell": ("Haswell", 2, {}, FORMULAS if WIDE else SCENES), "Zen": ("Zen", 1, {}, FORMULAS)} if MIDDLE else {}
    ),
    "Nehalem": ("Nehalem", 1, NARROW, SCENES),
    "numba without AVX": ("Nehalem", 2, NARROW | {"NUMBA_ENABLE_AVX": "0"}, ("loops",)),
}
KERNELS = [name for name in SETTINGS if name != "numba without AVX"]
MADE = made_environments()
# each environment on another kernel; on each of them by `make test-long`
PLACES = {
    f"{name} on {kernel}": (name, kernel)
    for place, name in enumerate((*SUPPORTED, "lowest", NEWEST)) if name != OWN
    for kernel in (KERNELS if os.environ.get("HYPOTHESIS_PROFILE") == "long" else [KERNELS[place % len(KERNELS)]])
}  # fmt: skip
SETTINGS |= {title: (kernel, 2, {}, SCENES) for title, (name, kernel) in PLACES.items() if name in MADE}
FIRST = KERNELS[0]
OTHERS = [name for name in dict.fromkeys((*SETTINGS, *PLACES)) if name != FIRST]
TOLERANCE = 1e-9  # relative

Found = dict[str, Any]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Found]:
    """What each setting gives, two processes at a time."""
    waiting, running, found = list(SETTINGS), [], {}
    try:
        while waiting or running:
            if waiting and len(running) < 2:
                name = waiting.pop(0)
                running.append((name, started(name, tmp_path_factory.mktemp("processors"))))
                continue
            name, process = running.pop(0)
            text, _ = process.communicate()
            assert process.returncode == 0, f"{name} ended with {process.returncode}"
            found[name] = json.loads(text)
    finally:
        for _, process in running:
            process.kill()
            process.communicate()
    return found


def started(name: str, folder: Path) -> "subprocess.Popen[bytes]":
    kernel, threads, more, scenes = SETTINGS[name]
    count = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"), str(threads))
    given = os.environ | count | more | {"OPENBLAS_CORETYPE": kernel, "ASSAY_WORKSPACE": str(folder / "workspace")}
    if "NUMBA_ENABLE_AVX" in more:  # code that was compiled otherwise is not shared
        given["NUMBA_CACHE_DIR"] = str(folder)
    python = sys.executable
    if name in PLACES:
        python = str(MADE[PLACES[name][0]])
        given["NUMBA_CACHE_DIR"] = str(Path(python).parents[1] / "compiled")
    command = [python, "-W", "error::RuntimeWarning", "-m", "tests.processors.scene", *scenes]
    return subprocess.Popen(command, cwd=PROJECT, env=given, stdout=subprocess.PIPE)


@pytest.mark.parametrize("name", OTHERS)
def test_another_processor_says_the_same(results: dict[str, Found], name: str) -> None:
    if name not in SETTINGS:
        pytest.skip("`make pythons` makes it, where there is such a Python")
    scenes = SETTINGS[name][3]
    first, other = (
        {path: value for path, value in found["said"].items() if path.startswith(scenes)}
        for found in (results[FIRST], results[name])
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


def test_the_kernels_are_different_ones(results: dict[str, Found]) -> None:
    assert len({found["kernel"] for found in results.values()}) >= 1 + WIDE + MIDDLE
