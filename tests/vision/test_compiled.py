"""The compiled loops: sorts against numpy, one compilation for every use, no folder to cache in."""

import gc
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from metrics.vision.compiled import jit, ranked, sorting

PROJECT = Path(__file__).parents[2]
NUMBERS = st.lists(st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([0.0, -0.0, 0.5, 1.0])))


@given(NUMBERS)
def test_scores_sort_as_numpy_sorts_them(scores):
    values = np.array(scores, np.float64)
    order = sorting.sort_by_score(np.arange(len(values), dtype=np.int32), values)
    assert np.array_equal(order, np.argsort(-values, kind="stable"))


@given(st.lists(st.integers(0, 6)))
def test_codes_sort_as_numpy_sorts_them(codes):
    values = np.array(codes, np.int32)
    order = sorting.sort_by_code(np.arange(len(values), dtype=np.int32), values, 7)
    assert np.array_equal(order, np.argsort(values, kind="stable"))


USE_EVERY_LOOP = """
import pyarrow as pa
from dataclasses import replace
from numba.core.dispatcher import Dispatcher
from metrics.core.registry import evaluators
from metrics.vision.compiled import box_matching, coco_records, curves, keypoint_pairs, label_map_counts
from metrics.vision.compiled import mask_bands, mask_runs, outcome_codes, ranked, sorting
from metrics.vision.warm_up import warm_up
from tests.evaluators.detected import outputs_of, suite_of

LOOPS = [
    loop
    for part in (
        coco_records, curves, mask_runs, box_matching, outcome_codes, ranked, label_map_counts, sorting, keypoint_pairs,
        mask_bands,
    )
    for loop in vars(part).values()
    if isinstance(loop, Dispatcher)
]


def compiled():
    return {loop.py_func.__name__: len(loop.signatures) for loop in LOOPS}


def run(name, suite, **parameters):
    entry = evaluators()[name]
    entry(suite, outputs, entry.parameters(resamples=10, **parameters))


warm_up()
before = compiled()
suite = suite_of(("a", "cat", 0, 0, 9, 9), ("b", "dog", 0, 0, 9, 9))
outputs = outputs_of(("a", "cat", 0, 0, 9, 9, 0.5), ("b", "dog", 0, 5, 9, 9, 0.5), ("a", "dog", 0, 0, 9, 9, 0.5))
for name in (
    "average_precision", "average_recall", "coco_summary", "detection_pr_curve", "detection_pr_curve_detailed",
    "detection_confusion", "error_breakdown", "keypoint_summary",
):
    run(name, suite)
sides = pa.array([20, 20, 20], pa.int32())
cases = suite.cases.drop(["image_width", "image_height"])
sized = replace(suite, cases=cases.append_column("image_width", sides).append_column("image_height", sides))
run("coco_summary", sized, geometry="mask")
run("segmentation_iou", sized, distances=True)
run("panoptic_quality", sized)
run("boundary_ap", sized)
for name in ("voc_ap", "open_images_ap", "lvis_summary"):
    run(name, suite)
assert compiled() == before, (before, compiled())
assert {count for name, count in before.items() if name[0] != "_"} <= {1}, before  # others are called by loops
"""


def test_the_warm_up_compiles_all_that_is_used():
    """In a process of its own: other tests call the loops with other types."""
    subprocess.run([sys.executable, "-c", USE_EVERY_LOOP], check=True, cwd=PROJECT)


LOOP = """
import numpy as np
from metrics.vision.compiled import sorting
assert sorting.sort_by_code(np.array([0, 1], np.int32), np.array([1, 0], np.int32), 2).tolist() == [1, 0]
print(sum(sorting.sort_by_code.stats.cache_misses.values()), sorting.sort_by_code.stats.cache_path)
"""


def compiles(**variables):
    """Return how many loops a fresh process with these variables compiles, and the folder of their code."""
    given = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ} | variables
    done = subprocess.run([sys.executable, "-c", LOOP], check=True, cwd=PROJECT, env=given, capture_output=True)
    count, folder = done.stdout.decode().split()
    return int(count), Path(folder)


def test_a_second_process_compiles_nothing(tmp_path):
    own = {"XDG_CACHE_HOME": str(tmp_path)}
    count, folder = compiles(**own)
    assert (count, folder.parent) == (1, tmp_path / "assay" / "compiled")
    assert compiles(**own) == (0, folder)
    for kept in folder.iterdir():  # damaged files are built again
        kept.write_bytes(kept.read_bytes()[:-9])
        assert compiles(**own) == (1, folder)
        assert compiles(**own) == (0, folder)
    assert compiles(NUMBA_CACHE_DIR=str(folder.parent)) == (0, folder)


def test_without_a_cache_code_is_kept_with_temporary_files(tmp_path):
    (tmp_path / "file").touch()
    own = {"XDG_CACHE_HOME": str(tmp_path / "file"), "TMPDIR": str(tmp_path)}
    assert compiles(**own) == (1, folder := compiles(**own)[1])
    assert folder.parent == tmp_path / f"assay-{os.getuid()}"
    assert compiles(**own) == (0, folder)


@pytest.mark.parametrize(("owner", "mode"), [(0, 0o777), (0, 0o720), (12_345, 0o700)])
def test_code_is_not_loaded_from_a_folder_that_others_can_write_to(tmp_path, monkeypatch, owner, mode):
    folder = tmp_path / "assay" / "compiled"
    folder.mkdir(parents=True)
    folder.chmod(mode)
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "file").touch()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file"))
    monkeypatch.setattr(jit, "ROOT", -1)
    user = os.getuid() + owner
    monkeypatch.setattr(os, "getuid", lambda: user)
    with pytest.raises(FileNotFoundError):
        jit._folder.__wrapped__()


def test_nothing_is_kept_beside_the_source(monkeypatch):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    assert not [folder for folder in jit._own_folders() if folder.is_relative_to(PROJECT)]


@jit.compiled
def _doubled(value):
    return 2 * value


@jit.compiled
def every_result(values, size, factor):
    """Arrays in one and two dimensions, one of them part of a larger one, and a number; through a loop."""
    made = np.empty((size, 2), np.float64)
    for i in range(size):
        made[i, 0], made[i, 1] = factor, _doubled(values[i])
    return made[1:, :1], values[1:].copy(), _doubled(size)


def test_a_loop_is_what_its_function_is():
    values = np.array([1, 2, 3], np.int32)
    found, plain = every_result(values, 3, 0.5), every_result.py_func(values, 3, 0.5)
    assert [np.asarray(one).dtype for one in found] == [np.asarray(one).dtype for one in plain]
    assert all(np.array_equal(one, other) for one, other in zip(found, plain, strict=True))


def test_results_outlive_the_call_and_each_other():
    found = [every_result(np.arange(2_000, dtype=np.int32), 2_000, float(i))[0] for i in range(200)]
    del found[::2]
    gc.collect()
    assert [one[-1, 0] for one in found] == list(range(1, 200, 2))


EDGES = (-np.inf, 0.0, 0.1, 0.15, 0.2, 0.4, 0.45, 0.9, 1.0, np.inf)


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(EDGES), st.sampled_from(EDGES))), st.integers(0, 3))
def test_objects_stand_where_counting_one_by_one_finds_them(objects, most):
    label = np.array([one for one, _, _ in objects], np.int32)
    low, high = (np.array([one[place] for one in objects], np.float64) for place in (1, 2))
    thresholds = [0.1, 0.2, 0.4, 0.5, 0.9]
    counts, chosen = ranked.stand(label, low, high, np.array(thresholds), 3, most)
    for k in range(3):
        for step, threshold in enumerate(thresholds):
            standing = [i for i, one in enumerate(objects) if one[0] == k and one[1] < threshold <= one[2]]
            assert counts[k, step] == len(standing)
            assert [i for i in chosen[k, step].tolist() if i >= 0] == standing[:most]


@given(st.lists(st.tuples(st.integers(0, 2), st.booleans(), st.booleans())), st.randoms())
def test_what_is_right_ranks_as_counting_one_by_one_finds_it(predictions, random):
    order = list(range(len(predictions)))
    random.shuffle(order)
    label = np.array([one for one, _, _ in predictions], np.int32)
    counts, right = (np.array([one[place] for one in predictions], np.uint8) for place in (1, 2))
    images = np.arange(len(predictions), dtype=np.int32)
    missed, miss_starts, rows, before, row_starts = ranked.rank_right(
        np.array(order, np.int32), counts, label, right, images, 3
    )
    for k in range(3):
        own = [i for i in order if predictions[i][1] and predictions[i][0] == k]
        found = [i for i in own if predictions[i][2]]
        assert rows[row_starts[k] : row_starts[k + 1]].tolist() == found
        assert before[row_starts[k] : row_starts[k + 1]].tolist() == [
            sum(not predictions[j][2] for j in own[: own.index(i)]) for i in found
        ]
        until = own.index(found[-1]) if found else 0
        assert missed[miss_starts[k] : miss_starts[k + 1]].tolist() == [i for i in own[:until] if not predictions[i][2]]
